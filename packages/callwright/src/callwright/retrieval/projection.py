"""A learned map of requests' vectors: a request comes to lie nearer to the tools that it needs.

An encoder of sentences places a request by all that it says: who asks, what for, in which words. One
square matrix, learned with the ranker, turns its vector and those of its clauses; the vectors of
tools stay as they are, so an index needs nothing new. It belongs to one encoder: vectors of another
one pass unchanged.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from numpy import ndarray

    Array = ndarray[Any, Any]


@dataclass(frozen=True)
class Projection:
    """``matrix`` (D, D) float32 is multiplied from the right; ``encoder`` names whose vectors it was
    learned with.
    """

    matrix: Array
    encoder: str

    def __call__(self, vectors: Array, encoder: str) -> Array:
        """Return (Q, D) unit vectors of requests, turned; those of another encoder as they are."""
        import numpy as np

        if encoder != self.encoder or vectors.shape[-1] != len(self.matrix):
            return vectors
        turned = vectors @ self.matrix
        found: Array = turned / np.maximum(np.linalg.norm(turned, axis=-1, keepdims=True), 1e-9)
        return found


def build_identity() -> Projection:
    """The projection that changes no encoder's vectors."""
    import numpy as np

    return Projection(np.zeros((0, 0), np.float32), "")
