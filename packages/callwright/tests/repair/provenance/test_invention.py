from __future__ import annotations

from datetime import date
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright.nouns.types import Message, Tool, ToolResult
from callwright.repair.provenance.invention import days_in, find_inventions
from callwright.repair.provenance.sources import ProvenanceIndex

NUMBER, WHOLE = {"type": "number"}, {"type": "integer"}
DAY, TIME = {"type": "string", "format": "date"}, {"type": "string", "format": "time"}
MAIL, UUID = {"type": "string", "format": "email"}, {"type": "string", "format": "uuid"}
CODE = {"type": "string", "pattern": "^[A-Z]+-[0-9]+$"}


def tool(part: Any, *, required: bool = True) -> Tool:
    schema = {"type": "object", "properties": {"x": part}, "required": ["x"] if required else []}
    return Tool("f", "", schema)


def found(value: Any, part: Any, said: str, *results: Any) -> list[Any]:
    sources = ProvenanceIndex(said)
    for place, content in enumerate(results):
        sources.add_result(ToolResult(f"r{place}", "g", {}, content))
    return [one.value for one in find_inventions({"x": value}, tool(part), sources)]


@pytest.mark.parametrize(
    ("value", "part", "said"),
    [
        (100, NUMBER, "Transfer some money to Ann, please."),
        (4711, WHOLE, "Buche einen Tisch für uns."),
        (4, WHOLE, "Book a table for us this evening."),
        (37.5, NUMBER, "Pay 12 to the shop."),
        ("2024-01-01", DAY, "What is 250 USD in Norwegian kroner?"),
        ("2031-05-17", DAY, "Today is 2026-11-23. Book a table."),
        ("2024-05-17T19:00:00Z", {**DAY, "format": "date-time"}, "Book a table."),
        ("19:30:00", TIME, "Book a table."),
        ("ann@example.com", MAIL, "Write to Ann."),
        ("6d0c3a5e-8b0e-4b57-9d9d-0f6f3c1c2a11", UUID, "Cancel my order."),
        ("ORD-4711", CODE, "Cancel my order."),
        (100, {"anyOf": [NUMBER, WHOLE]}, "Transfer some money to Ann, please."),
        (20, {"type": "integer", "description": "How much, e.g. 20"}, "Give it to the shop."),
        ("2024-01-01", {"type": "string"}, "What is 250 USD in Norwegian kroner?"),
        ("2024-01-01T08:00", {"type": "string"}, "What is 250 USD in Norwegian kroner?"),
        ("ann@example.com", {"type": "string"}, "Write to Ann."),
    ],
)
def test_what_stands_nowhere_is_an_invention(value: Any, part: Any, said: str) -> None:
    assert found(value, part, said) == [value]


@pytest.mark.parametrize(
    ("value", "part", "said"),
    [
        (100, NUMBER, "Transfer 100 to Ann."),
        (1234.5, NUMBER, "Transfer 1,234.50 to Ann."),
        (0.2, NUMBER, "Take 20% off."),
        (42, WHOLE, "٤٢ كتاب"),
        (2, WHOLE, "A table for two at the window."),
        (2, WHOLE, "Buche einen Tisch für zwei Personen um acht."),
        (2, WHOLE, "Reserva una mesa para dos personas a las ocho."),
        (25, WHOLE, "二十五人"),
        (1, WHOLE, "Order a pizza."),
        (7_200, WHOLE, "Remind me in 2 hours."),
        (60, WHOLE, "Start the timer for an hour."),
        (30, WHOLE, "Start the timer for half an hour."),
        (7, WHOLE, "The report of July 2021."),
        (90, NUMBER, "Give 20% of 450."),
        (59.9139, {"type": "number"}, "The temperature is 59.9139"),
        ("2026-12-04", DAY, "On 4 December, please."),
        ("2026-12-04", DAY, "Am 4. Dezember bitte."),
        ("2026-11-24", DAY, "It is Monday, 23 November 2026. Book for tomorrow."),
        ("2027-01-01", DAY, "It is 2026-12-31. Book for tomorrow."),
        ("2024-05-17", {**DAY, "default": "2024-05-17"}, "Book a table."),
        ("20:00:00", TIME, "A table at 8 pm."),
        ("ann@example.com", MAIL, "Write to ann@example.com."),
        ("ORD-4711", CODE, "Cancel order 4711."),
        ("NOK", {"type": "string", "pattern": "^[A-Z]{3}$"}, "In Norwegian kroner?"),
        ("+4791234567", {"type": "string", "format": "phone"}, "Call 91234567."),
        ("a table", {"type": "string"}, "Nothing of the kind."),
        ("20240101", {"type": "string"}, "Nothing of the kind."),
        (
            "AAPL",
            {"type": "string", "description": "A symbol, e.g. AAPL"},
            "How is the Apple stock?",
        ),
        ("2022-10-20", DAY, "A five-night stay from October 15th."),
        ("2026-12-31", DAY, "By the end of the month."),
        (3, {"type": "integer", "enum": [1, 3]}, "Book a table for us this evening."),
        (50, {"type": "integer", "default": 50}, "List them."),
        (500, {"type": "integer", "description": "500 means all"}, "List them."),
        (100, {"type": ["integer", "null"]}, "Transfer some money to Ann."),
        (100, {"anyOf": [NUMBER, {"type": "null"}]}, "Transfer some money to Ann."),
        (100, {}, "Transfer some money to Ann."),
        (True, {"type": "boolean"}, "Do it."),
    ],
)
def test_what_was_said_could_be_derived_or_cannot_be_read_is_none(
    value: Any, part: Any, said: str
) -> None:
    assert found(value, part, said) == []


