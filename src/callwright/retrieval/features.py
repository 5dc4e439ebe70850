"""What can be known of a tool for a request, number by number, and how the modes weigh it.

There are eight features: of words (BM25) or of meaning (cosine); of the whole request or of the best of its clauses;
of the tool or of its parent, that is of all tools from the same place. Fusion is convex (Bruch et al. 2023, "An
Analysis of Fusion Functions for Hybrid Retrieval"): every feature lies in [0, 1] and so does their weighted mean.
:func:`features` is the one place where features are made; a learned ranker would read the same matrix.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal

from callwright.errors import ConfigError
from callwright.protocols import Encoder
from callwright.retrieval.clauses import clauses
from callwright.retrieval.dense import Dense
from callwright.retrieval.lexical import Lexical
from callwright.retrieval.neighbours import Neighbours
from callwright.retrieval.ranking import highest
from callwright.retrieval.terms import query_terms

if TYPE_CHECKING:
    from numpy import ndarray

    Scores = ndarray[Any, Any]

Mode = Literal["hybrid", "single", "lexical", "bm25", "dense"]

LOOKED_AT = 200  # of very many tools: near the request, near each of its clauses, and best by words

_OF_WORDS = ("bm25", "bm25_clause", "bm25_parent", "bm25_parent_clause")
_OF_REQUEST = ("dense", "dense_parent")  # what one encoding gives
_OF_CLAUSES = ("dense_clause", "dense_parent_clause")


def _alike(*names: str) -> Mapping[str, float]:
    return MappingProxyType({name: 1 / len(names) for name in names})


MODES: Mapping[Mode, Mapping[str, float]] = MappingProxyType(
    {
        "hybrid": _alike(*_OF_WORDS, *_OF_REQUEST, *_OF_CLAUSES),
        "single": _alike(*_OF_WORDS, *_OF_REQUEST),
        "lexical": _alike(*_OF_WORDS),
        "bm25": _alike("bm25"),
        "dense": _alike("dense"),
    }
)
"""How much each feature counts in a mode; the weights of a mode add up to 1. All count alike: none was tuned."""


@dataclass(frozen=True)
class Fields:
    """What is searched: N tools, P parents. ``parent_of`` (N,) numbers each tool's parent.

    Without an encoder the dense fields are None.
    """

    tools: Lexical  # (N,)
    parents: Lexical  # (P,): all that the tools of one parent say
    parent_of: Scores
    tool_vectors: Dense | None = None  # (N, D)
    parent_vectors: Dense | None = None  # (P, D)
    near: Neighbours | None = None  # of the tools; None: there are few enough to look at all their vectors


def mode_named(name: str) -> Mode:
    """The mode of a name. Raises ConfigError if there is none."""
    found = next((mode for mode in MODES if mode == name), None)
    if found is None:
        raise ConfigError(f"there is no retrieval mode {name!r}", hint=f"modes: {', '.join(MODES)}")
    return found


def needs_encoder(mode: Mode) -> bool:
    """Whether a mode reads vectors."""
    return any(name.startswith("dense") for name in MODES[mode])


def features(fields: Fields, request: str, wanted: Sequence[str], encoder: Encoder | None = None) -> Scores:
    """The wanted features of every tool, float32 (N, len(wanted)), each in [0, 1]; 0 says nothing for a tool.

    What has to be encoded is encoded in one batch: nothing, the request, or the request and its clauses. Raises
    ConfigError where a dense feature is wanted of fields without vectors.
    """
    import numpy as np

    asked = _asked(request, wanted, encoder)
    found = {name: _FEATURES[name](fields, asked) for name in wanted if name in _OF_WORDS}
    if fields.near is not None and asked.vectors is not None:
        asked = replace(asked, only=_worth_a_look(fields.near, asked, list(found.values())))
    found |= {name: _FEATURES[name](fields, asked) for name in wanted if name not in found}
    return (
        np.stack([found[name] for name in wanted]).astype(np.float32, copy=False).T
    )  # each feature in one piece: it is read by column


@dataclass(frozen=True)
class _Asked:
    """A request, taken apart and encoded once."""

    terms: Sequence[str]
    clause_terms: Sequence[Sequence[str]]
    vectors: Scores | None = None  # (1, D): of the request
    clause_vectors: Scores | None = None  # (C, D)
    only: Scores | None = None  # the tools whose vectors are looked at; None: all


def _asked(request: str, wanted: Sequence[str], encoder: Encoder | None) -> _Asked:
    parts = clauses(request)
    clause_terms = [found for clause in parts if (found := query_terms(clause))]
    if encoder is None or not any(name.startswith("dense") for name in wanted):
        return _Asked(query_terms(request), clause_terms)
    texts = (request, *parts) if any(name in _OF_CLAUSES for name in wanted) else (request,)
    vectors = encoder.encode(texts)
    return _Asked(query_terms(request), clause_terms, vectors[:1], vectors[1:])


def _bm25(fields: Fields, asked: _Asked) -> Scores:
    return _of_best(fields.tools.scores(asked.terms))


def _bm25_clause(fields: Fields, asked: _Asked) -> Scores:
    return _best_clause(fields.tools, asked)


def _bm25_parent(fields: Fields, asked: _Asked) -> Scores:
    return _of_parents(fields, lambda: _of_best(fields.parents.scores(asked.terms)))


def _bm25_parent_clause(fields: Fields, asked: _Asked) -> Scores:
    return _of_parents(fields, lambda: _best_clause(fields.parents, asked))


def _dense(fields: Fields, asked: _Asked) -> Scores:
    return _cosines(fields.tool_vectors, asked.vectors, asked.only)


def _dense_clause(fields: Fields, asked: _Asked) -> Scores:
    return _cosines(fields.tool_vectors, asked.clause_vectors, asked.only)


def _dense_parent(fields: Fields, asked: _Asked) -> Scores:
    return _of_parents(fields, lambda: _cosines(fields.parent_vectors, asked.vectors, _parents(fields, asked)))


def _dense_parent_clause(fields: Fields, asked: _Asked) -> Scores:
    return _of_parents(fields, lambda: _cosines(fields.parent_vectors, asked.clause_vectors, _parents(fields, asked)))


def _parents(fields: Fields, asked: _Asked) -> Scores | None:
    """The parents whose vectors are looked at."""
    import numpy as np

    return None if asked.only is None else np.unique(fields.parent_of[asked.only])


def _worth_a_look(near: Neighbours, asked: _Asked, of_words: Sequence[Scores]) -> Scores:
    """The tools near the request or one of its clauses, and those that its words alone would choose."""
    import numpy as np

    vectors = [found for found in (asked.vectors, asked.clause_vectors) if found is not None]
    found = near.nearest(np.concatenate(vectors), LOOKED_AT)
    return np.union1d(found, highest(np.sum(of_words, axis=0), LOOKED_AT)) if of_words else found


def _best_clause(index: Lexical, asked: _Asked) -> Scores:
    """Each clause's scores against its own best; of these the highest."""
    import numpy as np

    best = np.zeros(index.size, np.float32)
    for found in asked.clause_terms:
        np.maximum(best, _of_best(index.scores(found)), out=best)
    return best


