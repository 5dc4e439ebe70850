"""Names of a request that no call took: told from how an English request is written."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright.nouns.types import ToolResult
from callwright_lab.verify import unused_names
from callwright_lab.verify.unused_names import find_names, find_unused_names


def result(id: str, tool: str, content: Any = None, **arguments: Any) -> ToolResult:
    return ToolResult(id, tool, arguments, content)


def notes(query: str, *results: ToolResult) -> list[str]:
    return [*find_unused_names(query, results)]


def test_a_name_or_day_of_the_same_form_as_one_that_was_taken_is_open() -> None:
    query = "Convert 100 EUR into NOK, JPY and CAD at the rates of 20 June 2025."
    done = result("r1", "convert", {"amount": 1159.8}, base="EUR", quote="NOK", date="2025-06-20")
    assert notes(query, done) == [
        f"the request also speaks of {code}; no result does" for code in ("JPY", "CAD")
    ]
    query = "Is 1 December 2025 a holiday in Portugal, and 3 November 2025 in Japan?"
    done = result("r1", "check", {"holiday": True}, country="PT", date="2025-12-01")
    assert notes(query, done) == ["the request also speaks of 3 November 2025; no result does"]


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


def test_a_forgotten_name_is_named_beside_its_sibling() -> None:
    same: dict[str, Any] = {"amount": 100, "base": "EUR", "quote": "NOK", "date": "2025-06-20"}
    done = result("r1", "convert", {"amount": 1159.8}, **same)
    query = "Convert 100 EUR into NOK, JPY and CAD at the rates of 20 June 2025."
    assert [note.split()[5] for note in notes(query, done)] == ["JPY;", "CAD;"]


def test_of_names_listed_together_each_is_named_that_a_tool_was_not_called_for() -> None:
    query = "Sunset in Oslo, in Lisbon and in Nairobi?"
    office = result("r1", "find_office", {"zone": "Europe/Oslo"}, city="Oslo")
    lisbon = result("r2", "find_place", {"latitude": 38.7134}, city="Lisbon")
    nairobi = result("r3", "find_place", {"latitude": -1.2833}, city="Nairobi")
    assert "find_place was not called for Oslo yet" in notes(query, office, lisbon, nairobi)
    apart = "Is Oslo, where my office is, further north than the town of Lisbon?"
    assert notes(apart, office, lisbon) == []


@given(st.text(max_size=80), st.dictionaries(st.text(max_size=5), st.text(max_size=12), max_size=3))
def test_no_request_and_no_result_is_an_exception(query: str, arguments: dict[str, str]) -> None:
    find_names(query)
    find_unused_names(
        query, [ToolResult("r1", "a", arguments, arguments), ToolResult("r2", "b", arguments, None)]
    )


@pytest.mark.parametrize(
    ("constant", "recorded"),
    [
        ("_CALENDAR", "f5e967801ae5cedf"),
        ("_DATE", "f3f87d42a4c2a051"),
        ("_JOINS", "29c2418df850820a"),
        ("_POSSESSIVE", "a064e9ad1d4910f6"),
    ],
)
def test_the_words_are_those_that_stood_in_the_code(constant: str, recorded: str) -> None:
    value = getattr(unused_names, constant)
    listed = ["re", value.flags, value.pattern] if hasattr(value, "pattern") else sorted(value)
    text = json.dumps(listed, ensure_ascii=False)
    assert hashlib.sha256(text.encode()).hexdigest()[:16] == recorded
