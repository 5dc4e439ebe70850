"""The best tools for a request beside each other: what a learned ranker reads of each.

A score alone does not say whether another tool answers the same clause better, or whether a clause
has no other tool at all. Everything here is relative to the request and to the other candidates, so
that it means the same in every catalogue; names, sources and descriptions count by the words they
share, never by which they are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import fsum, log
from typing import TYPE_CHECKING, Any

from callwright.nouns.types import compute_digest
from callwright.retrieval.document import Document
from callwright.retrieval.features import FEATURES, Asked
from callwright.retrieval.inputs import INPUTS, compare_inputs
from callwright.retrieval.namings import (
    NAME_NAMINGS,
    SOURCE_NAMINGS,
    count_holding,
    name_sources,
    name_tools,
    split_name,
)
from callwright.retrieval.projection import Projection
from callwright.retrieval.ranking import compute_places
from callwright.retrieval.rivals import RIVALS, compare_rivals, find_lead, place_in_source

if TYPE_CHECKING:
    from numpy import ndarray

    Array = ndarray[Any, Any]

MOST = 100  # candidates that are looked at beside each other
_FORM = 2  # goes up whenever a feature of the same name would come out otherwise

_SCORES = (*FEATURES, "mean")
_OF_CLAUSES = ("place", "first", "lead", "mean", "places")
_OWN = ("bm25", "bm25_clause", "dense", "dense_clause", "mean")
_AMONG = (5, 10, 30)  # of the first so many candidates, those of one parent
_TURNED = ("request", "clause", "parent", "parent_clause", "mean", "all")

NAMES = (
    *_SCORES,
    "behind",
    *(f"place_{name}" for name in _SCORES),
    *(f"clause_words_{name}" for name in _OF_CLAUSES),
    *(f"clause_meaning_{name}" for name in _OF_CLAUSES),
    *("name_in_request", "name_in_clause", "request_covered", "clause_covered", "clause_in_name"),
    *("own_name_in_request", "own_name_in_clause", "name_terms", "tool_terms"),
    *("parent_size", "parent_place", *(f"parent_in_{k}" for k in _AMONG), "parent_in_request"),
    *(f"behind_sibling_{name}" for name in _OWN),
    *("request_terms", "clauses", "place_in_source"),
    *(f"both_{name}" for name in RIVALS),
    *(f"turned_{name}" for name in _TURNED),
    *(f"place_turned_{name}" for name in _TURNED),
    *(f"behind_sibling_turned_{name}" for name in ("request", "clause", "all")),
    *("behind_turned", *(f"clause_turned_{name}" for name in _OF_CLAUSES)),
    *(f"rival_turned_{name}" for name in RIVALS),
    *(f"rival_turned_both_{name}" for name in RIVALS),
    *SOURCE_NAMINGS,
    *NAME_NAMINGS,
    *INPUTS,
)
"""The columns of :func:`candidate_features`, in order."""

DIGEST = compute_digest([_FORM, MOST, NAMES])
"""Changes whenever a ranker's trees would read something else."""


