"""Measures how far a request names a source or a tool: "using the bitly tool", "the 'Projects' endpoint".

Terms are compared as stems and in their order. What many sources say ("api", "search") names none
of them, so each term counts by how few sources of the catalogue use it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from math import log
from typing import TYPE_CHECKING, Any

from callwright.nouns.memo import cache_by_text
from callwright.retrieval.ranking import compute_places
from callwright.retrieval.rivals import find_lead
from callwright.retrieval.terms import extract_terms

if TYPE_CHECKING:
    from numpy import ndarray

    Array = ndarray[Any, Any]

Weigh = Callable[[Iterable[str]], float]

SOURCE_NAMINGS = (
    *("source_named", "source_named_sum", "source_named_clause", "source_named_clause_sum"),
    *("source_run", "source_run_sum", "source_lead", "source_named_place"),
    *("most_named_run", "sources_named"),
)
NAME_NAMINGS = ("name_run", "name_run_terms", "name_named_clause", "name_named_clause_sum")


def count_holding(sources: int, holding: Callable[[str], int]) -> Weigh:
    """Weighs terms, each once, by the logarithm of all sources over those that use it."""

    def weigh(terms: Iterable[str]) -> float:
        return sum(log((sources + 1) / (holding(term) + 0.5)) for term in sorted(set(terms)))

    return weigh


def name_sources(
    parents: Sequence[str],
    parent_of: Array,
    request: Collection[str],
    clauses: Sequence[Sequence[str]],
    weigh: Weigh,
) -> Mapping[str, Array]:
    """The columns :data:`SOURCE_NAMINGS`, each (C,). ``parents`` (P,) are sources, ``parent_of`` (C,)
    numbers each candidate's; ``clauses``, at least one, are terms in their order.
    """
    import numpy as np

    own = _drop_common([split_name(parent) for parent in parents])
    whole = np.array([weigh(terms) for terms in own])
    said = np.array(_weigh_said(own, request, weigh))
    of_clause = np.array([_weigh_said(own, clause, weigh) for clause in clauses])
    runs = np.array([_longest_run(terms, clauses) / max(len(terms), 1) for terms in own])
    safe = np.where(whole > 0, whole, 1.0)
    columns = {
        "source_named": said / safe,
        "source_named_sum": said,
        "source_named_clause": of_clause.max(axis=0) / safe,
        "source_named_clause_sum": of_clause.max(axis=0),
        "source_run": runs,
        "source_run_sum": runs * whole,
        "source_lead": find_lead(of_clause).max(axis=0),
        "source_named_place": compute_places(of_clause.max(axis=0)),
        "most_named_run": np.full(len(own), (runs * whole).max(initial=0.0)),
        "sources_named": np.full(len(own), float((runs >= 1.0).sum())),
    }
    return {name: column[parent_of] for name, column in columns.items()}


def name_tools(
    names: Sequence[str],
    parents: Sequence[str],
    clauses: Sequence[Sequence[str]],
    weight: Mapping[str, float],
) -> Mapping[str, Array]:
    """The columns :data:`NAME_NAMINGS`, each (C,), of names less the words of their source;
    ``weight`` is that of terms among the candidates.
    """
    import numpy as np

    rows = []
    for name, parent in zip(names, parents, strict=True):
        called, of_source = split_name(name), set(split_name(parent))
        own = tuple(t for t in called if t not in of_source) or called
        whole = sum(weight.get(t, 1.0) for t in own) or 1.0
        most = max(sum(weight.get(t, 1.0) for t in own if t in clause) for clause in clauses)
        run = _longest_run(own, clauses)
        rows.append((run / max(len(own), 1), run, most / whole, most))
    found = np.array(rows, np.float64).reshape(len(rows), len(NAME_NAMINGS))
    return dict(zip(NAME_NAMINGS, found.T, strict=True))


@cache_by_text(most=16_384, longest=200)
def split_name(name: str) -> tuple[str, ...]:
    """The terms of a name, in order."""
    return tuple(extract_terms(name))


def _drop_common(names: Sequence[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """Names without the terms that all of them have, if there are several."""
    common = frozenset.intersection(*map(frozenset, names)) if len(names) > 1 else frozenset()
    return [tuple(t for t in terms if t not in common) for terms in names]


def _weigh_said(names: Sequence[Sequence[str]], text: Collection[str], weigh: Weigh) -> list[float]:
    """The weight of those terms of each name that a text has."""
    return [weigh(term for term in terms if term in text) for terms in names]


def _longest_run(terms: Sequence[str], clauses: Sequence[Sequence[str]]) -> int:
    """The most terms that follow each other in a clause as they do here."""
    most = 0
    for clause in clauses:
        for start in range(len(terms)):
            for at in range(len(clause)):
                length = 0
                while (
                    start + length < len(terms)
                    and at + length < len(clause)
                    and terms[start + length] == clause[at + length]
                ):
                    length += 1
                most = max(most, length)
    return most
