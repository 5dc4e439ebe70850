"""The inputs that a tool takes, and whether a request speaks of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from callwright.jsontext import parse
from callwright.nouns.memo import cache_by_text
from callwright.retrieval.terms import extract_terms

if TYPE_CHECKING:
    from numpy import ndarray

    Array = ndarray[Any, Any]

INPUTS = ("required", "taken", "required_in_request", "described_in_request")


def compare_inputs(shapes: Sequence[str], request: frozenset[str]) -> Mapping[str, Array]:
    """The columns :data:`INPUTS`, each (C,): how many inputs are required and taken, the share of the
    required ones that the request has a word of (-1: none is required), and how many of its words
    their descriptions have. ``shapes`` are those of documents.
    """
    import numpy as np

    rows = []
    for shape in shapes:
        required, taken, described = _read_inputs(shape)
        said = [bool(terms & request) for terms in required] if required else []
        share = sum(said) / len(said) if said else -1.0
        rows.append((len(required), taken, share, len(described & request)))
    found = np.array(rows, np.float64).reshape(len(rows), len(INPUTS))
    return dict(zip(INPUTS, found.T, strict=True))


@cache_by_text(most=4_096, longest=4_000)
def _read_inputs(shape: str) -> tuple[tuple[frozenset[str], ...], int, frozenset[str]]:
    """The terms of each required input, the number of all, and the terms of their descriptions."""
    schema = parse(shape)[0] or {}
    fields = schema.get("properties")
    fields = fields if isinstance(fields, dict) else {}
    listed = schema.get("required")
    required = [key for key in listed if key in fields] if isinstance(listed, list) else []
    said = [f["description"] for f in fields.values() if isinstance(f, dict) and "description" in f]
    return (
        tuple(frozenset(extract_terms(key)) for key in required),
        len(fields),
        frozenset(term for text in said for term in extract_terms(str(text))),
    )