@dataclass(frozen=True)
class Candidates:
    """C tools, best first by the mean of their features. ``places`` (C,) are theirs among all that
    is searched.
    """

    asked: Asked
    places: Array
    scores: Array  # (C, len(FEATURES))
    names: Sequence[str]
    tool_terms: Sequence[str]  # as documents hold them, parted by spaces
    parents: Sequence[str]
    shapes: Sequence[str]  # as documents hold them

    @classmethod
    def of(
        cls, asked: Asked, documents: Sequence[Document], scores: Array, places: Sequence[int]
    ) -> Candidates:
        """The documents at ``places`` (at most :data:`MOST` are taken); ``scores`` are (N,
        len(FEATURES)).
        """
        import numpy as np

        taken = np.asarray(places[:MOST], np.int64)
        found = [documents[i] for i in taken.tolist()]
        return cls(
            asked,
            taken,
            scores[taken],
            [d.name for d in found],
            [d.terms for d in found],
            [d.parent for d in found],
            [d.shape for d in found],
        )

    @cached_property
    def mean(self) -> Array:
        found: Array = self.scores.mean(axis=1)
        return found

    @cached_property
    def parent_of(self) -> Array:
        """Each candidate's parent, by the place of its first tool among the candidates."""
        import numpy as np

        first: dict[str, int] = {}
        return np.array(
            [first.setdefault(parent, i) for i, parent in enumerate(self.parents)], np.int64
        )

    @cached_property
    def source_of(self) -> Array:
        """Each candidate's parent, numbered from 0 as they appear."""
        import numpy as np

        found: dict[str, int] = {}
        return np.array([found.setdefault(p, len(found)) for p in self.parents], np.int64)

    @cached_property
    def term_sets(self) -> Sequence[frozenset[str]]:
        """All terms of each tool."""
        return [frozenset(text.split()) for text in self.tool_terms]

    @cached_property
    def called(self) -> Sequence[frozenset[str]]:
        """The terms of each tool's name."""
        return [frozenset(split_name(name)) for name in self.names]

    @cached_property
    def clauses(self) -> Sequence[frozenset[str]]:
        """The terms of each clause; of a request without any, one empty clause."""
        return [frozenset(found) for found in self.asked.clause_terms] or [frozenset()]

    @cached_property
    def clause_words(self) -> Array:
        """Each clause's BM25 of the candidates, (clauses, C); of a request without clauses 0."""
        import numpy as np

        rows = [scores[self.places] for scores in self.asked.clause_scores]
        return np.stack(rows) if rows else np.zeros((1, len(self.names)))

    def compare_clauses(self, projection: Projection | None = None) -> Array:
        """Each encoded clause's cosine with the candidates, (clauses, C) in [0, 1]; of a request
        without clauses 0. Clauses are turned by a projection if one is given.
        """
        import numpy as np

        vectors, clauses = self.asked.fields.tool_vectors, self.asked.clause_vectors
        if vectors is None or clauses is None or not len(clauses):
            return np.zeros((1, len(self.names)))
        if projection is not None:
            clauses = projection(clauses, self.asked.encoder)
        found: Array = np.clip(clauses @ vectors.vectors[self.places].T, 0.0, 1.0)
        return found

    @cached_property
    def weight(self) -> Mapping[str, float]:
        """Return the weight of each term: the fewer candidates contain it, the higher."""
        holding = Counter(term for said in self.term_sets for term in said)
        return {
            term: log((len(self.term_sets) + 1) / (count + 0.5)) for term, count in holding.items()
        }


def candidate_features(found: Candidates, projection: Projection) -> Array:
    """The rows that trees read: (C, len(NAMES)) of float64. One candidate's depend on all the
    others.
    """
    import numpy as np

    if not found.names:
        return np.zeros((0, len(NAMES)))
    columns: dict[str, Array] = {}
    for part in (
        _build_score_columns,
        _build_clause_columns,
        _build_word_columns,
        _build_parent_columns,
        _build_naming_columns,
    ):
        columns |= part(found)
    columns |= _build_turned_columns(found, projection)
    columns |= compare_inputs(found.shapes, frozenset(found.asked.terms))
    return np.stack([columns[name] for name in NAMES], axis=1).astype(np.float64)


def _build_score_columns(found: Candidates) -> dict[str, Array]:
    """The features themselves, how far behind the best a candidate is, and its place by each of
    them.
    """
    import numpy as np

    columns = dict(zip(FEATURES, found.scores.T, strict=True)) | {"mean": found.mean}
    count = len(found.names)
    return {
        **columns,
        "behind": found.mean - found.mean.max(initial=0.0),
        **{f"place_{name}": compute_places(column) for name, column in columns.items()},
        "request_terms": np.full(count, len(found.asked.terms)),
        "clauses": np.full(count, len(found.clauses)),
    }


def _build_clause_columns(found: Candidates) -> dict[str, Array]:
    """Return the features of the candidates for each clause alone, by words, by meaning and by
    both.
    """
    words, meaning = found.clause_words, found.compare_clauses()
    columns: dict[str, Array] = {}
    for kind, rows in (("words", words), ("meaning", meaning)):
        made = _summarize_clause_scores(rows)
        columns |= {f"clause_{kind}_{name}": column for name, column in made.items()}
    both = compare_rivals(_join_scores(words, meaning), found.source_of)
    return columns | {f"both_{name}": column for name, column in both.items()}


