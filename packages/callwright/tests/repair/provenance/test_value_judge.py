"""Values and their sources, one by one."""

from __future__ import annotations

from datetime import date

import pytest

from callwright.nouns.types import Json, Tool, ToolResult
from callwright.repair.provenance.sources import ProvenanceIndex
from callwright.repair.provenance.value_judge import (
    ValueJudge,
    days_in,
    is_schema_value,
    read_day,
    read_minutes,
)
from callwright.schema.compiled import Node, compiled_for


def node(part: Json) -> Node:
    root = compiled_for(Tool("pay", "", {"properties": {"x": part}})).root
    found = root.property("x")
    assert found is not None
    return found


def test_full_dates_are_found_in_their_usual_spellings() -> None:
    texts = [
        "2026-11-23 or 24/12/2026",
        "on 1st of May 2027, then June 3, 2027",
        "03/04/2027 has two readings, 20290230 is no day",
        "today is 20280229",
    ]
    assert sorted(day.isoformat() for day in days_in(texts)) == [
        "2026-11-23",
        "2026-12-24",
        "2027-05-01",
        "2027-06-03",
        "2028-02-29",
    ]


@pytest.mark.parametrize(
    ("value", "part", "holds"),
    [
        (40, {"type": "integer"}, True),
        (80, {"type": "integer"}, True),  # twice
        (17, {"type": "integer"}, False),
        (17, {"type": ["integer", "null"]}, True),  # not judged
        (17, {"type": "integer", "default": 17}, True),
        (True, {"type": "boolean"}, True),
        ("a rainy day", {"type": "string"}, True),  # may be a paraphrase
        ("B-7", {"type": "string", "pattern": "^B-[0-9]$"}, True),
        ("B-9", {"type": "string", "pattern": "^B-[0-9]$"}, False),
        ("ann@mail.example", {"type": "string", "format": "email"}, False),
    ],
)
def test_a_value_holds_if_it_was_said_derived_or_cannot_be_judged(
    value: Json, part: Json, holds: bool
) -> None:
    said = "Please pay 40 of the lamps in the order B-7."
    judge = ValueJudge(ProvenanceIndex(said), [said])
    assert judge.holds("x", value, node(part)) is holds


def test_what_a_result_says_holds_and_what_it_was_asked_with_does_not() -> None:
    said = "Please pay for all of the lamps."
    number = node({"type": "integer"})
    back = ToolResult("r1", "find", {"number": 77}, {"number": 77, "price": 12.5})
    judge = ValueJudge(ProvenanceIndex(said, results=[back]), [said])
    assert judge.holds("x", 12.5, number)
    assert not judge.holds("x", 77, number)


def test_a_schema_gives_its_default_and_what_it_describes_but_no_example() -> None:
    about = {"type": "string", "default": "de", "description": "fast or slow, e.g. 'quick'"}
    assert is_schema_value("de", node(about))
    assert is_schema_value("slow", node(about))
    assert not is_schema_value("quick", node(about))


def test_days_and_times_are_read_by_schema_or_form() -> None:
    assert read_day("2026-11-23T10:00:00Z", node({"type": "string"})) == date(2026, 11, 23)
    assert read_day("soon", node({"type": "string", "format": "date"})) is None
    assert read_day(20261123, node({"type": "integer"})) is None
    assert read_minutes("9:30") == 570
