"""Refusals, and the look-ups that all rooms of a world share."""

from __future__ import annotations

import pytest

from callwright_lab.benchmarks.agents.worlds.failures import (
    Refused,
    find_by_name,
    get_entry,
    take_number,
)

PARTS = {"A-1": {"name": "Hex bolt M8"}, "B-2": {"name": "Desk lamp"}}


def test_what_is_not_there_is_refused_by_its_name() -> None:
    assert get_entry(PARTS, "A-1", "part") == {"name": "Hex bolt M8"}
    with pytest.raises(Refused, match="there is no part Z-9"):
        get_entry(PARTS, "Z-9", "part")


@pytest.mark.parametrize("name", ["hex bolt", "HEX BOLTS", " bolt "])
def test_a_name_is_found_without_regard_to_case_and_plural(name: str) -> None:
    assert find_by_name(PARTS, name, "code") == [{"code": "A-1", "name": "Hex bolt M8"}]


def test_a_number_is_used_up() -> None:
    state = {"counters": {"orders": 7}}
    assert [take_number(state, "orders"), take_number(state, "orders")] == [7, 8]
