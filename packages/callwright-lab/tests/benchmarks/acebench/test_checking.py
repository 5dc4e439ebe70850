"""The suite's check of a normal row, with its peculiarities."""

from __future__ import annotations

from typing import Any

import pytest

from callwright_lab.benchmarks.acebench.checking import check_calls, standardise_text
from tests.benchmarks.invented_ace import ORDER, WEATHER

GOLD = {"item": "Red bolts", "count": 7, "to": {"city": "Oslo"}, "tags": ["a b", "c"], "gift": True}


def check(arguments: Any, gold: Any = GOLD) -> str:
    return check_calls([ORDER, WEATHER], [{"shop.order": arguments}], [{"shop.order": gold}])


def test_gold_itself_is_right() -> None:
    assert not check(GOLD)


def test_texts_are_compared_without_space_case_and_some_marks() -> None:
    assert standardise_text("A b, c-d/e_f.g*h^i'j") == 'abcdefghi"j'
    assert not check({**GOLD, "item": "the RED-BOLTS, please"})
    assert not check({**GOLD, "to": {"city": "oslo, Norway"}})
    assert check({**GOLD, "item": "red"})


@pytest.mark.parametrize(
    "change", [{"count": 8}, {"count": 7.0}, {"gift": False}, {"gift": "false"}, {"gift": 1}]
)
def test_numbers_and_booleans_are_checked_by_type_or_equality(change: Any) -> None:
    assert not check({**GOLD, **change})


@pytest.mark.parametrize(
    "change",
    [
        {"count": "7"},
        {"count": 7.5},
        {"gift": 2},
        {"item": "true"},
        {"item": 1},
        {"to": "Oslo"},
        {"to": {"city": "Oslo", "zip": "1"}},
        {"to": {"zip": "Oslo"}},
        {"to": {}},
        {"tags": ["c", "a b"]},
        {"tags": "a b"},
        {"tags": []},
        {"speed": "slow"},
        {"nonsense": 1},
    ],
)
def test_other_values_are_wrong(change: Any) -> None:
    assert check({**GOLD, **change})


def test_an_argument_of_gold_may_be_left_out_unless_it_is_required() -> None:
    assert not check({"item": "red bolts"})
    assert check({"count": 7})
    assert check({})


def test_a_value_of_golds_own_type_passes_where_the_schema_has_another() -> None:
    gold = {"item": "x", "price": "cheap"}
    assert not check({"item": "x", "price": "dear"}, gold)
    assert not check({"item": "x", "price": 1}, {"item": "x", "price": 1.5})
    assert check({"item": "x", "price": True}, gold)


def test_lists_of_objects_are_compared_place_by_place() -> None:
    gold = {"item": "x", "stops": [{"city": "Oslo"}, {"city": "Bergen"}]}
    assert not check(gold, gold)
    assert check({**gold, "stops": gold["stops"][::-1]}, gold)
    assert check({**gold, "stops": gold["stops"][:1]}, gold)
    assert check({**gold, "stops": ["Oslo", "Bergen"]}, gold)
    assert check({"item": "x", "stops": []}, {"item": "x", "stops": []}), "as the suite has it"


def test_one_of_several_candidates_is_enough() -> None:
    candidates = [{"shop.order": {"item": "a"}}, {"shop.order": {"item": "b"}}]
    assert not check_calls([ORDER], [{"shop.order": {"item": "b"}}], candidates)
    assert check_calls([ORDER], [{"shop.order": {"item": "c"}}], candidates)
    assert check_calls([ORDER], [], [])


def test_calls_are_matched_whatever_their_order() -> None:
    gold = {"shop.order_1": {"item": "a"}, "shop.order_2": {"item": "b"}}
    one, two = {"shop.order": {"item": "a"}}, {"shop.order": {"item": "b"}}
    assert not check_calls([ORDER], [two, one], [gold])
    assert check_calls([ORDER], [one], [gold])
    assert check_calls([ORDER], [one, one], [gold])
    assert check_calls([ORDER], [one, {"weather": {"item": "b"}}], [gold])


def test_where_the_suites_own_check_fails_the_calls_are_wrong() -> None:
    found = check_calls([WEATHER], [{"weather": {"city": "x"}}], [{"weather": {"city": "x"}}])
    assert found.startswith("the check itself fails")
    assert check_calls([], [{"weather": {}}], [{"weather": {}}]) == "the tool is not described"


def test_a_tool_without_parameters_takes_none() -> None:
    ping = {"name": "ping", "parameters": {}}
    assert not check_calls([ping], [{"ping": {}}], [{"ping": {}}])
    assert check_calls([ping], [{"ping": {"a": 1}}], [{"ping": {}}])