def test_coordinates_are_known_of_a_place() -> None:
    schema = {"type": "object", "properties": {"latitude": NUMBER}, "required": ["latitude"]}
    assert not find_inventions(
        {"latitude": 59.91}, Tool("f", "", schema), ProvenanceIndex("The weather in Oslo?")
    )


def test_results_count_with_their_number_and_their_sum() -> None:
    bills = [{"amount": 12.5}, {"amount": 30.0}, {"amount": 8.25}]
    asked = "Pay the total of the bills."
    assert found(50.75, NUMBER, asked, bills) == []
    assert found(3, WHOLE, asked, bills) == []
    assert found(8.25, NUMBER, asked, bills) == []
    assert found(61.2, NUMBER, asked, bills) == [61.2]


def test_only_required_values_are_judged_at_every_depth() -> None:
    inner = {"type": "object", "properties": {"n": NUMBER, "m": NUMBER}, "required": ["n"]}
    schema = {
        "type": "object",
        "$defs": {"line": inner},
        "properties": {"lines": {"type": "array", "items": {"$ref": "#/$defs/line"}}, "z": NUMBER},
        "required": ["lines"],
    }
    arguments = {"lines": [{"n": 100, "m": 200}, {"n": 12, "m": 300}], "z": 400}
    made = find_inventions(
        arguments, Tool("f", "", schema), ProvenanceIndex("Buy 12 of them for the office.")
    )
    assert [(one.path, one.key, one.value) for one in made] == [("/lines/0/n", "n", 100)]


@given(st.integers(2, 10**9), st.text(max_size=30))
def test_a_number_that_was_said_in_digits_is_never_an_invention(number: int, around: str) -> None:
    assert found(number, WHOLE, f"Please pay {number} for it. {around}") == []


@given(
    st.floats(0.01, 1e6, allow_nan=False), st.sampled_from(["{}", '{{"total": {}}}', "it is {}."])
)
def test_nor_is_one_that_a_result_holds(number: float, form: str) -> None:
    number = round(number, 2)
    assert found(number, NUMBER, "Pay what it says.", form.format(number)) == []


@given(st.dates())
def test_nor_is_a_day_that_was_said(day: Any) -> None:
    assert found(day.isoformat(), DAY, f"On {day.isoformat()}, please.") == []


def test_what_of_a_schema_cannot_be_used_judges_nothing() -> None:
    assert not find_inventions(
        {"x": 5}, tool({"type": ["number", "nope"]}), ProvenanceIndex("Pay it.")
    )
    assert not find_inventions(
        {"x": "a5"}, tool({"type": "string", "pattern": "("}), ProvenanceIndex("Pay it.")
    )


def test_whatever_anybody_said_counts() -> None:
    sources = ProvenanceIndex(
        "yes", [Message("assistant", "Shall I transfer 250?"), Message("user", "yes")]
    )
    assert not find_inventions({"x": 250}, tool(NUMBER), sources)


def test_days_that_are_known_otherwise_and_those_near_them_are_known() -> None:
    sources = ProvenanceIndex("What does it cost tomorrow?", days=[date(2026, 11, 23)])
    assert sources.holds("2026-11-23")
    assert sources.copy().holds("2026-11-23")
    assert sources.without(()).holds("2026-11-23")
    for day, made in (("2026-11-24", []), ("2026-12-24", ["2026-12-24"])):
        found = find_inventions({"x": day}, tool(DAY), sources, near=7)
        assert [one.value for one in found] == made


def test_full_dates_are_found_in_their_usual_spellings() -> None:
    texts = [
        "2026-11-23 or 24/12/2026",
        "on 1st of May 2027, then June 3, 2027",
        "03/04/2027 has two readings",
    ]
    assert sorted(day.isoformat() for day in days_in(texts)) == [
        "2026-11-23",
        "2026-12-24",
        "2027-05-01",
        "2027-06-03",
    ]
