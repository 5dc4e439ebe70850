from __future__ import annotations

import pytest

from callwright.parsing import TextPiece
from tests.parsing.reading import calls, one, pieces, rest

HEAD = "<|channel|>commentary to=functions.f <|constrain|>json<|message|>"


@pytest.mark.parametrize(
    "text",
    [
        HEAD + '{"a": 1}<|call|>',
        HEAD + '{"a": 1}',
        '<|start|>assistant to=functions.f<|channel|>commentary json<|message|>{"a": 1}<|call|>',
        '<|channel|>commentary to=f<|message|>{"a": 1}<|call|>',
        ' to=functions.f<|channel|>commentary json<|message|>{"a": 1}<|call|>',
    ],
)
def test_a_message_with_a_recipient_is_a_call(text: str) -> None:
    assert calls(text) == [("f", {"a": 1})]
    assert (one(text).dialect, one(text).problems, rest(text)) == ("harmony", (), "")


@pytest.mark.parametrize(
    "text",
    [
        'commentary to=functions.f json{"a": 1}',
        'assistantcommentary to=functions.f json{"a": 1}',
        'So. Then to=functions.f json{"a": 1}',
    ],
)
def test_what_is_left_without_markers_is_a_call_with_a_problem(text: str) -> None:
    assert calls(text) == [("f", {"a": 1})]
    assert one(text).problems == ("the message's markers are missing",)


def test_channels_tell_reasoning_from_answer() -> None:
    text = "<|channel|>analysis<|message|>hm<|end|><|start|>assistant<|channel|>final<|message|>Hi<|return|>"
    found = [p for p in pieces(text) if isinstance(p, TextPiece)]
    assert "".join(p.text for p in found) == text
    assert "hm" in "".join(p.text for p in found if p.reasoning)
    assert "Hi" in "".join(p.text for p in found if not p.reasoning)


def test_code_instead_of_json_stays_text() -> None:
    piece = one("<|channel|>analysis to=python code<|message|>print(1)<|call|>")
    assert (piece.call.tool, piece.call.arguments) == ("python", "print(1)")
    assert piece.problems


def test_a_message_that_stops_is_truncated() -> None:
    piece = one(HEAD + '{"a": "<|call|>')
    assert (piece.truncated, piece.call.arguments) == (True, '{"a": "<|call|>')


@pytest.mark.parametrize(
    "text",
    [
        "<|channel|>",
        "<|channel|>commentary to=",
        "to=",
        " to=functions.",
        "a mapping to=functions.x is",
        "to=you {x}",
    ],
)
def test_markers_without_a_call_are_text(text: str) -> None:
    assert rest(text) == text
