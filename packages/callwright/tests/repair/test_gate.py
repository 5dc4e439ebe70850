from __future__ import annotations

import ast
import copy
import json
import pickle
from collections.abc import Callable
from dataclasses import FrozenInstanceError, replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import callwright
from callwright.nouns.types import (
    CheckedCall,
    Edit,
    Json,
    JsonObject,
    Tool,
    ToolCall,
    to_canonical_json,
)
from callwright.repair import gate as gate_module
from callwright.repair.draft import Draft
from callwright.repair.gate import Gate, Refusal, take_arguments, verify_seal
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
def test_the_gate_accepts_what_its_check_lets_through_without_an_edit(case: dict[str, Any]) -> None:
    gate = Gate([Tool("t", input_schema=case["schema"])])
    call = ToolCall("c1", "t", case["arguments"])
    checked = gate.check(call)
    assert gate.accepts(call) == (isinstance(checked, CheckedCall) and not checked.edits)
    assert not gate.accepts(replace(call, tool="other"))


def test_arguments_that_json_cannot_say_are_not_accepted() -> None:
    gate = Gate([Tool("t", input_schema={})])
    assert gate.accepts(ToolCall("c1", "t", {"n": 2**70}))
    assert not gate.accepts(ToolCall("c1", "t", {"n": object()}))  # type: ignore[dict-item]


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


def checked(**arguments: Any) -> CheckedCall:
    verdict = check({"city": "Oslo", **arguments})
    assert isinstance(verdict, CheckedCall)
    return verdict


def test_a_checked_call_does_not_become_another_one() -> None:
    one = checked(days=3)
    for changes in ({"arguments": {"city": 5}}, {"tool": Tool("wipe")}, {"edits": ()}, {}):
        with pytest.raises(TypeError, match="gate"):
            replace(one, **changes)
    with pytest.raises(FrozenInstanceError):
        one.arguments = {}  # type: ignore[misc]
    for copied in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(TypeError, match="the gate makes another one"):
            copied(one)
    with pytest.raises(TypeError, match="subclass"):
        type("Forged", (CheckedCall,), {})
    with pytest.raises(TypeError, match="gate"):
        verify_seal(object.__new__(CheckedCall))


@pytest.mark.parametrize(
    ("name", "value"), [("arguments", {"city": 5}), ("tool", Tool("wipe")), ("id", "c2")]
)
def test_a_field_that_was_set_behind_its_back_breaks_the_seal(name: str, value: Any) -> None:
    one = checked()
    verify_seal(one)
    object.__setattr__(one, name, value)
    with pytest.raises(TypeError, match="gate"):
        verify_seal(one)


def change_value(arguments: Any) -> None:
    arguments["city"] = "Rome"


def change_inside(arguments: Any) -> None:
    arguments["where"][0]["to"] = "Rome"


def change_type(arguments: Any) -> None:
    arguments["n"] = 1.0


def change_order(arguments: Any) -> None:
    arguments["city"] = arguments.pop("city")


OPEN = {"type": "object", "properties": {"city": {}, "where": {}, "n": {}}}


CHANGES = (change_value, change_inside, change_type)
STRANGE = (2**70, "\ud800")  # what one JSON writer does not know; there the order is not sealed


@pytest.mark.parametrize(
    ("change", "extra"),
    [(change_order, None), *((change, e) for change in CHANGES for e in (None, *STRANGE))],
)
def test_arguments_that_were_changed_afterwards_are_noticed(
    change: Callable[[Any], None], extra: Json
) -> None:
    own = {"city": "Oslo", "where": [{"to": "Bergen"}], "n": 1, "extra": extra}
    schema = {**OPEN, "properties": {**OPEN["properties"], "extra": {}}}
    verdict = check(own, schema)
    assert isinstance(verdict, CheckedCall)
    assert take_arguments(verdict) == own
    change(own)
    with pytest.raises(TypeError, match="were changed after the gate checked them"):
        verify_seal(verdict)


def test_what_is_taken_is_the_takers_own() -> None:
    own = {"city": "Oslo", "where": [{"to": "Bergen"}], "n": None}
    verdict = check(own, OPEN)
    assert isinstance(verdict, CheckedCall)
    taken = take_arguments(verdict)
    assert (taken, list(taken)) == (own, list(own))
    change_inside(taken)
    change_value(taken)
    assert verdict.arguments == {"city": "Oslo", "where": [{"to": "Bergen"}], "n": None}
    verify_seal(verdict)


def test_a_draft_that_claims_to_be_right_is_checked_all_the_same() -> None:
    call = ToolCall("c1", "weather", {"city": 5})
    forged = Draft(0, call, is_right=True)
    assert isinstance(Gate([WEATHER]).judge(forged), CheckedCall | Refusal)
    assert forged.call.arguments == {"city": "5"}


def test_edits_that_were_made_before_are_listed_first() -> None:
    before = (Edit("", "x", {}, "repair_model"),)
    for arguments in ({"city": "Oslo"}, {"city": "Oslo", "days": "3"}, {"days": "3"}):
        call = ToolCall("c1", "weather", arguments)
        alone, verdict = check(arguments), Gate([WEATHER]).judge(Draft(0, call), None, before)
        assert type(verdict) is type(alone)
        assert verdict.edits == (*before, *alone.edits)


def test_no_other_module_makes_a_checked_call() -> None:
    own, root = Path(str(gate_module.__file__)), Path(str(callwright.__file__)).parent
    for path in sorted(root.rglob("*.py")):
        if path == own:
            continue
        text = path.read_text(encoding="utf-8")
        assert "__new__(CheckedCall" not in text, path
        assert "_SEAL" not in text or path.name == "clear.py", path
        if "CheckedCall" not in text:
            continue
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("CheckedCall"):
                raise AssertionError(f"{path}:{node.lineno} makes a CheckedCall")


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


def test_a_refusal_keeps_what_was_said_and_what_was_repaired() -> None:
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
