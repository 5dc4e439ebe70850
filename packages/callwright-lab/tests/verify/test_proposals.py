"""Example calls: diverse, as documented or given or guessed, and none that the gate would
refuse.
"""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright.models.dialogue import run_dialogue
from callwright.nouns.protocols import Capabilities
from callwright.nouns.types import JsonObject, Tool, to_canonical_json
from callwright.testing import ScriptedModel
from callwright_lab.verify.proposals import ask_example_calls, propose_by_rule, read_examples

TODAY = date(2026, 11, 22)
CARS = Tool(
    "cars",
    "Retrieve and filter lists of cars",
    {
        "type": "object",
        "properties": {
            "page": {"type": "integer"},
            "limit": {"type": "integer", "maximum": 10},
            "make": {"type": "string", "examples": ["Toyota", "Tesla"]},
            "fuel": {"type": "string", "enum": ["petrol", "diesel"]},
        },
        "required": ["page", "limit"],
    },
)


def _tool(**properties: JsonObject) -> Tool:
    return Tool("t", "", {"type": "object", "properties": properties, "required": list(properties)})


def test_the_first_call_is_the_least_and_others_differ_and_use_more() -> None:
    calls = propose_by_rule(CARS, TODAY).calls
    assert calls[0] == {"page": 1, "limit": 10}
    assert calls[1] == {"page": 2, "limit": 1, "make": "Tesla", "fuel": "diesel"}
    assert len({to_canonical_json(c) for c in calls}) == len(calls) == 3


def test_a_tool_without_parameters_is_called_as_it_is() -> None:
    assert propose_by_rule(Tool("now"), TODAY).calls == ({},)


def test_what_nothing_gives_is_named_and_what_another_tool_returned_is_used() -> None:
    tool = _tool(office_id={"type": "string"}, date={"type": "string", "format": "date"})
    assert propose_by_rule(tool, TODAY).lacking == ("office_id",)
    made = propose_by_rule(tool, TODAY, given={"office_id": ["OF-1", "OF-2"]})
    assert [c["office_id"] for c in made.calls] == ["OF-1", "OF-2", "OF-1"]
    assert made.guessed == ("date",)


def test_nothing_is_guessed_unless_asked_for() -> None:
    tool = _tool(city={"type": "string"})
    assert propose_by_rule(tool, TODAY, guess=False).lacking == ("city",)
    assert propose_by_rule(tool, TODAY).calls[0] == {"city": "London"}


def test_what_is_known_to_have_worked_stands_first() -> None:
    tool = _tool(id={"type": "string"})
    assert propose_by_rule(tool, TODAY, known=[{"id": "A7"}, {"id": []}]).calls == ({"id": "A7"},)


def test_two_of_one_kind_are_given_different_values_in_order() -> None:
    part = {"type": "string", "format": "date"}
    for call in propose_by_rule(_tool(start=part, end=part), TODAY).calls:
        assert call["start"] < call["end"]


def test_objects_and_lists_are_made_of_what_their_members_may_be() -> None:
    place = {
        "type": "object",
        "properties": {"city": {"type": "string"}, "note": {"type": "string"}},
        "required": ["city"],
    }
    tool = _tool(
        place=place, stops={"type": "array", "items": {"type": "string", "enum": ["a", "b"]}}
    )
    assert propose_by_rule(tool, TODAY).calls[0] == {"place": {"city": "London"}, "stops": ["a"]}


def test_an_optional_value_that_may_be_null_gets_one_that_is_not() -> None:
    part = {"anyOf": [{"type": "string", "examples": ["2020"]}, {"type": "null"}], "default": None}
    tool = Tool("log", "", {"type": "object", "properties": {"since": part}})
    assert {"since": "2020"} in propose_by_rule(tool, TODAY).calls


@given(
    kinds=st.lists(
        st.sampled_from(["string", "integer", "number", "boolean", "array", "object"]), max_size=4
    ),
    required=st.integers(0, 4),
    most=st.integers(1, 4),
)
def test_every_call_is_one_that_the_gate_lets_through_and_no_two_are_alike(
    kinds: list[str], required: int, most: int
) -> None:
    from callwright.nouns.types import CheckedCall, ToolCall
    from callwright.repair.gate import Gate

    properties = {f"city_{i}": {"type": kind} for i, kind in enumerate(kinds)}
    tool = Tool(
        "t",
        "",
        {"type": "object", "properties": properties, "required": list(properties)[:required]},
    )
    calls = propose_by_rule(tool, TODAY, most=most).calls
    assert len({to_canonical_json(c) for c in calls}) == len(calls) <= most
    for call in calls:
        assert isinstance(Gate([tool]).check(ToolCall("", "t", call)), CheckedCall)


@pytest.mark.parametrize(
    "text",
    [
        (
            '{"calls": [{"page": 1, "limit": 5}, {"page": 2, "limit": 99}, {"page": 3, "limit": 1,'
            ' "make": "Audi"}]}'
        ),
        '```json\n[{"page": 1, "limit": 5}, {"page": 3, "limit": 1, "make": "Audi"}]\n```',
        (
            'print("Example 1:")\nprint(cars(page=1, limit=5))\nprint(cars(page=3, limit=1,'
            ' make="Audi"))'
        ),
        (
            '[{"arguments": {"page": 1, "limit": 5}}, {"arguments": {"page": 3, "limit": 1, "make":'
            ' "Audi"}}]'
        ),
    ],
)
async def test_a_models_examples_are_read_in_every_form_and_wrong_ones_left_out(text: str) -> None:
    model = ScriptedModel([text])
    calls = await run_dialogue(ask_example_calls(CARS), model.complete)
    assert calls == ({"page": 1, "limit": 5}, {"page": 3, "limit": 1, "make": "Audi"})


async def test_a_model_that_cannot_be_held_to_a_schema_is_asked_for_python() -> None:
    model = ScriptedModel(["nothing"], capabilities=Capabilities())
    assert (
        await run_dialogue(ask_example_calls(CARS, seen="x: =====", schema=False), model.complete)
        == ()
    )
    asked = model.requests[0]
    assert asked.schema is None
    assert 'print(cars(argument="value"))' in asked.messages[0].content
    assert asked.messages[1].content.count("=====") == 2, "what came back cannot end its fence"


def test_calls_of_other_tools_are_no_examples() -> None:
    assert read_examples("print(other(page=1))", CARS) == []
