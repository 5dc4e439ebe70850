"""Errors inside calls."""

from __future__ import annotations

from typing import Any

import pytest

from callwright.nouns.types import CheckedCall, Tool, ToolCall
from callwright.repair.gate import Gate
from callwright_lab.training.refiner.corrupted import Corrupted
from callwright_lab.training.refiner.corruption import corrupt
from tests.training.corruption_case import CALLS, QUERY, TOOLS


def spoil(kind: str, seed: int = 0, calls: tuple[ToolCall, ...] = CALLS) -> Corrupted:
    made = corrupt(calls, TOOLS, kind, seed, query=QUERY)
    assert made is not None
    return made


def changed(kind: str, seed: int = 0) -> tuple[Any, Any]:
    """The one argument that differs: before and after."""
    made = spoil(kind, seed)
    pairs = [
        (before.arguments[key], after.arguments[key])  # type: ignore[index]
        for before, after in zip(made.expected, made.calls, strict=True)
        for key in before.arguments
        if before.arguments[key] != after.arguments[key]  # type: ignore[index]
    ]
    assert len(pairs) == 1
    return pairs[0]


def test_values_become_what_models_make_of_them() -> None:
    assert changed("object_as_text") == ({"stars": 4}, '{"stars": 4}')
    assert changed("array_as_text") == (["quiet"], '["quiet"]')
    assert changed("scalar_for_array") == (["quiet"], "quiet")
    before, after = changed("array_of_one")
    assert after == [before]
    before, after = changed("number_as_text")
    assert isinstance(after, str)
    assert float(after) == before
    assert changed("null_as_text")[0] is None
    assert changed("boolean_as_text")[1].lower() == "true"
    assert (
        changed("schema_echo")[1].get("value", changed("schema_echo")[1].get("default"))
        == changed("schema_echo")[0]
    )


def test_numbers_are_written_as_elsewhere_only_where_they_can_be_told() -> None:
    seen = {changed("locale_number", seed) for seed in range(30)}
    assert seen == {(1200.5, "1,200.5"), (1200.5, "1.200,5"), (2400, "2,400")}
    assert (
        corrupt([ToolCall("", "send_payment", {"amount": 3.125})], TOOLS, "locale_number") is None
    )


def test_an_enum_value_keeps_its_letters() -> None:
    for kind in ("enum_case", "enum_spacing"):
        before, after = changed(kind, 3)
        assert before == "bed_and_breakfast"
        assert "".join(c for c in after.lower() if c.isalpha()) == "bedandbreakfast"


def test_keys_change_their_case_or_lose_their_first_word() -> None:
    keys = {k for seed in range(20) for k in spoil("key_case", seed).calls[0].arguments}
    assert {"checkIn", "max_price"} <= keys
    assert {"in", "Price"} <= {
        k for seed in range(20) for k in spoil("key_prefix_lost", seed).calls[0].arguments
    }


def test_a_key_that_could_stand_for_two_is_not_answerable() -> None:
    tool = Tool(
        "t", input_schema={"type": "object", "properties": {"start_date": {}, "end_date": {}}}
    )
    made = corrupt([ToolCall("", "t", {"start_date": "x"})], [tool], "key_prefix_lost")
    assert made is not None
    assert not made.answerable


@pytest.mark.parametrize(
    "kind", ["name_prefix_lost", "name_prefix_added", "name_suffix", "name_case", "name_typo"]
)
def test_a_drifted_name_is_no_tools_name(kind: str) -> None:
    for seed in range(10):
        made = spoil(kind, seed)
        assert {c.tool for c in made.calls} - {t.name for t in TOOLS}
        assert made.answerable


def test_a_name_that_two_tools_could_mean_is_not_answerable() -> None:
    tools = (Tool("a.search"), Tool("b.search"))
    made = corrupt([ToolCall("", "a.search", {})], tools, "name_prefix_lost")
    assert made is not None
    assert (made.calls[0].tool, made.answerable) == ("search", False)


def test_another_tool_is_answerable_where_only_the_right_one_takes_the_arguments() -> None:
    made = corrupt([CALLS[1]], TOOLS, "wrong_tool")
    assert made is not None
    assert made.calls[0].tool in ("travel.find_hotel", "weather")
    assert made.answerable


def test_calls_are_doubled_shuffled_merged() -> None:
    assert len(spoil("duplicate").calls) == len(CALLS) + 1
    order = spoil("out_of_order")
    assert sorted(c.id for c in order.calls) == sorted(c.id for c in CALLS)
    assert order.answerable
    independent = corrupt(CALLS[2:], TOOLS, "out_of_order")
    assert independent is not None
    assert not independent.answerable
    merged = spoil("merged").calls
    assert [c.tool for c in merged] == ["travel.find_hotel", "send_payment", "weather"]
    assert merged[-1].arguments == {"place": ["Lyon", "Nice"]}


def test_ids_are_missing_or_used_again() -> None:
    assert {c.id for c in spoil("missing_id").calls} == {""}
    assert len({c.id for c in spoil("reused_id").calls}) == 1


@pytest.mark.parametrize(
    "kind",
    [
        "required_missing",
        "wrong_tool",
        "array_of_one",
        "schema_echo",
        "name_suffix",
        "object_as_text",
    ],
)
def test_what_the_schema_forbids_is_not_let_through_as_it_stands(kind: str) -> None:
    made, gate = spoil(kind, 2), Gate(TOOLS)
    checked = [gate.check(c) for c in made.calls]
    assert not all(isinstance(c, CheckedCall) and not c.edits for c in checked)


def test_a_ghost_argument_is_one_the_tool_does_not_know() -> None:
    made = spoil("ghost_argument", 5)
    new = {k for c in made.calls for k in c.arguments} - {k for c in CALLS for k in c.arguments}
    assert len(new) == 1
    assert made.answerable
    free = Tool("free", input_schema={"type": "object", "properties": {}})
    anything = corrupt([ToolCall("", "free", {})], [free], "ghost_argument")
    assert anything is not None
    assert not anything.answerable
