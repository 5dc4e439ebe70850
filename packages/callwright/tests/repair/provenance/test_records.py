"""Values of two records in one call."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from callwright.nouns.errors import Failure
from callwright.nouns.types import READ, CheckedCall, Tool, ToolCall, ToolResult
from callwright.repair.gate import Gate, Refusal
from callwright.repair.provenance.records import (
    find_other_record,
    is_named,
    list_made,
    mixed_records,
)
from callwright.repair.provenance.sources import ProvenanceIndex

TRIPS = ToolResult(
    "r1",
    "list_trips",
    {"employee_id": "E101"},
    {
        "trips": [
            {"trip_id": "T302", "to": "HND", "departs": "2025-05-12", "returns": "2025-05-19"},
            {"trip_id": "T301", "to": "LIS", "departs": "2025-06-23", "returns": "2025-06-26"},
        ]
    },
)
DAY = {"type": "string", "format": "date"}
COUNT = Tool(
    "count_days",
    "",
    {"type": "object", "properties": {"start": DAY, "end": DAY}, "required": ["start", "end"]},
    effects=READ,
)


def sources(query: str = "How long is the Lisbon trip?", *results: ToolResult) -> ProvenanceIndex:
    return ProvenanceIndex(query, results=results or (TRIPS,))


def test_the_departure_of_one_trip_with_the_return_of_another_is_refused_with_both_records() -> (
    None
):
    call = ToolCall("c1", "count_days", {"start": "2025-05-12", "end": "2025-06-26"})
    verdict = Gate([COUNT]).check(call, sources())
    assert isinstance(verdict, Refusal)
    (violation,) = verdict.violations
    assert violation.keyword == "record"
    assert "T302" in violation.message
    assert "T301" in violation.message


def test_values_of_one_record_pass() -> None:
    call = ToolCall("c1", "count_days", {"start": "2025-06-23", "end": "2025-06-26"})
    assert isinstance(Gate([COUNT]).check(call, sources()), CheckedCall)


def test_the_same_field_of_two_records_is_no_mixture() -> None:
    airports = ToolResult(
        "r1",
        "find",
        {},
        [{"iata": "OSLO", "name": "Gardermoen"}, {"iata": "LISB", "name": "Portela"}],
    )
    assert (
        mixed_records({"origin": "OSLO", "destination": "LISB"}, sources("How far?", airports))
        is None
    )


def test_the_results_of_two_calls_of_one_tool_are_two_records() -> None:
    lisbon = ToolResult("r1", "place", {}, {"latitude": 38.7134, "zone": "Europe/Lisbon"})
    nairobi = ToolResult("r2", "place", {}, {"latitude": -1.2833, "zone": "Africa/Nairobi"})
    held = sources("Sunset?", lisbon, nairobi)
    assert mixed_records({"latitude": 38.7134, "timezone": "Africa/Nairobi"}, held) is not None
    assert mixed_records({"latitude": 38.7134, "timezone": "Europe/Lisbon"}, held) is None
    assert mixed_records({"from_zone": "Africa/Nairobi", "to_zone": "Europe/Lisbon"}, held) is None


def test_what_the_request_says_itself_tells_nothing() -> None:
    query = "How many days from 2025-05-12 on until I am back from Lisbon?"
    assert mixed_records({"start": "2025-05-12", "end": "2025-06-26"}, sources(query)) is None


def test_a_value_that_both_records_hold_tells_nothing() -> None:
    twins = [{"a": "same", "b": "other-1"}, {"a": "same", "b": "other-2"}]
    assert (
        mixed_records({"x": "same", "y": "other-2"}, sources("?", ToolResult("r1", "t", {}, twins)))
        is None
    )


_JSON: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.integers() | st.text(max_size=6),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4)
    ),
    max_leaves=12,
)


@given(_JSON, st.dictionaries(st.text(max_size=4), _JSON, max_size=4))
def test_any_result_and_any_arguments_are_looked_at_without_an_exception(
    content: Any, arguments: dict[str, Any]
) -> None:
    mixed_records(arguments, sources("?", ToolResult("r1", "t", {}, content)))


EVENTS = ToolResult(
    "r1",
    "list_events",
    {"date": "2026-03-13"},
    [
        {"event_id": "V-2", "title": "Call with Lindqvist", "date": "2026-03-13"},
        {"event_id": "V-3", "title": "Fire drill", "date": "2026-03-13"},
    ],
)


def test_a_record_that_nobody_named_beside_one_that_was_is_another_record() -> None:
    for said in (
        "Delete the fire drill of tomorrow.",
        "Borra el simulacro de incendio (Fire drill).",
        "删除“Fire drill”。",
    ):
        found = find_other_record({"event_id": "V-2"}, [EVENTS], said)
        assert found is not None
        assert (found.key, found.value, found.meant["event_id"]) == ("event_id", "V-2", "V-3")
        assert find_other_record({"event_id": "V-3"}, [EVENTS], said) is None


def test_a_record_that_was_named_or_where_none_or_several_were_is_no_other() -> None:
    for said in (
        "Delete V-2, the fire drill stays.",
        "Delete the call with Lindqvist, not the fire drill.",
        "Delete the first event of tomorrow.",
        "",
    ):
        assert find_other_record({"event_id": "V-2"}, [EVENTS], said) is None
    assert find_other_record({"event_id": "V-9"}, [EVENTS], "Delete the fire drill.") is None


ACCOUNTS = ToolResult(
    "r1",
    "list_accounts",
    {},
    [
        {"account": "AC-11", "name": "Savings", "owner": None, "state": "open"},
        {"account": "AC-22", "name": "Current", "owner": "ben", "state": "closed"},
    ],
)


def test_only_what_identifies_a_record_tells_of_another_one() -> None:
    said = "Close the Savings account."
    assert find_other_record({"account": "AC-22"}, [ACCOUNTS], said) is not None
    # where another argument is of the named record, this one is a target or a new value
    for arguments in (
        {"account": "AC-11", "state": "closed"},
        {"source": "AC-11", "target": "AC-22"},
        {"account": "AC-11", "owner": "ben"},
    ):
        assert find_other_record(arguments, [ACCOUNTS], said) is None
    # a field that not every record has another value in
    assert find_other_record({"owner": "ben"}, [ACCOUNTS], said) is None


def test_a_record_that_a_call_of_the_message_made_is_not_the_named_one() -> None:
    said = "Delete the reminder about the plumber and add one: 'Call the dentist'."
    added = ToolResult("r1", "add_reminder", {"text": "Call the dentist"}, {"id": "R-5"})
    rows = [{"id": "R-1", "text": "Pay the plumber"}, {"id": "R-5", "text": "Call the dentist"}]
    reminders = ToolResult("r2", "list_reminders", {}, rows)
    given, found = {"id": "R-1"}, [added, reminders]
    assert find_other_record(given, found, said) is not None
    made = list_made(found, {"add_reminder"})
    assert made == {"R-5"}
    assert find_other_record(given, found, said, made) is None


def test_what_a_write_returns_of_a_record_that_was_there_is_not_made() -> None:
    rows = ToolResult("r1", "list_events", {}, [{"id": "E-1"}, {"id": "E-2", "title": "Review"}])
    archived = ToolResult("r2", "archive", {"title": "Review"}, {"id": "E-2", "title": "Review"})
    assert list_made([rows, archived], {"archive"}) == set()
    failed = ToolResult("r3", "archive", {}, {"id": "E-9"}, Failure("timeout", "late"))
    assert list_made([failed], {"archive"}) == set()


def test_a_record_is_named_in_a_script_that_parts_no_words() -> None:
    said = ProvenanceIndex("只付水费，电费先不要付。")
    assert is_named({"id": "I-2", "name": "水费"}, said)
    assert not is_named({"id": "I-5", "name": "保险"}, said)
