"""The hierarchical reward of a planned graph (Beyond ReAct, Eq. 3), pure: no model, no tensors.

The first of these that holds decides, in the paper's order:

1. ill-formed syntax: -10
2. a cycle: -10
3. not connected (an isolated tool, or two plans that share nothing): -2
4. otherwise: 5 * edge F1, and 5 more if nodes and edges are gold's

What the paper leaves open is settled here. A plan without any tool is no plan: ``syntax``. A number
that no tool has is a wrong node, and costs what a wrong node costs. The edge F1 of two plans
without edges is 1 (:func:`callwright_lab.metrics.score_overlap`), so the one right tool earns 10 and one
wrong tool 5: for plans of one tool Eq. (3) hardly says which. ``connected="gold"`` is ours:
connection is demanded only where gold is connected, for data sets whose tasks have independent
steps; by the paper's rule the right answer to such a task earns -2.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from callwright.nouns.plan import Plan, Problem
from callwright.nouns.types import Tool
from callwright.planning.arrows import edges_by_tool, is_connected, read_reply
from callwright_lab.metrics import score_overlap

Case = Literal["syntax", "cycle", "disconnected", "graded"]
Connected = Literal["paper", "gold"]

SYNTAX, CYCLE, DISCONNECTED = -10.0, -10.0, -2.0
F1_WEIGHT, BONUS = 5.0, 5.0
CASES: tuple[Case, ...] = ("syntax", "cycle", "disconnected", "graded")


@dataclass(frozen=True, slots=True)
class PlanReward:
    """``value`` in [-10, 10], the ``case`` of Eq. (3) that decided it; ``edge_f1`` is 0 where
    nothing was graded.
    """

    case: Case
    value: float
    edge_f1: float = 0.0
    exact: bool = False


def reward(
    reply: str, tools: Sequence[Tool], gold: Plan, connected: Connected = "paper"
) -> PlanReward:
    """The reward of a model's reply in the form of :mod:`callwright.planning.arrows`."""
    return grade_plan(read_reply(reply, tools), gold, connected)


def grade_plan(plan: Plan | Problem, gold: Plan, connected: Connected = "paper") -> PlanReward:
    """Eq. (3) for a plan that was read, or for the problem that kept it from being read."""
    if isinstance(plan, Problem) or not plan.slots:
        return PlanReward("syntax", SYNTAX)
    if any(p.kind == "cycle" for p in plan.problems()):
        return PlanReward("cycle", CYCLE)
    if not is_connected(plan) and (connected == "paper" or is_connected(gold)):
        return PlanReward("disconnected", DISCONNECTED)
    edges, gold_edges = edges_by_tool(plan), edges_by_tool(gold)
    f1 = score_overlap(edges, gold_edges).f1
    exact = edges == gold_edges and {s.tool for s in plan.slots} == {s.tool for s in gold.slots}
    return PlanReward("graded", F1_WEIGHT * f1 + BONUS * exact, f1, exact)
