"""The highest of many scores, and the place of each."""

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


def compute_places(scores: Scores) -> Scores:
    """1 for the highest, 1/2 for the next, and so on; of equal ones the first is ahead. Along the
    last axis.
    """
    import numpy as np

    order = np.argsort(-scores, axis=-1, kind="stable")
    places = np.empty(scores.shape)
    shares = 1.0 / np.arange(1, scores.shape[-1] + 1)
    np.put_along_axis(places, order, np.broadcast_to(shares, scores.shape), axis=-1)
    return places


def _find_kth_highest(scores: Scores, k: int) -> float:
    """The k-th highest."""
    import numpy as np

    return float(np.partition(scores, len(scores) - k)[len(scores) - k])