def _of_best(scores: Scores) -> Scores:
    """Scores as shares of the highest."""
    best = scores.max(initial=0.0)
    return scores / best if best > 0 else scores


def _of_parents(fields: Fields, scores: Callable[[], Scores]) -> Scores:
    """Each tool's parent's score; nothing where all have one parent: it would speak for all of them alike."""
    import numpy as np

    if fields.parents.size < 2:
        return np.zeros(fields.tools.size, np.float32)
    found: Scores = scores()[fields.parent_of]
    return found


def _cosines(vectors: Dense | None, asked: Scores | None, only: Scores | None) -> Scores:
    if vectors is None or asked is None:
        raise ConfigError(
            "this index has no vectors", hint="build it with an encoder, or search it with mode lexical or bm25"
        )
    return vectors.scores(asked, only)


_FEATURES: dict[str, Callable[[Fields, _Asked], Scores]] = {
    "bm25": _bm25,
    "bm25_clause": _bm25_clause,
    "bm25_parent": _bm25_parent,
    "bm25_parent_clause": _bm25_parent_clause,
    "dense": _dense,
    "dense_clause": _dense_clause,
    "dense_parent": _dense_parent,
    "dense_parent_clause": _dense_parent_clause,
}

FEATURES = tuple(_FEATURES)
"""The names of all features."""
