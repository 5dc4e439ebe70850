from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright.schema import value_spellings as spellings
from callwright.schema.value_spellings import NONE


@pytest.mark.parametrize(
    ("text", "whole", "value"),
    [
        ("5", True, 5),
        (" 5 ", True, 5),
        ("-3", True, -3),
        ("5.0", True, 5),
        ("5.5", False, 5.5),
        ("1e3", False, 1000.0),
        ("1,234", True, 1234),
        ("1,234,567", False, 1234567),
        ("1,234.5", False, 1234.5),
        ("1.234.567", True, 1234567),
        ("1.234,5", False, 1234.5),
        ("1 234 567", True, 1234567),
        ("1_000", True, 1000),
        ("1.0000", True, 1),
        ("３", True, 3),
        ("٣", True, 3),
        ("٣٫٥", False, 3.5),
        ("\u22125", True, -5),
    ],
)
def test_a_number_with_one_reading_is_read(text: str, whole: bool, value: float) -> None:
    found = spellings.parse_number(text, whole=whole)
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize(
    ("text", "whole"),
    [
        ("5.5", True),
        ("1,234", False),
        ("1.234", True),
        ("1.000", True),  # a thousand, in half of the world
        ("12.000", True),
        ("007", True),
        ("", True),
        ("five", True),
        ("5 km", True),
        ("5%", False),
        ("0x10", True),
        ("1e999", False),
        ("NaN", False),
        ("Infinity", False),
        ("1,23", False),
        ("12,34,567", True),
        ("1" * 50, True),
        ("0.12345678901234567890123", False),
    ],
)
def test_a_number_with_no_or_several_readings_is_not(text: str, whole: bool) -> None:
    assert spellings.parse_number(text, whole=whole) is NONE


@given(st.integers(-(10**15), 10**15))
def test_every_integer_is_read_back(value: int) -> None:
    assert spellings.parse_number(str(value), whole=True) == value
    if abs(value) >= 10**6 or abs(value) < 1000:
        assert spellings.parse_number(f"{value:,}", whole=False) == value


@given(st.floats(allow_nan=False, allow_infinity=False, min_value=-1e12, max_value=1e12))
def test_every_float_is_read_back(value: float) -> None:
    assert spellings.parse_number(repr(value), whole=False) == value


@pytest.mark.parametrize(
    ("text", "value"), [("true", True), ("Yes", True), (" ON ", True), ("no", False)]
)
def test_booleans_have_their_usual_words(text: str, value: bool) -> None:
    assert spellings.parse_boolean(text) is value


@pytest.mark.parametrize("text", ["", "1", "0", "maybe", "yess", "t"])
def test_other_words_are_no_booleans(text: str) -> None:
    assert spellings.parse_boolean(text) is NONE


@pytest.mark.parametrize(
    "text",
    [
        "2024-05-25",
        "2024/5/25",
        "2024.05.25",
        "20240525",
        "25/05/2024",
        "5/25/2024",
        "25.5.2024",
        "May 25, 2024",
        "25 May 2024",
        "May 25th 2024",
        "25th of May, 2024",
        "may 25 2024",
        "25-May-2024",
    ],
)
def test_a_day_that_can_only_be_one_is_read(text: str) -> None:
    assert spellings.iso_date(text) == "2024-05-25"


@pytest.mark.parametrize(
    "text", ["03/04/2024", "2024-13-01", "2024-02-30", "May 2024", "tomorrow", "24-05-25", "5/25"]
)
def test_a_day_with_two_readings_or_none_is_not(text: str) -> None:
    assert spellings.iso_date(text) is NONE


def test_a_time_of_day_is_not_dropped_from_a_date() -> None:
    assert spellings.iso_date("2024-05-03T00:00:00Z") == "2024-05-03"
    assert spellings.iso_date("2024-05-03T10:00:00Z") is NONE


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("2024-05-03 10:00:00Z", "2024-05-03T10:00:00Z"),
        ("2024/5/3 9:30 UTC", "2024-05-03T09:30:00Z"),
        ("2024-05-03T10:00:00+0200", "2024-05-03T10:00:00+02:00"),
        ("2024-05-03T10:00:00", NONE),
        ("2024-05-03", NONE),
    ],
)
def test_a_moment_needs_its_offset(text: str, value: Any) -> None:
    assert spellings.iso_datetime(text) == value


def test_a_time_needs_its_offset() -> None:
    assert spellings.iso_time("9:30 Z") == "09:30:00Z"
    assert spellings.iso_time("9:30") is NONE


def test_words_are_compared_without_case_and_separators() -> None:
    assert spellings.fold_word("New_York City") == spellings.fold_word("new-york.city")
    assert not NONE
    assert repr(NONE) == "NONE"
