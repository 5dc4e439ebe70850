from __future__ import annotations

from types import MappingProxyType
from typing import Any

import pytest

from callwright.nouns.errors import ConfigError
from callwright.nouns.types import Message, ToolCall
from callwright.tools.lists import chat_messages as chat


def test_tools_that_cannot_be_read_are_noted_and_the_first_of_a_name_counts() -> None:
    tool = {"type": "function", "function": {"name": "a", "description": "1"}}
    found = chat.read_tools(
        [
            tool,
            {"type": "function", "function": {"name": "a", "description": "2"}},
            {"type": "web_search"},
        ]
    )
    assert [(t.name, t.description) for t in found.tools] == [("a", "1")]
    assert found.opaque
    assert chat.read_tools(None) == chat.OfferedTools()


def test_tool_choice_is_read_in_every_spelling() -> None:
    named = {"type": "function", "function": {"name": "a"}}
    given = [None, "none", "required", "any", "auto", named, {"type": "function", "name": "a"}, 3]
    found = [chat.read_tool_choice({"tool_choice": c}) for c in given]
    assert found == [
        ("auto", ""), ("none", ""), ("required", ""), ("required", ""), ("auto", ""),
        ("named", "a"), ("named", "a"), ("auto", ""),
    ]  # fmt: skip


def test_only_the_allowed_tools_may_be_called_where_a_request_lists_them() -> None:
    entries = [{"type": "function", "function": {"name": name}} for name in "ab"]
    listed: list[tuple[Any, list[Any]]] = [
        ({"allowed_tools": {"mode": "required", "tools": entries[1:]}}, entries[1:]),
        ({"mode": "required", "tools": [{"type": "function", "name": "b"}]}, entries[1:]),
        ({"allowed_tools": {"mode": "required", "tools": [{"name": "c"}, 3]}}, entries),
    ]
    for choice, expected in listed:
        body = {"tools": entries, "tool_choice": {"type": "allowed_tools", **choice}}
        assert chat.read_allowed_tools(body) == expected
        assert chat.read_tool_choice(body) == ("required", "")
    assert chat.read_allowed_tools({"tools": entries, "tool_choice": "auto"}) == entries
    assert chat.read_allowed_tools({}) == []
    strange = {"type": "allowed_tools", "allowed_tools": 3}
    assert chat.read_tool_choice({"tool_choice": strange}) == ("auto", "")


def test_messages_are_read_and_strange_ones_left_out() -> None:
    call = {"id": "1", "function": {"name": "t", "arguments": "{}"}}
    found = chat.read_messages(
        {
            "messages": [
                {
                    "role": "developer",
                    "content": [{"type": "text", "text": "a"}, {"type": "image_url"}],
                },
                {"role": "assistant", "content": None, "tool_calls": [call, 3]},
                {"role": "tool", "tool_call_id": "1", "content": "r"},
                {"role": "robot"},
                7,
            ]
        }
    )
    assert [(m.role, m.content) for m in found] == [
        ("system", "a"),
        ("assistant", ""),
        ("tool", "r"),
    ]
    assert found[1].tool_calls == (ToolCall("1", "t", "{}"),)
    assert found[2].tool_call_id == "1"


def test_a_conversation_is_read_in_both_forms_and_messages_stay_what_they_are() -> None:
    own = Message("system", "Be brief.")
    chat_form: list[Any] = [
        own,
        {"role": "user", "content": "a?"},
        {
            "role": "assistant",
            "tool_calls": [{"id": "1", "function": {"name": "t", "arguments": "{}"}}],
        },
        {"role": "tool", "tool_call_id": "1", "content": "r"},
        {"role": "user", "content": "b?"},
    ]
    blocks_form: list[Any] = [
        own,
        {"role": "user", "content": [{"type": "text", "text": "a?"}]},
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "hm"},
                {"type": "tool_use", "id": "1", "name": "t", "input": {}},
            ],
        },
        {
            "role": "user",
            "content": [
                {
                    "type": "tool_result",
                    "tool_use_id": "1",
                    "content": [{"type": "text", "text": "r"}],
                }
            ],
        },
        {"role": "user", "content": [{"type": "text", "text": "b?"}]},
    ]
    read = chat.messages_from_wire(blocks_form)
    assert read[0] is own
    assert read == (
        own,
        Message("user", "a?"),
        Message("assistant", "", (ToolCall("1", "t", {}),)),
        Message("tool", "r", tool_call_id="1"),
        Message("user", "b?"),
    )
    assert [(m.role, m.content, m.tool_call_id) for m in chat.messages_from_wire(chat_form)] == [
        (m.role, m.content, m.tool_call_id) for m in read
    ]


