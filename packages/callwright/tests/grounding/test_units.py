import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright.grounding.units import (
    ALIASES,
    RATES,
    UNITS,
    convert_value,
    is_same_unit,
    list_readings,
    list_related_units,
)

NAMES = st.sampled_from(sorted(UNITS))
VALUES = st.floats(-1e6, 1e6, allow_nan=False)


@pytest.mark.parametrize(
    ("value", "source", "target", "expected"),
    [
        (26.2, "mi", "km", 42.165),
        (100, "C", "F", 212),
        (0, "K", "C", -273.15),
        (90, "min", "h", 1.5),
        (36, "km/h", "m/s", 10),
        (1, "ha", "m2", 10_000),
    ],
)
def test_values_are_converted_by_the_defined_factors(
    value: float, source: str, target: str, expected: float
) -> None:
    assert convert_value(value, source, target)[0] == pytest.approx(expected, rel=1e-4)


@given(VALUES, NAMES, NAMES)
def test_a_conversion_there_and_back_gives_the_value_again(value: float, a: str, b: str) -> None:
    there = convert_value(value, a, b)
    if there:
        assert convert_value(there[0], b, a)[0] == pytest.approx(value, rel=1e-6, abs=1e-6)


@given(NAMES, NAMES)
def test_only_units_of_one_dimension_convert_and_money_never_does(a: str, b: str) -> None:
    one, two = UNITS[a].dimension, UNITS[b].dimension
    assert bool(convert_value(1.0, a, b)) == (one == two and one not in ("money", "share"))


def test_bytes_are_counted_in_thousands_and_in_1024s() -> None:
    assert set(convert_value(2.0, "GB", "MB")) == {2000.0, 2048.0}


def test_a_written_unit_may_stand_for_several() -> None:
    assert list_readings("GBP") == ("GBP", "lb")
    assert set(list_readings("deg")) == {"deg", "C", "F"}
    assert list_readings("km") == ("km",)


@given(NAMES)
def test_relatives_are_the_other_units_of_the_dimension(name: str) -> None:
    assert name not in list_related_units(name)
    assert all(convert_value(1.0, name, other) for other in list_related_units(name))


def test_a_unit_that_is_not_said_speaks_against_none() -> None:
    assert is_same_unit("", "km")
    assert is_same_unit("km", "")
    assert not is_same_unit("km", "mi")
    assert not is_same_unit("USD", "EUR")


def test_every_alias_names_a_unit() -> None:
    assert set(ALIASES.values()) <= set(UNITS)
    assert ALIASES["square kilometres"] == "km2"


def test_a_length_for_a_time_has_the_unit_of_that_speed() -> None:
    assert RATES["km", "h"] == "km/h"
    assert RATES["m", "s"] == "m/s"
    assert ("kg", "h") not in RATES
