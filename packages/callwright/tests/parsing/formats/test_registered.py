"""Families of other packages: found by their entry points, read by the core's own readers."""

from __future__ import annotations

from callwright.nouns.plugins import load_plugins
from callwright.parsing import DIALECTS
from callwright.parsing.formats.families import OWN_DIALECTS
from callwright.parsing.formats.registered import GROUP, labelled_dialect, registered_dialects


def test_the_registered_families_are_those_of_the_entry_points() -> None:
    rows = registered_dialects()
    assert rows == tuple(row for rows in load_plugins(GROUP) for row in rows)
    assert set(DIALECTS) == {*OWN_DIALECTS, *(row.name for row in rows)}
    assert len(DIALECTS) == len(list(DIALECTS)) == len(OWN_DIALECTS) + len(rows)


def test_a_registered_family_is_read_by_one_of_the_core() -> None:
    """It adds no reader: a reply costs the same, and the core alone reads it, too."""
    for row in registered_dialects():
        assert row.name not in OWN_DIALECTS
        assert row.reader in OWN_DIALECTS
        assert row.reads_as in ("", *DIALECTS)
        assert not row.asked


def test_a_list_with_labels_is_json_unless_a_family_claims_it() -> None:
    claimed = [row.name for row in registered_dialects() if row.labels]
    assert labelled_dialect() == (claimed[0] if claimed else "json")
