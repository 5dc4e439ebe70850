"""A refinement says whether it changed anything."""

from __future__ import annotations

from callwright.nouns.types import Edit, to_json
from callwright.repair.result import Refinement


def test_changed_means_edited() -> None:
    assert not Refinement().changed
    assert Refinement(edits=(Edit("/0", {}, None, "duplicate_call"),)).changed


def test_a_refinement_is_ready_for_json() -> None:
    assert to_json(Refinement())["calls"] == []
