"""Replies in every form that clients have them."""

from __future__ import annotations

import pytest

from callwright.errors import ConfigError
from callwright.refine.reading import read
from callwright.types import Tool, ToolCall

TOOLS = [Tool("f", "", {"type": "object", "properties": {"a": {"type": "integer"}}})]
CALL = {"id": "x", "type": "function", "function": {"name": "f", "arguments": '{"a": 1}'}}


def test_a_text_is_parsed() -> None:
    found = read('Sure. <tool_call>{"name": "f", "arguments": {"a": 1}}</tool_call>', TOOLS)
    assert [(c.tool, c.arguments) for c in found.calls] == [("f", {"a": 1})]
    assert found.text.strip() == "Sure."


@pytest.mark.parametrize(
    "message",
    [
        {"role": "assistant", "content": "hi", "tool_calls": [CALL]},
        {"choices": [{"message": {"content": "hi", "tool_calls": [CALL]}}]},
        {
            "content": [
                {"type": "text", "text": "hi"},
                {"type": "tool_use", "id": "x", "name": "f", "input": {"a": 1}},
            ]
        },
    ],
)
def test_messages_keep_their_text_and_calls(message: dict[str, object]) -> None:
    found = read(message, TOOLS)
    assert found.text == "hi"
    assert found.dialect == "native"
    assert [c.tool for c in found.calls] == ["f"]


def test_a_message_without_calls_has_its_text_read() -> None:
    found = read({"content": '```json\n{"name": "f", "arguments": {"a": 1}}\n```', "tool_calls": None}, TOOLS)
    assert [c.arguments for c in found.calls] == [{"a": 1}]


def test_calls_stay_the_objects_they_are() -> None:
    call = ToolCall("1", "f", {"a": 1})
    assert read([call], TOOLS).calls[0] is call


@pytest.mark.parametrize("bad", [5, [5], [{"no": "name"}], None])
def test_other_things_are_refused_with_what_would_do(bad: object) -> None:
    with pytest.raises(ConfigError):
        read(bad, TOOLS)  # type: ignore[arg-type]
