"""What refiners score on tasks they never saw: by kind, with intervals, and against each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from callwright.errors import MissingExtra
from callwright.metrics import paired_bootstrap
from callwright.training.refiner_dapo import decoded
from callwright.training.refiner_runs import chat
from callwright.training.refiner_settings import Settings
from callwright.training.refiner_task import KINDS, Sample
from callwright.training.rewards import reward

try:
    import torch
except ImportError:
    raise MissingExtra("training the refiner", "train") from None


@dataclass(frozen=True, slots=True)
class Graded:
    """One reply with the paper's reward; ``worse``: than the upstream's output."""

    task: str
    kind: str
    reward: float
    worse: bool
    text: str


def measure(model: Any, tokenizer: Any, samples: Sequence[Sample], settings: Settings, size: int = 8) -> list[Graded]:
    """Greedy replies with the paper's reward; without a model, the upstream's own outputs."""
    texts = [s.upstream for s in samples] if model is None else replies(model, tokenizer, samples, settings, size)
    found = []
    for s, text in zip(samples, texts, strict=True):
        got = reward(text, s.upstream, s.task.gold, s.kind, s.format)
        found.append(Graded(s.task.id, s.kind, got.value, got.regressed, text))
    return found


def replies(model: Any, tokenizer: Any, samples: Sequence[Sample], settings: Settings, size: int) -> list[str]:
    """The greedy reply to every sample."""
    model.eval()
    found: list[str] = []
    if tokenizer.pad_token_id is None:
        tokenizer.pad_token = tokenizer.eos_token
    pad_id = tokenizer.pad_token_id
    for start in range(0, len(samples), size):
        asked = [
            tokenizer.apply_chat_template(
                chat(s, settings.prompt), add_generation_prompt=True, tokenize=True, return_dict=True
            )
            for s in samples[start : start + size]
        ]
        rows = [{"input_ids": a["input_ids"], "attention_mask": a["attention_mask"]} for a in asked]
        given = tokenizer.pad(rows, padding_side="left", return_tensors="pt").to(model.device)
        with torch.no_grad():
            out = model.generate(
                **given, max_new_tokens=settings.longest, do_sample=False, pad_token_id=pad_id, use_cache=True
            )
        for row in out[:, given["input_ids"].size(1) :].tolist():
            ends = [i for i, token in enumerate(row) if token in (tokenizer.eos_token_id, pad_id)]
            found.append(decoded(tokenizer, row[: ends[0]] if ends else row))
    return found


def table(scores: Mapping[str, Sequence[Graded]]) -> str:
    """Scores by name and kind, as Markdown: mean reward with its 95 % interval (bootstrap over samples), shares."""
    lines = [
        "| refiner | data | samples | reward | 95 % | full marks | worse than upstream |",
        "|---|---|---|---|---|---|---|",
    ]
    for name, graded in scores.items():
        for kind in (*KINDS, "all"):
            some = [g for g in graded if kind in (g.kind, "all")]
            if not some:
                continue
            at = paired_bootstrap([g.reward for g in some], [0.0] * len(some))
            full, worse = (sum(x) / len(some) for x in ([g.reward == 1 for g in some], [g.worse for g in some]))
            mean = f"{at.value:.3f} | {at.low:.3f} to {at.high:.3f}"
            lines.append(f"| {name} | {kind} | {len(some)} | {mean} | {full:.3f} | {worse:.3f} |")
    return "\n".join(lines)


def against(scores: Mapping[str, Sequence[Graded]], name: str) -> str:
    """By how much ``name`` is better than each other one on the same samples, with 95 % intervals, as Markdown."""
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
