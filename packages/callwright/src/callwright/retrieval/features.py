"""What can be known of a tool for a request, number by number, and how the modes weigh it.

There are eight features: of words (BM25) or of meaning (cosine); of the whole request or of the
best of its clauses; of the tool or of its parent, that is of all tools from the same place. Fusion
is convex (Bruch et al. 2023, "An Analysis of Fusion Functions for Hybrid Retrieval"): every feature
lies in [0, 1] and so does their weighted mean. :func:`features` is the one place where they are
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
from callwright.retrieval.clauses import clauses
from callwright.retrieval.dense import Dense
from callwright.retrieval.lexical import Lexical
from callwright.retrieval.neighbours import Neighbours
from callwright.retrieval.ranking import highest
from callwright.retrieval.terms import query_terms

if TYPE_CHECKING:
    from numpy import ndarray

    Scores = ndarray[Any, Any]

Mode = Literal["ranked", "hybrid", "single", "lexical", "bm25", "dense"]

LOOKED_AT = 200  # of very many tools: near the request, near each of its clauses, and best by words

_OF_WORDS = ("bm25", "bm25_clause", "bm25_parent", "bm25_parent_clause")
_OF_REQUEST = ("dense", "dense_parent")  # what one encoding gives
_OF_CLAUSES = ("dense_clause", "dense_parent_clause")


def _alike(*names: str) -> Mapping[str, float]:
    return MappingProxyType({name: 1 / len(names) for name in names})


MODES: Mapping[Mode, Mapping[str, float]] = MappingProxyType(
    {
        "ranked": _alike(*_OF_WORDS, *_OF_REQUEST, *_OF_CLAUSES),
        "hybrid": _alike(*_OF_WORDS, *_OF_REQUEST, *_OF_CLAUSES),
        "single": _alike(*_OF_WORDS, *_OF_REQUEST),
        "lexical": _alike(*_OF_WORDS),
        "bm25": _alike("bm25"),
        "dense": _alike("dense"),
    }
)
"""How much each feature counts in a mode; the weights of a mode add up to 1. All count alike: none
was tuned.

Mode ``ranked`` finds its candidates as ``hybrid`` does; :mod:`callwright.retrieval.ranker` puts
them in order.
"""


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
    # of the tools; None: there are few enough to look at all their vectors
    near: Neighbours | None = None


def mode_named(name: str) -> Mode:
    """The mode of a name. Raises ConfigError if there is none."""
    found = next((mode for mode in MODES if mode == name), None)
    if found is None:
        raise ConfigError(f"there is no retrieval mode {name!r}", hint=f"modes: {', '.join(MODES)}")
    return found


def needs_encoder(mode: Mode) -> bool:
    """Whether a mode reads vectors."""
    return any(name.startswith("dense") for name in MODES[mode])


def features(asked: Asked, wanted: Sequence[str]) -> Scores:
    """The wanted features of every tool, float32 (N, len(wanted)), each in [0, 1]; 0 says nothing
    for a tool.

    Raises ConfigError where a dense feature is wanted of fields without vectors.
    """
    import numpy as np

    found = {name: _FEATURES[name](asked) for name in wanted if name in _OF_WORDS}
    if asked.fields.near is not None and asked.vectors is not None:
        asked = replace(asked, only=_worth_a_look(asked.fields.near, asked, list(found.values())))
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

    @classmethod
    def of(
        cls, fields: Fields, request: str, wanted: Sequence[str], encoder: Encoder | None = None
    ) -> Asked:
        """What the wanted features need: one batch of texts is encoded, the request and its
        clauses, or nothing.
        """
        parts = clauses(request)
        clause_terms = [found for clause in parts if (found := query_terms(clause))]
        if encoder is None or not any(name.startswith("dense") for name in wanted):
            return cls(fields, query_terms(request), clause_terms)
        texts = (request, *parts) if any(name in _OF_CLAUSES for name in wanted) else (request,)
        vectors = encoder.encode(texts)
        return cls(fields, query_terms(request), clause_terms, vectors[:1], vectors[1:])

    @cached_property
    def clause_scores(self) -> Sequence[Scores]:
        """Each clause's BM25 of every tool, (N,), as shares of its highest."""
        return [_of_best(self.fields.tools.scores(found)) for found in self.clause_terms]


def _bm25(asked: Asked) -> Scores:
    return _of_best(asked.fields.tools.scores(asked.terms))


def _bm25_clause(asked: Asked) -> Scores:
    return _highest(asked.clause_scores, asked.fields.tools.size)


def _bm25_parent(asked: Asked) -> Scores:
    return _of_parents(asked.fields, lambda: _of_best(asked.fields.parents.scores(asked.terms)))


def _bm25_parent_clause(asked: Asked) -> Scores:
    parents = asked.fields.parents
    return _of_parents(
        asked.fields,
        lambda: _highest([_of_best(parents.scores(c)) for c in asked.clause_terms], parents.size),
    )


def _dense(asked: Asked) -> Scores:
    return _cosines(asked.fields.tool_vectors, asked.vectors, asked.only)


def _dense_clause(asked: Asked) -> Scores:
    return _cosines(asked.fields.tool_vectors, asked.clause_vectors, asked.only)


def _dense_parent(asked: Asked) -> Scores:
    return _of_parents(
        asked.fields, lambda: _cosines(asked.fields.parent_vectors, asked.vectors, _parents(asked))
    )


def _dense_parent_clause(asked: Asked) -> Scores:
    return _of_parents(
        asked.fields,
        lambda: _cosines(asked.fields.parent_vectors, asked.clause_vectors, _parents(asked)),
    )


def _parents(asked: Asked) -> Scores | None:
    """The parents whose vectors are looked at."""
    import numpy as np

    return None if asked.only is None else np.unique(asked.fields.parent_of[asked.only])


def _worth_a_look(near: Neighbours, asked: Asked, of_words: Sequence[Scores]) -> Scores:
    """The tools near the request or one of its clauses, and those that its words alone would
    choose.
    """
    import numpy as np

    vectors = [found for found in (asked.vectors, asked.clause_vectors) if found is not None]
    found = near.nearest(np.concatenate(vectors), LOOKED_AT)
    return np.union1d(found, highest(np.sum(of_words, axis=0), LOOKED_AT)) if of_words else found


def _highest(found: Sequence[Scores], size: int) -> Scores:
    """The highest of several scores; 0 where there are none."""
    import numpy as np

    best = np.zeros(size, np.float32)
    for scores in found:
        np.maximum(best, scores, out=best)
    return best


def _of_best(scores: Scores) -> Scores:
    """Scores as shares of the highest."""
    best = scores.max(initial=0.0)
    return scores / best if best > 0 else scores


def _of_parents(fields: Fields, scores: Callable[[], Scores]) -> Scores:
    """Each tool's parent's score; nothing where all have one parent: it would speak for all of them
    alike.
    """
    import numpy as np

    if fields.parents.size < 2:
        return np.zeros(fields.tools.size, np.float32)
    found: Scores = scores().take(fields.parent_of)
    return found


def _cosines(vectors: Dense | None, asked: Scores | None, only: Scores | None) -> Scores:
    if vectors is None or asked is None:
        raise ConfigError(
            "this index has no vectors",
            hint="build it with an encoder, or search it with mode lexical or bm25",
        )
    return vectors.scores(asked, only)


_FEATURES: dict[str, Callable[[Asked], Scores]] = {
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
