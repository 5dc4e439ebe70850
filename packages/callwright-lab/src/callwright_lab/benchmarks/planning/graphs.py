"""Plans as graphs: which of the tools on offer, and which feeds which (Beyond ReAct, Evaluation
Metrics).

Node and edge precision, recall and F1 and DAG Exact Match, macro-averaged over plans. A planner
that leaves no tool out is scored for every tool it was shown: that is what its plans would call. On
ComplexTool-Plan the mean of Eq. (3) stands beside, and how many plans do not hang together;
elsewhere independent steps are right and not looked at.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from callwright.nouns.errors import PlanError
from callwright.nouns.plan import Plan, Problem
from callwright.nouns.protocols import Planner
from callwright.planning.arrows import edges_by_tool
from callwright_lab import metrics
from callwright_lab.datasets.examples import PlanExample
from callwright_lab.datasets.files import gold_plan
from callwright_lab.training.planner.reward import PlanReward, grade_plan

CONNECTED = "complextool"  # sources whose gold always hangs together
HEAD = (
    "planner",
    "source",
    "plans",
    "node P",
    "node R",
    "node F1",
    "edge P",
    "edge R",
    "edge F1",
    "exact",
)
MORE = ("reward", "unconnected")


@dataclass(frozen=True, slots=True)
class GraphRow:
    """One planner on one source. ``rewards`` only where gold hangs together; ``failed``: replies
    without a plan.
    """

    planner: str
    source: str
    plans: int
    score: metrics.GraphScore
    rewards: tuple[PlanReward, ...] = ()
    failed: int = 0
    seen: bool = False

    def cells(self) -> str:
        n, e, mark = self.score.nodes, self.score.edges, "*" if self.seen else ""
        shares = (n.precision, n.recall, n.f1, e.precision, e.recall, e.f1, self.score.exact)
        told = [f"{x:.3f}{mark}" for x in shares]
        count = len(self.rewards)
        told.append(f"{sum(r.value for r in self.rewards) / count:.2f}" if count else "")
        told.append(
            f"{sum(r.case == 'disconnected' for r in self.rewards) / count:.3f}" if count else ""
        )
        return "| " + " | ".join([self.planner, self.source, str(self.plans), *told]) + " |"


def score_graphs(
    name: str, answers: Sequence[tuple[PlanExample, Plan | Problem]], seen: bool = False
) -> GraphRow:
    """The scores of plans for one source; a reply without a plan has no nodes and no edges."""
    scores = [_score_graph(e, found) for e, found in answers]
    source = answers[0][0].source
    rewards = (
        [grade_plan(found, gold_plan(e)) for e, found in answers]
        if source.startswith(CONNECTED)
        else []
    )
    failed = sum(isinstance(found, Problem) for _, found in answers)
    return GraphRow(
        name, source, len(scores), metrics.average_scores(scores), tuple(rewards), failed, seen
    )


def _score_graph(example: PlanExample, found: Plan | Problem) -> metrics.GraphScore:
    if isinstance(found, Problem):
        return metrics.graph_score((), (), example.gold, example.edges)
    return metrics.graph_score(
        {s.tool for s in found.slots}, edges_by_tool(found), example.gold, example.edges
    )


def measure_planner(
    planner: Planner, examples: Sequence[PlanExample], seen: bool = False, at_once: int = 1
) -> GraphRow:
    """One planner on the examples of one source, so many ``at_once`` (for planners that ask a model
    elsewhere).
    """

    def plan(example: PlanExample) -> Plan | Problem:
        try:
            return planner.plan(example.query, example.tools)
        except PlanError as exc:
            return Problem("syntax", (), exc.message)

    with ThreadPoolExecutor(at_once) as pool:
        return score_graphs(
            planner.name, list(zip(examples, pool.map(plan, examples), strict=True)), seen
        )


def render_table(rows: Iterable[GraphRow]) -> str:
    """The rows as Markdown."""
    head = [*HEAD, *MORE]
    return "\n".join(
        [f"| {' | '.join(head)} |", "|---" * len(head) + "|", *(r.cells() for r in rows)]
    )
