import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright.grounding import facts_of
from callwright.grounding.claims import claims_of
from callwright.grounding.facts import Facts
from callwright.grounding.matching import (
    compute_tolerance,
    figures_for,
    is_close,
    is_same_hour,
    same_moment,
    weekday_fits,
)
from callwright.grounding.quantity import Moment, Number, find_moments, find_numbers
from callwright.nouns.types import Json, ToolResult


def facts(content: Json) -> Facts:
    return facts_of("q", [ToolResult("r1", "lookup", {}, content)])


def number(text: str) -> Number:
    return find_numbers(text)[0]


def how(statement: str, content: Json) -> str:
    known = facts(content)
    claims = claims_of(statement, known)
    return next((way for _, way in figures_for(number(statement), known, claims)), "")


@pytest.mark.parametrize(
    ("said", "content", "way"),
    [
        ("8.9 million people", {"population": 8_866_180}, "same"),
        ("about 1,200", {"seats": 1234}, "same"),
        ("over 2 million", {"population": 2_102_650}, "same"),
        ("26.1 miles", {"distance_km": 42.0}, "converted"),
        ("68 °F", {"temp_c": 20}, "converted"),
        ("35 %", {"share": 0.35}, "same"),
        ("a loss of 3.2 %", {"change_percent": -3.2}, "same"),
        ("you paid 45.99 euros", {"amount_eur": -45.99}, "same"),
        ("40 %", {"brightness": 40}, "same"),
        ("19.99 euros", {"price_cents": 1999, "currency": "EUR"}, "same"),
        ("1,999 cents", {"price_cents": 1999, "currency": "EUR"}, "same"),
        ("19.99 euros", {"price_cents": "1999"}, "same"),
        ("1,999 euros", {"price_cents": 1999}, ""),
        ("19.99 euros", {"price_cents": 1999, "currency": "USD"}, ""),
        ("your balance is 45.99 euros", {"balance_eur": -45.99}, ""),
        ("40 %", {"seats": 40}, ""),
        ("8.8 million people", {"population": 8_866_180}, ""),
        ("over 2 million", {"population": 1_902_650}, ""),
        ("42 miles", {"distance_km": 42.0}, ""),
        ("20 kilometres", {"temperature": 20}, ""),
        ("$20", {"price_eur": 20}, ""),
        ("3.2 %", {"change_percent": -3.2}, ""),
    ],
)
def test_a_number_is_the_results_as_told_rounded_or_converted(
    said: str, content: Json, way: str
) -> None:
    assert how(said, content) == way


@given(st.integers(1, 10**7), st.integers(0, 6))
def test_rounding_to_any_place_stays_close_and_a_whole_step_away_does_not(
    value: int, places: int
) -> None:
    step = 10**places
    rounded = round(value / step) * step
    told = Number(float(rounded), float(step), (0, 1), (0, 1))
    assert is_close(told, float(value))
    assert not is_close(told, rounded + 1.01 * step)


@given(st.floats(0.1, 1e9))
def test_a_hedge_widens_the_tolerance_to_its_own_side_only(value: float) -> None:
    plain, about, over, under = (
        compute_tolerance(Number(value, 0.1, (0, 1), (0, 1), hedge=hedge))
        for hedge in ("", "about", "over", "under")
    )
    assert about[0] >= plain[0]
    assert about[1] >= plain[1]
    assert over[0] <= plain[0] <= under[0]
    assert under[1] <= plain[1] <= over[1]


@pytest.mark.parametrize(
    ("said", "way"),
    [
        ("24 May 2024", "same"),
        ("7:35 am", "same"),
        ("Friday", "same"),
        ("05:35 UTC", "converted"),
        ("25 May 2024", ""),
        ("7:35 pm", ""),
        ("Monday", ""),
    ],
)
def test_a_moment_is_the_results_as_told_or_in_another_zone(said: str, way: str) -> None:
    content = {"departure": "2024-05-24T07:35:00+02:00"}
    found = facts(content)
    assert same_moment(find_moments(said)[0], found.moment_figures[0], found.offsets) == way


def test_a_weekday_must_be_that_of_its_date() -> None:
    assert weekday_fits(find_moments("Friday, 24 May 2024")[0])
    assert not weekday_fits(find_moments("Monday, 24 May 2024")[0])


def test_an_hour_of_either_half_of_the_day_is_the_results_one() -> None:
    six = Moment((0, 0), hour=6, minute=0, either=True)
    assert is_same_hour(six, Moment((0, 0), hour=18))
    assert is_same_hour(Moment((0, 0)), six), "it tells no hour"
    assert not is_same_hour(six, Moment((0, 0), hour=17))
    assert not is_same_hour(six, Moment((0, 0)))
    assert not is_same_hour(Moment((0, 0), hour=6), Moment((0, 0), hour=18))
