"""Candidates as rivals: who is ahead for each clause, of tools and of sources."""

from __future__ import annotations

import numpy as np

from callwright.retrieval.rivals import RIVALS, compare_rivals, find_lead, place_in_source

# two clauses; tools 0 and 1 of one source, 2 of another
SCORES = np.array([[0.9, 0.8, 0.1], [0.2, 0.1, 0.5]])
SOURCE_OF = np.array([0, 0, 1])


def test_the_first_of_its_clause_is_behind_nobody() -> None:
    found = compare_rivals(SCORES, SOURCE_OF)
    assert set(found) == set(RIVALS)
    assert found["behind"].tolist() == [0.0, np.float64(0.8) - 0.9, 0.0]
    assert found["place"].tolist() == [1.0, 0.5, 1.0]
    assert np.allclose(found["rivals"], [2 / 3, 2 / 3, 1 / 3])
    assert np.allclose(found["shares"].sum(), 2.0)


def test_sources_are_compared_by_their_best_tool() -> None:
    found = compare_rivals(SCORES, SOURCE_OF)
    assert found["source_place"].tolist() == [1.0, 1.0, 1.0]
    assert np.allclose(found["source_lead"], [0.8, 0.8, 0.3])
    assert found["first_sibling"].tolist() == [2.0, 0.0, 2.0]
    assert place_in_source(SCORES[0], SOURCE_OF).tolist() == [1.0, 0.5, 1.0]


def test_the_lead_is_over_the_next_best() -> None:
    assert np.allclose(find_lead(SCORES), [[0.1, -0.1, -0.8], [-0.3, -0.4, 0.3]])
    assert find_lead(np.array([[0.7]])).tolist() == [[0.0]]
