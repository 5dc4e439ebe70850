"""Features of a tool for a request, number by number, and their weights in each mode.

There are eight features: of words (BM25) or of meaning (cosine); of the whole request or of the
best of its clauses; of the tool or of its parent, that is of all tools from the same place. Fusion
is convex (Bruch et al. 2023, "An Analysis of Fusion Functions for Hybrid Retrieval"): every feature
lies in [0, 1] and so does their weighted mean. :func:`compute_features` is the one place where they are
made; the learned ranker reads the same matrix.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal

from callwright.nouns.errors import ConfigError
from callwright.nouns.protocols import Encoder
from callwright.retrieval.clauses import split_clauses
from callwright.retrieval.dense import Dense
from callwright.retrieval.lexical import Lexical
from callwright.retrieval.neighbours import Neighbours
from callwright.retrieval.ranking import select_highest
from callwright.retrieval.terms import query_terms
from callwright.schema.violations import suggest_name

if TYPE_CHECKING:
    from numpy import ndarray

    Scores = ndarray[Any, Any]

Mode = Literal["ranked", "hybrid", "single", "lexical", "bm25", "dense"]

LOOKED_AT = 200  # of very many tools: near the request, near each of its clauses, and best by words

_OF_WORDS = ("bm25", "bm25_clause", "bm25_parent", "bm25_parent_clause")
_OF_REQUEST = ("dense", "dense_parent")  # what one encoding gives
_OF_CLAUSES = ("dense_clause", "dense_parent_clause")


def _weigh_equally(*names: str) -> Mapping[str, float]:
    return MappingProxyType({name: 1 / len(names) for name in names})


MODES: Mapping[Mode, Mapping[str, float]] = MappingProxyType(
    {
        "ranked": _weigh_equally(*_OF_WORDS, *_OF_REQUEST, *_OF_CLAUSES),
        "hybrid": _weigh_equally(*_OF_WORDS, *_OF_REQUEST, *_OF_CLAUSES),
        "single": _weigh_equally(*_OF_WORDS, *_OF_REQUEST),
        "lexical": _weigh_equally(*_OF_WORDS),
        "bm25": _weigh_equally("bm25"),
        "dense": _weigh_equally("dense"),
    }
)
"""How much each feature counts in a mode; the weights of a mode add up to 1. All count alike: none
was tuned.

Mode ``ranked`` finds its candidates as ``hybrid`` does; :mod:`callwright.retrieval.ranker` puts
them in order.
"""


@dataclass(frozen=True)
class Fields:
    """Searchable data of N tools and P parents. ``parent_of`` (N,) numbers each tool's parent.

    Without an encoder the dense fields are None.
    """

    tools: Lexical  # (N,)
    parents: Lexical  # (P,): all that the tools of one parent say
    parent_of: Scores
    tool_vectors: Dense | None = None  # (N, D)
    parent_vectors: Dense | None = None  # (P, D)
    # of the tools; None: there are few enough to look at all their vectors
    near: Neighbours | None = None


def mode_named(name: str) -> Mode:
    """The mode of a name. Raises ConfigError if there is none."""
    found = next((mode for mode in MODES if mode == name), None)
    if found is None:
        raise ConfigError(
            f"there is no retrieval mode {name!r}",
            hint=suggest_name(name, MODES) + f"modes: {', '.join(MODES)}",
        )
    return found


def needs_encoder(mode: Mode) -> bool:
    """Return True if a mode reads vectors."""
    return any(name.startswith("dense") for name in MODES[mode])


def compute_features(asked: Asked, wanted: Sequence[str]) -> Scores:
    """The wanted features of every tool, float32 (N, len(wanted)), each in [0, 1]; 0 says nothing
    for a tool.

    Raises ConfigError where a dense feature is wanted of fields without vectors.
    """
    import numpy as np

    found = {name: _FEATURES[name](asked) for name in wanted if name in _OF_WORDS}
    if asked.fields.near is not None and asked.vectors is not None:
        asked = replace(asked, only=_select_nearby(asked.fields.near, asked, list(found.values())))
    found |= {name: _FEATURES[name](asked) for name in wanted if name not in found}
    columns = [found[name] for name in wanted]
    return (
        np.stack(columns).astype(np.float32, copy=False).T
    )  # each in one piece: it is read by column


@dataclass(frozen=True)
class Asked:
    """A request put to fields: taken apart, encoded and searched for once."""

    fields: Fields
    terms: Sequence[str]
    clause_terms: Sequence[Sequence[str]]
    vectors: Scores | None = None  # (1, D): of the request
    clause_vectors: Scores | None = None  # (C, D)
    only: Scores | None = None  # the tools whose vectors are looked at; None: all
    encoder: str = ""  # the name of the one that made the vectors

    @classmethod
    def of(
        cls, fields: Fields, request: str, wanted: Sequence[str], encoder: Encoder | None = None
    ) -> Asked:
        """Return the inputs of the wanted features. At most one batch of texts is encoded: the
        request and its clauses.
        """
        parts = split_clauses(request)
        clause_terms = [found for clause in parts if (found := query_terms(clause))]
        if encoder is None or not any(name.startswith("dense") for name in wanted):
            return cls(fields, query_terms(request), clause_terms)
        texts = (request, *parts) if any(name in _OF_CLAUSES for name in wanted) else (request,)
        vectors = encoder.encode(texts)
        terms = query_terms(request)
        return cls(fields, terms, clause_terms, vectors[:1], vectors[1:], encoder=encoder.name)

    @cached_property
    def clause_scores(self) -> Sequence[Scores]:
        """Each clause's BM25 of every tool, (N,), as shares of its highest."""
        return [_scale_to_best(self.fields.tools.scores(found)) for found in self.clause_terms]


