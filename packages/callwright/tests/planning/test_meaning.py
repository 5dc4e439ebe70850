"""What an encoder adds: likeness beyond letters, for every ordered pair, in whatever order the
tools come.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from callwright.nouns.types import Tool
from callwright.planning.meaning import LENGTH, NAMES, pair_meanings

TEXT = {"type": "string"}


class Words:
    """A stand-in encoder: one axis a word, and words of ``SAME`` share theirs."""

    name, width = "words", 256
    SAME = (("headset", "earphone"),)

    def __init__(self) -> None:
        self.asked: list[str] = []

    def encode(self, texts: Sequence[str]) -> np.ndarray[Any, Any]:
        self.asked += texts
        made = np.zeros((len(texts), self.width), np.float32)
        for row, text in zip(made, texts, strict=True):
            row[0] = 0.1  # no vector is empty
            for word in text.lower().replace(":", " ").replace(".", " ").replace(",", " ").split():
                known = next((group[0] for group in self.SAME if word in group), word)
                row[1 + hashlib.sha256(known.encode()).digest()[0] % (self.width - 1)] += 1
        out: np.ndarray[Any, Any] = made / np.linalg.norm(made, axis=1, keepdims=True)
        return out


def tool(name: str, about: str, takes: str, gives: str = "") -> Tool:
    out = {"type": "object", "properties": {gives: TEXT}} if gives else None
    return Tool(
        name, about, {"type": "object", "properties": {takes: TEXT}, "required": [takes]}, out
    )


MAKE = tool("make_design", "Draws a thing", "style", "headset")
TEST = tool("run_trial", "Tries it out", "earphone", "report")
MAIL = tool("send_mail", "Sends a letter", "recipient")
TOOLS = [MAKE, TEST, MAIL]
QUERY = "Draw one in red, then run a trial of it. Send the letter to Ann."


def column(found: np.ndarray[Any, Any], name: str) -> np.ndarray[Any, Any]:
    return found[:, :, NAMES.index(f"meaning_{name}")]


def test_an_output_and_an_input_of_one_meaning_are_alike_whatever_their_letters() -> None:
    found = column(pair_meanings(QUERY, TOOLS, Words()), "output_input")
    assert found[0, 1] > 0.9
    assert found[0, 1] == found.max()
    assert column(pair_meanings(QUERY, TOOLS, Words()), "output_input_margin")[0, 1] > 0.5


def test_what_the_reverse_pair_says_is_mirrored() -> None:
    found = pair_meanings(QUERY, TOOLS, Words())
    for name in ("output_input", "tool_part_gap", "output_input_margin"):
        assert (column(found, f"back_{name}") == column(found, name).T).all()


def test_a_tool_without_outputs_says_nothing_of_them() -> None:
    found = pair_meanings(QUERY, TOOLS, Words())
    assert not column(found, "declared")[2].any()
    assert not column(found, "output_input")[2].any()


def test_what_is_asked_for_later_lies_later() -> None:
    gap = column(pair_meanings(QUERY, TOOLS, Words()), "place_gap")
    assert gap[0, 2] > 0
    assert gap[2, 0] == -gap[0, 2]


def test_one_tool_makes_no_pair_and_asks_nothing() -> None:
    encoder = Words()
    assert pair_meanings(QUERY, [MAKE], encoder).shape == (1, 1, len(NAMES))
    assert pair_meanings(QUERY, [], encoder).shape == (0, 0, len(NAMES))
    assert encoder.asked == []


def test_long_texts_are_cut_and_each_text_is_encoded_once() -> None:
    encoder = Words()
    long = tool("long", "word " * 2_000, "style", "headset")
    pair_meanings("tell me. " * 50, [long, MAKE], encoder)
    assert max(map(len, encoder.asked)) == LENGTH
    assert len(encoder.asked) == len(set(encoder.asked))


@settings(max_examples=25, deadline=None)
@given(st.permutations(range(3)), st.text(max_size=60))
def test_the_order_of_the_tools_changes_nothing(order: list[int], query: str) -> None:
    straight = pair_meanings(query, TOOLS, Words())
    turned = pair_meanings(query, [TOOLS[i] for i in order], Words())
    assert np.isfinite(straight).all()
    assert np.allclose(turned, straight[order][:, order], atol=1e-6)
    assert not straight[np.eye(3, dtype=bool)].any()
