"""The heaviest acyclic graph: compared with every order there is, and bounded where there are too
many.
"""

from __future__ import annotations

import itertools
from graphlib import TopologicalSorter
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from callwright.planning.acyclic import (
    EXACT,
    best_order,
    connect_members,
    find_components,
    heaviest_acyclic,
)

Array = np.ndarray[Any, Any]


def squares(count: int, low: float = -2.0) -> st.SearchStrategy[Array]:
    return arrays(
        float,
        (count, count),
        elements=st.floats(low, 2, allow_subnormal=False).map(lambda x: round(x, 3)),
    )


def kept(weights: Array, edges: list[tuple[int, int]]) -> float:
    return float(sum(weights[e] for e in edges))


def parts(count: int, edges: list[tuple[int, int]]) -> int:
    """How many parts hang together, arrows read both ways. Raises CycleError on a cycle."""
    order = TopologicalSorter({k: [i for i, j in edges if j == k] for k in range(count)})
    assert len(list(order.static_order())) == count
    part = list(range(count))
    for i, j in edges:
        part = [part[i] if p == part[j] else p for p in part]
    return len(set(part))


@settings(deadline=None, max_examples=60)
@given(st.integers(0, 6).flatmap(squares))
def test_no_order_of_the_tools_keeps_more(weights: Array) -> None:
    gains = np.where(weights > 0, weights, 0)
    np.fill_diagonal(gains, 0)
    orders = itertools.permutations(range(len(weights)))
    most = max(sum(gains[a, b] for a, b in itertools.combinations(order, 2)) for order in orders)
    assert kept(weights, heaviest_acyclic(weights)) == pytest.approx(most)


@settings(deadline=None, max_examples=40)
@given(st.integers(0, 16).flatmap(squares))
def test_only_positive_pairs_are_chosen_and_none_closes_a_cycle(weights: Array) -> None:
    edges = heaviest_acyclic(weights)
    assert all(weights[e] > 0 and e[0] != e[1] for e in edges)
    parts(len(weights), edges)  # raises on a cycle
    assert edges == heaviest_acyclic(weights)


@settings(deadline=None, max_examples=10)
@given(squares(EXACT + 6, low=0.0))
def test_a_tangle_too_large_to_solve_keeps_at_least_half(weights: Array) -> None:
    np.fill_diagonal(weights, 0)
    assert kept(weights, heaviest_acyclic(weights)) >= weights.sum() / 2 - 1e-9


def test_of_a_cycle_the_weakest_pair_goes() -> None:
    weights = np.zeros((3, 3))
    weights[0, 1], weights[1, 2], weights[2, 0] = 2.0, 3.0, 1.0
    assert heaviest_acyclic(weights) == [(1, 2), (0, 1)]


def test_what_a_greedy_choice_loses_is_kept() -> None:
    """The heaviest pair alone is worth less than the two that it shuts out."""
    weights = np.zeros((3, 3))
    weights[0, 1] = 3.0
    weights[1, 2], weights[2, 0] = 2.5, 2.5
    weights[1, 0] = 1.0
    assert heaviest_acyclic(weights) == [(1, 2), (2, 0), (1, 0)]


@settings(deadline=None, max_examples=40)
@given(st.integers(1, 8).flatmap(lambda n: arrays(bool, (n, n))))
def test_a_component_is_all_that_can_be_reached_from_each_other(linked: Array) -> None:
    reach = (
        np.linalg.matrix_power(linked.astype(int) + np.eye(len(linked), dtype=int), len(linked)) > 0
    )
    mutual = reach & reach.T
    assert find_components(linked) == [
        list(row) for row in sorted({tuple(np.flatnonzero(m)) for m in mutual})
    ]


def test_an_order_holds_every_tool_once() -> None:
    assert sorted(best_order(np.random.default_rng(0).random((9, 9)))) == list(range(9))


@settings(deadline=None, max_examples=40)
@given(st.integers(1, 8).flatmap(squares))
def test_joined_up_adds_as_few_edges_as_hang_everything_together(weights: Array) -> None:
    before = heaviest_acyclic(weights)
    edges = connect_members(weights, before, range(len(weights)))
    assert edges[: len(before)] == before
    assert parts(len(weights), edges) == 1
    assert len(edges) - len(before) == parts(len(weights), before) - 1


@settings(deadline=None, max_examples=20)
@given(squares(4))
def test_the_edges_that_join_are_the_heaviest_that_can(weights: Array) -> None:
    pairs = [(i, j) for i in range(4) for j in range(4) if i < j]
    heavier = {p: p if weights[p] >= weights[p[::-1]] else p[::-1] for p in pairs}
    trees = (list(tree) for tree in itertools.combinations(heavier.values(), 3))
    most = max(
        kept(weights, tree) for tree in trees if len({k for edge in tree for k in edge}) == 4
    )
    assert kept(weights, connect_members(weights, [], range(4))) == pytest.approx(most)


def test_what_hangs_together_already_is_left_alone() -> None:
    assert connect_members(np.ones((3, 3)), [(0, 1), (1, 2)], [0, 1, 2]) == [(0, 1), (1, 2)]