def _score_bm25(asked: Asked) -> Scores:
    return _scale_to_best(asked.fields.tools.scores(asked.terms))


def _score_bm25_clause(asked: Asked) -> Scores:
    return _take_maximum(asked.clause_scores, asked.fields.tools.size)


def _score_bm25_parent(asked: Asked) -> Scores:
    return _spread_parent_scores(
        asked.fields, lambda: _scale_to_best(asked.fields.parents.scores(asked.terms))
    )


def _score_bm25_parent_clause(asked: Asked) -> Scores:
    parents = asked.fields.parents
    return _spread_parent_scores(
        asked.fields,
        lambda: _take_maximum(
            [_scale_to_best(parents.scores(c)) for c in asked.clause_terms], parents.size
        ),
    )


def _score_dense(asked: Asked) -> Scores:
    return _score_cosines(asked.fields.tool_vectors, asked.vectors, asked.only)


def _score_dense_clause(asked: Asked) -> Scores:
    return _score_cosines(asked.fields.tool_vectors, asked.clause_vectors, asked.only)


def _score_dense_parent(asked: Asked) -> Scores:
    return _spread_parent_scores(
        asked.fields,
        lambda: _score_cosines(asked.fields.parent_vectors, asked.vectors, _select_parents(asked)),
    )


def _score_dense_parent_clause(asked: Asked) -> Scores:
    return _spread_parent_scores(
        asked.fields,
        lambda: _score_cosines(
            asked.fields.parent_vectors, asked.clause_vectors, _select_parents(asked)
        ),
    )


def _select_parents(asked: Asked) -> Scores | None:
    """The parents whose vectors are looked at."""
    import numpy as np

    return None if asked.only is None else np.unique(asked.fields.parent_of[asked.only])


def _select_nearby(near: Neighbours, asked: Asked, of_words: Sequence[Scores]) -> Scores:
    """The tools near the request or one of its clauses, and those that its words alone would
    choose.
    """
    import numpy as np

    vectors = [found for found in (asked.vectors, asked.clause_vectors) if found is not None]
    found = near.nearest(np.concatenate(vectors), LOOKED_AT)
    return (
        np.union1d(found, select_highest(np.sum(of_words, axis=0), LOOKED_AT))
        if of_words
        else found
    )


def _take_maximum(found: Sequence[Scores], size: int) -> Scores:
    """The highest of several scores; 0 where there are none."""
    import numpy as np

    best = np.zeros(size, np.float32)
    for scores in found:
        np.maximum(best, scores, out=best)
    return best


def _scale_to_best(scores: Scores) -> Scores:
    """Scores as shares of the highest."""
    best = scores.max(initial=0.0)
    return scores / best if best > 0 else scores


def _spread_parent_scores(fields: Fields, scores: Callable[[], Scores]) -> Scores:
    """Each tool's parent's score; nothing where all have one parent: it would speak for all of them
    alike.
    """
    import numpy as np

    if fields.parents.size < 2:
        return np.zeros(fields.tools.size, np.float32)
    found: Scores = scores().take(fields.parent_of)
    return found


def _score_cosines(vectors: Dense | None, asked: Scores | None, only: Scores | None) -> Scores:
    if vectors is None or asked is None:
        raise ConfigError(
            "this index has no vectors",
            hint="build it with an encoder, or search it with mode lexical or bm25",
        )
    return vectors.scores(asked, only)


_FEATURES: dict[str, Callable[[Asked], Scores]] = {
    "bm25": _score_bm25,
    "bm25_clause": _score_bm25_clause,
    "bm25_parent": _score_bm25_parent,
    "bm25_parent_clause": _score_bm25_parent_clause,
    "dense": _score_dense,
    "dense_clause": _score_dense_clause,
    "dense_parent": _score_dense_parent,
    "dense_parent_clause": _score_dense_parent_clause,
}

FEATURES = tuple(_FEATURES)
"""The names of all features."""
