"""What is still open after the last layer, told from calls, results and the plan's edges alone."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright.agent.gaps import find_gaps, find_ungrounded, unknown_keys
from callwright.nouns.errors import Failure
from callwright.nouns.types import WRITE, CheckedCall, Tool, ToolCall, ToolResult
from callwright.repair.draft import Draft
from callwright.repair.gate import Gate
from callwright.repair.provenance.sources import ProvenanceIndex

TOOLS = [Tool("find_airports"), Tool("flight_distance"), Tool("sun_times")]


def result(
    id: str, tool: str, content: Any = None, error: str = "", **arguments: Any
) -> ToolResult:
    return ToolResult(id, tool, arguments, content, Failure("tool_error", error) if error else None)


def notes(query: str, *results: ToolResult, edges: tuple[tuple[str, str], ...] = ()) -> list[str]:
    return [gap.note for gap in find_gaps(query, results, TOOLS, edges)]


def test_a_failed_call_is_open_and_names_the_tool_that_its_error_names() -> None:
    failed = result(
        "r1",
        "flight_distance",
        error="no airport 'Helsinki': find it with find_airports",
        to="Helsinki",
    )
    (gap,) = find_gaps("From Madrid to Helsinki?", [failed], TOOLS)
    assert gap.tool == "flight_distance"
    assert gap.named == ("find_airports",)
    assert "no airport 'Helsinki'" in gap.note


def test_what_the_request_itself_identifies_is_never_looked_up_otherwise() -> None:
    failed = result(
        "r1", "list_expenses", error="there is no trip 'T999': see find_airports", trip="T999"
    )
    assert notes("List the expenses of trip T999.", failed) == []


@pytest.mark.parametrize("kind", ["rate_limit", "timeout", "unavailable", "auth", "empty"])
def test_a_failure_that_no_argument_can_repair_is_not_open(kind: Any) -> None:
    failed = ToolResult("r1", "sun_times", {"city": "Oslo"}, None, Failure(kind, "no"))
    assert find_gaps("Sun in Oslo?", [failed], TOOLS) == ()


def test_results_that_the_next_tool_passed_over_are_named_once_for_it() -> None:
    places = [
        result("r1", "find_place", {"latitude": 59.9167, "zone": "Europe/Oslo"}, city="Oslo"),
        result("r2", "find_place", {"latitude": 38.7134, "zone": "Europe/Lisbon"}, city="Lisbon"),
        result("r3", "find_place", {"latitude": -1.2833, "zone": "Africa/Nairobi"}, city="Nairobi"),
    ]
    query = "Sunset in Oslo, in Lisbon and in Nairobi?"
    sun = result("r4", "sun_times", {"sunset": "22:43"}, latitude=59.9167)
    edges = (("find_place", "sun_times"),)
    assert notes(query, *places, sun, edges=edges) == [
        "sun_times was not called for Lisbon, Nairobi yet"
    ]
    others = [
        result("r5", "sun_times", {"sunset": "21:05"}, latitude=38.7134),
        result("r6", "sun_times", {"sunset": "18:36"}, latitude=-1.2833),
    ]
    assert notes(query, *places, sun, *others, edges=edges) == []


def test_a_record_is_passed_over_also_where_the_one_taken_up_has_no_name_in_the_request() -> None:
    mine = result("r1", "find_place", {"latitude": 59.9167}, city="home")
    lisbon = result("r2", "find_place", {"latitude": 38.7134}, city="Lisbon")
    sun = result("r3", "sun_times", {"sunset": "22:43"}, lat=59.9167)
    edges = (("find_place", "sun_times"),)
    assert notes("Sunset here and in Lisbon?", mine, lisbon, sun, edges=edges) == [
        "sun_times was not called for Lisbon yet"
    ]


def test_an_unknown_thing_is_told_from_a_malformed_value() -> None:
    assert unknown_keys(
        "there is no office in 'Helsinki Vantaa'", {"city": "Helsinki Vantaa", "n": 1}
    ) == ("city",)
    assert unknown_keys("there is no time zone 'Oslo': use an IANA name", {"zone": "Oslo"}) == ()
    assert unknown_keys("'1 June' is not a date of the form YYYY-MM-DD", {"date": "1 June"}) == ()
    assert unknown_keys("there is no such office", {"city": "Oslo"}) == ()


def test_a_failure_without_a_way_out_is_open_only_where_nothing_surer_is() -> None:
    lost = result("r1", "find_office", error="there is no office in 'Helsinki'", city="Helsinki")
    assert [gap.tool for gap in find_gaps("From Madrid to Helsinki?", [lost], TOOLS)] == [
        "find_office"
    ]
    sure = result(
        "r2",
        "flight_distance",
        error="no airport 'Helsinki': find it with find_airports",
        to="Helsinki",
    )
    assert [gap.tool for gap in find_gaps("From Madrid to Helsinki?", [lost, sure], TOOLS)] == [
        "flight_distance"
    ]


@given(st.text(max_size=80), st.dictionaries(st.text(max_size=5), st.text(max_size=12), max_size=3))
def test_no_request_and_no_result_is_an_exception(query: str, arguments: dict[str, str]) -> None:
    find_gaps(
        query,
        [ToolResult("r1", "a", arguments, arguments), ToolResult("r2", "b", arguments, None)],
        TOOLS,
        [("a", "b")],
    )


@pytest.mark.parametrize(
    "query",
    [
        "What is the weather in Bergen? Not in Oslo, I know that already.",
        "Wie ist das Wetter in Bergen? Nicht in Oslo, das weiß ich schon.",
        "¿Qué tiempo hace en Bergen? No en Oslo, eso ya lo sé.",
        "卑尔根 Bergen 的天气怎么样？不要 Oslo 的。",
        "ما الطقس في Bergen؟ ليس في Oslo.",
    ],
)
def test_a_name_that_the_request_only_mentions_is_not_open(query: str) -> None:
    """A name is not a wish, in whatever language and however it is written."""
    done = result("r1", "sun_times", {"sky": "clear"}, city="Bergen")
    assert notes(query, done) == []


def test_a_record_is_open_also_where_the_request_is_in_another_language() -> None:
    found = [
        result("r1", "find_place", {"latitude": 59.9167}, city="奥斯陆"),
        result("r2", "find_place", {"latitude": 38.7134}, city="里斯本"),
    ]
    sun = result("r3", "sun_times", {"sunset": "22:43"}, lat=59.9167)
    edges = (("find_place", "sun_times"),)
    assert notes("奥斯陆和里斯本什么时候日落？", *found, sun, edges=edges) == [
        "sun_times was not called for 里斯本 yet"
    ]


def test_several_passed_over_records_are_one_gap() -> None:
    office = result("r1", "find_office", {"id": "OF-1", "zone": "Europe/Oslo"}, city="Oslo")
    other = result("r2", "find_office", {"id": "OF-2", "zone": "Europe/Lisbon"}, city="Lisbon")
    oslo = result("r3", "find_place", {"latitude": 59.9167, "zone": "Europe/Oslo"}, city="Oslo")
    lisbon = result(
        "r4", "find_place", {"latitude": 38.7134, "zone": "Europe/Lisbon"}, city="Lisbon"
    )
    sun = result("r5", "sun_times", {"sunset": "22:43"}, lat=59.9167, zone="Europe/Oslo")
    edges = (("find_office", "sun_times"), ("find_place", "sun_times"))
    query = "Sunset in Oslo and in Lisbon?"
    assert notes(query, office, other, oslo, lisbon, sun, edges=edges) == [
        "sun_times was not called for Lisbon yet"
    ]


ORDERED = Tool(
    "order",
    input_schema={
        "type": "object",
        "properties": {
            "quantity": {"type": "integer"},
            "date": {"type": "string", "format": "date"},
        },
        "required": ["quantity", "date"],
    },
    effects=WRITE,
)


@pytest.mark.parametrize(
    ("said", "quantity", "day", "waits"),
    [
        ("Order a printer for 2026-03-20.", 1, "2026-03-20", False),
        ("Order printers for 2026-03-20.", 4, "2026-03-20", True),
        ("Order 45 printers for two weeks from today.", 45, "2026-03-26", False),
        ("Order 45 printers for two weeks from today.", 45, "2026-03-27", True),
        ("Bestell 45 Drucker für übermorgen.", 45, "2026-03-14", False),
        ("اطلب طابعة واحدة ليوم 2026-03-20.", 1, "2026-03-20", False),
    ],
)
def test_what_the_users_words_lead_to_waits_for_nothing(
    said: str, quantity: int, day: str, waits: bool
) -> None:
    today = date(2026, 3, 12)
    sources = ProvenanceIndex(said, days=(today,), today=today)
    call = ToolCall("r1", "order", {"quantity": quantity, "date": day})
    checked = Gate((ORDERED,)).judge(Draft(0, call), sources, ())
    assert isinstance(checked, CheckedCall)
    assert (find_ungrounded(checked, sources, (said,)) is not None) is waits
