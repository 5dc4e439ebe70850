from __future__ import annotations

from importlib.metadata import entry_points

from callwright.nouns.plugins import load_plugins


def test_a_group_holds_what_its_entry_points_name() -> None:
    group = "callwright.tool_documents"
    found = sorted(entry_points(group=group), key=lambda entry: entry.name)
    assert load_plugins(group) == tuple(entry.load() for entry in found)


def test_a_group_of_nobody_is_empty() -> None:
    assert load_plugins("callwright.nothing") == ()
