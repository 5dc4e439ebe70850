from __future__ import annotations

from typing import Any

from callwright.proxy.session.answers.native import NativeCalls


def gathered(*pieces: dict[str, Any]) -> list[tuple[str, str, str, bool]]:
    calls = NativeCalls()
    for piece in pieces:
        calls.feed([piece])
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
    calls.add_message_calls(
        [
            {"id": "a", "function": function},
            {"id": "a", "function": function},
            {"function": function},
            3,
        ]
    )
    assert [c.sound for c in calls.calls] == [True, False, False]
