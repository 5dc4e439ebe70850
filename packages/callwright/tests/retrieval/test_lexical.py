"""BM25 against its formula and against bm25s; updated, grouped and saved against made."""

from __future__ import annotations

import math
import random
from pathlib import Path

import bm25s
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from callwright.retrieval.lexical import Lexical

TEXTS = ["cat cat dog", "dog", "bird song in trees", ""]

WORDS = st.sampled_from("abcdef")


def _formula(texts: list[list[str]], query: list[str]) -> list[float]:
    """Lucene's BM25, as published: idf ln(1 + (N - n + .5) / (n + .5)), k1 1.5, b 0.75."""
    average = sum(map(len, texts)) / len(texts)
    scores = []
    for text in texts:
        score = 0.0
        for term in query:
            holding = sum(term in t for t in texts)
            count = text.count(term)
            idf = math.log(1 + (len(texts) - holding + 0.5) / (holding + 0.5))
            score += (
                idf * count / (count + 1.5 * (1 - 0.75 + 0.75 * len(text) / average))
                if count
                else 0.0
            )
        scores.append(score)
    return scores


@settings(max_examples=30, deadline=None)
@given(
    st.lists(st.lists(WORDS, max_size=6), min_size=1, max_size=6),
    st.lists(WORDS, max_size=4, unique=True),
)
@example([[], ["a"]], ["a"])  # less than a term a text
def test_scores_are_those_of_the_formula(texts: list[list[str]], query: list[str]) -> None:
    found = Lexical.build([" ".join(t) for t in texts]).scores(query)
    if any(texts):
        assert found.tolist() == pytest.approx(_formula(texts, query), rel=1e-4, abs=1e-6)
    else:
        assert not found.any()


def test_unknown_terms_and_no_terms_score_nothing() -> None:
    index = Lexical.build(TEXTS)
    assert index.scores(["fish"]).tolist() == index.scores([]).tolist() == [0.0] * 4
    assert index.scores(["fish", "cat"]).tolist() == index.scores(["cat"]).tolist()


@pytest.mark.parametrize("texts", [TEXTS, [], ["", ""]], ids=["texts", "none", "empty"])
def test_saved_and_loaded_it_scores_alike(texts: list[str], tmp_path: Path) -> None:
    made = Lexical.build(texts)
    made.save(tmp_path / "index")
    loaded = Lexical.load(tmp_path / "index")
    assert loaded.size == len(texts)
    for query in (["cat"], ["dog", "song"], ["fish"], []):
        assert np.array_equal(made.scores(query), loaded.scores(query))


@settings(max_examples=30, deadline=None)
@given(
    st.lists(st.lists(WORDS, min_size=1, max_size=6), min_size=1, max_size=6),
    st.lists(WORDS, min_size=1, unique=True),
)
def test_scores_are_those_of_bm25s(texts: list[list[str]], query: list[str]) -> None:
    theirs = bm25s.BM25(method="lucene", k1=1.5, b=0.75)
    theirs.index(texts, show_progress=False)
    known = [word for word in query if any(word in text for text in texts)]
    expected = theirs.get_scores(known) if known else np.zeros(len(texts))
    assert Lexical.build([" ".join(t) for t in texts]).scores(query) == pytest.approx(
        expected, rel=1e-5, abs=1e-6
    )


def _same(one: Lexical, other: Lexical) -> bool:
    parts = ("starts", "texts", "counts", "lengths", "scored")
    return one.terms == other.terms and all(
        np.array_equal(getattr(one, p), getattr(other, p)) for p in parts
    )


TEXT = st.lists(WORDS, max_size=6).map(" ".join)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(TEXT, st.booleans()), max_size=8), st.lists(TEXT, max_size=5), st.randoms()
)
def test_updated_it_is_what_it_would_be_built_anew(
    before: list[tuple[str, bool]], fresh: list[str], rng: random.Random
) -> None:
    kept = [text for text, stays in before if stays]
    size = len(kept) + len(fresh)
    places = sorted(rng.sample(range(size), len(fresh)))
    free = iter(sorted(set(range(size)) - set(places)))
    moved = [next(free) if stays else -1 for _, stays in before]
    added = dict(zip(places, fresh, strict=True))
    stayed = {place: text for (text, stays), place in zip(before, moved, strict=True) if stays}
    now = [(added | stayed)[place] for place in range(size)]
    updated = Lexical.build([text for text, _ in before]).updated(moved, added, size)
    assert _same(updated, Lexical.build(now))


@settings(max_examples=30, deadline=None)
@given(st.lists(st.tuples(TEXT, st.integers(0, 2)), max_size=8))
def test_a_group_is_what_its_texts_say_together(texts: list[tuple[str, int]]) -> None:
    grouped = Lexical.build([text for text, _ in texts]).grouped(
        np.array([g for _, g in texts], np.int32), 3
    )
    assert _same(
        grouped, Lexical.build([" ".join(text for text, of in texts if of == g) for g in range(3)])
    )


def test_the_texts_that_hold_a_term_are_counted() -> None:
    index = Lexical.build(TEXTS)
    assert [index.count_texts(term) for term in ("dog", "cat", "fish")] == [2, 1, 0]
