from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright.nouns.types import Tool
from callwright.parsing import CallPiece, Parser
from callwright.parsing.formats.registered import labelled_dialect
from callwright.parsing.formats.untagged import may_begin, take_value
from callwright.parsing.pieces import Block, Steps
from callwright.parsing.scanner import GLANCE, Scanner
from callwright.parsing.tool_vocabulary import MAX_NAME, ToolVocabulary
from tests.parsing.reading import TOOLS, calls, found, one, pieces, rest

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


def test_labels_are_kept() -> None:
    first, second = (
        '{"name": "f", "arguments": {}, "label": "$var1"}',
        '{"name": "g", "arguments": {}, "label": "$var2"}',
    )
    text = f"[{first}, {second}]"
    assert [(p.call.slot, p.dialect) for p in found(text)] == [
        ("$var1", labelled_dialect()),
        ("$var2", labelled_dialect()),
    ]


def test_a_call_that_stops_keeps_its_arguments_as_text() -> None:
    piece = one('{"name": "f", "arguments": {"a": "x')
    assert (piece.truncated, piece.call.arguments) == (True, '{"a": "x')


def test_too_much_that_nobody_names_is_let_go() -> None:
    text = '{"arguments": {"a": "' + "x" * 70_000 + '"}, "name": "f"}'
    assert [type(p).__name__ for p in pieces(text)] == ["TextPiece"]


@pytest.mark.parametrize("opening", ["", "<tool_call>"])
def test_a_value_whose_last_bracket_was_seen_does_not_stop_where_the_reply_ends(
    opening: str,
) -> None:
    text = opening + '[{"name": "f", "arguments": {"a": "x";]'
    whole = Parser(TOOLS).read(text)
    assert whole == pieces(text)
    assert [p.truncated for p in whole if isinstance(p, CallPiece)] == [False]


@pytest.mark.parametrize(
    ("text", "begins"),
    [
        ('{"', True),
        ("{ '", True),
        ("{ x", False),
        ("{}", False),
        ('[{"', True),
        ("[ { }", False),
        ("[f(", True),
        ("[f]", False),
        ("[1, 2]", False),
        ("[:f(", False),
        ('["a"', False),
        ("{", None),
        ("{ ", None),
        ("[", None),
        ("[f", None),
        ("[ {", None),
        ("[" + " " * GLANCE, True),  # too far to look: a reader must say
        ("[" + "f" * MAX_NAME, True),
    ],
)
def test_a_bracket_is_told_from_a_call_by_what_follows_it(text: str, begins: bool | None) -> None:
    assert may_begin("\n" + text, 1, False, ToolVocabulary(TOOLS)) is begins


def test_brackets_within_a_sentence_begin_no_list_of_calls() -> None:
    assert may_begin("x[f(", 1, False, ToolVocabulary(TOOLS)) is False
    assert may_begin("x [f(", 2, False, ToolVocabulary(TOOLS)) is False
    assert may_begin("so: [f(", 4, False, ToolVocabulary(TOOLS)) is True


@given(st.text(alphabet="[{\"' f(g1.:\n", max_size=12), st.booleans())
def test_where_the_glance_says_no_a_reader_finds_no_call_either(text: str, odd: bool) -> None:
    tools = (*TOOLS, Tool("1 f"), Tool("{g")) if odd else TOOLS
    for at, char in enumerate(text):
        signed = text[at + 1 : at + 2] in (
            ":",
            ".",
        )  # what ``value`` is never started for, though it would read on
        if (
            char in "[{"
            and not signed
            and may_begin(text, at, True, ToolVocabulary(tools)) is False
        ):
            block = Block("json")
            tape = Scanner(text, ended=True)
            tape.at = at + 1
            assert _finished(take_value(tape, ToolVocabulary(tools), block)) is False
            assert block.calls == []


def _finished(steps: Steps[bool]) -> bool | None:
    """What a reader of a whole reply returns, which has no more text to wait for."""
    try:
        next(steps)
    except StopIteration as done:
        return bool(done.value)
    return None
