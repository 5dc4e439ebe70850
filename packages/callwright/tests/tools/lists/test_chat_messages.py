from __future__ import annotations

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
