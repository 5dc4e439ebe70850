"""Graphs against gold: worked out by hand, and gold itself must score full marks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from callwright.nouns.errors import PlanError
from callwright.nouns.plan import Plan, Problem
from callwright.nouns.types import Tool
from callwright.planning.planner import AllInOnePlanner
from callwright_lab.benchmarks.planning.graphs import measure_planner, render_table, score_graphs
from callwright_lab.datasets.examples import PlanExample, example_from_graph
from callwright_lab.datasets.files import gold_plan
from callwright_lab.datasets.sources import data_root, load_examples


def example(source: str = "complextool_easy") -> PlanExample:
    tools = [Tool(name) for name in "abcd"]
    made = example_from_graph(
        "x", source, "q", tools, ["a", "b", "c"], [("a", "b"), ("b", "c")], "dependency"
    )
    assert made is not None
    return made


def test_a_planner_that_leaves_nothing_out_is_scored_for_all_it_was_shown() -> None:
    row = measure_planner(AllInOnePlanner(), [example()])
    assert (
        row.score.nodes.precision,
        row.score.nodes.recall,
        row.score.edges.f1,
        row.score.exact,
    ) == (0.75, 1, 0, 0)
    assert [r.case for r in row.rewards] == ["disconnected"]


def test_scores_are_macro_averaged_over_plans_and_a_missing_plan_is_one_without_anything() -> None:
    e = example()
    half = Plan.from_edges(["a", "b"], [("a", "b")])
    row = score_graphs("x", [(e, gold_plan(e)), (e, half), (e, Problem("syntax", (), "not JSON"))])
    assert row.score.exact == pytest.approx(1 / 3)
    assert row.score.edges.f1 == pytest.approx((1 + 2 / 3 + 0) / 3)
    assert row.score.nodes.f1 == pytest.approx((1 + 0.8 + 0) / 3)
    assert [r.value for r in row.rewards] == [10, pytest.approx(5 * 2 / 3), -10]
    assert row.failed == 1
    line = (
        "| x | complextool_easy | 3 | 0.667 | 0.556 | 0.600 | 0.667 | 0.500 | 0.556 | 0.333 | 1.11"
        " | 0.000 |"
    )
    assert line in render_table([row])


class Silent:
    """A planner whose model says nothing of use to every other request."""

    name = "silent"

    def plan(self, query: str, tools: Sequence[Tool]) -> Plan:
        if query == "q":
            raise PlanError("no plan")
        return Plan.from_edges([t.name for t in tools], ())


def test_a_planner_that_wrote_no_plan_is_scored_for_nothing_in_the_order_of_the_examples() -> None:
    e = example("nestools")
    row = measure_planner(Silent(), [e, replace(e, query="other")] * 8, at_once=4)
    assert (row.plans, row.failed, row.score.nodes.recall) == (16, 8, 0.5)


def test_where_gold_may_be_in_parts_eq_3_is_left_out() -> None:
    e = example("nestools")
    assert score_graphs("x", [(e, gold_plan(e))], seen=True).cells().endswith("| 1.000* |  |  |")


needs_data = pytest.mark.skipif(
    not (data_root() / "complextool_plan").exists(), reason="data: ComplexTool-Plan is not there"
)


@needs_data
@pytest.mark.parametrize(
    ("source", "plans"), [("complextool_easy", 398), ("complextool_hard", 415)]
)
def test_every_gold_graph_is_there_and_scores_full_marks(source: str, plans: int) -> None:
    examples = load_examples(source)
    row = score_graphs("gold", [(e, gold_plan(e)) for e in examples])
    assert (row.plans, row.score.exact, row.score.edges.f1, row.score.nodes.f1) == (plans, 1, 1, 1)
    apart = sum(r.case == "disconnected" for r in row.rewards)
    assert apart == (source == "complextool_hard"), (
        "one published gold graph is in two parts, and Eq. (3) punishes it"
    )
