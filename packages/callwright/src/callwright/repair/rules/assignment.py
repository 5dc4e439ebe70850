"""The best way to pair given things with wanted ones: exact, for the small tables of a tool
call.
"""

from __future__ import annotations

from collections.abc import Sequence

MAX_SIDE = 24  # beyond it nobody could say which unknown key means which


def assign_pairs(scores: Sequence[Sequence[float]]) -> list[tuple[int, int]]:
    """(row, column) pairs of greatest total score, each row and column at most once; scores <= 0
    pair nothing.

    Kuhn's Hungarian method with potentials, O(n^3). Empty where either side exceeds MAX_SIDE.
    """
    rows, columns = len(scores), max((len(r) for r in scores), default=0)
    if not rows or not columns or max(rows, columns) > MAX_SIDE:
        return []
    size = max(rows, columns)
    cost = [
        [-max(0.0, scores[i][j]) if i < rows and j < len(scores[i]) else 0.0 for j in range(size)]
        for i in range(size)
    ]
    taken = _match_rows(cost, size)
    pairs = [(taken[j] - 1, j - 1) for j in range(1, size + 1)]
    return sorted(
        (i, j) for i, j in pairs if i < rows and j < columns and _get_score(scores, i, j) > 0
    )


def _get_score(scores: Sequence[Sequence[float]], i: int, j: int) -> float:
    return scores[i][j] if j < len(scores[i]) else 0.0


def _match_rows(cost: list[list[float]], size: int) -> list[int]:
    """Row (from 1) that each column (from 1) is matched with, by shortest augmenting paths."""
    row_price, column_price = [0.0] * (size + 1), [0.0] * (size + 1)
    taken = [0] * (size + 1)
    for row in range(1, size + 1):
        taken[0] = row
        way, free = _find_augmenting_path(cost, size, row_price, column_price, taken)
        while free:
            taken[free] = taken[way[free]]
            free = way[free]
    return taken


def _find_augmenting_path(
    cost: list[list[float]],
    size: int,
    row_price: list[float],
    column_price: list[float],
    taken: list[int],
) -> tuple[list[int], int]:
    """The way back from the first free column that the row in ``taken[0]`` can reach at least
    cost.
    """
    infinite = float("inf")
    least, way, used = [infinite] * (size + 1), [0] * (size + 1), [False] * (size + 1)
    column = 0
    while taken[column]:
        used[column] = True
        row, step, best = taken[column], infinite, 0
        for j in range(1, size + 1):
            if used[j]:
                continue
            reduced = cost[row - 1][j - 1] - row_price[row] - column_price[j]
            if reduced < least[j]:
                least[j], way[j] = reduced, column
            if least[j] < step:
                step, best = least[j], j
        for j in range(size + 1):
            if used[j]:
                row_price[taken[j]] += step
                column_price[j] -= step
            else:
                least[j] -= step
        column = best
    return way, column
