"""What can be known of a tool for a request, number by number, and how the modes weigh it.

Fusion is convex (Bruch et al. 2023, "An Analysis of Fusion Functions for Hybrid Retrieval"): every feature lies in
[0, 1] and so does their weighted mean. :func:`features` is the one place where features are made; a learned ranker
would read the same matrix.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal

from callwright.retrieval.clauses import clauses
from callwright.retrieval.lexical import Lexical
from callwright.retrieval.terms import query_terms

if TYPE_CHECKING:
    from numpy import ndarray

    Scores = ndarray[Any, Any]

Mode = Literal["bm25", "lexical"]

MODES: Mapping[Mode, Mapping[str, float]] = MappingProxyType(
    {
        "bm25": {"bm25": 1.0},
        "lexical": {"bm25": 1 / 3, "bm25_clause": 1 / 3, "bm25_parent": 1 / 3},
    }
)
"""How much each feature counts in a mode; the weights of a mode add up to 1."""


@dataclass(frozen=True)
class Fields:
    """What is searched: N tools, P parents. ``parent_of`` (N,) numbers each tool's parent."""

    tools: Lexical  # (N,)
    names: Lexical  # (N,)
    parents: Lexical  # (P,): all that the tools of one parent say
    parent_of: Scores


def features(fields: Fields, request: str, wanted: Sequence[str]) -> Scores:
    """The wanted features of every tool, float32 (N, len(wanted)), each in [0, 1]; 0 says nothing for a tool."""
    import numpy as np

    asked = _Asked(request)
    columns = [_FEATURES[name](fields, asked) for name in wanted]
    return np.stack(columns, axis=1).astype(np.float32, copy=False)


class _Asked:
    """A request, taken apart once."""

    def __init__(self, text: str) -> None:
        self.terms = query_terms(text)
        self.clause_terms = [found for clause in clauses(text) if (found := query_terms(clause))]


def _bm25(fields: Fields, asked: _Asked) -> Scores:
    return _of_best(fields.tools.scores(asked.terms))


def _bm25_clause(fields: Fields, asked: _Asked) -> Scores:
    """Each clause's scores against its own best tool; of these a tool's highest."""
    import numpy as np

    best = np.zeros(fields.tools.size, np.float32)
    for found in asked.clause_terms:
        np.maximum(best, _of_best(fields.tools.scores(found)), out=best)
    return best


def _bm25_name(fields: Fields, asked: _Asked) -> Scores:
    return _of_best(fields.names.scores(asked.terms))


def _bm25_parent(fields: Fields, asked: _Asked) -> Scores:
    """Nothing where all tools have one parent: it would speak for all of them alike."""
    if fields.parents.size < 2:
        import numpy as np

        return np.zeros(fields.tools.size, np.float32)
    found: Scores = _of_best(fields.parents.scores(asked.terms))[fields.parent_of]
    return found


def _of_best(scores: Scores) -> Scores:
    """Scores as shares of the highest."""
    best = scores.max(initial=0.0)
    return scores / best if best > 0 else scores


_FEATURES: dict[str, Callable[[Fields, _Asked], Scores]] = {
    "bm25": _bm25,
    "bm25_clause": _bm25_clause,
    "bm25_name": _bm25_name,
    "bm25_parent": _bm25_parent,
}

FEATURES = tuple(_FEATURES)
"""The names of all features."""
