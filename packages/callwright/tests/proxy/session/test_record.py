from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from callwright.agent.safety.held_call import HeldCall
from callwright.nouns.errors import Violation
from callwright.nouns.types import Edit, ToolCall
from callwright.proxy.session.answers.sse import json_bytes
from callwright.proxy.session.guarding import Guarding
from callwright.proxy.session.record import Led, Record


def test_a_record_is_json() -> None:
    record = Record("1", "/x", raw="a", parsed=(ToolCall("c", "t", {"a": 1}),))
    record.edits.append(Edit("/0/name", "T", "t", "case"))
    made = json.loads(json.dumps(record.to_dict()))
    assert made["edits"] == [{"path": "/0/name", "before": "T", "after": "t", "rule": "case"}]
    assert record.shortened(100) == record


def test_long_texts_are_shortened_and_say_so() -> None:
    call = ToolCall("c", "t", {"file": "x" * 8_000_000, "short": "y"})
    made = Record("1", "/x", raw="a" * 4_000_000, parsed=(call,), sent=(call,)).shortened(1_000)
    assert made.raw == "a" * 1_000 + "… (4,000,000 characters)"
    assert made.parsed[0].arguments == {
        "file": "x" * 1_000 + "… (8,000,000 characters)",
        "short": "y",
    }


@st.composite
def records(draw: st.DrawFn) -> Record:
    text = st.text(max_size=99)
    leaves = st.none() | st.booleans() | st.integers() | st.floats() | text
    value = st.recursive(
        leaves,
        lambda v: st.lists(v, max_size=5) | st.dictionaries(text, v, max_size=5),
        max_leaves=9,
    )
    calls = st.lists(
        st.builds(ToolCall, text, text, st.dictionaries(text, value, max_size=3)), max_size=5
    ).map(tuple)
    made = Record(draw(text), draw(text), raw=draw(text), parsed=draw(calls), sent=draw(calls))
    made.edits = draw(st.lists(st.builds(Edit, text, value, value, text), max_size=5))
    kinds = st.just("type")
    made.violations = draw(
        st.lists(st.builds(Violation, kinds, text, text, text, value, value), max_size=3)
    )
    made.notes = draw(st.lists(text, max_size=5))
    made.tools = tuple(draw(st.lists(text, max_size=5)))
    steps = st.lists(text, max_size=5).map(tuple)
    made.led = draw(st.none() | st.builds(Led, st.just(("select",)), steps))
    call = st.builds(ToolCall, text, text, st.dictionaries(text, value, max_size=3))
    held = st.builds(HeldCall, call, text, text)
    made.guarding = Guarding("act", draw(st.lists(held, max_size=3)))
    return made


@settings(max_examples=25)
@given(records())
def test_what_is_kept_of_any_request_is_bounded(record: Record) -> None:
    made = json_bytes(record.shortened(50).to_dict())
    assert len(made) < 20_000
    assert json_bytes(record.shortened(1_000_000).to_dict()) == json_bytes(record.to_dict())


@pytest.mark.parametrize(
    "value",
    [
        list(range(1_000_000)),
        {str(n): n for n in range(100_000)},
        [[]] * 100_000,
        10**5_000,
        "\x00" * 1_000_000,
    ],
    ids=["list", "object", "empty lists", "integer", "control characters"],
)
def test_many_small_values_are_bounded_too(value: Any) -> None:
    record = Record("1", "/x", parsed=(ToolCall("c", "t", {"a": value}),))
    assert len(json_bytes(record.shortened(1_000).to_dict())) < 50_000


def test_a_nest_of_any_depth_is_bounded() -> None:
    nest: Any = []
    for _ in range(100_000):
        nest = [nest]
    made = Record("1", "/x", parsed=(ToolCall("c", "t", {"a": nest}),)).shortened(1_000)
    assert len(json_bytes(made.to_dict())) < 1_000
    while nest:
        nest = nest.pop()  # one level at a time: the interpreter's own way down is recursive


def test_headers_say_only_what_is_known() -> None:
    assert Record("7", "/x").marks() == []
    assert Record("7", "/x", tools=("t",)).marks() == [("x-callwright-request", "7")]
    marks = dict(
        Record("7", "/x", tools=("t",), outcome="edited", dialect="hermes", questions=1).marks()
    )
    assert marks["x-callwright-outcome"] == "edited"
    assert marks["x-callwright-questions"] == "1"


def test_the_headers_name_the_guard_and_the_parts_of_guided_mode_that_led() -> None:
    call = ToolCall("a", "t", {})
    record = Record("1", "/x", tools=("t",), outcome="edited")
    assert not [name for name, _ in record.marks() if name == "x-callwright-guard"]
    record.guarding = Guarding(
        "act",
        [HeldCall(call, "repeated_write", "x"), HeldCall(call, "loop", "x", is_sent=True)],
    )
    record.led = Led(("select", "answer"))
    told = dict(record.marks())
    assert told["x-callwright-guard"] == "act"
    assert told["x-callwright-held"] == "1"
    assert told["x-callwright-guided"] == "select, answer"
    record.outcome = "passed"  # a stream has begun, and it is not known yet what becomes of it
    assert dict(record.marks()).keys() == {
        "x-callwright-request",
        "x-callwright-guard",
        "x-callwright-guided",
    }


def test_what_the_engine_did_is_json_and_holds_no_secret() -> None:
    held = HeldCall(ToolCall("a", "t", {"key": "s3cret-s3cret"}), "repeated_write", "s3cret-s3cret")
    record = Record("1", "/x", led=Led(("select",), ("chosen: s3cret-s3cret",)))
    record.guarding.held.append(held)
    assert "s3cret" not in json.dumps(record.shortened(100, ["s3cret-s3cret"]).to_dict())
    assert json.loads(json.dumps(record.to_dict()))["led"]["parts"] == ["select"]
