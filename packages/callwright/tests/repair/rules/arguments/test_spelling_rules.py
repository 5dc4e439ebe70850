"""Values in other words than their schema has."""

from __future__ import annotations

import pytest

from callwright.nouns.types import Json
from tests.repair.rules.arguments.repaired import repaired_for


@pytest.mark.parametrize(
    ("key", "given", "wanted"),
    [
        ("nights", "2 nights", 2),
        ("nights", "several", "several"),
        ("material", "bronze", "Bronze"),
        ("material", "wood", "wood"),
    ],
)
def test_a_value_is_spelled_as_its_schema_wants_it_or_stays(
    key: str, given: Json, wanted: Json
) -> None:
    made = repaired_for({"nights": 1, key: given}, "two nights, bronze")
    assert made.arguments[key] == wanted
