from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright.parsing.marker_set import MarkerSet, get_marker_set

MARKS = MarkerSet(["<a>", "<ab>", "<a>x", "["])


@pytest.mark.parametrize(
    ("text", "ended", "word"),
    [
        ("<a>y", False, "<a>"),
        ("<ab>", False, "<ab>"),
        ("<a>", False, ""),  # it may still become <a>x
        ("<a>", True, "<a>"),
        ("<a>xy", False, "<a>x"),
        ("<", False, ""),
        ("<", True, None),
        ("<b", False, None),
        ("[", False, "["),
        ("x", False, None),
        ("", False, None),
    ],
)
def test_the_longest_marker_wins_and_one_in_part_is_waited_for(
    text: str, ended: bool, word: str | None
) -> None:
    assert MARKS.match(text, 0, ended) == word


def test_the_first_marker_is_found_with_its_place() -> None:
    assert MARKS.search("b < [ <ab>", 0, False) == (4, "[")
    assert MARKS.search("b <a", 0, False) == (2, "")
    assert MARKS.search("b <a", 0, True) == (4, "")
    assert MARKS.search("none", 0, False) == (4, "")


@given(
    st.sets(st.text(alphabet="ab<>", min_size=1, max_size=4), min_size=1, max_size=5),
    st.text(alphabet="ab<>", max_size=12),
)
def test_it_says_what_looking_at_each_place_says(words: set[str], text: str) -> None:
    found = [
        (i, max((w for w in words if text.startswith(w, i)), key=len, default=""))
        for i in range(len(text))
    ]
    first = next(((i, w) for i, w in found if w), (len(text), ""))
    assert MarkerSet(words).search(text, 0, True) == first


def test_a_set_of_words_is_made_once() -> None:
    assert get_marker_set(frozenset({"a"})) is get_marker_set(frozenset({"a"}))


@given(
    st.sets(st.text(alphabet="ab", min_size=1, max_size=4), min_size=1, max_size=5),
    st.text(alphabet="ab", max_size=8),
)
def test_words_too_long_for_a_pattern_are_found_all_the_same(words: set[str], text: str) -> None:
    short, long = MarkerSet(words), MarkerSet(words | {"c" * 200})
    for ended in (False, True):
        assert [long.match(text, i, ended) for i in range(len(text))] == [
            short.match(text, i, ended) for i in range(len(text))
        ]


def test_thousands_of_words_are_no_burden() -> None:
    many = MarkerSet(f"tool_number_{i}(" for i in range(5_000))
    assert many.match("tool_number_4999(", 0, False) == "tool_number_4999("
    assert many.match("tool_number_49", 0, False) == ""
    assert many.match("tool_number_x", 0, False) is None
