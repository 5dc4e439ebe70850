"""The highest of many scores."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from numpy import ndarray

    Scores = ndarray[Any, Any]

_BLOCK = 64  # scores that are looked at together


def select_highest(scores: Scores, k: int) -> list[int]:
    """The places of the ``k`` highest scores, highest first, of equal ones the first; all if there
    are fewer.
    """
    import numpy as np

    places = np.arange(len(scores))
    if (
        len(scores) >= _BLOCK * k
    ):  # k blocks hold a score as high as the lowest of their best: no need to look lower
        whole = len(scores) - len(scores) % _BLOCK
        best = (
            scores[:whole].reshape(_BLOCK, -1).max(axis=0)
        )  # of blocks that lie across: nine times as fast as along
        places = np.flatnonzero(scores >= _find_kth_highest(best, k))
    if k < len(places):
        found = scores[places]
        places = places[found >= _find_kth_highest(found, k)]
    ordered: list[int] = places[np.argsort(-scores[places], kind="stable")][:k].tolist()
    return ordered


def _find_kth_highest(scores: Scores, k: int) -> float:
    """The k-th highest."""
    import numpy as np

    return float(np.partition(scores, len(scores) - k)[len(scores) - k])