def _join_scores(words: Array, meaning: Array) -> Array:
    """The mean of both, by clause; meaning alone where some clause has no words."""
    return (words + meaning) / 2 if len(words) == len(meaning) else meaning


def _build_turned_columns(found: Candidates, projection: Projection) -> dict[str, Array]:
    """Return the features of meaning once more, of vectors that the projection has turned."""
    import numpy as np

    asked, fields = found.asked, found.asked.fields
    request, parent = found.mean * 0.0, found.mean * 0.0
    parent_clause = parent
    if fields.tool_vectors is not None and asked.vectors is not None:
        of_parents = fields.parent_vectors or fields.tool_vectors
        parents = of_parents.vectors[fields.parent_of[found.places]]
        turned = projection(asked.vectors, asked.encoder)
        request = np.clip(turned @ fields.tool_vectors.vectors[found.places].T, 0.0, 1.0)[0]
        parent = np.clip(turned @ parents.T, 0.0, 1.0)[0]
        parent_clause = parent
        if asked.clause_vectors is not None and len(asked.clause_vectors):
            clauses = projection(asked.clause_vectors, asked.encoder)
            parent_clause = np.clip(clauses @ parents.T, 0.0, 1.0).max(axis=0)
    scores = found.compare_clauses(projection)
    clause = scores.max(axis=0)
    mean = (request + clause + parent + parent_clause) / 4
    values = (request, clause, parent, parent_clause, mean, found.mean + mean)
    columns = dict(zip(_TURNED, values, strict=True))
    rivals = compare_rivals(scores, found.source_of)
    both = compare_rivals(_join_scores(found.clause_words, scores), found.source_of)
    return {
        **{f"turned_{name}": column for name, column in columns.items()},
        **{f"place_turned_{name}": compute_places(column) for name, column in columns.items()},
        **{
            f"behind_sibling_turned_{name}": _find_behind_sibling(columns[name], found.source_of)
            for name in ("request", "clause", "all")
        },
        "behind_turned": mean - mean.max(initial=0.0),
        **{f"clause_turned_{k}": v for k, v in _summarize_clause_scores(scores).items()},
        **{f"rival_turned_{name}": column for name, column in rivals.items()},
        **{f"rival_turned_both_{name}": column for name, column in both.items()},
    }


def _build_naming_columns(found: Candidates) -> dict[str, Array]:
    """Return how far the request names each source and each tool."""
    parents = found.asked.fields.parents
    weigh = count_holding(parents.size, parents.count_texts)
    clauses = found.asked.clause_terms or [()]
    request = frozenset(found.asked.terms)
    sources = list(dict.fromkeys(found.parents))
    return {
        **name_sources(sources, found.source_of, request, clauses, weigh),
        **name_tools(found.names, found.parents, clauses, found.weight),
        "place_in_source": place_in_source(found.mean, found.source_of),
    }


def _find_behind_sibling(column: Array, source_of: Array) -> Array:
    """Return how far each is behind the best tool of its source: at most 0."""
    import numpy as np

    best = np.full(int(source_of.max(initial=0)) + 1, -1.0)
    np.maximum.at(best, source_of, column)
    found: Array = column - best[source_of]
    return found


def _summarize_clause_scores(scores: Array) -> dict[str, Array]:
    """``scores`` are (clauses, C). ``lead`` is over the next best for the same clause, in the
    clause where most.
    """
    places = compute_places(scores)
    return {
        "place": places.max(axis=0),
        "first": (places == 1.0).sum(axis=0),
        "lead": find_lead(scores).max(axis=0),
        "mean": scores.mean(axis=0),
        "places": places.sum(axis=0),
    }


