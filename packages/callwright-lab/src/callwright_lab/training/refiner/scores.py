"""Scores refiners on unseen tasks: by kind, with intervals, and against each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from callwright_lab.metrics import paired_bootstrap
from callwright_lab.training import generation
from callwright_lab.training.refiner.rewards import reward
from callwright_lab.training.refiner.runs import build_chat
from callwright_lab.training.refiner.settings import Settings
from callwright_lab.training.refiner.task import KINDS, RULE, Sample


@dataclass(frozen=True, slots=True)
class Graded:
    """One reply with the paper's reward; ``worse``: than the upstream's output, which is ``by`` a
    model or by rule.
    """

    task: str
    kind: str
    by: str
    reward: float
    worse: bool
    text: str


BY_MODELS = "written by models"
"""The samples, of any kind, whose upstream output no rule made."""


def measure_refiner(
    model: Any, tokenizer: Any, samples: Sequence[Sample], settings: Settings
) -> list[Graded]:
    """Greedy replies with the paper's reward; without a model, the upstream's own outputs."""
    texts = (
        [s.upstream for s in samples]
        if model is None
        else generate_replies(model, tokenizer, samples, settings)
    )
    found = []
    for s, text in zip(samples, texts, strict=True):
        got = reward(text, s.upstream, s.task.gold, s.kind, s.format)
        found.append(Graded(s.task.id, s.kind, s.by, got.value, got.regressed, text))
    return found


def generate_replies(
    model: Any, tokenizer: Any, samples: Sequence[Sample], settings: Settings
) -> list[str]:
    """The greedy reply to every sample, in the order of the samples."""
    chats = [build_chat(s, settings.prompt) for s in samples]
    replies = generation.generate_replies(
        model, tokenizer, chats, settings.longest, size=settings.replies_at_once
    )
    return [one for (one,) in replies]


def render_table(scores: Mapping[str, Sequence[Graded]]) -> str:
    """Scores by name and kind, as Markdown: mean reward with its 95 % interval (bootstrap over
    samples), shares.
    """
    lines = [
        "| refiner | data | samples | reward | 95 % | full marks | worse than upstream |",
        "|---|---|---|---|---|---|---|",
    ]
    for name, graded in scores.items():
        for kind in (*KINDS, BY_MODELS, "all"):
            some = [g for g in graded if kind in (g.kind, "all", _name_maker(g))]
            if not some:
                continue
            at = paired_bootstrap([g.reward for g in some], [0.0] * len(some))
            full, worse = (
                sum(x) / len(some) for x in ([g.reward == 1 for g in some], [g.worse for g in some])
            )
            mean = f"{at.value:.3f} | {at.low:.3f} to {at.high:.3f}"
            lines.append(f"| {name} | {kind} | {len(some)} | {mean} | {full:.3f} | {worse:.3f} |")
    return "\n".join(lines)


def _name_maker(graded: Graded) -> str:
    return "" if graded.by == RULE else BY_MODELS


def compare_refiners(scores: Mapping[str, Sequence[Graded]], name: str) -> str:
    """By how much ``name`` is better than each other one on the same samples, with 95 % intervals,
    as Markdown.
    """
    lines = [f"| {name} less | samples | reward | 95 % | better, worse |", "|---|---|---|---|---|"]
    mine = scores[name]
    for other, graded in scores.items():
        if other == name:
            continue
        pairs = [(a.reward, b.reward) for a, b in zip(mine, graded, strict=True)]
        gain = paired_bootstrap([a for a, _ in pairs], [b for _, b in pairs])
        more, less = sum(a > b for a, b in pairs), sum(a < b for a, b in pairs)
        span = f"{gain.low:+.3f} to {gain.high:+.3f}"
        lines.append(f"| {other} | {len(pairs)} | {gain.value:+.3f} | {span} | {more}, {less} |")
    return "\n".join(lines)
