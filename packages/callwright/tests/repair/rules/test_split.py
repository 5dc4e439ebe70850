"""A list where one value is wanted is as many calls, if the tool only reads."""

from __future__ import annotations

from dataclasses import replace

from callwright.nouns.types import READ, Tool, ToolCall
from callwright.repair.context import RepairContext
from callwright.repair.gate import Gate
from callwright.repair.rules.split import split_list_call
from tests.repair.ruled_calls import apply_rules

WEATHER = Tool(
    "weather",
    "",
    {
        "type": "object",
        "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
        "required": ["city"],
    },
    effects=READ,
)
CALL = ToolCall("call_1", "weather", {"city": ["Oslo", "Rome"], "days": 3})
SAID = "Weather in Oslo and Rome for 3 days"


def test_every_member_becomes_a_call_of_a_tool_that_reads() -> None:
    found = apply_rules([CALL], RepairContext([WEATHER], SAID))
    assert [c.arguments for c in found.calls] == [
        {"city": "Oslo", "days": 3},
        {"city": "Rome", "days": 3},
    ]
    assert len({c.id for c in found.calls}) == 2
    assert [e.rule for e in found.edits] == ["split_call", "split_call", "fresh_id"]
    assert found.violations == []


def test_no_call_is_added_of_a_tool_that_may_write() -> None:
    found = apply_rules([CALL], RepairContext([replace(WEATHER, effects=Tool("").effects)], SAID))
    assert found.calls == [CALL]
    assert found.violations
    assert "2 calls seem to be meant" in found.abstained[0].reason


def test_a_list_with_a_member_that_does_not_fit_or_a_right_call_is_no_list_of_calls() -> None:
    gate = Gate([WEATHER])
    assert split_list_call(ToolCall("1", "weather", {"city": ["Oslo", 5]}), gate) is None
    assert split_list_call(ToolCall("1", "weather", {"city": "Oslo"}), gate) is None
    assert split_list_call(ToolCall("1", "weather", {"city": ["Oslo"]}), gate) is None
