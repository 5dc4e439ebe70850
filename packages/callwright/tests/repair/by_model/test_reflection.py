"""A reflection before the repaired call: what is asked, what is read, and that the gate still has
the last word.
"""

from __future__ import annotations

import json
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright.models.grammar import reduce_schema
from callwright.nouns.errors import Failure, Violation
from callwright.nouns.types import READ, CheckedCall, Reply, Tool, ToolCall, ToolResult
from callwright.repair.by_model.question import (
    Asks,
    FailedCall,
    QuestionContext,
    Watcher,
    check_call,
)
from callwright.repair.by_model.reflection import (
    Reflecting,
    Reflection,
    Tried,
    reflection_schema,
)
from callwright.repair.diagnose import diagnose
from callwright.repair.gate import Gate, Refusal
from callwright.repair.provenance.sources import ProvenanceIndex

WEATHER = Tool(
    "weather",
    "The weather at a station.",
    {
        "type": "object",
        "properties": {"station": {"type": "string", "description": "A code."}},
        "required": ["station"],
        "additionalProperties": False,
    },
    effects=READ,
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
    context = asking(asks, FailedCall(call, result, diagnose(result, WEATHER)))
    return ended(check_call(ToolCall("r1", "weather", call.arguments), context), reply)


class OneWay(Watcher):
    """Has a model asked in one way."""

    def __init__(self, asks: Asks) -> None:
        self.asks = asks

    def begin(self, _: Refusal) -> list[Asks]:
        return [self.asks]


def asking(
    asks: Reflecting, failed: FailedCall | None = None, granted: bool = True
) -> QuestionContext:
    gate, sources = Gate([WEATHER]), ProvenanceIndex(QUERY)
    return QuestionContext(
        gate, sources, lambda: granted, OneWay(asks), is_grounding=True, failed=failed
    )


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
    assert (
        list(schema["properties"]) == schema["required"] == ["analysis", "strategy", "tool_calls"]
    )
    asks = Reflecting()
    asked, repaired = failed(asks, json.dumps(SAID))
    assert (asked.purpose, asked.schema) == ("reflect", schema)
    assert isinstance(repaired, CheckedCall)
    assert repaired.arguments == {"station": "ENGM"}
    assert [e.rule for e in repaired.edits] == ["repair_model"]
    assert asks.said == [Reflection(SAID["analysis"], SAID["strategy"], repaired.arguments)]
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
        (
            '{"analysis": 7, "tool_calls": [{"name": "other", "arguments": {}}]}',
            Reflection("", "", None),
        ),
        ("[]", Reflection("", "", None)),
        (json.dumps(SAID)[:-12], Reflection(SAID["analysis"], SAID["strategy"], None)),
    ],
)
def test_a_reply_without_a_call_repairs_nothing_and_what_it_thought_is_kept(
    reply: str, said: Reflection
) -> None:
    asks = Reflecting()
    _, outcome = failed(asks, reply)
    assert isinstance(outcome, Refusal)
    assert asks.said == [said]


def test_what_the_gate_refuses_is_refused_after_a_reflection_as_well() -> None:
    gate, asks = Gate([WEATHER]), Reflecting()
    refusal = gate.check(ToolCall("r1", "weather", {}))
    assert isinstance(refusal, Refusal)
    again = {**SAID, "tool_calls": [{"name": "weather", "arguments": {}}]}
    _, outcome = ended(check_call(refusal.call, asking(asks)), json.dumps(again))
    assert isinstance(outcome, Refusal)
    assert asks.said[0].arguments == {}


def test_without_budget_nothing_is_asked() -> None:
    gate, asks = Gate([WEATHER]), Reflecting()
    refusal = gate.check(ToolCall("r1", "weather", {}))
    assert isinstance(refusal, Refusal)
    with pytest.raises(StopIteration) as stop:
        next(check_call(refusal.call, asking(asks, granted=False)))
    assert stop.value.value == refusal
    assert asks.said == []


def test_arguments_of_a_tool_that_has_such_parameters_are_not_taken_for_thoughts() -> None:
    names = ("analysis", "strategy")
    tool = Tool(
        "report", "", {"type": "object", "properties": {n: {"type": "string"} for n in names}}
    )
    bare = {"analysis": "sales fell", "strategy": "sell more"}
    asks = Reflecting()
    assert asks.read(Reply(json.dumps(bare)), tool) == bare
    called = {
        "analysis": "a",
        "strategy": "s",
        "tool_calls": [{"name": "report", "arguments": bare}],
    }
    assert asks.read(Reply(json.dumps(called)), tool) == bare
    assert [(said.analysis, said.arguments) for said in asks.said] == [("", bare), ("a", bare)]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["analysis", "strategy", "tool_calls", "name", "arguments", "x"]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=8,
)


@given(
    st.one_of(
        st.text(max_size=60),
        JSON.map(json.dumps),
        JSON.map(lambda v: f"Hm. ```json\n{json.dumps(v)}\n```"),
    )
)
def test_whatever_comes_back_is_a_call_or_none_and_never_an_error(text: str) -> None:
    asks = Reflecting()
    found = asks.read(Reply(text), WEATHER)
    assert isinstance(found, dict | str | Violation)
    (said,) = asks.said
    assert (said.arguments is None) == isinstance(found, Violation)


NESTED = {
    "type": "object",
    "$defs": {
        "place": {
            "type": "object",
            "properties": {"city": {"type": "string"}},
            "required": ["city"],
        }
    },
    "properties": {
        "to": {"$ref": "#/$defs/place"},
        "stops": {"type": "array", "items": {"$ref": "#/$defs/place"}},
    },
    "required": ["to"],
}


@pytest.mark.parametrize(
    ("schema", "good", "bad"),
    [
        (NESTED, {"to": {"city": "Oslo"}, "stops": [{"city": "Rome"}]}, {"to": {}}),
        ({"type": "object"}, {"anything": [1, {"a": None}]}, None),
        ({}, {"anything": "x"}, None),
        ({"type": "object", "additionalProperties": {"type": "integer"}}, {"a": 1}, {"a": "x"}),
        ({**WEATHER.input_schema, "$schema": "http://json-schema.org/draft-07/schema#"}, {"station": "x"}, {"z": 1}),
        ({"type": "object", "properties": {"analysis": {"type": "integer"}}, "required": ["analysis"]},
         {"analysis": 3}, {"analysis": "three"}),
    ],
)  # fmt: skip
def test_the_schema_holds_for_open_nested_and_served_tools_and_decoders_follow_it(
    schema: dict[str, Any], good: dict[str, Any], bad: dict[str, Any] | None
) -> None:
    tool = Tool("go", "", schema)
    made = reflection_schema(tool)
    assert made is not None
    for one in (made, reduce_schema(made)):
        check = jsonschema.Draft202012Validator(one)

        def said(arguments: Any, name: str = "go") -> dict[str, Any]:
            return {
                "analysis": "a",
                "strategy": "s",
                "tool_calls": [{"name": name, "arguments": arguments}],
            }

        assert check.is_valid(said(good))
        assert not check.is_valid(said(good, "stop"))
        assert not check.is_valid({k: v for k, v in said(good).items() if k != "analysis"})
        assert bad is None or not check.is_valid(said(bad))
    assert Reflecting().read(Reply(json.dumps(said(good))), tool) == good


def test_a_schema_whose_references_would_not_survive_is_not_held_to() -> None:
    assert (
        reflection_schema(
            Tool("go", "", {"type": "object", "properties": {"a": {"$ref": "#/properties/b"}}})
        )
        is None
    )
