from __future__ import annotations

import dataclasses

import pytest

from callwright.nouns.types import ToolCall
from callwright.parsing import CallPiece, TextPiece
from callwright.parsing.pieces import Block, Meant


def test_pieces_are_frozen_values() -> None:
    piece = CallPiece(ToolCall("1", "f", {}), "raw", "hermes")
    assert (piece.problems, piece.truncated, TextPiece("x").reasoning) == ((), False, False)
    with pytest.raises(dataclasses.FrozenInstanceError):
        piece.raw = ""  # type: ignore[misc]


def test_what_readers_find_shares_nothing() -> None:
    Meant("f", {}).problems.append("x")
    Block("json").calls.append(Meant("f", {}))
    assert (Meant("f", {}).problems, Block("json").calls) == ([], [])
