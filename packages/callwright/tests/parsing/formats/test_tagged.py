from __future__ import annotations

import json

import pytest

from callwright.parsing import DIALECTS, CallPiece
from callwright.parsing.formats.tagged import ENVELOPES
from tests.parsing.reading import calls, found, one, pieces, rest

CALL = '{"name": "f", "arguments": {"a": "x"}}'
F = [("f", {"a": "x"})]


def test_text_around_tags_flows_on() -> None:
    text = f"Let me see.\n<tool_call>\n{CALL}\n</tool_call>\nDone."
    assert calls(text) == F
    assert rest(text) == "Let me see.\n\nDone."
    assert one(text).raw == f"<tool_call>\n{CALL}\n</tool_call>"


def test_several_calls_in_one_block_share_its_text() -> None:
    first, second = found(f"<tool_call>{CALL}\n{CALL}</tool_call>")
    assert (first.raw, second.raw) == (f"<tool_call>{CALL}\n{CALL}</tool_call>", "")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (f"<tool_call>{CALL}", "the closing tag is missing"),
        (f"<tool_call>{CALL}}}</tool_call>", "surplus brackets before the closing tag"),
        (f"<tool_call>{CALL[:-1]}</tool_call>", "the closing bracket of the call is missing"),
        (f"<tool_call>{CALL[:-1]}", "the closing bracket of the call is missing"),
        (
            '<tool_call>{"name": "f", "arguments": "{\\"a\\": \\"x\\"}"}</tool_call>',
            "arguments were encoded twice",
        ),
        (f"<tool_call>```json\n{CALL}\n```</tool_call>", "code fence removed"),
        (
            "<tool_call>{'name': 'f', 'arguments': {'a': 'x'}}</tool_call>",
            "single quotes for double ones",
        ),
        (f"[TOOL_REQUEST]{CALL}", "the closing tag is missing"),
        (f"[TOOL_REQUEST]{CALL}}}[END_TOOL_REQUEST]", "surplus brackets before the closing tag"),
        (
            f"[TOOL_REQUEST]{CALL[:-1]}[END_TOOL_REQUEST]",
            "the closing bracket of the call is missing",
        ),
        (
            "[TOOL_REQUEST] {'name': 'f', 'arguments': {'a': 'x'}} [END_TOOL_REQUEST]",
            "single quotes for double ones",
        ),
        (f"[TOOL_REQUEST]\n```json\n{CALL}\n```\n[END_TOOL_REQUEST]", "code fence removed"),
        (f"{CALL}</tool_call>", "a closing tag that nothing opened"),
    ],
)
def test_slips_are_forgiven_and_listed(text: str, problem: str) -> None:
    piece = one(text)
    assert (piece.call.arguments, rest(text)) == ({"a": "x"}, "")
    assert problem in piece.problems


def test_a_call_after_one_whose_closing_tag_is_missing_is_its_own() -> None:
    assert calls(f"<tool_call>{CALL}\n<tool_call>{CALL}</tool_call>") == F * 2
    assert calls(f"[TOOL_REQUEST]{CALL}\n[TOOL_REQUEST]{CALL}[END_TOOL_REQUEST]") == F * 2
    assert [
        len(p.problems) for p in found(f"<tool_call>{CALL[:-1]}<tool_call>{CALL}</tool_call>")
    ] == [2, 0]


def test_a_closing_tag_inside_a_string_ends_nothing() -> None:
    text = (
        '<tool_call>{"name": "f", "arguments": {"a": "</tool_call>", "b":'
        ' "<tool_call>"}}</tool_call>'
    )
    assert calls(text) == [("f", {"a": "</tool_call>", "b": "<tool_call>"})]
    for cut in (f'{CALL[:-3]}[END_TOOL_REQUEST]"}}}}', CALL):
        (piece,) = found(f"[TOOL_REQUEST]{cut}[END_TOOL_REQUEST]")
        assert (piece.problems, piece.call.arguments) == ((), json.loads(cut)["arguments"])


def test_an_unclosed_string_is_reported_and_swallows_nothing_but_itself() -> None:
    piece = one('<tool_call>{"name": "f", "arguments": {"a": "x}}</tool_call>')
    assert piece.truncated
    assert piece.call.arguments == '{"a": "x}}</tool_call>'


@pytest.mark.parametrize(
    "text",
    [
        "Use <tool_call> tags.",
        "<tool_call>",
        "<tool_call></tool_call>",
        "<tool_call>{}</tool_call>",
        "Use one [TOOL_REQUEST] block per tool",
        "[TOOL_REQUEST][END_TOOL_REQUEST]",
        "<<<[TOOL_REQUEST]>>>\ntool_name:「始」f「末」\n<<<[END_TOOL_REQUEST]>>>",  # VCP's, not LM Studio's
    ],
)
def test_tags_without_a_call_are_text(text: str) -> None:
    assert rest(text) == text


def test_tagged_names_count_offered_or_not() -> None:
    assert calls('<tool_call>{"name": "nobody", "arguments": {}}</tool_call>') == [("nobody", {})]


def test_every_tag_belongs_to_families_that_exist() -> None:
    for envelope in ENVELOPES.values():
        assert set(envelope.families.values()) <= set(DIALECTS)


def test_reasoning_does_not_hide_a_call() -> None:
    read = pieces(f"<think>hm<tool_call>{CALL}</tool_call></think>ok")
    assert [isinstance(p, CallPiece) for p in read] == [False, True, False, False]
    assert [p.reasoning for p in read] == [True, True, True, False]
