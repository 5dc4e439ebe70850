"""Cosines of unit vectors, and of what they have in the mean."""

from __future__ import annotations

import numpy as np
import pytest

from callwright.retrieval.dense import Dense

VECTORS = np.array([[1, 0], [0, 1], [-1, 0]], np.float32)


def test_a_score_is_the_highest_cosine_and_never_below_nothing() -> None:
    index = Dense(VECTORS)
    assert index.scores(VECTORS[:1]).tolist() == [1, 0, 0]
    assert index.scores(VECTORS[:2]).tolist() == [1, 1, 0]
    assert index.scores(np.zeros((0, 2), np.float32)).tolist() == [0, 0, 0]


def test_of_some_only_their_scores_are_given() -> None:
    index = Dense(VECTORS)
    assert index.scores(VECTORS[:2], np.array([1])).tolist() == [0, 1, 0]
    assert index.scores(VECTORS[:2], np.array([], np.int64)).tolist() == [0, 0, 0]


def test_a_group_points_where_its_members_point_in_the_mean() -> None:
    made = Dense.means(VECTORS, np.array([0, 0, 1]), 2)
    assert made.vectors[0].tolist() == pytest.approx([2**-0.5, 2**-0.5])
    assert made.vectors[1].tolist() == [-1, 0]
    opposed = Dense.means(VECTORS, np.array([0, 1, 0]), 2)
    assert opposed.vectors[0].tolist() == [0, 0], "those that cancel out point nowhere"
