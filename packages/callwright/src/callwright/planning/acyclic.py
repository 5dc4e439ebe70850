"""The heaviest acyclic graph: exact where the pairs that contradict each other are few, which they
nearly always are.

Choosing edges so that their weights sum to the most and no cycle closes is the linear ordering
problem (NP-hard: Karp 1972, feedback arc set). What makes it easy here: only positive weights are
ever chosen; a cycle lies within one strongly connected component of those (Tarjan 1972); and such a
component is small: two tools as a rule, each of which might need the other. Up to :data:`EXACT`
tools it is solved by dynamic programming over subsets (Lawler 1964; Held and Karp 1962): the best
order of a set ends with some tool, and before it stands the best order of the others. A larger one
starts from a greedy order or its reverse, whichever keeps more, which is at least half of all there
is; then every window of that order is made optimal, until none can be bettered.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]

EXACT = 12  # tools of a component: 2 ** 12 subsets, about two milliseconds
WINDOW = 7  # of a larger one, re-ordered at a time


def heaviest_acyclic(weights: Array) -> list[tuple[int, int]]:
    """Edges (i, j) of the acyclic graph with the largest sum of ``weights`` (N, N), heaviest first.

    Only positive weights are chosen, all of those that the order allows. Deterministic: ties go to
    the smaller index.
    """
    gains = np.where(weights > 0, weights, 0.0)
    np.fill_diagonal(gains, 0.0)
    place = np.zeros(len(gains), dtype=int)
    component = np.zeros(len(gains), dtype=int)
    for number, members in enumerate(find_components(gains > 0)):
        component[members] = number
        place[_order_members(gains, members)] = range(len(members))
    same = component[:, None] == component[None, :]
    kept = (gains > 0) & (~same | (place[:, None] < place[None, :]))
    return sorted(((int(i), int(j)) for i, j in np.argwhere(kept)), key=lambda e: (-gains[e], e))


def find_components(linked: Array) -> list[list[int]]:
    """The strongly connected components of a graph given as (N, N) booleans, each sorted, by their
    least member.
    """
    reaches = linked | np.eye(len(linked), dtype=bool)
    for k in range(len(linked)):  # Warshall 1962
        reaches |= np.outer(reaches[:, k], reaches[k])
    both = reaches & reaches.T
    return [np.flatnonzero(both[i]).tolist() for i in range(len(linked)) if not both[i, :i].any()]


def _order_members(gains: Array, members: Sequence[int]) -> list[int]:
    """The members in the order that keeps the most weight between them."""
    if len(members) == 1:
        return [*members]
    inner = gains[np.ix_(members, members)]
    order = (
        best_order(inner)
        if len(members) <= EXACT
        else _improve_order(inner, _order_greedily(inner))
    )
    return [members[k] for k in order]


def best_order(gains: Array) -> list[int]:
    """The order of N <= EXACT tools that keeps the most weight on pairs (earlier, later). Exact:
    O(2^N N).
    """
    count = len(gains)
    before = _sum_gains_by_set(gains)  # [v, set]: weight into v from the tools of the set
    best = np.zeros(1 << count)
    last = np.zeros(1 << count, dtype=np.int8)
    for sets in _group_sets_by_size(count)[1:]:
        found = np.full((count, len(sets)), -np.inf)
        for v in range(count):
            holds = (sets >> v) & 1 == 1
            rest = sets[holds] ^ (1 << v)
            found[v, holds] = best[rest] + before[v, rest]
        last[sets] = found.argmax(axis=0)
        best[sets] = found.max(axis=0)
    order: list[int] = []
    left = (1 << count) - 1
    while left:
        order.append(int(last[left]))
        left ^= 1 << order[-1]
    return order[::-1]


def _sum_gains_by_set(gains: Array) -> Array:
    """[v, set]: sum of ``gains[u, v]`` over the members u of the set; sets are bit masks."""
    count = len(gains)
    made = np.zeros((count, 1 << count))
    for u in range(count):
        made[:, 1 << u : 2 << u] = made[:, : 1 << u] + gains[u][:, None]
    return made


@cache
def _group_sets_by_size(count: int) -> list[Array]:
    """All sets of ``count`` things as bit masks, by how many things they hold."""
    sets = np.arange(1 << count)
    size = sum((sets >> k) & 1 for k in range(count))
    return [np.flatnonzero(size == k) for k in range(count + 1)]


def _order_greedily(gains: Array) -> list[int]:
    """Tools by what they give minus what they take, or the reverse of that if it keeps more."""
    order = sorted(range(len(gains)), key=lambda k: (gains[:, k].sum() - gains[k].sum(), k))
    return (
        order
        if _sum_kept_weight(gains, order) >= _sum_kept_weight(gains, order[::-1])
        else order[::-1]
    )


def _improve_order(gains: Array, order: list[int]) -> list[int]:
    """Every window in its best order, over and over until nothing is gained any more."""
    kept = -1.0
    while _sum_kept_weight(gains, order) > kept + 1e-12:
        kept = _sum_kept_weight(gains, order)
        for start in range(len(order) - WINDOW + 1):
            window = order[start : start + WINDOW]
            order[start : start + WINDOW] = [
                window[k] for k in best_order(gains[np.ix_(window, window)])
            ]
    return order


def _sum_kept_weight(gains: Array, order: Sequence[int]) -> float:
    return float(np.triu(gains[np.ix_(order, order)]).sum())


def connect_members(
    weights: Array, edges: Sequence[tuple[int, int]], members: Sequence[int]
) -> list[tuple[int, int]]:
    """``edges`` and the heaviest further ones that make one connected graph of ``members``,
    whatever their weight.

    An edge between two parts that hang together in no way closes no cycle, so the heaviest are
    taken in turn (Kruskal 1956). Ties go to the smaller indices.
    """
    part = {k: k for k in members}
    kept = list(edges)
    for i, j in kept:
        _merge_parts(part, i, j)
    pairs = ((i, j) for i in members for j in members if i != j)
    for i, j in sorted(pairs, key=lambda e: (-weights[e], e)):
        if part[i] != part[j]:
            _merge_parts(part, i, j)
            kept.append((i, j))
    return kept


def _merge_parts(part: dict[int, int], i: int, j: int) -> None:
    old, new = part[i], part[j]
    for k, name in part.items():
        if name == old:
            part[k] = new
