"""Searches an index: the best tools by a mode's weights, ordered by the ranker, with the tools that
they need.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from callwright.dataflow.flow import Link
from callwright.dataflow.prerequisites import Need, link_prerequisites
from callwright.nouns.types import Tool
from callwright.retrieval.candidates import MOST, Candidates
from callwright.retrieval.document import Document
from callwright.retrieval.documents import Documents
from callwright.retrieval.features import MODES, Asked, Mode, compute_features
from callwright.retrieval.ranker import Ranker, shipped_ranker
from callwright.retrieval.ranking import select_highest
from callwright.retrieval.terms import query_terms

if TYPE_CHECKING:
    from numpy import ndarray

    Array = ndarray[Any, Any]

BROUGHT = 2  # tools beyond k that the found ones need first
_MOST_KEPT = 4_096  # tools in outline
NEAR = 20  # of the hundred best, looked at as providers
BESIDE = 60  # of the tools of a consumer's own source


def find_best(
    asked: Asked,
    documents: Sequence[Document],
    mode: Mode,
    count: int,
    ranker: Ranker | None = None,
) -> tuple[list[int], Array]:
    """The places of the best ``count`` documents for a mode, best first, and their scores; none
    that scores 0.

    A ranker orders the first :data:`~callwright.retrieval.candidates.MOST`, whatever ``count``; the
    others follow as they were found, scored below them.
    """
    import numpy as np

    weights = MODES[mode]
    found = compute_features(asked, tuple(weights))
    scores = found @ np.array(list(weights.values()), np.float32)
    ranked = mode == "ranked"
    places = [
        i for i in select_highest(scores, max(count, MOST) if ranked else count) if scores[i] > 0
    ]
    if not ranked or not places:
        return places, scores[places]
    judged = (ranker or shipped_ranker())(Candidates.of(asked, documents, found, places))
    order = np.argsort(-judged, kind="stable")
    rest = scores[places[MOST:]] / scores[places[len(order) - 1]] * judged.min()
    places = [*(places[i] for i in order), *places[MOST:]]
    return places[:count], np.concatenate([judged[order], rest])[:count]


def find_best_clauses(asked: Asked, places: Sequence[int]) -> list[int]:
    """The clause that each of the documents at ``places`` fits best, of equal ones the first;
    nothing is encoded.

    By words and, where clauses were encoded, by meaning; each clause's scores are shares of its
    best among these.
    """
    import numpy as np

    if len(asked.clause_terms) < 2 or not places:
        return [0] * len(places)
    scores = _scale_rows_to_best(np.stack([row[places] for row in asked.clause_scores]))
    vectors = asked.fields.tool_vectors
    if (
        vectors is not None
        and asked.clause_vectors is not None
        and len(asked.clause_vectors) == len(scores)
    ):
        scores = scores + _scale_rows_to_best(
            np.clip(asked.clause_vectors @ vectors.vectors[places].T, 0.0, 1.0)
        )
    fits: list[int] = scores.argmax(axis=0).tolist()
    return fits


def _scale_rows_to_best(scores: Array) -> Array:
    """Each row as shares of its highest; of nothing, nothing."""
    import numpy as np

    best = scores.max(axis=1, keepdims=True)
    shares: Array = scores / np.where(best > 0, best, 1.0)
    return shares


def find_prerequisites(
    asked: Asked,
    documents: Documents,
    request: str,
    found: Sequence[int],
    others: Sequence[int],
    most: int,
) -> list[tuple[Link, bool]]:
    """Return the links of the found documents to tools that they need, and whether each producer
    may write. At most ``most``.

    Providers are looked for among ``others`` and the tools of the consumer's own source, whose
    identifiers it takes. If there are many, those are considered that share most words with the
    need.
    """
    import numpy as np

    fields = asked.fields

    def tool(i: int) -> Tool:
        return _get_tool(documents, i)

    def select_similar(need: Need, places: Array, count: int) -> list[int]:
        if len(places) > count:
            said = fields.tools.scores(query_terms(need.words))[places]
            places = places[select_highest(said, count)]
        found: list[int] = places.tolist()
        return found

    def pool(need: Need) -> Iterable[Tool]:
        parent = fields.parent_of[documents.place[need.consumer.name]]
        beside = select_similar(need, np.flatnonzero(fields.parent_of == parent), BESIDE)
        near = select_similar(need, np.asarray(others[:MOST], np.int64), NEAR)
        return [tool(i) for i in dict.fromkeys([*near, *beside])]

    links = link_prerequisites([tool(i) for i in found], request, pool, most)
    return [(link, tool(documents.place[link.producer]).effects.may_write) for link in links]


_TOOLS: dict[str, Tool] = {}


def _get_tool(documents: Documents, i: int) -> Tool:
    """A document's tool, kept by its digest: the same few are found again and again."""
    key = documents.digests[i]
    found = _TOOLS.get(key)
    if found is None:
        if len(_TOOLS) > _MOST_KEPT:
            _TOOLS.clear()
        found = _TOOLS[key] = documents[i].tool()
    return found
