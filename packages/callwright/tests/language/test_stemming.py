"""Endings are taken off by a table, and never so much that no word is left."""

from __future__ import annotations

import pytest

from callwright.language import ENGLISH, Vocabulary
from callwright.language.stemming import strip_ending

LIGHT = ENGLISH.table("stemming.light")


@pytest.mark.parametrize(
    ("word", "stem"), [("cities", "city"), ("visits", "visit"), ("class", "class"), ("has", "has")]
)
def test_the_first_ending_that_fits_is_taken_off(word: str, stem: str) -> None:
    assert strip_ending(word, LIGHT, doubled="s") == stem


def test_a_doubled_letter_is_no_ending() -> None:
    assert strip_ending("pass", {"s": ""}) == "pas"
    assert strip_ending("pass", {"s": ""}, doubled="s") == "pass"


def test_german_words_meet_too() -> None:
    endings = Vocabulary("de").table("stemming.light")
    assert strip_ending("rechnungen", endings) == strip_ending("rechnung", endings) == "rechnung"
