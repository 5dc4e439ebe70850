"""Documents and their vectors -> what is searched: made at once, or after a change from what was
there before.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from callwright.retrieval.dense import Dense
from callwright.retrieval.documents import Change, Documents
from callwright.retrieval.features import Fields
from callwright.retrieval.lexical import Lexical
from callwright.retrieval.neighbours import Neighbours, is_available

if TYPE_CHECKING:
    from numpy import ndarray

    Array = ndarray[Any, Any]


def fields_of(documents: Documents, vectors: Array | None, exact: int) -> Fields:
    """The fields of documents. ``vectors`` are (N, D); of more than ``exact`` there is a graph."""
    fields = _of_words(Lexical.build([found.terms for found in documents]), documents)
    if vectors is None:
        return fields
    near = Neighbours.build(documents.digests, vectors) if _wants_graph(documents, exact) else None
    means = Dense.means(vectors, fields.parent_of, fields.parents.size)
    return replace(fields, tool_vectors=Dense(vectors), parent_vectors=means, near=near)


def fields_after(
    change: Change, old: Documents, before: Fields, vectors: Array | None, exact: int
) -> Fields:
    """The fields after a change, from those of the ``old`` documents; equal to what
    :func:`fields_of` gives.

    Postings are merged, the graph grows, a parent's mean is computed where one of its tools came,
    went or changed.
    """
    documents = change.documents
    said = {at: found.terms for at, found in change.fresh.items()}
    fields = _of_words(before.tools.updated(change.moved, said, len(documents)), documents)
    if vectors is None or before.parent_vectors is None:
        return fields
    near = None
    if _wants_graph(documents, exact):
        near = (Neighbours.build if before.near is None else before.near.updated)(
            documents.digests, vectors
        )
    means = _means_after(change, old, before.parent_vectors, vectors, fields.parent_of)
    return replace(fields, tool_vectors=Dense(vectors), parent_vectors=means, near=near)


def _of_words(words: Lexical, documents: Documents) -> Fields:
    import numpy as np

    groups = _number_parents(documents)
    parent_of = np.array(
        [groups[parent] for parent in documents.parents], np.int64
    )  # as numpy indexes
    return Fields(words, words.grouped(parent_of, len(groups)), parent_of)


def _number_parents(documents: Documents) -> Mapping[str, int]:
    """The parents, ordered."""
    return {parent: i for i, parent in enumerate(sorted(set(documents.parents)))}


def _means_after(
    change: Change, old: Documents, before: Dense, vectors: Array, parent_of: Array
) -> Dense:
    import numpy as np

    was, now = _number_parents(old), _number_parents(change.documents)
    touched = {found.parent for found in change.fresh.values()}
    touched |= {old.parents[at] for at in np.flatnonzero(change.moved < 0).tolist()}
    stay = [parent for parent in now if parent in was and parent not in touched]
    anew = np.ones(len(now), bool)
    places = [now[parent] for parent in stay]
    anew[places] = False
    means = np.empty((len(now), vectors.shape[1]), np.float32)
    means[places] = before.vectors[[was[parent] for parent in stay]]
    of_those = anew[parent_of]
    number = np.cumsum(anew) - 1
    means[anew] = Dense.means(
        vectors[of_those], number[parent_of[of_those]], int(anew.sum())
    ).vectors
    return Dense(means)


def _wants_graph(documents: Documents, exact: int) -> bool:
    return len(documents) > exact and is_available()
