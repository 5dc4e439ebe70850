"""BM25 over term lists, eagerly scored: what a term adds to each text is computed when the index is
made.

Eager scoring is that of bm25s (Lù 2024, "BM25S: Orders of magnitude faster lexical search via eager
sparse scoring"), the formula Lucene's (Robertson; k1 1.5, b 0.75). The counts are kept beside the
scores: one new text changes every score, yet leaves the counts of the others as they are, so an
update copies these and computes the scores again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from callwright.jsontext import parse

if TYPE_CHECKING:
    from numpy import ndarray

    Array = ndarray[Any, Any]

K1 = 1.5
B = 0.75

_PARTS = ("starts", "texts", "counts", "lengths", "scored")
_ROW_BITS = 32  # of a posting's key: the term's number above, the text's below


class Lexical:
    """Scores of texts given as stems parted by spaces, (N,) float32, 0 where no term is shared.
    Immutable.

    Postings are ordered by term, then by text: those of term ``i`` are at ``starts[i]:starts[i +
    1]``, each the number of a text that holds it, how often it does, and what that adds to the
    text's score.
    """

    def __init__(
        self,
        terms: Sequence[str],  # (V,), ordered
        starts: Array,  # (V + 1,) int64
        texts: Array,  # (postings,) int32
        counts: Array,  # (postings,) int32
        lengths: Array,  # (N,) int32: terms of each text
        scored: Array | None = None,  # (postings,) float32
    ) -> None:
        self.terms = tuple(terms)
        self.starts = starts
        self.texts = texts
        self.counts = counts
        self.lengths = lengths
        self.scored = _score_postings(starts, texts, counts, lengths) if scored is None else scored

    @classmethod
    def build(cls, texts: Sequence[str]) -> Lexical:
        """Index the texts."""
        return cls._empty().updated([], dict(enumerate(texts)), len(texts))

    @property
    def size(self) -> int:
        """N, the number of texts."""
        return len(self.lengths)

    def scores(self, terms: Sequence[str]) -> Array:
        """BM25 of each text for the given terms."""
        import numpy as np

        found = np.zeros(self.size, np.float32)
        for term in terms:
            at = self._number.get(term)
            if at is not None:
                postings = slice(self.starts[at], self.starts[at + 1])
                np.add.at(found, self.texts[postings], self.scored[postings])
        return found

    def count_texts(self, term: str) -> int:
        """The number of texts that hold a term."""
        at = self._number.get(term)
        return 0 if at is None else int(self.starts[at + 1] - self.starts[at])

    def updated(self, moved: Array | Sequence[int], fresh: Mapping[int, str], size: int) -> Lexical:
        """The index of ``size`` texts: kept ones, renumbered, and fresh ones by their new number.

        ``moved`` holds each old text's new number, -1 where it is gone; kept texts stay in their
        order. Only fresh texts are read; what is kept is copied and scored again. Equals the index
        that is built of the same texts.
        """
        import numpy as np

        now = np.asarray(moved, np.int64).reshape(-1)
        lengths = np.zeros(size, np.int32)
        lengths[now[now >= 0]] = self.lengths[now >= 0]
        numbers = dict(self._number)
        tokens: list[int] = []
        for text, said in fresh.items():
            words = said.split()
            lengths[text] = len(words)
            tokens += [numbers.setdefault(word, len(numbers)) for word in words]
        new_terms = np.array(tokens, np.int64)
        new_texts = np.repeat(np.fromiter(fresh, np.int64, len(fresh)), lengths[list(fresh)])
        old_texts = now[self.texts]
        kept = old_texts >= 0
        old_terms = np.repeat(np.arange(len(self.terms)), np.diff(self.starts))[kept]
        terms, rank = _sort_used_terms(list(numbers), old_terms, new_terms)
        new_keys, new_counts = np.unique(
            (rank[new_terms] << _ROW_BITS) | new_texts, return_counts=True
        )
        keys = np.concatenate([(rank[old_terms] << _ROW_BITS) | old_texts[kept], new_keys])
        counts = np.concatenate([self.counts[kept], new_counts.astype(np.int32)])
        order = np.argsort(keys, kind="stable")  # two ordered runs: a merge
        return self._of(terms, keys[order], counts[order], lengths)

    def grouped(self, group_of: Array, groups: int) -> Lexical:
        """The index of ``groups`` texts, each what the texts of one group say together.
        ``group_of`` is (N,).
        """
        import numpy as np

        of_term = np.repeat(np.arange(len(self.terms)), np.diff(self.starts))
        keys = (of_term << _ROW_BITS) | np.asarray(group_of)[self.texts]
        order = np.argsort(keys, kind="stable")
        keys = keys[order]
        first = np.flatnonzero(np.diff(keys, prepend=-1))
        counts = np.add.reduceat(self.counts[order], first) if len(first) else self.counts
        lengths = np.bincount(group_of, self.lengths, groups).astype(np.int32)
        return self._of(self.terms, keys[first], counts.astype(np.int32), lengths)

    def save(self, folder: Path) -> None:
        """Write it to a new folder."""
        import numpy as np

        folder.mkdir(parents=True)
        (folder / "terms.json").write_bytes(orjson.dumps(self.terms))
        for name in _PARTS:
            np.save(folder / f"{name}.npy", getattr(self, name))

    @classmethod
    def load(cls, folder: Path) -> Lexical:
        """Return the index that :meth:`save` wrote, memory-mapped."""
        import numpy as np

        # as plain arrays over the map: a slice of np.memmap costs ten times a slice of an array
        parts = [np.load(folder / f"{name}.npy", mmap_mode="r").view(np.ndarray) for name in _PARTS]
        return cls(parse((folder / "terms.json").read_bytes()), *parts)

    @cached_property
    def _number(self) -> dict[str, int]:
        return {term: i for i, term in enumerate(self.terms)}

    @classmethod
    def _empty(cls) -> Lexical:
        import numpy as np

        none = np.zeros(0, np.int32)
        return cls((), np.zeros(1, np.int64), none, none, none)

    @classmethod
    def _of(cls, terms: Sequence[str], keys: Array, counts: Array, lengths: Array) -> Lexical:
        """From the ordered keys of postings."""
        import numpy as np

        starts = np.searchsorted(keys, np.arange(len(terms) + 1, dtype=np.int64) << _ROW_BITS)
        return cls(terms, starts, (keys & (2**_ROW_BITS - 1)).astype(np.int32), counts, lengths)


def _sort_used_terms(terms: list[str], *used: Array) -> tuple[list[str], Array]:
    """The terms that are used at all, ordered, and every term's number among them."""
    import numpy as np

    present = np.zeros(len(terms), bool)
    for numbers in used:
        present[numbers] = True
    places = sorted(np.flatnonzero(present).tolist(), key=terms.__getitem__)
    rank = np.zeros(len(terms), np.int64)
    rank[places] = np.arange(len(places))
    return [terms[i] for i in places], rank


def _score_postings(starts: Array, texts: Array, counts: Array, lengths: Array) -> Array:
    """Return the score that each posting adds: idf · f / (f + k1 (1 - b + b · length / average
    length)).

    With idf = ln(1 + (N - n + 0.5) / (n + 0.5)) of a term that n of N texts hold.
    """
    import numpy as np

    holding = np.diff(starts)
    idf = np.log1p((len(lengths) - holding + 0.5) / (holding + 0.5))
    average = lengths.mean() or 1.0 if len(lengths) else 1.0
    damping = K1 * (1 - B + B * lengths / average)
    return np.asarray(np.repeat(idf, holding) * counts / (counts + damping[texts]), np.float32)
