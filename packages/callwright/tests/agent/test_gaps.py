"""What is still open after the last layer, told from the request and the results alone."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright.agent.gaps import find_gaps, find_names, unknown_keys
from callwright.nouns.errors import Failure
from callwright.nouns.types import Tool, ToolResult

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
def test_a_failure_that_no_argument_can_mend_is_not_open(kind: Any) -> None:
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


def test_a_name_or_day_of_the_same_form_as_one_that_was_taken_is_open() -> None:
    query = "Convert 100 EUR into NOK, JPY and CAD at the rates of 20 June 2025."
    done = result("r1", "convert", {"amount": 1159.8}, base="EUR", quote="NOK", date="2025-06-20")
    assert notes(query, done) == [
        f"the request also speaks of {code}; no result does" for code in ("JPY", "CAD")
    ]
    query = "Is 1 December 2025 a holiday in Portugal, and 3 November 2025 in Japan?"
    done = result("r1", "check", {"holiday": True}, country="PT", date="2025-12-01")
    assert notes(query, done) == ["the request also speaks of 3 November 2025; no result does"]


def likened(query: str, *results: ToolResult, edges: tuple[tuple[str, str], ...] = ()) -> list[Any]:
    return [call.arguments for gap in find_gaps(query, results, TOOLS, edges) for call in gap.like]


def test_a_forgotten_name_is_looked_up_like_its_sibling() -> None:
    query = "Convert 100 EUR into NOK, JPY and CAD at the rates of 20 June 2025."
    done = result(
        "r1", "convert", {"amount": 1159.8}, amount=100, base="EUR", quote="NOK", date="2025-06-20"
    )
    same = {"amount": 100, "base": "EUR", "date": "2025-06-20"}
    assert likened(query, done) == [{**same, "quote": "JPY"}, {**same, "quote": "CAD"}]
    both = result("r1", "distance", {"km": 5}, origin="OSL", destination="LIS")
    assert likened("From OSL to LIS, and to KEF?", both) == [], "which of the two is meant?"


def test_of_names_listed_together_each_is_looked_up_in_the_same_way() -> None:
    query = "Sunset in Oslo, in Lisbon and in Nairobi?"
    office = result("r1", "find_office", {"zone": "Europe/Oslo"}, city="Oslo")
    lisbon = result("r2", "find_place", {"latitude": 38.7134}, city="Lisbon")
    nairobi = result("r3", "find_place", {"latitude": -1.2833}, city="Nairobi")
    assert {"city": "Oslo"} in likened(query, office, lisbon, nairobi)
    apart = "Is Oslo, where my office is, further north than the town of Lisbon?"
    assert likened(apart, office, lisbon) == []


def test_a_record_that_was_passed_over_is_taken_up_like_the_other() -> None:
    oslo = result("r1", "find_place", {"latitude": 59.9167, "zone": "Europe/Oslo"}, city="Oslo")
    lisbon = result(
        "r2", "find_place", {"latitude": 38.7134, "zone": "Europe/Lisbon"}, city="Lisbon"
    )
    sun = result(
        "r3", "sun_times", {"sunset": "22:43"}, lat=59.9167, zone="Europe/Oslo", date="2025-06-24"
    )
    edges = (("find_place", "sun_times"),)
    query = "Sunset in Oslo and in Lisbon on 24 June 2025?"
    assert likened(query, oslo, lisbon, sun, edges=edges) == [
        {"lat": 38.7134, "zone": "Europe/Lisbon", "date": "2025-06-24"}
    ]
    twice = result("r3", "convert", {"time": "15:00"}, source="Europe/Oslo", target="Europe/Oslo")
    assert likened(query, oslo, lisbon, twice, edges=(("find_place", "convert"),)) == [], (
        "which of the two is meant?"
    )


def test_of_two_records_that_fed_a_call_the_one_that_gave_more_of_it_is_followed() -> None:
    office = result("r1", "find_office", {"id": "OF-1", "zone": "Europe/Oslo"}, city="Oslo")
    other = result("r2", "find_office", {"id": "OF-2", "zone": "Europe/Lisbon"}, city="Lisbon")
    oslo = result("r3", "find_place", {"latitude": 59.9167, "zone": "Europe/Oslo"}, city="Oslo")
    lisbon = result(
        "r4", "find_place", {"latitude": 38.7134, "zone": "Europe/Lisbon"}, city="Lisbon"
    )
    sun = result("r5", "sun_times", {"sunset": "22:43"}, lat=59.9167, zone="Europe/Oslo")
    edges = (("find_office", "sun_times"), ("find_place", "sun_times"))
    query = "Sunset in Oslo and in Lisbon?"
    found = likened(query, office, other, oslo, lisbon, sun, edges=edges)
    assert {"lat": 38.7134, "zone": "Europe/Lisbon"} in found
    assert {"lat": 59.9167, "zone": "Europe/Lisbon"} not in found, (
        "one city's latitude in another's zone"
    )


def test_a_record_is_passed_over_also_where_the_one_taken_up_has_no_name_in_the_request() -> None:
    mine = result("r1", "find_place", {"latitude": 59.9167}, city="home")
    lisbon = result("r2", "find_place", {"latitude": 38.7134}, city="Lisbon")
    sun = result("r3", "sun_times", {"sunset": "22:43"}, lat=59.9167)
    edges = (("find_place", "sun_times"),)
    assert notes("Sunset here and in Lisbon?", mine, lisbon, sun, edges=edges) == [
        "sun_times was not called for Lisbon yet"
    ]


def test_a_name_of_another_form_or_in_a_result_is_not_open() -> None:
    done = result("r1", "find", {"to": "Iceland", "code": "KEF"}, name="Henrik Dahl")
    assert notes("When does Henrik Dahl leave for Iceland?", done) == []
    assert notes("When does Henrik Dahl leave for Norway?", done) == []


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("Where is it? It rains in Oslo Gardermoen.", ("Oslo Gardermoen",)),
        ("How far from OSL to LIS?", ("OSL", "LIS")),
        ("At 16:30 in Nairobi (Africa/Nairobi), please.", ("Nairobi", "Africa/Nairobi")),
        (
            "Beatriz Lopes wants to ring Chloe Martin's office on 24 June.",
            ("Beatriz Lopes", "Chloe Martin"),
        ),
        ("What is it? Convert it.", ()),
        ("", ()),
    ],
)
def test_names_are_told_from_words_that_begin_a_sentence(
    query: str, found: tuple[str, ...]
) -> None:
    assert find_names(query) == found


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
    find_names(query)
    find_gaps(
        query,
        [ToolResult("r1", "a", arguments, arguments), ToolResult("r2", "b", arguments, None)],
        TOOLS,
        [("a", "b")],
    )


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("Wie ist das Wetter in der Stadt Madrid und am Flughafen OSL?", ("OSL",)),
        ("¿Qué tiempo hace en Madrid y en el aeropuerto de OSL?", ("OSL",)),
        ("马德里和 OSL 的天气怎么样？", ("OSL",)),
        ("ما هو الطقس في مدريد وفي مطار OSL ؟", ("OSL",)),
        ("What is the weather in Madrid and at OSL?", ("Madrid", "OSL")),
    ],
)
def test_a_capital_letter_makes_a_name_in_english_only(query: str, found: tuple[str, ...]) -> None:
    assert find_names(query) == found