def test_results_come_before_what_the_user_says_with_them() -> None:
    result = {"type": "tool_result", "tool_use_id": "1", "content": "r"}
    said = {"type": "text", "text": "and now?"}
    read = chat.messages_from_wire([MappingProxyType({"role": "user", "content": [result, said]})])
    assert [(m.role, m.content) for m in read] == [("tool", "r"), ("user", "and now?")]


@pytest.mark.parametrize("other", ["hello", {"content": "x"}, {"role": "robot"}, None, 7])
def test_what_is_no_message_is_refused_by_its_place(other: Any) -> None:
    with pytest.raises(ConfigError, match="message 1 is of no known form"):
        chat.messages_from_wire([Message("user", "a"), other])


@pytest.mark.parametrize("other", [None, 7, "hello", {"role": "user", "content": "hello"}])
def test_what_is_no_list_of_messages_is_refused(other: Any) -> None:
    with pytest.raises(ConfigError, match="must be a list of messages"):
        chat.messages_from_wire(other)


def test_calls_are_written_as_the_apis_have_them_and_read_back() -> None:
    calls = (ToolCall("1", "t", {"a": "ü"}), ToolCall("2", "u", '{"b": 1}'))
    written = chat.calls_to_wire(calls)
    assert written[0] == {
        "id": "1",
        "type": "function",
        "function": {"name": "t", "arguments": '{"a": "ü"}'},
    }
    assert [c.tool for c in chat.read_calls(written)] == ["t", "u"]
    blocks = chat.calls_to_wire(calls, api="anthropic")
    assert blocks[1] == {"type": "tool_use", "id": "2", "name": "u", "input": {"b": 1}}
    (read,) = chat.messages_from_wire([{"role": "assistant", "content": blocks}])
    assert [(c.id, c.tool, c.arguments) for c in read.tool_calls] == [
        ("1", "t", {"a": "ü"}),
        ("2", "u", {"b": 1}),
    ]


def test_arguments_that_are_no_object_are_written_without_a_loss() -> None:
    cut = ToolCall("1", "t", '{"a": ')
    assert chat.calls_to_wire([cut])[0]["function"]["arguments"] == '{"a": '
    (block,) = chat.calls_to_wire([cut], api="anthropic")
    assert block["input"] == {"_unreadable": '{"a": '}


def test_an_unknown_api_is_refused_with_the_known_ones() -> None:
    with pytest.raises(ConfigError, match="'cohere'") as raised:
        chat.calls_to_wire([], api="cohere")  # type: ignore[arg-type]
    assert "anthropic" in str(raised.value.hint)


def test_a_call_is_two_deltas_with_one_index() -> None:
    first, second = chat.call_deltas(ToolCall("i", "t", {}), "{}", 3)
    assert first["index"] == second["index"] == 3
    assert (first["id"], first["function"]["name"]) == ("i", "t")
    assert second["function"] == {"arguments": "{}"}


def test_only_one_choice_is_understood() -> None:
    assert chat.only_choice({"choices": [{"index": 0, "a": 1}]}) == {"index": 0, "a": 1}
    for document in (
        {},
        {"choices": []},
        {"choices": [{}, {}]},
        {"choices": [{"index": 1}]},
        {"choices": "x"},
    ):
        assert chat.only_choice(document) is None


def test_text_that_a_tool_takes_as_it_is_is_an_argument() -> None:
    entries: list[Any] = [
        {"id": "k1", "type": "custom", "custom": {"name": "run", "input": '{"a": 1}'}},
        {"id": "k2", "type": "custom", "custom": {"name": "run"}},
        {"type": "custom", "custom": None},
    ]
    assert chat.read_calls(entries) == (
        ToolCall("k1", "run", {"input": '{"a": 1}'}),
        ToolCall("k2", "run", {"input": ""}),
    )
    chosen = {"tool_choice": {"type": "custom", "custom": {"name": "run"}}}
    assert chat.read_tool_choice(chosen) == ("named", "run")
