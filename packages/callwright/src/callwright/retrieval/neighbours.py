"""Finds the nearest of very many vectors with a graph instead of a full scan (extra ``scale``).

The graph is usearch's (HNSW: Malkov and Yashunin 2018, "Efficient and robust approximate nearest
neighbor search using hierarchical navigable small world graphs"). It only proposes candidates,
which are scored by the vectors themselves. So no score is approximate, but a tool may be
overlooked.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from numpy import ndarray

    Array = ndarray[Any, Any]

EXACT = 16_000  # vectors up to which all are compared: about 2 ms
_DEPTH = 256  # how many candidates a walk keeps (HNSW's ef)
_STALE = 0.25  # of the graph: with more of it gone it is made again. A choice, no measurement


class Neighbours:
    """A graph over vectors, each known by the digest of its document. Immutable; thread-safe.

    What leaves the index stays in the graph and is passed over, since a graph cannot lose a node;
    what enters is added to a copy.
    """

    def __init__(self, graph: Any, digests: Sequence[str]) -> None:
        """``digests`` are those of the documents, in the order of their vectors."""
        import numpy as np

        keys = _digests_to_keys(digests)
        self._graph = graph
        self._order = np.argsort(keys)
        self._keys = keys[self._order]

    @classmethod
    def build(cls, digests: Sequence[str], vectors: Array) -> Neighbours:
        """A graph of all the vectors (N, D): about 0.3 ms of CPU each."""
        graph = _import_usearch().Index(
            ndim=vectors.shape[1], metric="cos", dtype="bf16", expansion_search=_DEPTH
        )
        graph.add(_digests_to_keys(digests), vectors, threads=1)
        return cls(graph, digests)

    def updated(self, digests: Sequence[str], vectors: Array) -> Neighbours:
        """The graph for these documents: what it lacks is added. Made again where too much of it is
        gone.
        """
        keys = _digests_to_keys(digests)
        lacking = ~self._graph.contains(keys) if len(keys) else keys.astype(bool)
        if len(digests) < (1 - _STALE) * (len(self._graph) + lacking.sum()):
            return self.build(digests, vectors)
        if not lacking.any():
            return Neighbours(self._graph, digests)
        graph = _restore_index(self._graph.save())  # a copy; of what is mapped, too
        graph.add(keys[lacking], vectors[lacking], threads=1)
        return Neighbours(graph, digests)

    def nearest(self, asked: Array, count: int) -> Array:
        """The places of about ``count`` vectors near each of the asked ones (Q, D); ordered, each
        once.
        """
        import numpy as np

        found = self._graph.search(
            np.asarray(asked, np.float32), min(count, len(self._graph)), threads=1
        )
        keys = np.unique(found.keys)
        at = np.searchsorted(self._keys, keys)
        known = at < len(self._keys)
        known[known] = self._keys[at[known]] == keys[known]
        return np.sort(self._order[at[known]])

    def save(self, path: Path) -> None:
        """Write the graph to a file."""
        self._graph.save(str(path))

    @classmethod
    def load(cls, path: Path, digests: Sequence[str]) -> Neighbours:
        """Return the graph that :meth:`save` wrote, memory-mapped."""
        return cls(_restore_index(str(path), view=True), digests)


def is_available() -> bool:
    """Return True if the extra is installed. Without it all vectors are compared, however many
    there are.
    """
    return find_spec("usearch") is not None


def _import_usearch() -> Any:
    import usearch.index

    return usearch.index


def _restore_index(file: str | bytearray, *, view: bool = False) -> Any:
    return _import_usearch().Index.restore(file, view=view, expansion_search=_DEPTH)


def _digests_to_keys(digests: Sequence[str]) -> Array:
    """Digests, 16 hexadecimal digits each, as numbers."""
    import numpy as np

    return np.fromiter((int(digest, 16) for digest in digests), np.uint64, len(digests))