def _build_word_columns(found: Candidates) -> dict[str, Array]:
    """Return the word features: the request's words that the tool has, and the tool's words that
    the request has.
    """
    weight, request = found.weight, frozenset(found.asked.terms)
    own = _find_own_terms(found)
    return {
        "name_in_request": _map_to_array(
            found.called, lambda name: _weigh_share(name, request, weight)
        ),
        "name_in_clause": _map_to_array(
            found.called, lambda name: max(_weigh_share(name, c, weight) for c in found.clauses)
        ),
        "request_covered": _map_to_array(
            found.term_sets, lambda said: _weigh_share(request, said, weight)
        ),
        "clause_covered": _map_to_array(
            found.term_sets, lambda said: max(_weigh_share(c, said, weight) for c in found.clauses)
        ),
        "clause_in_name": _map_to_array(
            found.called, lambda name: max(_weigh_share(c, name, weight) for c in found.clauses)
        ),
        "own_name_in_request": _map_to_array(own, lambda name: _weigh_share(name, request, {})),
        "own_name_in_clause": _map_to_array(
            own, lambda name: max(_weigh_share(name, c, {}) for c in found.clauses)
        ),
        "name_terms": _map_to_array(found.called, len),
        "tool_terms": _map_to_array(found.term_sets, len),
    }


def _find_own_terms(found: Candidates) -> list[frozenset[str]]:
    """The terms of each name that not all candidates of the same parent have in theirs: what tells
    them apart.
    """
    holding: dict[int, Counter[str]] = {}
    size = Counter(found.parent_of.tolist())
    for parent, called in zip(found.parent_of.tolist(), found.called, strict=True):
        holding.setdefault(parent, Counter()).update(called)
    return [
        frozenset(
            term for term in called if size[parent] == 1 or holding[parent][term] < size[parent]
        )
        for parent, called in zip(found.parent_of.tolist(), found.called, strict=True)
    ]


def _build_parent_columns(found: Candidates) -> dict[str, Array]:
    """Return the features of the parents: the parent's rank among parents, and the tool's rank
    within its parent.
    """
    import numpy as np

    parent_of, fields = found.parent_of, found.asked.fields
    size = np.bincount(fields.parent_of, minlength=fields.parents.size)[
        fields.parent_of[found.places]
    ]
    columns = dict(zip(FEATURES, found.scores.T, strict=True)) | {"mean": found.mean}
    best = np.full(len(parent_of), -1.0)
    np.maximum.at(best, parent_of, found.mean)
    among = {
        f"parent_in_{k}": _count_same_parent(parent_of, k) / np.minimum(k, size) for k in _AMONG
    }
    behind: dict[str, Array] = {}
    for name in _OWN:
        most = np.zeros(len(parent_of))
        np.maximum.at(most, parent_of, columns[name])
        behind[f"behind_sibling_{name}"] = columns[name] - most[parent_of]
    return {
        "parent_size": np.log1p(size),
        "parent_place": compute_places(best)[parent_of] if len(best) else best,
        **among,
        **behind,
        "parent_in_request": _parent_in_request(found),
    }


def _count_same_parent(parent_of: Array, k: int) -> Array:
    """Return for each candidate how many of the first k candidates have the same parent."""
    import numpy as np

    counts: Array = np.bincount(parent_of[:k], minlength=len(parent_of))[parent_of]
    return counts


def _parent_in_request(found: Candidates) -> Array:
    """The share of the source's own words that the request says; words of every source's name say
    nothing.
    """
    named = {parent: frozenset(split_name(parent)) for parent in set(found.parents)}
    common = frozenset.intersection(*named.values()) if len(named) > 1 else frozenset()
    request = frozenset(found.asked.terms)
    return _map_to_array(
        found.parents, lambda parent: _weigh_share(named[parent] - common, request, {})
    )


def _weigh_share(
    wanted: Collection[str], held: Collection[str], weight: Mapping[str, float]
) -> float:
    """The share of the wanted terms that are held, by weight; a term without a weight counts 1."""
    whole = fsum(
        weight.get(term, 1.0) for term in wanted
    )  # exact: in whatever order a set gives its terms
    return (
        fsum(weight.get(term, 1.0) for term in wanted if term in held) / whole if whole > 0 else 0.0
    )


def _map_to_array(items: Iterable[Any], value: Callable[[Any], float]) -> Array:
    import numpy as np

    return np.array([value(item) for item in items], np.float64)
