from __future__ import annotations

from time import process_time
from typing import Any

from callwright.nouns.types import ToolCall
from callwright.proxy.session.answers.native import NativeCalls


def gathered(*pieces: dict[str, Any]) -> list[tuple[str, str, str, bool]]:
    calls = NativeCalls()
    for piece in pieces:
        calls.feed({"tool_calls": [piece]})
    return [(c.id, c.name, c.arguments, c.sound) for c in calls.calls]


def piece(index: Any = 0, called: str = "", name: str = "", arguments: Any = "") -> dict[str, Any]:
    made: dict[str, Any] = {"function": {"arguments": arguments}}
    if index is not None:
        made["index"] = index
    if called:
        made["id"] = called
    if name:
        made["function"]["name"] = name
    return made


def test_well_formed_deltas_are_sound() -> None:
    found = gathered(
        piece(0, "a", "f"),
        piece(0, arguments="{"),
        piece(0, arguments="}"),
        piece(1, "b", "g", "{}"),
    )
    assert found == [("a", "f", "{}", True), ("b", "g", "{}", True)]


def test_an_index_used_again_begins_a_new_call() -> None:
    assert gathered(piece(0, "a", "f", "{}"), piece(0, "b", "g", "{}")) == [
        ("a", "f", "{}", True),
        ("b", "g", "{}", False),
    ]


def test_id_and_name_repeated_with_every_piece_are_read_once() -> None:
    assert gathered(piece(0, "a", "f", "{"), piece(0, "a", "f", "}")) == [("a", "f", "{}", True)]


def test_arguments_that_are_an_object_become_its_text() -> None:
    assert gathered(piece(0, "a", "f", {"x": 1})) == [("a", "f", '{"x":1}', False)]


def test_whole_calls_without_or_with_the_same_id_are_not_sound() -> None:
    calls = NativeCalls()
    function = {"name": "f", "arguments": "{}"}
    entries = [
        {"id": "a", "function": function},
        {"id": "a", "function": function},
        {"function": function},
        3,
    ]
    calls.add_message({"tool_calls": entries})
    assert [c.sound for c in calls.calls] == [True, False, False]


def test_a_call_of_the_older_form_counts_where_no_other_says_the_same() -> None:
    function = {"name": "f", "arguments": "{}"}
    for message, found in (
        ({"function_call": function}, [("f", "{}", False)]),
        (
            {
                "function_call": {**function, "arguments": " { }"},
                "tool_calls": [{"id": "a", "function": function}],
            },
            [("f", "{}", True)],
        ),
        (
            {
                "function_call": function,
                "tool_calls": [{"id": "a", "function": {**function, "name": "g"}}],
            },
            [("g", "{}", True), ("f", "{}", False)],
        ),
        ({"function_call": None}, []),
        ({"function_call": {"arguments": "{}"}}, []),
    ):
        calls = NativeCalls()
        calls.add_message(message)
        assert [(c.name, c.arguments, c.sound) for c in calls.calls] == found
    calls = NativeCalls()
    assert not calls.feed({"content": "Hi"})
    assert calls.feed({"function_call": {"name": "f", "arguments": ""}})
    assert calls.feed({"function_call": {"arguments": "{"}})
    calls.feed({"function_call": {"arguments": "}"}})
    assert [(c.name, c.arguments) for c in calls.calls] == [("f", "{}")]


def test_the_calls_are_not_walked_through_with_every_piece() -> None:
    calls = NativeCalls()
    for n in range(1_500):
        calls.feed({"tool_calls": [piece(n, f"c{n}", "f")]})
    began = process_time()
    for _ in range(8_000):
        assert calls.feed({"tool_calls": [piece(1_499, arguments=" ")]})
    assert process_time() - began < 1.0
    assert len(calls.calls) == 1_500


def test_entries_that_are_no_calls_move_none_of_the_others() -> None:
    entries = [3, {"id": "x"}, {"id": "a", "function": {"name": "f", "arguments": "{}"}}]
    calls = NativeCalls()
    calls.add_message({"tool_calls": entries})
    assert calls.entries == [entries[2]]
    assert [c.id for c in calls.calls] == ["a"]


def test_text_as_it_is_is_an_argument() -> None:
    calls = NativeCalls()
    first = {"index": 0, "id": "k", "type": "custom", "custom": {"name": "patch", "input": '{"a'}}
    calls.feed({"tool_calls": [first]})
    calls.feed({"tool_calls": [{"index": 0, "custom": {"input": '": 1}'}}]})
    (made,) = calls.calls
    assert made.sound
    assert made.call() == ToolCall("k", "patch", {"input": '{"a": 1}'})
    assert made.render()["custom"] == {"name": "patch", "input": '{"a": 1}'}
