"""Candidates as rivals: for each clause of a request, who is ahead of whom, tool against tool and
source against source.

Most requests of several wishes go wrong in one way: a source that fits one wish well brings five
of its tools, and the tool for the other wish is the eleventh. A mean over features cannot tell;
the places within a clause, and among the tools of one source, can.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from callwright.retrieval.ranking import compute_places

if TYPE_CHECKING:
    from numpy import ndarray

    Array = ndarray[Any, Any]

_SHARP, _SOFT = 0.05, 0.15  # temperatures of a clause's shares: choices, no measurement

RIVALS = (
    *("share", "shares", "soft_share", "soft_shares", "place", "behind", "rivals", "top"),
    *("behind_sibling", "first_sibling", "place_sibling"),
    *("source_place", "source_places", "source_first", "source_lead"),
)
"""The names of :func:`compare_rivals`."""


def compare_rivals(scores: Array, parent_of: Array) -> Mapping[str, Array]:
    """The columns :data:`RIVALS` of C candidates, each (C,).

    ``scores`` are (clauses, C), at least one clause; ``parent_of`` (C,) numbers each candidate's
    source from 0.
    """
    import numpy as np

    best = scores.argmax(axis=0)
    tops = scores.max(axis=1, initial=0.0)
    shares, soft = _share(scores, _SHARP), _share(scores, _SOFT)
    behind_sibling = scores - _best_of_sources(scores, parent_of)[:, parent_of]
    own_best = scores.max(axis=0)
    return {
        "share": shares.max(axis=0),
        "shares": shares.sum(axis=0),
        "soft_share": soft.max(axis=0),
        "soft_shares": soft.sum(axis=0),
        "place": compute_places(scores).max(axis=0),
        "behind": (scores - tops[:, None]).max(axis=0),
        "rivals": np.bincount(best, minlength=len(scores))[best] / len(best),
        "top": tops[best],
        "behind_sibling": behind_sibling.max(axis=0),
        "first_sibling": (behind_sibling == 0).sum(axis=0).astype(float),
        "place_sibling": place_in_source(own_best, parent_of),
        **_compare_sources(_best_of_sources(scores, parent_of), parent_of),
    }


def place_in_source(scores: Array, parent_of: Array) -> Array:
    """1 for the best tool of a source, 1/2 for the next: (C,). Equal ones share a place."""
    ahead = (parent_of[:, None] == parent_of) & (scores > scores[:, None])
    found: Array = 1.0 / (1.0 + ahead.sum(axis=1))
    return found


def find_lead(scores: Array) -> Array:
    """Return how far each is ahead of the best of the others of its row (negative: behind the row's best).

    ``scores`` are (R, C). A row of one is ahead of nothing: 0.
    """
    import numpy as np

    best = scores.max(axis=1, keepdims=True)
    if scores.shape[1] < 2:
        return np.zeros_like(scores)
    second = np.sort(scores, axis=1)[:, -2:-1]
    found: Array = scores - np.where(scores >= best, second, best)
    return found


def _share(scores: Array, temperature: float) -> Array:
    """Each clause's candidates as shares of one (softmax)."""
    import numpy as np

    powers = np.exp((scores - scores.max(axis=1, keepdims=True)) / temperature)
    found: Array = powers / powers.sum(axis=1, keepdims=True)
    return found


def _best_of_sources(scores: Array, parent_of: Array) -> Array:
    """(clauses, sources): each source's best tool for each clause."""
    import numpy as np

    best = np.full((len(scores), int(parent_of.max(initial=0)) + 1), -1.0)
    for row, found in zip(best, scores, strict=True):
        np.maximum.at(row, parent_of, found)
    return best


def _compare_sources(best: Array, parent_of: Array) -> Mapping[str, Array]:
    places = compute_places(best)
    return {
        "source_place": places.max(axis=0)[parent_of],
        "source_places": places.sum(axis=0)[parent_of],
        "source_first": (places == 1.0).sum(axis=0).astype(float)[parent_of],
        "source_lead": find_lead(best).max(axis=0)[parent_of],
    }
