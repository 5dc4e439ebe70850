"""Recognised and corrected, decided by code."""

from __future__ import annotations

from callwright.nouns.trajectory import Step
from callwright.nouns.types import ToolCall
from callwright_lab.recovery import (
    Gold,
    Recovery,
    count_outcomes,
    has_same_arguments,
    judge_recovery,
)
from tests.benchmarks.trajectory_case import step

WRONG = ToolCall("r1", "weather", {"town": "Oslo"})
GOLD = (Gold("weather", {"city": "Oslo"}, {"sky": "rain"}),)


def after(*steps: Step, told: bool = False) -> Recovery:
    return judge_recovery(WRONG, GOLD, steps, told=told)


def test_another_call_that_gives_golds_result_is_a_correction() -> None:
    found = after(step("r2", {"city": "Oslo"}, {"sky": "rain"}))
    assert (found.recognised, found.corrected) == (True, True)


def test_a_way_round_counts_where_it_gives_the_same() -> None:
    assert after(step("r2", {"place": "OSL"}, {"sky": "rain"})).corrected


def test_golds_call_counts_whatever_a_simulated_tool_makes_up_this_time() -> None:
    assert after(step("r2", {"city": " oslo "}, {"sky": "snow"})).corrected


def test_another_attempt_that_fails_is_recognition_without_correction() -> None:
    found = after(step("r2", {"city": "Bergen"}, error="no such city"))
    assert (found.recognised, found.corrected) == (True, False)


def test_a_success_that_says_something_else_is_no_correction() -> None:
    assert not after(step("r2", {"city": "Rome"}, {"sky": "sun"})).corrected


def test_the_same_wrong_call_again_is_neither() -> None:
    found = after(step("r2", {"town": "Oslo"}, error="unknown parameter"))
    assert (found.recognised, found.corrected) == (False, False)


def test_going_on_with_other_tools_is_not_recognition() -> None:
    other = Step("", (ToolCall("r2", "news", {}),))
    assert not after(other).recognised


def test_telling_it_in_the_answer_is_counted_apart() -> None:
    found = after(told=True)
    assert (found.recognised, found.corrected, found.told) == (False, False, True)


def test_an_error_that_nothing_can_repair_is_in_no_rate_of_correction() -> None:
    found = judge_recovery(WRONG, (), (), told=True)
    assert not found.repairable
    rows = [
        found.facts(),
        Recovery(False).facts(),
        after(step("r2", {"city": "Oslo"}, {"sky": "rain"})).facts(),
    ]
    assert count_outcomes(rows) == {
        "met": 2,
        "recognised": 1,
        "told": 1,
        "mendable": 1,
        "corrected": 1,
    }


def test_arguments_are_alike_where_a_number_is_its_own_text() -> None:
    assert has_same_arguments({"n": "5", "x": None}, {"n": 5})
    assert has_same_arguments({"n": "5.0"}, {"n": 5})
    assert not has_same_arguments({"n": "5 kg"}, {"n": 5})
    assert not has_same_arguments({"n": True}, {"n": 1})
    assert not has_same_arguments("n=5", {"n": 5})


def test_identifiers_that_differ_in_their_last_digit_or_in_leading_zeros_are_two() -> None:
    assert not has_same_arguments({"order": 12345679}, {"order": 12345678})
    assert not has_same_arguments({"order": "12345679"}, {"order": 12345678})
    assert not has_same_arguments({"zip": "2134"}, {"zip": "02134"})
    assert not has_same_arguments({"flight": "1E3"}, {"flight": "1000"})
    assert has_same_arguments({"rate": 0.1, "n": "10.50"}, {"rate": "0.10", "n": 10.5})
    assert has_same_arguments({"name": "Nan", "n": 10**400}, {"name": "nan", "n": 10**400})
    assert not has_same_arguments({"n": 10**400}, {"n": 5})
