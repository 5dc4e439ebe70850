"""What a request shows to be wrong with it."""

from __future__ import annotations

import pytest

from callwright.nouns.trajectory import Step
from callwright_lab.verify.dataset.rules import find_defects
from tests.verify.rows import ASKED, FOUND, GOOD, row, step


def _kinds(query: str, *steps: Step) -> set[str]:
    return {
        d.kind
        for d in find_defects(row(*(steps or (step("find_flight", GOOD, FOUND),)), query=query))
    }


@pytest.mark.parametrize(
    "query",
    [
        'Start the workspace with ID "BDYP.',
        "The image can be found at the following URL",
        "Find a flight to [city] on 2026-05-04.",
        "Fly me to XXXX on 2026-05-04.",
        "Set the type to [sand] with a height of [31.7",
        "",
    ],
)
def test_what_breaks_off_or_was_never_filled_in_is_broken(query: str) -> None:
    assert "broken_request" in _kinds(query)


@pytest.mark.parametrize(
    "query",
    [
        ASKED,
        'Find "The Rock" and "Up".',
        'A 6" pipe to Bari',
        "Flights to Bari [cheap ones] on 2026-05-04",
        "<user>Bari at</user>",
    ],
)
def test_what_is_whole_is_not(query: str) -> None:
    assert "broken_request" not in _kinds(query)


@pytest.mark.parametrize(
    ("query", "wrong"),
    [
        ("Sales from February 27, 2015, to December 14, 2002?", True),
        ("Sales from February 27, 2002, to December 14, 2015?", False),
        ("Flights on 2023-02-30 to Bari.", True),
        ("Flights between March and May.", False),
        ("from 3 to 2", False),
    ],
)
def test_days_that_no_calendar_has_and_ranges_that_end_before_they_begin(
    query: str, wrong: bool
) -> None:
    assert ("impossible_date" in _kinds(query)) is wrong


def test_the_word_for_a_thing_is_not_its_name() -> None:
    asked = "Flights to a specific city on 2026-05-04."
    assert "unnamed_value" in _kinds(
        asked, step("find_flight", {"city": "city", "day": "2026-05-04"})
    )
    named = "Flights to a specific city, Bari, where the city is by the sea, on 2026-05-04."
    assert "unnamed_value" not in _kinds(
        named, step("find_flight", {"city": "city", "day": "2026-05-04"})
    )
    kind = "Flights of a specific budget airline."
    assert "unnamed_value" not in _kinds(
        kind, step("find_flight", {"city": "budget", "day": "2026-05-04"})
    )


def test_a_value_that_stands_for_none_is_a_placeholder() -> None:
    assert "placeholder" in _kinds("Book my flight.", step("book", {"flight_id": "your_flight_id"}))
