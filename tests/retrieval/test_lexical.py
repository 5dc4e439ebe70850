"""BM25 against its formula, and saved against made."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
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
            score += idf * count / (count + 1.5 * (1 - 0.75 + 0.75 * len(text) / average)) if count else 0.0
        scores.append(score)
    return scores


@settings(max_examples=30, deadline=None)
@given(st.lists(st.lists(WORDS, max_size=6), min_size=1, max_size=6), st.lists(WORDS, max_size=4, unique=True))
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
    loaded = Lexical.load(tmp_path / "index", len(texts))
    for query in (["cat"], ["dog", "song"], ["fish"], []):
        assert np.array_equal(made.scores(query), loaded.scores(query))
