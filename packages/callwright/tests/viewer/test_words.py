"""What differs between two texts is marked, and nothing else; both can be read back."""

from __future__ import annotations

import re
from html import unescape

from hypothesis import given
from hypothesis import strategies as st

from callwright.viewer.words import mark_changes

texts = st.text(st.sampled_from("ab <&\"'.\n"), max_size=60)


def read(html: str) -> str:
    return unescape(re.sub(r"</?(?:ins|del)>", "", html))


@given(texts, texts)
def test_both_versions_stand_there_whole(before: str, after: str) -> None:
    was, now = mark_changes(before, after)
    assert (read(was), read(now)) == (before, after)
    assert "<ins>" not in was
    assert "<del>" not in now
    assert ("<del>" in was or "<ins>" in now) == (before != after)


def test_only_the_words_that_differ_are_marked() -> None:
    was, now = mark_changes("Lists of cars.", "Paged lists of new cars.")
    assert now.count("<ins>") == 2
    assert "<ins>new </ins>" in now
    assert "of " in was
    assert mark_changes(None, "x") == ("", "<ins>x</ins>")


def test_texts_too_long_to_compare_are_shown_as_replaced() -> None:
    was, now = mark_changes("a " * 9_000, "b")
    assert was.startswith("<del>a a ")
    assert len(was) < 5_000
    assert now == "<ins>b</ins>"
