"""Short texts are remembered, long ones are not kept."""

from __future__ import annotations

import gc
import tracemalloc
import weakref
from collections.abc import Callable

import pytest

from callwright.dataflow import flow
from callwright.language import detect, tokens
from callwright.language.number_words import read_number_words
from callwright.nouns.memo import LAST, cache_by_digest, cache_by_text


class Made:
    """What a function made of a text; it can be seen whether anybody still holds it."""


def test_a_short_text_is_read_once_and_a_long_one_again_after_others() -> None:
    asked: list[str] = []

    @cache_by_text(most=100, longest=3)
    def read(text: str) -> str:
        """Reads."""
        asked.append(text)
        return text.upper()

    long = [f"long {n}" for n in range(LAST + 1)]
    for text in ("abc", long[0], long[0], *long[1:], "abc", long[0]):
        assert read(text) == text.upper()
    assert asked == ["abc", *long, long[0]]
    assert read.__doc__ == "Reads."


def test_of_long_texts_only_the_last_few_are_held() -> None:
    held: list[weakref.ref[Made]] = []

    @cache_by_text(most=1_000, longest=10)
    def read(text: str) -> Made:
        made = Made()
        held.append(weakref.ref(made))
        return made

    for n in range(100):
        read(f"what somebody said, number {n}")
    gc.collect()
    assert sum(ref() is not None for ref in held) == LAST


@pytest.mark.parametrize(
    "function",
    [flow.split_words, flow.content_words, tokens.split_identifier, tokens.squash_name],
)
def test_what_is_made_of_a_conversation_is_not_kept(function: Callable[[str], object]) -> None:
    """Once the last few are there, more requests and values need no more memory."""

    def held(first: int, count: int) -> int:
        for n in range(first, first + count):
            function(f"{n} said " * 500)
        gc.collect()
        return tracemalloc.get_traced_memory()[0]

    tracemalloc.start()
    try:
        few = held(100, LAST)
        assert held(200, 8 * LAST) < 2 * few
    finally:
        tracemalloc.stop()


def test_what_is_small_is_made_once_of_a_long_text_too_and_the_text_is_not_held() -> None:
    class Text(str):
        """One that can be seen to be held."""

    asked: list[int] = []

    @cache_by_digest(most=3, longest=4)
    def count(text: str) -> int:
        asked.append(len(text))
        return len(text)

    long = Text("five letters and more")
    seen = weakref.ref(long)
    assert [count(text) for text in ("abc", long, "abc", str(long))] == [3, 21, 3, 21]
    assert asked == [3, 21]
    del long
    gc.collect()
    assert seen() is None
    for length in (6, 7, 8):
        assert count("x" * length) == length
    assert count("five letters and more") == 21, "only so many are remembered"
    assert asked == [3, 21, 6, 7, 8, 21]
    assert count("half a \ud83d character") == 18, "any text has a digest"


def test_a_conversation_that_comes_again_is_not_read_again(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [f"Order {n}: seven and twenty bolts of the first lot. " * 40 for n in range(3 * LAST)]
    read = [(detect.language_of(text), read_number_words(text, ["en"])) for text in texts]
    assert all(language == "en" and 27.0 in numbers for language, numbers in read)
    monkeypatch.setattr(detect, "script_of", lambda text: pytest.fail(f"read again: {text[:9]}"))
    assert [(detect.language_of(t), read_number_words(t, ["en"])) for t in texts] == read
