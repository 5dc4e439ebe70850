"""Calls that say the same have one key."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from callwright.agent.call_key import make_call_key
from callwright.nouns.types import ToolCall, ToolResult, to_canonical_json

OBJECTS = st.dictionaries(st.text(max_size=3), st.integers() | st.text(max_size=3), max_size=4)


@given(OBJECTS)
def test_an_object_and_its_text_are_the_same_call(arguments: dict[str, int | str]) -> None:
    key = make_call_key(ToolCall("c1", "pay", arguments))
    assert make_call_key(ToolCall("c2", "pay", to_canonical_json(arguments))) == key
    assert make_call_key(ToolResult("r1", "pay", arguments, 5)) == key
    assert make_call_key(ToolCall("c1", "order", arguments)) != key
    assert make_call_key(ToolCall("c1", "pay", {**arguments, "more": 1})) != key


def test_a_text_that_is_no_json_is_the_same_as_itself_alone() -> None:
    key = make_call_key(ToolCall("c1", "pay", '{"amount": 5'))
    assert key == make_call_key(ToolCall("c2", "pay", '{"amount": 5'))
    assert key != make_call_key(ToolCall("c1", "pay", {"amount": 5}))
