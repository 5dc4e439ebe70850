"""The index of a catalogue's tools: built, kept up to date, searched."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from callwright.errors import ConfigError
from callwright.protocols import Encoder
from callwright.retrieval.dense import Dense
from callwright.retrieval.document import Document, document, document_digest
from callwright.retrieval.features import MODES, Fields, Mode, features, mode_named
from callwright.retrieval.lexical import Lexical
from callwright.types import Tool

if TYPE_CHECKING:
    from numpy import ndarray

    Scores = ndarray[Any, Any]


@dataclass(frozen=True, slots=True)
class Hit:
    """A tool found for a request. ``score`` is in (0, 1], and comparable only within one request and mode."""

    name: str
    score: float


class ToolIndex:
    """What is searched. Immutable: an update makes a new index and takes over what has not changed.

    Neither the order of tools nor the way an index came about changes a score. Equal scores are ordered by name.
    """

    def __init__(
        self,
        documents: Sequence[Document],
        encoder: Encoder | None = None,
        vectors: Scores | None = None,
        fields: Fields | None = None,
    ) -> None:
        """``documents`` are ordered by name, ``vectors`` (N, D) are those of their texts by ``encoder``.

        ``fields`` is the searchable form where it was made before; else it is made on first use.
        """
        self.documents = tuple(documents)
        self.encoder = encoder
        self.vectors = vectors
        self._fields = fields

    @classmethod
    def build(cls, tools: Iterable[Tool], encoder: Encoder | None = None) -> ToolIndex:
        """Index the tools; with an encoder by meaning as well.

        Raises ConfigError if two tools have one name, MissingExtra without the extra ``retrieval``.
        """
        empty = None if encoder is None else encoder.encode(())
        return cls((), encoder, empty).updated(tools)

    def updated(self, tools: Iterable[Tool] = (), *, without: Iterable[str] = ()) -> ToolIndex:
        """The index with these tools, new or changed, and without those named; only new texts are read."""
        given = tuple(tools)
        _one_name_each(given)
        kept = {d.name: d for d in self.documents}
        for name in without:
            kept.pop(name, None)
        for tool in given:
            known = kept.get(tool.name)
            if known is None or known.digest != document_digest(tool):
                kept[tool.name] = document(tool)
        return self._of(kept.values())

    def synced(self, tools: Iterable[Tool]) -> ToolIndex:
        """The index of exactly these tools."""
        given = tuple(tools)
        names = {tool.name for tool in given}
        return self.updated(given, without=[d.name for d in self.documents if d.name not in names])

    def _of(self, documents: Iterable[Document]) -> ToolIndex:
        ordered = tuple(sorted(documents, key=lambda d: d.name))
        if ordered == self.documents:
            return self
        return ToolIndex(ordered, self.encoder, self._vectors_of(ordered))

    def _vectors_of(self, documents: Sequence[Document]) -> Scores | None:
        """The documents' vectors: those that are here as they are, the others encoded."""
        if self.encoder is None or self.vectors is None:
            return None
        import numpy as np

        known = {d.digest for d in self.documents}
        fresh = [d for d in documents if d.digest not in known]
        every = self.vectors
        if fresh:
            made = self.encoder.encode([d.text for d in fresh])
            every = np.concatenate([every, made]) if len(every) else made
        row_of = {d.digest: row for row, d in enumerate((*self.documents, *fresh))}
        found: Scores = every[[row_of[d.digest] for d in documents]]
        return found

    @property
    def fresh(self) -> bool:
        """Whether it was made here, at least in part, rather than loaded as it is."""
        return self._fields is None

    def __len__(self) -> int:
        return len(self.documents)

    def search(self, request: str, k: int = 10, *, mode: Mode | None = None) -> tuple[Hit, ...]:
        """The best ``k`` tools for a request, best first; fewer where nothing speaks for more.

        ``mode`` is hybrid where the index has vectors, else lexical. Raises ConfigError for a mode there is not, or
        that needs vectors where there are none, or k < 1.
        """
        weights = MODES[mode_named(mode or ("lexical" if self.vectors is None else "hybrid"))]
        if k < 1:
            raise ConfigError(f"k must be at least 1, not {k}")
        if not self.documents or not request.strip():
            return ()
        import numpy as np

        scores = self.features(request, tuple(weights)) @ np.array(list(weights.values()), np.float32)
        return tuple(Hit(self.documents[i].name, float(scores[i])) for i in _best(scores, k) if scores[i] > 0)

    def features(self, request: str, wanted: Sequence[str]) -> Scores:
        """:func:`callwright.retrieval.features.features` of every document, in the order of ``documents``."""
        return features(self.fields, request, wanted, self.encoder)

    @cached_property
    def fields(self) -> Fields:
        """The searchable form."""
        if self._fields is not None:
            return self._fields
        import numpy as np

        parents = sorted({d.parent for d in self.documents})
        place = {parent: i for i, parent in enumerate(parents)}
        said: list[list[str]] = [[] for _ in parents]
        for found in self.documents:
            said[place[found.parent]].append(found.terms)
        parent_of = np.array([place[d.parent] for d in self.documents], np.int32)
        vectors = self.vectors
        return Fields(
            tools=Lexical.build([d.terms for d in self.documents]),
            parents=Lexical.build([" ".join(texts) for texts in said]),
            parent_of=parent_of,
            tool_vectors=None if vectors is None else Dense(vectors),
            parent_vectors=None if vectors is None else Dense.means(vectors, parent_of, len(parents)),
        )


def _one_name_each(tools: Sequence[Tool]) -> None:
    twice = [name for name, count in Counter(tool.name for tool in tools).items() if count > 1]
    if twice:
        raise ConfigError(
            f"two tools are called {twice[0]!r}", hint="open_catalog gives every tool a name of its own"
        )


def _best(scores: Scores, k: int) -> list[int]:
    """The places of the k highest scores, highest first; of equal ones the first."""
    import numpy as np

    if k < len(scores):
        least = np.partition(scores, len(scores) - k)[len(scores) - k]
        places = np.flatnonzero(scores >= least)
    else:
        places = np.arange(len(scores))
    ordered: list[int] = places[np.argsort(-scores[places], kind="stable")][:k].tolist()
    return ordered
