"""Words of requests and tools meet although they are bent and joined in different ways."""

from __future__ import annotations

import pytest

from callwright.agent.words import name_words, stems


@pytest.mark.parametrize(
    ("one", "other"), [("expense", "expenses"), ("delete", "deleted"), ("city", "cities")]
)
def test_bent_words_meet(one: str, other: str) -> None:
    assert stems(one) == stems(other) != frozenset()


@pytest.mark.parametrize("name", ["cancel_trip", "cancelTrip", "cancel-trip", "cancel.trip2"])
def test_names_are_split_however_they_are_joined(name: str) -> None:
    assert [word.lower() for word in name_words(name)] == ["cancel", "trip"]


def test_words_without_meaning_are_left_out() -> None:
    assert stems("what is the one for you") == frozenset()
