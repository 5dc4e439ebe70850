"""Texts to terms: what is written differently and means the same is one term."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright.retrieval.terms import STOP, extract_terms, humanize_name, query_terms


@pytest.mark.parametrize(
    "text",
    [
        "getWeatherForecast",
        "get_weather_forecast",
        "GET /weather/forecasts",
        "get weather-forecasts",
    ],
)
def test_identifiers_are_split_however_they_are_written(text: str) -> None:
    assert extract_terms(text) == ["get", "weather", "forecast"]


def test_abbreviations_and_digits_are_words_of_their_own() -> None:
    assert extract_terms("parseHTTPResponse2") == ["pars", "http", "respons", "2"]


def test_inflected_words_are_one_term() -> None:
    assert extract_terms("booking bookings booked") == ["book"] * 3


def test_what_requests_are_made_with_says_nothing() -> None:
    assert extract_terms("Could you please tell me the weather?") == ["weather"]


def test_words_of_any_script_are_kept() -> None:
    assert extract_terms("погода в Осло") == ["погода", "в", "осло"]


def test_a_query_has_each_term_once_in_order() -> None:
    assert query_terms("hotels near hotels, a hotel with a pool") == ["hotel", "near", "pool"]


@given(st.text(max_size=80))
def test_terms_are_lower_case_words_without_stop_words(text: str) -> None:
    found = extract_terms(text)
    assert all(term and not term.isspace() and " " not in term for term in found)
    assert extract_terms(text.upper().lower()) == [
        t for t in extract_terms(text.upper().lower()) if t
    ]
    assert extract_terms(" ".join(sorted(STOP))) == []


def test_a_name_is_spoken_as_its_words() -> None:
    assert humanize_name("getHTTPStatus_for_my-site") == "get http status for my site"
