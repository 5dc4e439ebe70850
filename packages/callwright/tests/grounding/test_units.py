from hypothesis import given
from hypothesis import strategies as st

from callwright.grounding.units import (
    ALIASES,
    RATES,
    is_same_unit,
    list_readings,
    list_related_units,
)
from callwright.language.quantities import UNITS, convert_value

NAMES = st.sampled_from(sorted(UNITS))


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
