"""The highest scores, against sorting all of them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright.retrieval.ranking import compute_places, select_highest


@given(st.lists(st.integers(-2, 3), max_size=400), st.integers(1, 7))
def test_the_highest_come_first_and_of_equal_ones_the_first(scores: list[int], k: int) -> None:
    expected = sorted(range(len(scores)), key=lambda i: (-scores[i], i))[:k]
    assert select_highest(np.array(scores, np.float32), k) == expected


@pytest.mark.parametrize("size", [63, 64, 65, 1_000, 4_097])
def test_none_is_overlooked_where_scores_are_looked_at_in_blocks(size: int) -> None:
    scores = np.random.default_rng(size).random(size).astype(np.float32)
    scores[-1] = 2.0  # in the part that fills no block
    assert select_highest(scores, 5) == np.argsort(-scores, kind="stable")[:5].tolist()


def test_places_are_shares_and_of_equal_ones_the_first_is_ahead() -> None:
    assert compute_places(np.array([0.1, 0.9, 0.9])).tolist() == [1 / 3, 1.0, 0.5]
    assert compute_places(np.array([[0.1, 0.9], [0.9, 0.1]])).tolist() == [[0.5, 1.0], [1.0, 0.5]]
    assert compute_places(np.zeros((1, 0))).shape == (1, 0)
