"""BM25 over term lists: bm25s' eagerly scored index (Lù 2024), Lucene's formula (Robertson; k1 1.5, b 0.75)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from callwright.errors import MissingExtra

if TYPE_CHECKING:
    from numpy import ndarray

    Scores = ndarray[Any, Any]


class Lexical:
    """Scores of texts given as stems parted by spaces, (N,) float32, 0 where no term is shared."""

    def __init__(self, index: Any, size: int) -> None:
        self._index = index  # None where no text has a term: bm25s cannot hold that
        self.size = size

    @classmethod
    def build(cls, texts: Sequence[str]) -> Lexical:
        """Index the texts. Raises MissingExtra without the extra ``retrieval``."""
        numbers: dict[str, int] = {}
        rows = [[numbers.setdefault(term, len(numbers)) for term in text.split()] for text in texts]
        if not numbers:
            return cls(None, len(texts))
        index = _bm25().BM25(method="lucene")
        index.index((rows, numbers), show_progress=False, create_empty_token=False)
        return cls(index, len(texts))

    def scores(self, terms: Sequence[str]) -> Scores:
        """BM25 of each text for the given terms."""
        import numpy as np

        known = [] if self._index is None else self._index.get_tokens_ids(list(terms))
        if not known:
            return np.zeros(self.size, np.float32)
        found: Scores = self._index.get_scores_from_ids(known)
        return found

    def save(self, folder: Path) -> None:
        """Write it to a new folder."""
        folder.mkdir(parents=True)
        if self._index is not None:
            self._index.save(str(folder), show_progress=False)

    @classmethod
    def load(cls, folder: Path, size: int) -> Lexical:
        """What :meth:`save` wrote, memory-mapped. ``size`` is the number of texts."""
        if not any(folder.iterdir()):
            return cls(None, size)
        return cls(_bm25().BM25.load(str(folder), mmap=True, show_progress=False, verbosity=0), size)


def _bm25() -> Any:
    try:
        import bm25s
    except ImportError:
        raise MissingExtra("lexical retrieval", "retrieval") from None
    return bm25s
