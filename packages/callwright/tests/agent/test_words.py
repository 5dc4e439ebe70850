"""Words of requests and tools meet although they are bent and joined in different ways."""

from __future__ import annotations

import pytest

from callwright.agent.words import extract_stems


@pytest.mark.parametrize(
    ("one", "other"), [("expense", "expenses"), ("delete", "deleted"), ("city", "cities")]
)
def test_bent_words_meet(one: str, other: str) -> None:
    assert extract_stems(one) == extract_stems(other) != frozenset()


def test_words_without_meaning_are_left_out() -> None:
    assert extract_stems("what is the one for you") == frozenset()
