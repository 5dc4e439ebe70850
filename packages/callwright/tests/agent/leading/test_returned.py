"""Calls beside what a turn has looked up."""

from __future__ import annotations

from typing import Any

import pytest

from callwright.agent.leading.led_context import LedContext
from callwright.agent.leading.returned import find_unlisted
from callwright.agent.run_facts import RunFacts
from callwright.agent.state import Asked, RunState
from callwright.nouns.types import READ, WRITE, Json, Tool, ToolCall, ToolResult
from callwright.testing import FixedPlan

TEXT = {"type": "string"}
LIST = Tool("list_lamps", "Lists all lamps with their ids.", {"properties": {}}, effects=READ)
SWITCH = Tool(
    "switch_lamp",
    "Switches a lamp.",
    {"properties": {"lamp_id": TEXT, "on": {"type": "boolean"}}, "required": ["lamp_id", "on"]},
    effects=WRITE,
)
LAMPS: Json = [
    {"lamp_id": "L-1", "room": "kitchen", "on": True},
    {"lamp_id": "L-2", "room": "bedroom", "on": True},
]


def led(query: str, *results: ToolResult, tools: tuple[Tool, ...] = (LIST, SWITCH)) -> LedContext:
    facts = RunFacts(RunState(Asked(query), tools, results=results))
    return LedContext(query=query, tools=tools, planner=FixedPlan([]), facts=facts, mode="schema")


def listed(content: Any = LAMPS) -> ToolResult:
    return ToolResult("r1", "list_lamps", {}, content)


def switch(lamp: str, on: bool = False) -> ToolCall:
    return ToolCall("c", "switch_lamp", {"lamp_id": lamp, "on": on})


@pytest.mark.parametrize("value", ["bedroom lamp", "Bedroom", "the lamp in the bedroom"])
def test_a_name_is_taken_for_the_record_that_has_it(value: str) -> None:
    found = find_unlisted(switch(value), led("Switch off the bedroom lamp", listed()))
    assert found is not None
    assert found.resolve() == switch("L-2")
    assert "'lamp_id' of switch_lamp" in found.render()
    assert "L-1, L-2" in found.render()


def test_where_none_or_several_may_be_meant_nothing_is_taken() -> None:
    made = led("Switch off a lamp", listed())
    for value in ("the cellar", "kitchen or bedroom"):
        found = find_unlisted(switch(value), made)
        assert found is not None
        assert found.resolve() is None


def test_what_a_lookup_returned_and_codes_of_the_user_are_not_doubted() -> None:
    made = led("Switch off lamp X-9", listed())
    assert find_unlisted(switch("L-2"), made) is None
    assert find_unlisted(switch("X-9"), made) is None
    assert find_unlisted(switch("bedroom"), led("the bedroom")) is None, "nothing was looked up"
    empty = led("the bedroom", listed([]))
    assert find_unlisted(switch("bedroom"), empty) is None
    numbered = led("the bedroom", listed([{"id": "L-2", "room": "bedroom"}]))
    assert find_unlisted(switch("bedroom"), numbered) is None, "no value stands under its name"


def test_a_word_that_says_nothing_of_a_record_takes_none() -> None:
    locks = [
        {"lamp_id": "lk-a", "room": "garage", "kind": "lamp"},
        {"lamp_id": "lk-b", "room": "cellar", "kind": "spotlight"},
    ]
    for value in ("front door lamp", "garage door", "Karte von Anna"):
        found = find_unlisted(switch(value), led("Switch it off", listed(locks)))
        assert found is not None
        assert found.resolve() is None


def test_a_value_that_the_tool_documents_is_not_doubted() -> None:
    part = {**TEXT, "default": "all", "description": 'An id, or "all".'}
    schema = {"properties": {"lamp_id": part, "on": {"type": "boolean"}}}
    tool = Tool("switch_lamp", "Switches a lamp.", schema, effects=WRITE)
    assert find_unlisted(switch("all"), led("Off", listed(), tools=(LIST, tool))) is None
