"""A reflection before the repaired call: what is asked, what is read, and that the gate still has the last word."""

from __future__ import annotations

import json
from typing import Any

import pytest

from callwright.errors import Failure
from callwright.gate import Gate, Refusal, Sources, diagnose, repair_failure, repair_refusal
from callwright.gate.reflection import Reflecting, Reflection, Tried, reflection_schema
from callwright.types import CheckedCall, Reply, Tool, ToolCall, ToolResult

WEATHER = Tool(
    "weather",
    "The weather at a station.",
    {
        "type": "object",
        "properties": {"station": {"type": "string", "description": "A code."}},
        "required": ["station"],
        "additionalProperties": False,
    },
)
QUERY = "Weather at the airport of Oslo (OSL, also ENGM)?"
NO = "this code is not understood here: give the longer one"
SAID: dict[str, Any] = {
    "analysis": "the station has too short a code",
    "strategy": "I take the longer one of the request.",
    "tool_calls": [{"name": "weather", "arguments": {"station": "ENGM"}}],
}


def failed(asks: Reflecting, reply: str) -> tuple[Any, CheckedCall | Refusal]:
    gate = Gate([WEATHER])
    call = gate.check(ToolCall("r1", "weather", {"station": "OSL"}))
    assert isinstance(call, CheckedCall)
    result = ToolResult("r1", "weather", call.arguments, failure=Failure("tool_error", NO))
    dialogue = repair_failure(call, result, diagnose(result, WEATHER), gate, Sources(QUERY), lambda: True, asks=asks)
    return ended(dialogue, reply)


def ended(dialogue: Any, reply: str) -> tuple[Any, Any]:
    asked = next(dialogue)
    try:
        dialogue.send(Reply(reply))
    except StopIteration as stop:
        return asked, stop.value
    raise AssertionError("it asked again")


def test_the_reflection_comes_before_the_call_in_the_schema_and_in_the_reply() -> None:
    schema = reflection_schema(WEATHER)
    assert schema is not None
    assert list(schema["properties"]) == schema["required"] == ["analysis", "strategy", "tool_calls"]
    asks = Reflecting()
    asked, mended = failed(asks, json.dumps(SAID))
    assert (asked.purpose, asked.schema) == ("reflect", schema)
    assert isinstance(mended, CheckedCall)
    assert mended.arguments == {"station": "ENGM"}
    assert [e.rule for e in mended.edits] == ["repair_model"]
    assert asks.said == [Reflection(SAID["analysis"], SAID["strategy"], mended.arguments)]
    assert asks.said[0].text == f"{SAID['analysis']} {SAID['strategy']}"


def test_the_question_shows_documentation_request_feedback_and_what_was_tried() -> None:
    asked, _ = failed(Reflecting((Tried({"station": "OS"}, "too short"),)), json.dumps(SAID))
    text = asked.messages[-1].content
    for part in ("A code.", QUERY, NO, '{"station":"OS"} -> too short'):
        assert part in text
    assert "(nothing)" in failed(Reflecting(), "no")[0].messages[-1].content


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        ("I do not know.", Reflection("", "", None)),
        ('{"analysis": "a", "strategy": "s", "tool_calls": []}', Reflection("a", "s", None)),
        ('{"analysis": 7, "tool_calls": [{"name": "other", "arguments": {}}]}', Reflection("", "", None)),
        ("[]", Reflection("", "", None)),
        (json.dumps(SAID)[:-12], Reflection(SAID["analysis"], SAID["strategy"], None)),
    ],
)
def test_a_reply_without_a_call_mends_nothing_and_what_it_thought_is_kept(reply: str, said: Reflection) -> None:
    asks = Reflecting()
    _, outcome = failed(asks, reply)
    assert isinstance(outcome, Refusal)
    assert asks.said == [said]


def test_what_the_gate_refuses_is_refused_after_a_reflection_as_well() -> None:
    gate, asks = Gate([WEATHER]), Reflecting()
    refusal = gate.check(ToolCall("r1", "weather", {}))
    assert isinstance(refusal, Refusal)
    again = {**SAID, "tool_calls": [{"name": "weather", "arguments": {}}]}
    _, outcome = ended(repair_refusal(refusal, gate, Sources(QUERY), lambda: True, asks=asks), json.dumps(again))
    assert isinstance(outcome, Refusal)
    assert asks.said[0].arguments == {}


def test_without_budget_nothing_is_asked() -> None:
    gate, asks = Gate([WEATHER]), Reflecting()
    refusal = gate.check(ToolCall("r1", "weather", {}))
    assert isinstance(refusal, Refusal)
    with pytest.raises(StopIteration) as stop:
        next(repair_refusal(refusal, gate, Sources(QUERY), lambda: False, asks=asks))
    assert stop.value.value is refusal
    assert asks.said == []
