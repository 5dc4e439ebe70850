"""Arguments of one call, step by step."""

from __future__ import annotations

from callwright.nouns.types import JsonObject, Tool
from callwright.repair.context import RepairContext
from callwright.repair.result import Settings
from callwright.repair.rules.argument_repair import ArgumentRepair

TOOL = Tool(
    "book",
    "Book a room.",
    {
        "type": "object",
        "properties": {
            "nights": {"type": "integer"},
            "material": {"type": "string", "enum": ["Bronze", "Marble"]},
            "guest_id": {"type": "string"},
        },
        "required": ["nights"],
    },
)


def mended(
    arguments: dict[str, object], query: str = "", settings: Settings | None = None
) -> ArgumentRepair:
    made = ArgumentRepair(arguments, TOOL, RepairContext([TOOL], query, settings=settings))
    made.mend()
    return made


def test_all_options_become_the_one_that_was_said() -> None:
    made = mended({"nights": 2, "material": ["Bronze", "Marble"]}, "2 nights, a bronze one")
    assert made.arguments == {"nights": 2, "material": "Bronze"}


def test_an_identifier_from_nowhere_is_reported() -> None:
    made = mended({"nights": 2, "guest_id": "ZX-99812"}, "2 nights please")
    assert made.arguments["guest_id"] == "ZX-99812"
    assert [v.keyword for v in made.violations] == ["identifier"]


def test_a_missing_value_that_was_said_is_filled_in() -> None:
    made = mended({}, "a room for 3 nights")
    assert made.arguments == {"nights": 3}
    assert made.confidence < 1


def test_a_guess_below_the_bar_is_an_abstention() -> None:
    made = mended({}, "a room for 3 nights", Settings(least=0.99))
    assert made.arguments == {}
    assert made.abstained[0].candidate == 3
    assert [v.keyword for v in made.violations] == ["required"]
    assert made.unknown == ["nights"]


def test_an_optional_unit_stays_where_the_same_unit_was_said_in_another_word() -> None:
    schema = {
        "type": "object",
        "properties": {"base": {"type": "integer"}, "unit": {"type": "string"}},
    }
    tool = Tool("area", "Area of a square.", {**schema, "required": ["base"]})

    def left(query: str) -> JsonObject:
        made = ArgumentRepair(
            {"base": 12, "unit": "m"},
            tool,
            RepairContext([tool], query, settings=Settings(leave_out=True)),
        )
        made.mend()
        return made.arguments

    assert left("The area of a square with a base of 12 meters") == {"base": 12, "unit": "m"}
    assert left("The area of a square with a base of 12") == {"base": 12}
