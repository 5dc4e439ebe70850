"""Documents: whatever order they came in and however often they were updated, by name and whole."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from callwright.retrieval.document import Document
from callwright.retrieval.documents import Documents


def made(name: str, form: int = 0) -> Document:
    return Document(
        name, f"{name} {form}", f"from {form % 2}", f"{name} stem", f"{name} says {form}, é 漢"
    )


DOCUMENT = st.builds(made, st.sampled_from("abcdefg"), st.integers(0, 3))


@settings(max_examples=60, deadline=None)
@given(
    st.lists(DOCUMENT, max_size=6),
    st.lists(DOCUMENT, max_size=4),
    st.sets(st.sampled_from("abcdefg"), max_size=3),
)
def test_updated_they_are_what_they_would_be_made_anew(
    before: list[Document], fresh: list[Document], gone: set[str]
) -> None:
    old = Documents.of(before)
    added = {d.name: d for d in fresh}
    change = old.updated(added, gone)
    now = {d.name: d for d in before if d.name not in gone} | added
    assert list(change.documents) == [now[name] for name in sorted(now)]
    assert change.documents == Documents.of(now.values())
    assert {change.documents.names[at]: d for at, d in change.fresh.items()} == added
    for name, to in zip(old.names, change.moved.tolist(), strict=True):
        assert to == (-1 if name in gone or name in added else change.documents.place[name])


@pytest.mark.parametrize("names", ["", "a", "cab"])
def test_saved_and_loaded_they_are_the_same(names: str, tmp_path: Path) -> None:
    documents = (
        Documents.of([made(name) for name in names]).updated({"b": made("b", 2)}, {"a"}).documents
    )
    documents.save(tmp_path)
    loaded = Documents.load(tmp_path)
    assert list(loaded) == list(documents)
    assert loaded == documents
    assert loaded.updated({"z": made("z")}).documents[-1] == made("z")


def test_half_a_character_is_replaced_because_no_file_can_hold_it(tmp_path: Path) -> None:
    documents = Documents.of([Document("a", "1", "", "", "broken \ud83d")])
    assert documents[0].text == "broken \ufffd"
    documents.save(tmp_path)
    assert Documents.load(tmp_path)[0].text == "broken \ufffd"
