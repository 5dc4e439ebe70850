"""Cosines between what an encoder makes of texts: exact ones, of all unit vectors or of some."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from numpy import ndarray

    Array = ndarray[Any, Any]


class Dense:
    """Unit vectors of N texts, (N, D) float32, and their scores for others."""

    def __init__(self, vectors: Array) -> None:
        self.vectors = vectors

    @classmethod
    def means(cls, vectors: Array, group_of: Array, groups: int) -> Dense:
        """The mean direction of each group of vectors: (groups, D). ``group_of`` (N,) numbers their
        groups.
        """
        import numpy as np

        order = np.argsort(group_of, kind="stable")
        ordered = np.asarray(group_of)[order]
        first = np.flatnonzero(np.diff(ordered, prepend=-1))
        sums = np.zeros((groups, vectors.shape[1]), np.float32)
        if len(first):
            sums[ordered[first]] = np.add.reduceat(vectors[order], first, axis=0)
        norms = np.linalg.norm(sums, axis=1, keepdims=True)
        return cls(sums / np.maximum(norms, 1e-12))

    def scores(self, asked: Array | Sequence[Array], only: Array | None = None) -> Array:
        """The highest cosine of each text with any of the asked vectors (Q, D): (N,) in [0, 1].

        Below 0 counts as 0: nothing speaks for such a text. ``only`` names the texts that are
        looked at; the others' score is 0.
        """
        import numpy as np

        queries = np.asarray(asked, np.float32)
        if not len(queries):
            return np.zeros(len(self.vectors), np.float32)
        looked_at = self.vectors if only is None else self.vectors[only]
        found: Array = np.clip((looked_at @ queries.T).max(axis=1), 0.0, 1.0)
        if only is None:
            return found
        every = np.zeros(len(self.vectors), np.float32)
        every[only] = found
        return every
