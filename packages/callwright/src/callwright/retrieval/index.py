"""The index of a catalogue's tools: built, kept up to date, searched."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from callwright.nouns.errors import ConfigError
from callwright.nouns.protocols import Encoder
from callwright.nouns.types import Tool
from callwright.retrieval.candidates import MOST, Candidates
from callwright.retrieval.document import Document, build_document, document_digest
from callwright.retrieval.documents import Change, Documents
from callwright.retrieval.features import (
    FEATURES,
    MODES,
    Asked,
    Fields,
    Mode,
    compute_features,
    mode_named,
)
from callwright.retrieval.neighbours import EXACT
from callwright.retrieval.ranker import Ranker
from callwright.retrieval.ranking import select_highest
from callwright.retrieval.search import BROUGHT, find_best, find_best_clauses, find_prerequisites
from callwright.retrieval.searchable import fields_after, fields_of
from callwright.tools.evidence.prior import UNKNOWN, Known, compute_weight

if TYPE_CHECKING:
    from numpy import ndarray

    Scores = ndarray[Any, Any]


_POOL = 200  # hits among which what is known of tools changes the order


@dataclass(frozen=True, slots=True)
class Hit:
    """A tool found for a request. ``score`` is in (0, 1], and comparable only within one request
    and mode.

    One that was brought along says which hit it is ``needed_by``, why, and whether calling it
    ``may_write``; its score is that hit's, times how surely it provides what is needed. ``clause``
    is the part of the request that it fits best, from 0
    (:func:`callwright.retrieval.clauses.split_clauses`): hits of one clause compete, those of two do not.
    """

    name: str
    score: float
    needed_by: str = ""
    reason: str = ""
    may_write: bool = False
    clause: int = 0


def weigh_hits(hits: Sequence[Hit], known: Known) -> tuple[Hit, ...]:
    """The hits by score and by what is known of their tools; scores stay at most 1."""
    ranked = [(hit.score * compute_weight(known.get(hit.name, UNKNOWN)), hit) for hit in hits]
    ranked.sort(key=lambda pair: -pair[0])
    return tuple(replace(hit, score=min(1.0, score)) for score, hit in ranked)


class ToolIndex:
    """Index of searchable tools. Immutable: an update makes a new index and takes over what has not
    changed.

    Neither the order of tools nor the way an index came about changes a score. Equal scores are
    ordered by name.
    """

    def __init__(
        self,
        documents: Iterable[Document],
        encoder: Encoder | None = None,
        vectors: Scores | None = None,
        fields: Fields | None = None,
        exact: int = EXACT,
    ) -> None:
        """``vectors`` (N, D) are those of the documents' texts by ``encoder``, in the order of
        their names.

        ``fields`` is the searchable form where it was made before; else it is made on first use. Up
        to ``exact`` vectors all are compared with a request; of more only those that a graph
        proposes (:mod:`.neighbours`).
        """
        self.documents = documents if isinstance(documents, Documents) else Documents.of(documents)
        self.encoder = encoder
        self.vectors = vectors
        self.exact = exact
        self._fields = fields

    @classmethod
    def build(
        cls, tools: Iterable[Tool], encoder: Encoder | None = None, *, exact: int = EXACT
    ) -> ToolIndex:
        """Index the tools; with an encoder by meaning as well.

        Raises ConfigError if two tools have one name, MissingExtra without the extra ``retrieval``.
        """
        empty = None if encoder is None else encoder.encode(())
        return cls((), encoder, empty, exact=exact).updated(tools)

    def updated(self, tools: Iterable[Tool] = (), *, without: Iterable[str] = ()) -> ToolIndex:
        """The index with these tools, new or changed, and without those named; only new texts are
        read.
        """
        given = tuple(tools)
        _one_name_each(given)
        known = {name: self.documents.digests[at] for name, at in self.documents.place.items()}
        fresh = {
            tool.name: build_document(tool)
            for tool in given
            if known.get(tool.name) != document_digest(tool)
        }
        gone = (set(without) & known.keys()) - {tool.name for tool in given}
        return self._changed(self.documents.updated(fresh, gone)) if fresh or gone else self

    def synced(self, tools: Iterable[Tool]) -> ToolIndex:
        """The index of exactly these tools."""
        given = tuple(tools)
        names = {tool.name for tool in given}
        return self.updated(
            given, without=[name for name in self.documents.names if name not in names]
        )

    def _changed(self, change: Change) -> ToolIndex:
        """The index after a change; what can be searched already is updated, not made again."""
        vectors = self._vectors_after(change)
        fields = self._fields and fields_after(
            change, self.documents, self._fields, vectors, self.exact
        )
        return ToolIndex(change.documents, self.encoder, vectors, fields, self.exact)

    def _vectors_after(self, change: Change) -> Scores | None:
        """The documents' vectors: those that are here as they are, the others encoded."""
        if self.encoder is None or self.vectors is None:
            return None
        import numpy as np

        made = self.encoder.encode([found.text for found in change.fresh.values()])
        width = made.shape[1] if len(made) else self.vectors.shape[1]
        every = np.empty((len(change.documents), width), np.float32)
        stayed = change.moved >= 0
        if stayed.any():
            every[change.moved[stayed]] = self.vectors[stayed]
        every[list(change.fresh)] = made
        return every

    def __len__(self) -> int:
        return len(self.documents)

    def search(
        self,
        request: str,
        k: int = 10,
        *,
        mode: Mode | None = None,
        known: Known | None = None,
        bring: int = BROUGHT,
        ranker: Ranker | None = None,
    ) -> tuple[Hit, ...]:
        """The best ``k`` tools for a request, best first; fewer where nothing speaks for more.

        ``mode`` is hybrid where the index has vectors, else lexical; ``ranker`` is that of mode
        ranked, the shipped one unless given. ``known``: success rates of tools by name, a prior on
        which of those that fit come first (:mod:`callwright.tools.evidence.prior`). ``bring``:
        after the k best come at most so many more that they need first
        (:mod:`callwright.dataflow.prerequisites`), each marked. Raises ConfigError for a mode there
        is not, or that needs vectors where there are none, or k < 1.
        """
        chosen = mode_named(mode or ("lexical" if self.vectors is None else "hybrid"))
        if k < 1:
            raise ConfigError(f"k must be at least 1, not {k}")
        if not self.documents or not request.strip():
            return ()
        asked = self._asked(request, tuple(MODES[chosen]))
        pool = max(_POOL, k) if known else k
        places, scores = find_best(
            asked, self.documents, chosen, max(pool, MOST) if bring else pool, ranker
        )
        fits = find_best_clauses(asked, places[:pool])
        found = [
            Hit(self.documents.names[i], float(score), clause=clause)
            for i, score, clause in zip(places[:pool], scores[:pool], fits, strict=True)
        ]
        hits = weigh_hits(found, known)[:k] if known else tuple(found)
        return (*hits, *self._brought(asked, request, hits, places, bring)) if bring else hits

    def needed(self, request: str, hits: Sequence[Hit], most: int = BROUGHT) -> tuple[Hit, ...]:
        """Return the tools that chosen hits need first and do not include, marked as :meth:`search`
        marks them. Nothing is encoded.

        This serves choices made from hits, such as a shortlist: the needed tools depend on what was
        chosen.
        """
        asked = self._asked(request, tuple(MODES["lexical"]))
        places, _ = find_best(asked, self.documents, "lexical", MOST)
        return tuple(self._brought(asked, request, hits, places, most))

    def _brought(
        self, asked: Asked, request: str, hits: Sequence[Hit], places: Sequence[int], most: int
    ) -> Iterator[Hit]:
        hit_of = {hit.name: hit for hit in hits}
        found = [self.documents.place[name] for name in hit_of]
        for link, may_write in find_prerequisites(
            asked, self.documents, request, found, places, most
        ):
            hit = hit_of[link.consumer]
            yield Hit(
                link.producer, hit.score * link.score, hit.name, link.reason, may_write, hit.clause
            )

    def candidates(self, request: str) -> Candidates:
        """Return the best candidates for a request, as a ranker compares them. Raises ConfigError
        without vectors.
        """
        asked = self._asked(request, FEATURES)
        found = compute_features(asked, FEATURES)
        scores = found.mean(axis=1)
        return Candidates.of(
            asked, self.documents, found, [i for i in select_highest(scores, MOST) if scores[i] > 0]
        )

    def features(self, request: str, wanted: Sequence[str]) -> Scores:
        """:func:`callwright.retrieval.features.compute_features` of every document, in the order of
        ``documents``.
        """
        return compute_features(self._asked(request, wanted), wanted)

    def _asked(self, request: str, wanted: Sequence[str]) -> Asked:
        return Asked.of(self.fields, request, wanted, self.encoder)

    @property
    def fields(self) -> Fields:
        """The searchable form, made on first use."""
        if self._fields is None:
            self._fields = fields_of(self.documents, self.vectors, self.exact)
        return self._fields


def _one_name_each(tools: Sequence[Tool]) -> None:
    twice = [name for name, count in Counter(tool.name for tool in tools).items() if count > 1]
    if twice:
        raise ConfigError(
            f"two tools are called {twice[0]!r}",
            hint="open_catalog gives every tool a name of its own",
        )
