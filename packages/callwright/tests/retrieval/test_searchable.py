"""What is searched after a change is what would be made at once of the documents that are there
then.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from callwright.retrieval.document import Document
from callwright.retrieval.documents import Documents
from callwright.retrieval.searchable import fields_after, fields_of
from tests.retrieval.conftest import WordEncoder


def made(name: str, form: int, parent: str) -> Document:
    said = ("", "hotel room", "flight to a hotel", "weather")[form]
    return Document(name, f"{ord(name) * 16 + form:016x}", parent, said, f"{name} {said}")


NAMES = "abcdef"
FOUND = st.dictionaries(
    st.sampled_from(NAMES), st.tuples(st.integers(0, 3), st.sampled_from("xyz")), max_size=6
)


def documents(found: Mapping[str, tuple[int, str]]) -> dict[str, Document]:
    return {name: made(name, form, parent) for name, (form, parent) in found.items()}


def vectors(of: Documents) -> np.ndarray:
    return WordEncoder().encode([found.text for found in of])


@settings(max_examples=60, deadline=None)
@given(FOUND, FOUND, st.sets(st.sampled_from(NAMES), max_size=3), st.sampled_from([1, 100]))
def test_fields_after_a_change_are_those_made_at_once(
    before: dict[str, tuple[int, str]],
    fresh: dict[str, tuple[int, str]],
    gone: set[str],
    exact: int,
) -> None:
    old = Documents.of(documents(before).values())
    change = old.updated(documents(fresh), gone - fresh.keys())
    now = vectors(change.documents)
    after = fields_after(change, old, fields_of(old, vectors(old), exact), now, exact)
    at_once = fields_of(change.documents, now, exact)
    assert np.array_equal(after.parent_of, at_once.parent_of)
    assert after.tool_vectors is not None
    assert after.parent_vectors is not None
    assert at_once.parent_vectors is not None
    assert np.array_equal(after.parent_vectors.vectors, at_once.parent_vectors.vectors)
    for term in ("hotel", "flight", "weather"):
        assert np.array_equal(after.tools.scores([term]), at_once.tools.scores([term]))
        assert np.array_equal(after.parents.scores([term]), at_once.parents.scores([term]))
    assert (after.near is None) == (at_once.near is None) == (len(change.documents) <= exact)
    if after.near is not None and at_once.near is not None:
        asked = WordEncoder().encode(["a hotel"])
        assert after.near.nearest(asked, 100).tolist() == at_once.near.nearest(asked, 100).tolist()


def test_without_vectors_there_are_words_alone() -> None:
    old = Documents.of([made("a", 1, "x")])
    change = old.updated({"b": made("b", 2, "x")})
    after = fields_after(change, old, fields_of(old, None, 1), None, 1)
    assert (after.tool_vectors, after.parent_vectors, after.near) == (None, None, None)
    assert (
        after.tools.scores(["flight"]).tolist()
        == fields_of(change.documents, None, 1).tools.scores(["flight"]).tolist()
    )
