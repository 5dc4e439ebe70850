"""Eq. (3) of Beyond ReAct, case by case, and its order of precedence."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright.nouns.plan import Plan
from callwright.nouns.types import Tool
from callwright.planning.arrows import read_arrows
from callwright_lab.training.planner.reward import CASES, reward

TOOLS = [Tool(name) for name in "abcdefg"]


def gold(text: str) -> Plan:
    plan = read_arrows(text, TOOLS)
    assert isinstance(plan, Plan)
    return plan


GOLD = gold("1->2, 2->3, 2->4")


def earned(dag: str, want: Plan = GOLD, **options: str) -> tuple[str, float]:
    found = reward(f'{{"DAG": "{dag}"}}', TOOLS, want, **options)  # type: ignore[arg-type]
    return found.case, found.value


@pytest.mark.parametrize(
    "reply", ["1->2, 2->3", '{"DAG": "1->2"', '{"plan": "1->2"}', '{"DAG": "a->b"}', ""]
)
def test_what_is_not_json_or_no_graph_costs_ten(reply: str) -> None:
    found = reward(reply, TOOLS, GOLD)
    assert (found.case, found.value) == ("syntax", -10.0)


def test_a_plan_of_nothing_is_no_way_round_the_penalties() -> None:
    assert earned("") == ("syntax", -10.0)


def test_a_cycle_costs_ten() -> None:
    assert earned("1->2, 2->3, 3->1") == ("cycle", -10.0)
    assert earned("2->2") == ("cycle", -10.0)


def test_a_plan_that_does_not_hang_together_costs_two() -> None:
    assert earned("1->2, 3->4") == ("disconnected", -2.0)
    assert earned("1->2, 2->3, 4") == ("disconnected", -2.0)


def test_a_cycle_comes_before_a_missing_connection_and_syntax_before_both() -> None:
    assert earned("1->2, 2->1, 3->4") == ("cycle", -10.0)
    assert reward('{"DAG": "1->1, 3" ', TOOLS, GOLD).case == "syntax"


def test_a_penalty_is_all_there_is_however_much_is_right() -> None:
    assert earned("1->2, 2->3, 2->4, 5->6") == ("disconnected", -2.0), (
        "all of gold, and two more tools apart"
    )


def test_a_sound_plan_earns_five_times_its_edge_f1() -> None:
    assert earned("1->2, 2->3") == ("graded", pytest.approx(5 * 0.8))  # P 1, R 2/3
    assert earned("1->2, 2->3, 3->4") == ("graded", pytest.approx(5 * 2 / 3))
    assert earned("2->1") == ("graded", 0.0)


def test_only_the_identical_plan_earns_five_more() -> None:
    assert earned("2->4, 1->2, 2->3") == ("graded", 10.0)
    assert reward('{"DAG": "1->2->3, 2->4"}', TOOLS, GOLD).exact


def test_one_tool_is_connected_and_may_be_the_whole_answer() -> None:
    assert earned("5", gold("5")) == ("graded", 10.0)
    assert earned("4", gold("5")) == ("graded", 5.0), "no edge is wrong: Eq. (3) looks at edges"
    assert earned("1", GOLD) == ("graded", 0.0)


def test_a_number_without_a_tool_is_a_wrong_node() -> None:
    assert earned("1->2, 2->3, 2->9") == ("graded", pytest.approx(5 * 2 / 3))


def test_where_gold_is_in_parts_connection_may_be_left_out_of_the_demands() -> None:
    parted = gold("1->2, 3")
    assert earned("1->2, 3", parted) == ("disconnected", -2.0), "as the paper has it"
    assert earned("1->2, 3", parted, connected="gold") == ("graded", 10.0)
    assert earned("1->2, 3->4", GOLD, connected="gold") == ("disconnected", -2.0)


arrows = st.lists(st.tuples(st.integers(1, 7), st.integers(1, 7)), min_size=1, max_size=8)


@given(arrows)
def test_the_reward_stays_in_its_range_and_is_ten_just_for_gold(
    pairs: list[tuple[int, int]],
) -> None:
    found = reward('{{"DAG": "{}"}}'.format(", ".join(f"{a}->{b}" for a, b in pairs)), TOOLS, GOLD)
    assert -10 <= found.value <= 10
    assert found.case in CASES
    assert (found.value == 10) == (set(pairs) == {(1, 2), (2, 3), (2, 4)}) == found.exact
    assert found.value < 0 or found.case == "graded"
