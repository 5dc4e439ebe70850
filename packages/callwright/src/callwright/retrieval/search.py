"""How an index is searched: the best by a mode's weights, put in order by the ranker, and what they
bring along.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from callwright.dataflow.flow import Link
from callwright.dataflow.prerequisites import Need, brought
from callwright.nouns.types import Tool
from callwright.retrieval.candidates import MOST, Candidates
from callwright.retrieval.document import Document
from callwright.retrieval.documents import Documents
from callwright.retrieval.features import MODES, Asked, Mode, features
from callwright.retrieval.ranker import Ranker, shipped_ranker
from callwright.retrieval.ranking import highest
from callwright.retrieval.terms import query_terms

if TYPE_CHECKING:
    from numpy import ndarray

    Array = ndarray[Any, Any]

BROUGHT = 2  # tools beyond k that the found ones need first
_MOST_KEPT = 4_096  # tools in outline
NEAR = 20  # of the hundred best, looked at as providers
BESIDE = 60  # of the tools of a consumer's own source


def best(
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
    found = features(asked, tuple(weights))
    scores = found @ np.array(list(weights.values()), np.float32)
    ranked = mode == "ranked"
    places = [i for i in highest(scores, max(count, MOST) if ranked else count) if scores[i] > 0]
    if not ranked or not places:
        return places, scores[places]
    judged = (ranker or shipped_ranker())(Candidates.of(asked, documents, found, places))
    order = np.argsort(-judged, kind="stable")
    rest = scores[places[MOST:]] / scores[places[len(order) - 1]] * judged.min()
    places = [*(places[i] for i in order), *places[MOST:]]
    return places[:count], np.concatenate([judged[order], rest])[:count]


def clause_of(asked: Asked, places: Sequence[int]) -> list[int]:
    """The clause that each of the documents at ``places`` fits best, of equal ones the first;
    nothing is encoded.

    By words and, where clauses were encoded, by meaning; each clause's scores are shares of its
    best among these.
    """
    import numpy as np

    if len(asked.clause_terms) < 2 or not places:
        return [0] * len(places)
    scores = _of_their_best(np.stack([row[places] for row in asked.clause_scores]))
    vectors = asked.fields.tool_vectors
    if (
        vectors is not None
        and asked.clause_vectors is not None
        and len(asked.clause_vectors) == len(scores)
    ):
        scores = scores + _of_their_best(
            np.clip(asked.clause_vectors @ vectors.vectors[places].T, 0.0, 1.0)
        )
    fits: list[int] = scores.argmax(axis=0).tolist()
    return fits


def _of_their_best(scores: Array) -> Array:
    """Each row as shares of its highest; of nothing, nothing."""
    import numpy as np

    best = scores.max(axis=1, keepdims=True)
    shares: Array = scores / np.where(best > 0, best, 1.0)
    return shares


def along(
    asked: Asked,
    documents: Documents,
    request: str,
    found: Sequence[int],
    others: Sequence[int],
    most: int,
) -> list[tuple[Link, bool]]:
    """What the found documents bring along: the link, and whether its producer may write. At most
    ``most``.

    Providers are looked for among ``others`` and the tools of the consumer's own source, whose
    identifiers it takes: of many among those that share most words with what is needed.
    """
    import numpy as np

    fields = asked.fields

    def tool(i: int) -> Tool:
        return _tool(documents, i)

    def alike(need: Need, places: Array, count: int) -> list[int]:
        if len(places) > count:
            said = fields.tools.scores(query_terms(need.words))[places]
            places = places[highest(said, count)]
        found: list[int] = places.tolist()
        return found

    def pool(need: Need) -> Iterable[Tool]:
        parent = fields.parent_of[documents.place[need.consumer.name]]
        beside = alike(need, np.flatnonzero(fields.parent_of == parent), BESIDE)
        near = alike(need, np.asarray(others[:MOST], np.int64), NEAR)
        return [tool(i) for i in dict.fromkeys([*near, *beside])]

    links = brought([tool(i) for i in found], request, pool, most)
    return [(link, tool(documents.place[link.producer]).effects.may_write) for link in links]


_TOOLS: dict[str, Tool] = {}


def _tool(documents: Documents, i: int) -> Tool:
    """A document's tool, kept by its digest: the same few are found again and again."""
    key = documents.digests[i]
    found = _TOOLS.get(key)
    if found is None:
        if len(_TOOLS) > _MOST_KEPT:
            _TOOLS.clear()
        found = _TOOLS[key] = documents[i].tool()
    return found
