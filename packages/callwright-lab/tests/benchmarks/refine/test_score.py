"""Comparing calls, and naming what tells them apart."""

from __future__ import annotations

import pytest

from callwright.nouns.types import Json, JsonObject, Tool, ToolCall
from callwright_lab.benchmarks.refine.score import (
    ERRORS,
    classify_error,
    has_same_calls,
    is_same_value,
)

WEATHER = Tool(
    "weather", "", {"properties": {"city": {"type": "string"}, "days": {"type": "integer"}}}
)
TIME = Tool("time", "", {"properties": {"city": {"type": "string"}}})
GOLD = ToolCall("1", "weather", {"city": "Graz", "days": 3})


def call(tool: str, arguments: JsonObject | str) -> ToolCall:
    return ToolCall("x", tool, arguments)


@pytest.mark.parametrize(
    ("a", "b", "strict", "numbers"),
    [
        (5, 5.0, True, True),
        (True, 1, False, False),
        (False, 0, False, False),
        ("5", 5, False, True),
        (37.0, "37.0", False, True),
        ("5.0", 5, False, True),
        ("five", 5, False, False),
        ("true", True, False, False),
        ([1, {"a": "2"}], [1, {"a": 2}], False, True),
        ({"a": 1}, {"a": 1, "b": 2}, False, False),
        (None, None, True, True),
        ("1", "1.0", False, False),
    ],
)
def test_equality_is_json_s_and_numbers_may_equal_their_text(
    a: Json, b: Json, strict: bool, numbers: bool
) -> None:
    assert is_same_value(a, b) is is_same_value(b, a) is strict
    assert is_same_value(a, b, numbers=True) is is_same_value(b, a, numbers=True) is numbers


@pytest.mark.parametrize(
    ("calls", "kind"),
    [
        ([], "no_call"),
        ([GOLD], ""),
        ([call("weather", "{'city'")], "not_json"),
        ([call("wether", {"city": "Graz", "days": 3})], "unknown_tool"),
        ([call("time", {"city": "Graz"})], "wrong_tool"),
        ([GOLD, call("time", {"city": "Graz"})], "extra_call"),
        ([call("weather", {"city": "Graz"})], "missing_argument"),
        ([call("weather", {"city": "Graz", "days": 3, "unit": "C"})], "ghost_argument"),
        ([call("weather", {"city": "Graz", "days": "3"})], "wrong_type"),
        ([call("weather", {"city": "GRAZ", "days": 3})], "near_value"),
        ([call("weather", {"city": "G-raz!", "days": 3})], "near_value"),
        ([call("weather", {"city": "Linz", "days": 3})], "wrong_value"),
    ],
)
def test_the_first_mistake_is_named(calls: list[ToolCall], kind: str) -> None:
    assert classify_error(calls, [GOLD], [WEATHER, TIME]) == kind
    assert kind == "" or kind in ERRORS


def test_calls_in_another_order_are_the_same_calls_but_not_the_same_sequence() -> None:
    other = call("time", {"city": "Graz"})
    assert has_same_calls([GOLD, other], [other, GOLD])
    assert not has_same_calls([GOLD, other], [other, GOLD], ordered=True)
    assert classify_error([GOLD, other], [other, GOLD], [WEATHER, TIME]) == "order"


def test_a_call_is_compared_with_the_gold_call_it_is_nearest_to() -> None:
    second = call("weather", {"city": "Linz", "days": 1})
    assert (
        classify_error(
            [second, call("weather", {"city": "graz", "days": 3})], [GOLD, second], [WEATHER]
        )
        == "near_value"
    )


def test_a_call_where_none_was_wanted_is_named() -> None:
    assert classify_error([GOLD], [], [WEATHER]) == "unwanted_call"
    assert classify_error([], [], [WEATHER]) == ""
