"""Replies in every form that clients have them."""

from __future__ import annotations

import pytest

from callwright.nouns.errors import ConfigError
from callwright.nouns.types import Tool, ToolCall
from callwright.repair.reading import read_source

TOOLS = [Tool("f", "", {"type": "object", "properties": {"a": {"type": "integer"}}})]
CALL = {"id": "x", "type": "function", "function": {"name": "f", "arguments": '{"a": 1}'}}


def test_a_text_is_parsed() -> None:
    found = read_source('Sure. <tool_call>{"name": "f", "arguments": {"a": 1}}</tool_call>', TOOLS)
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
        {"content": "hi", "function_call": {"name": "f", "arguments": "{}"}},
        {"candidates": [{"content": {"parts": [{"text": "hi"}, {"functionCall": {"name": "f"}}]}}]},
        {
            "candidates": [
                {
                    "content": {
                        "parts": [
                            {"text": "Which one?", "thought": True, "function_call": None},
                            {"text": "hi", "thought": None, "function_call": None},
                            {"text": None, "function_call": {"name": "f", "args": {"a": 1}}},
                        ]
                    }
                }
            ]
        },
        {
            "output": {
                "message": {
                    "role": "assistant",
                    "content": [
                        {"text": "hi"},
                        {"toolUse": {"toolUseId": "x", "name": "f", "input": {"a": 1}}},
                    ],
                }
            },
            "stopReason": "tool_use",
        },
    ],
)
def test_messages_keep_their_text_and_calls(message: dict[str, object]) -> None:
    found = read_source(message, TOOLS)
    assert found.text == "hi"
    assert found.dialect == "native"
    assert [c.tool for c in found.calls] == ["f"]


@pytest.mark.parametrize(
    "call",
    [
        CALL,
        {"name": "f", "arguments": {"a": 1}},
        {"type": "tool_use", "id": "x", "name": "f", "input": {"a": 1}},
        {
            "type": "function_call",
            "id": "fc_1",
            "call_id": "x",
            "name": "f",
            "arguments": '{"a": 1}',
        },
        {
            "output": [
                {"type": "reasoning", "summary": []},
                {"type": "function_call", "call_id": "x", "name": "f"},
            ]
        },
        {"function_call": {"name": "f", "arguments": "{}"}},
        {"functionCall": {"name": "f", "args": {"a": 1}}},
        {"functionCall": {"id": "x", "name": "f", "args": {"a": 1}}},
        {"toolUse": {"toolUseId": "x", "name": "f", "input": {"a": 1}}},
        {"role": "model", "parts": [{"functionCall": {"name": "f", "args": {"a": 1}}}]},
    ],
)
def test_one_call_is_read_in_the_form_of_any_provider(call: dict[str, object]) -> None:
    found = read_source(call, TOOLS)
    assert [(c.tool, c.id in ("x", "call_1")) for c in found.calls] == [("f", True)]
    assert found.dialect == "native"


def test_the_text_of_a_responses_answer_is_kept_beside_its_calls() -> None:
    text = {"type": "message", "content": [{"type": "output_text", "text": "hi"}]}
    found = read_source(
        {"output": [text, {"type": "function_call", "name": "f", "arguments": "{}"}]}, TOOLS
    )
    assert (found.text, [c.tool for c in found.calls]) == ("hi", ["f"])


def test_a_message_without_calls_has_its_text_read() -> None:
    found = read_source(
        {"content": '```json\n{"name": "f", "arguments": {"a": 1}}\n```', "tool_calls": None}, TOOLS
    )
    assert [c.arguments for c in found.calls] == [{"a": 1}]


def test_a_call_has_the_id_that_its_api_gave_it() -> None:
    calls = [
        {"functionCall": {"id": "g", "name": "f"}},
        {"toolUse": {"toolUseId": "b", "name": "f"}},
    ]
    assert [call.id for call in read_source(calls, TOOLS).calls] == ["g", "b"]


@pytest.mark.parametrize(
    "empty",
    [
        {"role": "assistant", "content": None},
        {"role": "assistant"},
        {"content": []},
        {"tool_calls": []},
        {"choices": []},
        {"choices": [{"message": None, "finish_reason": "content_filter"}]},
        {"candidates": [{"finishReason": "SAFETY"}]},
        {"output": {"message": {"role": "assistant", "content": []}}},
    ],
)
def test_a_reply_that_says_nothing_has_no_calls(empty: dict[str, object]) -> None:
    found = read_source(empty, TOOLS)
    assert (found.calls, found.text) == ((), "")


@pytest.mark.parametrize("other", [{}, {"foo": 1}, {"error": {"message": "overloaded"}}])
def test_an_object_that_is_no_reply_is_refused_with_the_known_forms(
    other: dict[str, object],
) -> None:
    with pytest.raises(ConfigError, match="no call in this and no text") as raised:
        read_source(other, TOOLS)
    assert "candidates" in str(raised.value.hint)


def test_calls_stay_the_objects_they_are() -> None:
    call = ToolCall("1", "f", {"a": 1})
    assert read_source([call], TOOLS).calls[0] is call


@pytest.mark.parametrize("bad", [5, [5], [{"no": "name"}], None])
def test_other_things_are_refused_with_what_would_do(bad: object) -> None:
    with pytest.raises(ConfigError):
        read_source(bad, TOOLS)  # type: ignore[arg-type]
