from __future__ import annotations

from callwright.language.phrases import find_phrases


def test_phrases_are_words_of_their_own_where_words_are_parted() -> None:
    assert find_phrases("two times twofold", ["two", "two times"], "en") == ["two times"]
    assert find_phrases("a twosome", ["two"], "en") == []
    assert find_phrases("请存两次再两次", ["两次"], "zh") == ["两次", "两次"]
    assert find_phrases("anything", [], "en") == []
