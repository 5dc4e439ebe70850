from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright.nouns.types import CheckedCall, Json, JsonObject, Tool, ToolCall, to_canonical_json
from callwright.repair.gate import Gate, Refusal
from callwright.repair.provenance.sources import ProvenanceIndex
from tests.places import SUITE

CASES = SUITE / "gate"
CASES = [
    case
    for file in sorted(CASES.glob("*.json"))
    for case in json.loads(file.read_text(encoding="utf-8"))
]
WEATHER = Tool(
    "weather",
    "The weather.",
    {
        "type": "object",
        "properties": {
            "city": {"type": "string", "description": "Where."},
            "days": {"type": "integer"},
            "units": {"enum": ["metric", "imperial"]},
        },
        "required": ["city"],
    },
)


def check(arguments: Any, schema: JsonObject | None = None) -> CheckedCall | Refusal:
    tool = WEATHER if schema is None else Tool("t", input_schema=schema)
    return Gate([tool]).check(ToolCall("c1", tool.name, arguments, "slot"))


@pytest.mark.parametrize("case", CASES, ids=lambda c: c["name"])
def test_the_language_neutral_cases_are_decided_as_they_say(case: dict[str, Any]) -> None:
    before = to_canonical_json(case["arguments"])
    verdict = check(case["arguments"], case["schema"])
    assert to_canonical_json(case["arguments"]) == before, (
        "the gate changed the caller's own object"
    )
    assert isinstance(verdict, CheckedCall) is case["accepted"]
    if isinstance(verdict, Refusal):
        assert [[v.path, v.keyword] for v in verdict.violations] == case["violations"]
    else:
        assert verdict.arguments == case["after"]
        assert [e.rule for e in verdict.edits] == case["rules"]


def test_a_right_call_passes_as_the_very_object_it_is() -> None:
    arguments = {"city": "Oslo", "days": 3}
    verdict = check(arguments)
    assert isinstance(verdict, CheckedCall)
    assert verdict.arguments is arguments
    assert (verdict.id, verdict.slot, verdict.edits, verdict.warnings) == ("c1", "slot", (), ())
    assert verdict.tool is WEATHER


def test_nobody_else_can_make_a_checked_call() -> None:
    with pytest.raises(TypeError, match="gate"):
        CheckedCall("c", WEATHER, {})


def test_an_unknown_tool_is_refused_with_the_nearest_name() -> None:
    verdict = Gate([WEATHER]).check(ToolCall("c", "wether", {}))
    assert isinstance(verdict, Refusal)
    assert verdict.tool is None
    assert verdict.violations[0].kind == "unknown_tool"
    assert "'weather'" in verdict.message


@pytest.mark.parametrize(
    "schema", [{"type": "nope"}, {"properties": 5}, {"$ref": "http://example.org/x"}]
)
def test_a_schema_that_cannot_be_used_is_no_reason_to_refuse_a_call(schema: JsonObject) -> None:
    verdict = check({}, schema)
    assert isinstance(verdict, CheckedCall)
    assert [w.kind for w in verdict.warnings] == ["unasserted"]
    assert "'t'" in verdict.warnings[0].message


def test_what_is_left_of_such_a_schema_is_asserted() -> None:
    schema = {
        "type": "object",
        "properties": {
            "user": {"type": "string", "pattern": r"^[\w-\.]+$"},
            "n": {"type": "integer"},
        },
        "required": ["user"],
    }
    right = {"user": "ann-b", "n": 3}
    verdict = check(right, schema)
    assert isinstance(verdict, CheckedCall)
    assert verdict.arguments is right
    assert "#/properties/user/pattern" in verdict.warnings[0].message
    repaired = check({"user": "ann-b", "n": "3"}, schema)
    assert isinstance(repaired, CheckedCall)
    assert repaired.arguments == right
    refused = check({"n": 3}, schema)
    assert isinstance(refused, Refusal)
    assert refused.violations[0].path == "/user"


def test_truncated_arguments_are_refused_as_such_and_never_completed() -> None:
    text = '{"city": "Oslo", "days": 3}'
    for end in range(2, len(text)):
        verdict = check(text[:end])
        assert isinstance(verdict, Refusal), text[:end]
        assert verdict.violations[0].kind == "truncated"
        assert verdict.arguments is None


def test_a_refusal_keeps_what_was_said_and_what_was_mended() -> None:
    verdict = check({"days": "3", "town": "Oslo"})
    assert isinstance(verdict, Refusal)
    assert verdict.call.arguments == {"days": "3", "town": "Oslo"}
    assert verdict.arguments == {"days": 3, "town": "Oslo"}, (
        "an unknown key may hold the missing value: it is kept"
    )
    assert [e.rule for e in verdict.edits] == ["text_to_number"]


def test_a_tool_can_be_replaced_for_one_gate_only() -> None:
    strict = Tool("weather", input_schema={**WEATHER.input_schema, "required": ["city", "days"]})
    gate = Gate([WEATHER])
    call = ToolCall("c", "weather", {"city": "Oslo"})
    assert isinstance(gate.with_tool(strict).check(call), Refusal)
    assert isinstance(gate.check(call), CheckedCall)
    assert gate.tools == (WEATHER,)


def test_sources_are_asked_only_where_they_are_given() -> None:
    tool = Tool(
        "get", input_schema={"properties": {"user_id": {"type": "string"}}, "required": ["user_id"]}
    )
    call = ToolCall("c", "get", {"user_id": "u-91"})
    assert isinstance(Gate([tool]).check(call), CheckedCall)
    refused = Gate([tool]).check(call, ProvenanceIndex("who am I?"))
    assert isinstance(refused, Refusal)
    assert refused.violations[0].kind == "ungrounded"


garbage = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(garbage | st.text(alphabet="{}[]\"':,\\ ctyi1"))
def test_no_arguments_whatsoever_make_the_gate_raise(arguments: Json) -> None:
    verdict = check(arguments)
    assert isinstance(verdict, Refusal) == bool(getattr(verdict, "violations", ()))


@given(
    st.fixed_dictionaries(
        {"city": st.text()}, optional={"days": st.integers(), "units": st.just("metric")}
    )
)
def test_every_valid_call_is_let_through_untouched(arguments: JsonObject) -> None:
    verdict = check(arguments)
    assert isinstance(verdict, CheckedCall)
    assert verdict.arguments is arguments


@given(garbage)
def test_an_accepted_call_passes_again_unchanged(arguments: Json) -> None:
    verdict = check({"city": arguments, "days": arguments})
    if isinstance(verdict, CheckedCall):
        again = check(verdict.arguments)
        assert isinstance(again, CheckedCall)
        assert again.edits == ()
        assert again.arguments == verdict.arguments


REQUIRED_ELSEWHERE = {"properties": {"query": {"type": "string"}}, "required": ["query", "account"]}


def test_a_required_key_that_is_no_property_is_asked_for() -> None:
    verdict = check({"query": "rain"}, REQUIRED_ELSEWHERE)
    assert isinstance(verdict, Refusal)
    assert [(v.path, v.keyword) for v in verdict.violations] == [("/account", "required")]


def test_a_required_key_that_is_no_property_is_neither_dropped_nor_renamed() -> None:
    verdict = check({"query": "rain", "account": "a", "more": 1}, REQUIRED_ELSEWHERE)
    assert isinstance(verdict, CheckedCall)
    assert verdict.arguments == {"query": "rain", "account": "a"}
    assert [(e.path, e.rule) for e in verdict.edits] == [("/more", "drop_unknown")]
    assert isinstance(check({"query": "rain", "account": "a"}, REQUIRED_ELSEWHERE), CheckedCall)
