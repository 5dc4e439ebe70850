from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright_lab.benchmarks.desk.facts import Fact, has_fact, normalise_text

MILES: Fact = {"kind": "number", "value": 1494.9, "tolerance": 7.5, "unit": "nautical mile"}
YEN: Fact = {"kind": "number", "value": 36402.52, "tolerance": 36.4, "unit": "JPY"}
RISE: Fact = {"kind": "time", "value": "02:55", "minutes": 1}
DAY: Fact = {"kind": "date", "value": "2025-06-21"}
FARTHER: Fact = {
    "kind": "choice",
    "winner": ["Nairobi", "NBO"],
    "losers": [["Toronto", "YYZ"]],
    "more": ["farther", "further"],
    "less": ["closer", "nearer"],
}
BOTH: Fact = {
    "kind": "paired",
    "labels": [["Oslo"], ["Lisbon"]],
    "facts": [{"kind": "time", "value": "22:43"}, {"kind": "time", "value": "21:05"}],
}


@pytest.mark.parametrize(
    "text",
    [
        "It is 1494.9 nautical miles.",
        "About **1,495 nautical miles** as the crow flies.",
        "The distance is roughly 1,490 NM.",
        "In nautical miles, the distance is 1494.92.",
        "2768.6 km, which is 1494.9 nmi",
        "distance: 1494,9 nautical miles",
    ],
)
def test_a_number_is_found_however_it_is_written(text: str) -> None:
    assert has_fact(text, MILES)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "It is 1494.9 km.",
        "It is 1494.9.",
        "It is 2768.6 nautical miles.",
        "It is 149.49 nautical miles.",
        "It is 11494.9 nautical miles.",
        "It is -1494.9 nautical miles.",
        "Trip T1494.9 is in nautical miles",
        "2768.6 nautical miles or 1494.9 km",
    ],
)
def test_a_wrong_number_or_unit_is_not_accepted(text: str) -> None:
    assert not has_fact(text, MILES)


@pytest.mark.parametrize(
    "text", ["36,402.52 JPY", "¥36,402.52", "36403 yen", "JPY 36,402.5", "36 402.52 Japanese yen"]
)
def test_money_may_carry_its_currency_on_either_side(text: str) -> None:
    assert has_fact(text, YEN)


@pytest.mark.parametrize(
    "text", ["36,402.52 USD", "$36,402.52", "36,500 JPY", "3,640.25 JPY", "364 JPY"]
)
def test_money_in_another_currency_or_amount_is_wrong(text: str) -> None:
    assert not has_fact(text, YEN)


def test_a_rounded_number_counts_from_three_digits_on() -> None:
    rate: Fact = {"kind": "number", "value": 13.5856, "tolerance": 0.0136}
    assert has_fact("13.6 NOK", rate)
    assert not has_fact("14 NOK", rate)
    assert not has_fact("13.5 NOK", rate)


def test_a_count_must_be_exact() -> None:
    count: Fact = {"kind": "number", "value": 11, "tolerance": 0, "unit": "day"}
    assert has_fact("There are 11 working days left.", count)
    assert has_fact("Working days: 11", count)
    assert not has_fact("There are 12 working days left.", count)
    assert not has_fact("There are 10.9 days.", count)


@pytest.mark.parametrize(
    "text", ["at 02:55", "2:55 AM", "02:54 local", "2025-06-21T02:55:00+00:00", "2:55 a.m."]
)
def test_a_time_is_found(text: str) -> None:
    assert has_fact(text, RISE)


@pytest.mark.parametrize("text", ["2:55 PM", "14:55", "02:58", "12:55", "02:551", "3 o'clock"])
def test_a_wrong_time_is_not(text: str) -> None:
    assert not has_fact(text, RISE)


@pytest.mark.parametrize(
    "text",
    [
        "2025-06-21",
        "21 June 2025",
        "June 21st, 2025",
        "the 21st of June",
        "21 Jun 2025",
        "06/21/2025",
        "21.6.2025",
    ],
)
def test_a_date_is_found_however_it_is_written(text: str) -> None:
    assert has_fact(text, DAY)


@pytest.mark.parametrize(
    "text", ["2025-06-20", "21 June 2024", "21 July 2025", "June 2025", "2025-06-211"]
)
def test_a_wrong_date_is_not(text: str) -> None:
    assert not has_fact(text, DAY)


def test_names_match_whole_words_without_case_or_accents() -> None:
    fact: Fact = {"kind": "text", "any": ["Tomás Ferreira"]}
    assert has_fact("tomas  ferreira and others", fact)
    assert not has_fact("Tomás Ferreiras", fact)
    assert not has_fact("Ferreira", fact)


@pytest.mark.parametrize(
    "text",
    [
        "Nairobi is farther from Oslo than Toronto.",
        "NBO (7194 km) is further away than YYZ (5950 km).",
        "Toronto is 5950 km away. Nairobi is farther.",
        "The farther airport is Nairobi; Toronto is closer.",
        "Nairobi.",
    ],
)
def test_the_right_choice_is_recognised(text: str) -> None:
    assert has_fact(text, FARTHER)


@pytest.mark.parametrize(
    "text",
    [
        "Toronto is farther from Oslo than Nairobi.",
        "Nairobi is closer than Toronto.",
        "Nairobi is 7194 km away and Toronto 5950 km.",
        "The farther one is Toronto, not Nairobi.",
        "Toronto",
        "",
    ],
)
def test_a_wrong_or_missing_choice_is_not(text: str) -> None:
    assert not has_fact(text, FARTHER)


@pytest.mark.parametrize(
    "text",
    [
        "Oslo: 22:43, Lisbon: 21:05",
        "The sun sets at 22:43 in Oslo and at 21:05 in Lisbon.",
        "Sunset in Oslo and Lisbon:\n- Lisbon: 9:05 PM\n- Oslo: 10:43 PM",
    ],
)
def test_values_stand_with_their_labels(text: str) -> None:
    assert has_fact(text, BOTH)


@pytest.mark.parametrize(
    "text",
    [
        "Oslo: 21:05, Lisbon: 22:43",
        "The sun sets at 21:05 in Oslo and at 22:43 in Lisbon.",
        "Sunset in Oslo and Lisbon:\n- Lisbon: 22:43\n- Oslo: 21:05",
        "Oslo: 22:43",
        "22:43 and 21:05",
    ],
)
def test_swapped_or_missing_values_are_caught(text: str) -> None:
    assert not has_fact(text, BOTH)


def test_one_of_several_ways_is_enough() -> None:
    fact: Fact = {"kind": "any", "of": [RISE, DAY]}
    assert has_fact("on 21 June", fact)
    assert not has_fact("on 22 June", fact)


def test_an_unknown_kind_is_an_error() -> None:
    with pytest.raises(ValueError, match="unknown kind"):
        has_fact("text", {"kind": "poem"})


@given(
    st.floats(min_value=100, max_value=1e6),
    st.sampled_from(["{:.1f} km", "{:,.1f} kilometres", "= {:.2f} km!"]),
)
def test_any_number_is_found_in_its_own_rendering(value: float, form: str) -> None:
    fact: Fact = {"kind": "number", "value": value, "tolerance": 0.06, "unit": "kilometre"}
    assert has_fact(form.format(value), fact)
    assert not has_fact(form.format(value * 1.5), fact)


@given(st.text(max_size=200))
def test_no_text_breaks_the_reading(text: str) -> None:
    for fact in (MILES, YEN, RISE, DAY, FARTHER, BOTH):
        has_fact(text, fact)
    assert normalise_text(normalise_text(text)) == normalise_text(
        normalise_text(normalise_text(text))
    )
