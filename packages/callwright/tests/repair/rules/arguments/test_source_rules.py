"""Values that were said, and those that nobody said."""

from __future__ import annotations

from callwright.nouns.types import JsonObject, Tool
from callwright.repair.context import RepairContext
from callwright.repair.result import Settings
from tests.repair.rules.arguments.repaired import repaired, repaired_for


def test_an_identifier_from_nowhere_is_reported() -> None:
    made = repaired_for({"nights": 2, "guest_id": "ZX-99812"}, "2 nights please")
    assert made.arguments["guest_id"] == "ZX-99812"
    assert [v.keyword for v in made.errors] == ["identifier"]


def test_a_missing_value_that_was_said_is_filled_in() -> None:
    made = repaired_for({}, "a room for 3 nights")
    assert made.arguments == {"nights": 3}
    assert made.confidence < 1


def test_an_optional_unit_stays_where_the_same_unit_was_said_in_another_word() -> None:
    schema = {
        "type": "object",
        "properties": {"base": {"type": "integer"}, "unit": {"type": "string"}},
    }
    tool = Tool("area", "Area of a square.", {**schema, "required": ["base"]})

    def left(query: str) -> JsonObject:
        situation = RepairContext([tool], query, settings=Settings(leave_out=True))
        return repaired({"base": 12, "unit": "m"}, situation, tool).arguments

    assert left("The area of a square with a base of 12 meters") == {"base": 12, "unit": "m"}
    assert left("The area of a square with a base of 12") == {"base": 12}
