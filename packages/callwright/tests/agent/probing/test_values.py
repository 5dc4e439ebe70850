"""What one parameter may hold: what was said, then what may have been meant, and never an invented
identifier.
"""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest

from callwright.agent.probing.values import (
    Request,
    find_unexplained_words,
    find_unused_codes,
    is_credential,
    is_typed,
    list_values,
)
from callwright.nouns.types import Tool

TODAY = date(2026, 11, 22)
WEATHER = Tool("get_weather", "The weather of a city.")


def first(query: str, key: str, part: dict[str, Any], used: list[Any] | None = None) -> Any:
    found = list_values(key, {"type": "string", **part}, Request(query, TODAY), WEATHER, used or [])
    return found[0].value if found else None


@pytest.mark.parametrize(
    ("query", "key", "part", "value"),
    [
        ("Weather in Oslo tomorrow?", "date", {"format": "date"}, "2026-11-23"),
        ("Weather in Oslo on 2026-12-24?", "date", {}, "2026-12-24"),
        ("From San Francisco to New York", "origin", {}, "San Francisco"),
        ("Convert it to celsius", "unit", {"enum": ["kelvin", "celsius"]}, "celsius"),
        ("weather in oslo please", "city", {}, "oslo"),
        ("Find films about deep sea diving", "query", {}, "deep sea diving"),
        ("Mail ann@example.org", "email", {}, "ann@example.org"),
        ("Move Ingrid Solberg's Lisbon trip", "employee_name", {}, "Ingrid Solberg"),
        ("Give me anything", "language", {}, "en"),
        ("Give me 7 of them", "limit", {"type": "integer"}, 7),
        ("Give me some", "page", {"type": "integer", "minimum": 1}, 1),
        ("Give me some", "kind", {"default": "all"}, "all"),
        ("Give me some", "kind", {"const": "x"}, "x"),
        (
            "Compare Oslo and Rome",
            "cities",
            {"type": "array", "items": {"type": "string"}},
            ["Oslo", "Rome"],
        ),
    ],
)
def test_a_value_is_read_from_the_request(
    query: str, key: str, part: dict[str, Any], value: Any
) -> None:
    assert first(query, key, part) == value


@pytest.mark.parametrize(
    ("key", "part"),
    [
        ("api_key", {}),
        ("carrier_code", {}),
        ("zip_code", {}),
        ("user_id", {}),
        ("email", {}),
        ("date", {"format": "date"}),
        ("latitude", {"type": "number"}),
        ("amount", {"type": "number"}),
    ],
)
def test_what_has_a_form_of_its_own_is_not_made_up(key: str, part: dict[str, Any]) -> None:
    assert first("What is the weather in Paris like?", key, part) is None
    assert is_typed(key, part)


@pytest.mark.parametrize(
    ("key", "own"),
    [
        ("api_key", True),
        ("token", True),
        ("x_rapidapi_key", True),
        ("password", True),
        ("page_token", False),
        ("sort_key", False),
        ("city", False),
    ],
)
def test_a_key_that_its_caller_must_own_is_known_by_its_name(key: str, own: bool) -> None:
    assert is_credential(key) is own


def test_a_value_in_use_is_not_taken_twice() -> None:
    query = "From San Francisco to New York for next Tuesday"
    assert first(query, "airline", {}, ["San Francisco", "New York"]) is None


def test_what_is_left_of_a_request_is_what_nothing_explains() -> None:
    request = Request("What is the weather in oslo and in Bergen tomorrow, as in report.md?", TODAY)
    assert find_unexplained_words(request, WEATHER) == ["report.md", "Bergen", "oslo"]


def test_numbers_and_codes_are_unread_until_a_value_in_use_holds_them() -> None:
    said = "Fly from OSL to LIS on 2026-12-04 with 2 bags (60%), flight SK4035."
    assert find_unused_codes(said) == ["OSL", "LIS", "2026-12-04", "2", "60", "SK4035"]
    assert find_unused_codes(said, ["OSL", {"to": ["LIS"]}, "2026-12-04", "SK4035", 2, 60.0]) == []
    assert find_unused_codes("How warm is it in Oslo?") == []


def test_what_was_said_earlier_counts() -> None:
    request = Request("And the weather there?", TODAY, earlier="I am in Oslo.")
    assert [v.value for v in list_values("city", {"type": "string"}, request, WEATHER)][:1] == [
        "Oslo"
    ]
