"""Scores planners on unseen tasks: nodes, edges, exact match, Equation 3, and the loss of gold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from callwright.nouns.plan import Plan
from callwright.planning.arrows import edges_by_tool, read_reply
from callwright_lab import metrics
from callwright_lab.datasets.examples import PlanExample
from callwright_lab.datasets.files import gold_plan
from callwright_lab.training import generation
from callwright_lab.training.planner.data import build_chat, render_gold
from callwright_lab.training.planner.reward import CASES, PlanReward, grade_plan
from callwright_lab.training.planner.settings import Settings


@dataclass(frozen=True, slots=True)
class Graded:
    """One greedy reply: its graph against gold (a reply without a plan has no nodes) and its
    reward.
    """

    id: str
    text: str
    score: metrics.GraphScore
    reward: PlanReward


@dataclass(frozen=True, slots=True)
class Measured:
    """All replies of one planner, and the mean loss of gold's tokens."""

    loss: float
    replies: tuple[Graded, ...]


def measure_planner(
    model: Any, tokenizer: Any, examples: Sequence[PlanExample], settings: Settings
) -> Measured:
    """Greedy replies to every example, graded."""
    chats = [build_chat(e) for e in examples]
    texts = generation.generate_replies(model, tokenizer, chats, settings.longest)
    rows = [(one, render_gold(e)) for one, e in zip(chats, examples, strict=True)]
    loss = generation.negative_log_likelihood(model, tokenizer, rows)
    found = (grade_reply(e, text, settings) for e, (text,) in zip(examples, texts, strict=True))
    return Measured(loss, tuple(found))


def grade_reply(example: PlanExample, text: str, settings: Settings) -> Graded:
    """One reply against the example's gold."""
    plan = read_reply(text, example.tools)
    nodes, edges = (
        ({s.tool for s in plan.slots}, edges_by_tool(plan))
        if isinstance(plan, Plan)
        else (set(), set())
    )
    score = metrics.graph_score(nodes, edges, example.gold, example.edges)
    return Graded(example.id, text, score, grade_plan(plan, gold_plan(example), settings.connected))


def render_table(found: Mapping[str, Measured]) -> str:
    """Scores by planner as Markdown: loss, macro averages, mean reward, the share of each case of
    Eq. (3).
    """
    head = [
        "planner",
        "tasks",
        "loss",
        "node F1",
        "edge P",
        "edge R",
        "edge F1",
        "exact",
        "reward",
        *CASES,
    ]
    lines = [f"| {' | '.join(head)} |", "|---" * len(head) + "|"]
    for name, measured in found.items():
        some = measured.replies
        whole = metrics.average_scores([g.score for g in some])
        shares = [sum(g.reward.case == case for g in some) / len(some) for case in CASES]
        e, reward = whole.edges, sum(g.reward.value for g in some) / len(some)
        told = [
            measured.loss,
            whole.nodes.f1,
            e.precision,
            e.recall,
            e.f1,
            whole.exact,
            reward,
            *shares,
        ]
        lines.append(f"| {name} | {len(some)} | {' | '.join(f'{x:.3f}' for x in told)} |")
    return "\n".join(lines)


def compare_planners(found: Mapping[str, Measured], name: str) -> str:
    """By how much ``name`` is better than each other one on the same tasks, with 95 % intervals, as
    Markdown.
    """
    lines = [
        f"| {name} less | tasks | edge F1 | 95 % | exact | 95 % |",
        "|---|---|---|---|---|---|",
    ]
    for other, measured in found.items():
        if other == name:
            continue
        cells = []
        for value in (_edge_f1, _get_exact):
            mine, its = ([value(g) for g in m.replies] for m in (found[name], measured))
            gain = metrics.paired_bootstrap(mine, its)
            cells += [f"{gain.value:+.3f}", f"{gain.low:+.3f} to {gain.high:+.3f}"]
        lines.append(f"| {other} | {len(measured.replies)} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _edge_f1(one: Graded) -> float:
    return one.score.edges.f1


def _get_exact(one: Graded) -> float:
    return one.score.exact
