from __future__ import annotations

import dataclasses

import pytest

from callwright.nouns.types import ToolCall
from callwright.parsing import CallPiece, TextPiece
from callwright.parsing.pieces import Block, Meant, Piece, drop_thoughts, get_raw


def test_pieces_are_frozen_values() -> None:
    piece = CallPiece(ToolCall("1", "f", {}), "raw", "hermes")
    assert (piece.problems, piece.truncated, TextPiece("x").reasoning) == ((), False, False)
    with pytest.raises(dataclasses.FrozenInstanceError):
        piece.raw = ""  # type: ignore[misc]


def test_what_readers_find_shares_nothing() -> None:
    Meant("f", {}).problems.append("x")
    Block("json").calls.append(Meant("f", {}))
    assert (Meant("f", {}).problems, Block("json").calls) == ([], [])


CONSIDERED = CallPiece(ToolCall("1", "f", {}), "f()", "pythonic", reasoning=True)
CALLED = CallPiece(ToolCall("2", "f", {}), "f()", "pythonic")


@pytest.mark.parametrize(
    ("beside", "counts"),
    [
        ((), True),
        ((TextPiece(" \n"),), True),
        ((TextPiece("Hm.", reasoning=True),), True),
        ((TextPiece("No."),), False),
        ((CALLED,), False),
    ],
    ids=["alone", "blank", "more reasoning", "words", "a call"],
)
def test_a_call_in_reasoning_counts_only_where_nothing_else_is_said(
    beside: tuple[Piece, ...], counts: bool
) -> None:
    given = [TextPiece("<think>", reasoning=True), CONSIDERED, *beside]
    made = drop_thoughts(given)
    assert (CONSIDERED in made) is counts
    assert "".join(map(get_raw, made)) == "".join(map(get_raw, given))


def test_who_asks_says_what_counts_as_words() -> None:
    pieces = [CONSIDERED, TextPiece("<|im_end|>")]
    assert CONSIDERED in drop_thoughts(pieces, lambda _: "")


def test_all_before_the_end_of_reasoning_that_the_prompt_began_is_reasoning() -> None:
    pieces = [TextPiece("so "), CALLED, TextPiece("</think>", reasoning=True, closes=True)]
    assert [p.reasoning for p in drop_thoughts(pieces)] == [True, True, True]
    made = drop_thoughts([*pieces, CALLED])
    assert [isinstance(p, CallPiece) for p in made] == [False, False, False, True]
    assert "".join(map(get_raw, made)) == "so f()</think>f()"
