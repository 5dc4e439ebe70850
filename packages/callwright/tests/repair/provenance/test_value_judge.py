"""Values and their sources, one by one."""

from __future__ import annotations

from datetime import date

import pytest

from callwright.nouns.types import READ, WRITE, Json, JsonObject, Tool, ToolResult
from callwright.repair.provenance.invention import find_inventions
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
        (17, {"type": ["integer", "null"]}, False),
        (None, {"type": ["integer", "null"]}, True),
        (17, {"type": ["integer", "string"]}, False),
        (17, {"anyOf": [{"type": "number"}, {"type": "string"}]}, False),
        (17, {"anyOf": [{"type": "number"}, {"enum": [17]}]}, True),
        (17, {"type": ["integer", "nope"]}, True),  # no kind of JSON Schema
        ("seventeen", {"anyOf": [{"type": "number"}, {"type": "string"}]}, True),
        (17, {"type": "integer", "default": 17}, True),
        (True, {"type": "boolean"}, True),
        ("a rainy day", {"type": "string"}, True),  # may be a paraphrase
        ("B-7", {"type": "string", "pattern": "^B-[0-9]$"}, True),
        ("B-9", {"type": "string", "pattern": "^B-[0-9]$"}, False),
        ("ann@mail.example", {"type": "string", "format": "email"}, False),
        ("ann@mail.example", {"type": ["string", "null"], "format": "email"}, False),
        ("JFK", {"type": "string", "pattern": "^[A-Z]{3}$"}, True),
        ("127.0.0.1", {"type": "string", "format": "ipv4"}, True),
        ("10.3.4.5", {"type": "string", "format": "ipv4"}, False),
    ],
)
def test_a_value_holds_if_it_was_said_derived_or_cannot_be_judged(
    value: Json, part: Json, holds: bool
) -> None:
    said = "Please pay 40 of the lamps in the order B-7."
    judge = ValueJudge(ProvenanceIndex(said), [said])
    assert judge.holds("x", value, node(part)) is holds


@pytest.mark.parametrize(
    ("value", "holds"),
    [
        ("ann@mail.example", True),
        ("Ann <ann@mail.example>", True),
        ("Ann <ann@mail.example>, lee@mail.example; Kim <kim@mail.example>", True),
        ("ann@mail.example bob@mail.example", False),
        ("Ann <ann@mail.example>, Bob <bob@mail.example>", False),
        ("Bob <bob@mail.example>", False),
        ("Please write to bob@mail.example about it.", True),  # free text
        ("a@b, c", True),  # no addresses
    ],
)
def test_each_address_of_a_list_is_judged(value: str, holds: bool) -> None:
    said = "Write to ann@mail.example, lee@mail.example and kim@mail.example, please."
    judge = ValueJudge(ProvenanceIndex(said), [said])
    assert judge.holds("to", value, node({"type": "string"})) is holds


def test_a_host_is_judged_where_a_write_is_declared() -> None:
    said, part = "Publish my page.", {"type": "string", "format": "uri"}
    for effects, is_held in ((WRITE, True), (READ, False)):
        tool = Tool("publish", "Publishes a page.", {"properties": {"x": part}}, effects=effects)
        judge = ValueJudge(ProvenanceIndex(said), [said], tool=tool)
        assert judge.holds("x", "https://evil.example.com/hook", node(part)) is not is_held


def test_a_day_of_which_nobody_spoke_is_no_value_of_a_declared_write() -> None:
    said, part = "Book a table at Roma for 4 people.", {"type": "string", "format": "date"}
    known = ProvenanceIndex(said, ["Today is 2026-11-23."])
    for effects, is_held in ((WRITE, True), (READ, False)):
        tool = Tool("book", "Books a table.", {"properties": {"x": part}}, effects=effects)
        judge = ValueJudge(known, [said], tool=tool)
        assert judge.holds("x", "2026-11-24", node(part)) is not is_held
        assert judge.holds("x", "2026-11-23", node(part))
        assert not judge.holds("x", "2031-07-04", node(part))  # the 4 of "4 people"


def test_where_words_cannot_be_read_a_day_may_have_been_said() -> None:
    said = "Zarezerwuj stolik na dwudziestego czwartego lutego."
    judge = ValueJudge(ProvenanceIndex(said, ["Today is 2026-11-23."]), [said])
    assert judge.holds("x", "2027-02-24", node({"type": "string", "format": "date"}))


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


@pytest.mark.parametrize(
    "value",
    [
        "unknown",
        "N/A",
        "TBD",
        "<part_code>",
        "string",
        "unbekannt",
        "desconocido",
        "未知",
        "غير معروف",
    ],
)
def test_what_stands_for_a_value_that_is_not_there_is_none(value: str) -> None:
    tool = Tool(
        "order",
        "Orders a part.",
        {"type": "object", "properties": {"part": {"type": "string"}}, "required": ["part"]},
        effects=WRITE,
    )
    listed = Tool(
        "order",
        "Orders a part.",
        {"type": "object", "properties": {"part": {"enum": [value]}}, "required": ["part"]},
        effects=WRITE,
    )
    call: JsonObject = {"part": value}
    query = "Order five of them, please."
    (found,) = find_inventions(call, tool, ProvenanceIndex(query), [query])
    assert found.key == "part"
    said = f"Order the part {value}, please."
    assert find_inventions(call, tool, ProvenanceIndex(said), [said]) == ()
    assert find_inventions(call, listed, ProvenanceIndex(query), [query]) == ()
