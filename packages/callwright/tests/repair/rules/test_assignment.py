"""The assignment is exact: no other pairing of rows and columns has a greater total."""

from __future__ import annotations

from itertools import permutations

from hypothesis import given, settings
from hypothesis import strategies as st

from callwright.repair.rules.assignment import MAX_SIDE, assign_pairs

tables = st.integers(1, 4).flatmap(
    lambda columns: st.lists(
        st.lists(st.integers(-3, 9).map(float), min_size=columns, max_size=columns),
        min_size=1,
        max_size=4,
    )
)


def best_total(scores: list[list[float]]) -> float:
    rows, columns = len(scores), len(scores[0])
    wide = [[max(0.0, s) for s in row] + [0.0] * rows for row in scores]
    return max(
        sum(wide[i][j] for i, j in enumerate(order))
        for order in permutations(range(columns + rows), rows)
    )


@settings(max_examples=200, deadline=None)
@given(tables)
def test_no_other_pairing_scores_more(scores: list[list[float]]) -> None:
    pairs = assign_pairs(scores)
    assert len({i for i, _ in pairs}) == len(pairs) == len({j for _, j in pairs})
    assert all(scores[i][j] > 0 for i, j in pairs)
    assert abs(sum(scores[i][j] for i, j in pairs) - best_total(scores)) < 1e-9


def test_greed_would_lose_here() -> None:
    assert assign_pairs([[5.0, 4.0], [4.0, 0.0]]) == [(0, 1), (1, 0)]


def test_tables_that_nobody_could_judge_pair_nothing() -> None:
    assert assign_pairs([[1.0] * (MAX_SIDE + 1)]) == []
    assert assign_pairs([]) == []
