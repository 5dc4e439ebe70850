"""The words that weights were learned with do not change without the weights."""

from __future__ import annotations

from pathlib import Path

import pytest

import callwright
from callwright.dataflow import flow
from callwright.jsontext import parse
from callwright.language.frozen import FIRST, knows_vocabulary, vocabulary_digest

CARDS = sorted(Path(callwright.__file__).parent.glob("*/data/*.json"))


def test_the_words_are_those_of_the_shipped_weights() -> None:
    """This fails when a word of features_v1 changes: then weights have to be trained again, and
    FIRST stays as it is for the cards that were written before.
    """
    assert vocabulary_digest() == FIRST


@pytest.mark.parametrize("path", CARDS, ids=lambda path: path.stem)
def test_every_shipped_card_names_the_words_or_reads_none(path: Path) -> None:
    card = parse(path.read_bytes())
    assert isinstance(card, dict)
    assert ("vocabulary" in card) == ("features" in card)
    assert knows_vocabulary(card)


def test_weights_of_other_words_are_refused_and_those_of_no_named_words_are_not() -> None:
    assert knows_vocabulary({})
    assert not knows_vocabulary({"vocabulary": "0" * 16})


@pytest.mark.parametrize(
    ("word", "one"),
    [
        ("cities", "city"), ("ties", "tie"), ("classes", "class"), ("dishes", "dish"),
        ("matches", "match"), ("boxes", "box"), ("axes", "axe"), ("tools", "tool"),
        ("status", "status"), ("address", "address"), ("analysis", "analysis"), ("gas", "gas"),
    ],
)  # fmt: skip
def test_plurals_are_read_as_the_weights_learned_them(word: str, one: str) -> None:
    """The endings are no part of the digest; so they are pinned here."""
    assert flow.split_words(word) == (one,)
