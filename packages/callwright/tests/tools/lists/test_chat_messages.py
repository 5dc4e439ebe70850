from __future__ import annotations

from typing import Any

from callwright.nouns.types import ToolCall
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
