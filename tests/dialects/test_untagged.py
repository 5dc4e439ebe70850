from __future__ import annotations

import pytest
from tests.dialects.reading import calls, found, one, pieces, rest

CALL = '{"name": "f", "arguments": {"a": 1}}'
F = [("f", {"a": 1})]


@pytest.mark.parametrize(
    "text",
    [
        CALL,
        '{"name": "f", "parameters": {"a": 1}}',
        '{"tool": "f", "args": {"a": 1}}',
        '{"function": {"name": "f", "arguments": {"a": 1}}}',
        '{"function": {"name": "f", "arguments": "{\\"a\\": 1}"}}',
        '{"type": "function", "name": "functions.f", "parameters": {"a": 1}}',
        '{"type": "tool_use", "id": "t1", "name": "f", "input": {"a": 1}}',
        '{"arguments": {"a": 1}, "name": "f"}',
        '{"thought": "I see", "action": "f", "action_input": {"a": 1}}',
        '{"tool_calls": [{"name": "f", "arguments": {"a": 1}}]}',
        '{"f": {"a": 1}}',
        "{'name': 'f', 'arguments': {'a': 1}}",
        f"[{CALL}]",
        f"I call {CALL} now",
    ],
)
def test_every_spelling_of_a_call_of_an_offered_tool_is_one(text: str) -> None:
    assert calls(text) == F


@pytest.mark.parametrize(
    "text",
    [
        '{"a": 1}',
        '{"name": "Ada", "arguments": {}}',
        '{"name": "f", "age": 3}',
        '{"result": {"name": "f", "arguments": {}}}',
        '[{"a": 1}, {"name": "f", "arguments": {}}]',
        '{"type": "object", "properties": {}}',
        '{"id": 1, "status": "ok"}',
        '{"arguments": {"a": 1}}',
        '{"name": {"first": "f"}}',
        '{"tools": {"name": "f"}}',
        "{}",
        "[]",
        "{ f }",
        'say `{"name": "f", "arguments": {}}` or not',
        '{"name": "f',
        '{"arguments": {"a": 1',
    ],
)
def test_other_json_is_text(text: str) -> None:
    assert rest(text) == text


def test_data_ends_where_it_closes_or_where_it_cannot_be_data() -> None:
    for data in ('{"a": "}"}', '{"a": [1, {"b": 2}]}', '{"a": "x\n', '[{"a": 1}]'):
        assert calls(f"{data} {CALL}") == F
    assert calls('{"a": 1 <tool_call>' + CALL + "</tool_call>") == F


def test_calls_joined_by_semicolons_or_commas_are_one_block() -> None:
    for joint in ("; ", ";", ", ", ",\n"):
        text = f"{CALL}{joint}{CALL} end"
        assert calls(text) == F * 2
        assert rest(text) == " end"
    assert found(f"{CALL}; {CALL}")[0].dialect == "llama_json"


def test_calls_on_lines_of_their_own_leave_the_line_breaks() -> None:
    assert calls(f"{CALL}\n{CALL}") == F * 2
    assert rest(f"{CALL}\n{CALL}") == "\n"


def test_nestful_labels_are_kept() -> None:
    first, second = (
        '{"name": "f", "arguments": {}, "label": "$var1"}',
        '{"name": "g", "arguments": {}, "label": "$var2"}',
    )
    text = f"[{first}, {second}]"
    assert [(p.call.slot, p.dialect) for p in found(text)] == [("$var1", "nestful"), ("$var2", "nestful")]


def test_a_call_that_stops_keeps_its_arguments_as_text() -> None:
    piece = one('{"name": "f", "arguments": {"a": "x')
    assert (piece.truncated, piece.call.arguments) == (True, '{"a": "x')


def test_too_much_that_nobody_names_is_let_go() -> None:
    text = '{"arguments": {"a": "' + "x" * 70_000 + '"}, "name": "f"}'
    assert [type(p).__name__ for p in pieces(text)] == ["TextPiece"]
