"""Words of requests and tools meet although they are bent and joined in different ways."""

from __future__ import annotations

import pytest

from callwright.agent.words import extract_stems, reduce_word
from callwright.grounding.words import stem_word


@pytest.mark.parametrize(
    ("one", "other"), [("expense", "expenses"), ("delete", "deleted"), ("city", "cities")]
)
def test_bent_words_meet(one: str, other: str) -> None:
    assert extract_stems(one) == extract_stems(other) != frozenset()


def test_words_without_meaning_are_left_out() -> None:
    assert extract_stems("what is the one for you") == frozenset()


def test_the_rough_stem_and_the_checkers_do_different_things() -> None:
    """One finds a destructive verb in every form, the other keeps words of statements apart."""
    assert reduce_word("wipe") == reduce_word("wiped")
    assert stem_word("wipe") != stem_word("wiped")
    assert stem_word("rate") != stem_word("rats")
    assert reduce_word("rate") == reduce_word("rats")
    assert stem_word("stop") == stem_word("stopped")
    assert reduce_word("stop") != reduce_word("stopped")
