import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright.grounding.fields import (
    concepts_of_keys,
    names_a_unit,
    scale_of_field,
    unit_beside,
    unit_of_field,
)
from callwright.language.quantities import UNITS


@pytest.mark.parametrize(
    ("key", "unit"),
    [
        ("distance_km", "km"),
        ("tempC", "C"),
        ("durationMinutes", "min"),
        ("price_usd", "USD"),
        ("wind_kmh", "km/h"),
        ("wind_ms", "m/s"),
        ("latency_ms", "ms"),
        ("area_sq_km", "km2"),
        ("travel_time_min", "min"),
        ("temp_min", ""),
        ("elevation_m", "m"),
        ("runtime", "min"),
        ("m", ""),
        ("population", ""),
    ],
)
def test_a_key_says_its_unit_and_where_it_says_none_none_is_read_into_it(
    key: str, unit: str
) -> None:
    assert unit_of_field((key,), "") == unit


def test_a_unit_beside_a_field_counts_for_what_it_can_be_about() -> None:
    beside = unit_beside({"currency": "EUR", "total": 12.5, "quantity": 3})
    assert beside == "EUR"
    assert unit_of_field(("total",), beside) == "EUR"
    assert unit_of_field(("quantity",), beside) == ""
    assert unit_of_field(("price_cents",), beside) == "EUR", "cents of that currency"


def test_a_unit_named_for_one_field_counts_for_that_one_only() -> None:
    beside = unit_beside({"timeUnit": "min", "time": 12, "depth": 3})
    assert unit_of_field(("time",), beside) == "min"
    assert unit_of_field(("depth",), beside) == ""


@pytest.mark.parametrize(
    ("key", "scale"),
    [
        ("revenue_musd", 1e6),
        ("population_millions", 1e6),
        ("price", 1.0),
        ("", 1.0),
        ("price_in_cents", 0.01),
        ("feePence", 0.01),
        ("humidity_per_cent", 1.0),
    ],
)
def test_a_key_says_its_magnitude(key: str, scale: float) -> None:
    assert scale_of_field(key) == scale


def test_fields_that_hold_a_unit_are_known() -> None:
    assert names_a_unit("currency_code")
    assert not names_a_unit("currency_rate")


def test_the_keys_above_a_value_say_what_it_is() -> None:
    assert {"=price", "=temperature"} <= concepts_of_keys(("price", "temp"))


@given(st.text(max_size=30), st.sampled_from(["", "EUR", "time:min"]))
def test_any_key_is_read_as_a_known_unit_or_none(key: str, beside: str) -> None:
    unit = unit_of_field((key,), beside)
    assert unit == "" or unit in UNITS
    assert scale_of_field(key) > 0


@pytest.mark.parametrize(
    ("key", "unit"),
    [
        ("temperature", "C"),
        ("feels_like", "C"),
        ("high", "C"),
        ("humidity", ""),
        ("wind_speed", ""),
        ("chance_of_rain", ""),
    ],
)
def test_a_unit_of_temperatures_is_that_of_no_other_field(key: str, unit: str) -> None:
    assert unit_of_field((key,), "C") == unit
