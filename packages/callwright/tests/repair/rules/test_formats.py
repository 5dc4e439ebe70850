"""Options by meaning, numbers without their unit, dates as documented; nothing where two readings
are possible.
"""

from __future__ import annotations

import pytest

from callwright.repair.rules import formats
from callwright.schema.value_spellings import NONE

NUMBER = frozenset({"number"})


@pytest.mark.parametrize(
    ("value", "options", "meant"),
    [
        ("C", ["celsius", "fahrenheit"], "celsius"),
        ("public transportation", ["driving", "transit"], "transit"),
        ("Economy class", ["Economy", "Business"], "Economy"),
        ("celcius", ["celsius", "kelvin"], "celsius"),
        ("not economy", ["Economy", "Business"], NONE),
        ("5 minutes", ["15 minutes", "45 minutes"], NONE),
        ("m", ["male", "meters"], NONE),
        ("", ["a"], NONE),
        (5, ["5"], NONE),
    ],
)
def test_options(value: object, options: list[object], meant: object) -> None:
    assert formats.match_option(value, options) == meant


def test_what_was_said_is_no_slip() -> None:
    assert formats.match_option("openai", ["openapi", "graphql"], slips=False) is NONE


def test_words_beside_an_option_are_only_those_that_are_known() -> None:
    assert formats.match_option("all except admins", ["all", "none"], about="group") is NONE
    assert formats.match_option("Economy class", ["Economy"], about="travel_class") == "Economy"
    assert formats.match_option("Economy class", ["Economy"], about="seat") is NONE


def test_a_number_that_is_read_in_two_ways_has_no_unit_where_it_must_be_sure() -> None:
    assert formats.strip_unit("1,000 km", NUMBER, "km", "") == 1000
    assert formats.strip_unit("1,000 km", NUMBER, "km", "", sure=True) is NONE
    assert formats.strip_unit("1,000 km", frozenset({"integer"}), "km", "", sure=True) == 1000


@pytest.mark.parametrize(
    ("value", "key", "about", "number"),
    [
        ("5 km", "distance", "Distance in kilometers.", 5),
        ("1,200.5 meters", "length_m", "", 1200.5),
        ("5 miles", "distance", "Distance in kilometers.", NONE),
        ("7%", "rate", "Rate in percent %", NONE),
        ("about 5", "distance", "", NONE),
    ],
)
def test_units_are_only_left_out_where_they_are_the_parameters_own(
    value: str, key: str, about: str, number: object
) -> None:
    assert formats.strip_unit(value, NUMBER, key, about) == number


@pytest.mark.parametrize(
    ("value", "about", "made"),
    [
        ("2023-03-17", "Format: %Y-%m-%d %H:%M:%S", "2023-03-17 00:00:00"),
        ("2023-03-17T14:30:00", "Format: %Y-%m-%d %H:%M:%S", "2023-03-17 14:30:00"),
        ("2023-03-17 14:30", "Format: %Y-%m-%d %H:%M:%S", "2023-03-17 14:30:00"),
        ("March 17, 2023", "in the format YYYY-MM-DD", "2023-03-17"),
        ("2023-04-25", "as MM/DD/YYYY", "04/25/2023"),
        ("2:30 PM", "as %H:%M", "14:30"),
        ("2023-03-17 14:30:00", "Format: %Y-%m-%d %H:%M:%S", NONE),
        ("03/04/2023", "in the format YYYY-MM-DD", NONE),
        ("tomorrow", "in the format YYYY-MM-DD", NONE),
        ("2023-03-17", "YYYY-MM-DD or MM/DD/YYYY", NONE),
        ("2023-03-17 14:30", "in the format YYYY-MM-DD", NONE),
        ("2024-03-05T12:00:00Z", "YYYY-MM-DDTHH:MM:SS", NONE),
    ],
)
def test_documented_formats(value: str, about: str, made: object) -> None:
    assert formats.convert_to_documented(value, {"description": about}) == made


def test_a_value_of_blanks_is_no_number_and_is_soon_seen_to_be_none() -> None:
    from time import process_time

    began = process_time()
    for blank in (" ", "\n", "5" + " "):
        assert (
            formats.strip_unit(blank * 100_000, frozenset({"number"}), "days", "") is formats.NONE
        )
    assert process_time() - began < 1.0


@pytest.mark.parametrize(
    ("value", "said", "made"),
    [
        ("1.250", "Zahle Ann 1.250 Kronen für das Auto.", 1250),
        ("1.250", "Paga a Ann 1.250 coronas por el coche.", 1250),
        ("3,500", "Zahle Ann 3,500 Kronen für das Auto.", 3.5),
        ("1.250,50", "Zahle Ann 1.250,50 Kronen für das Auto.", 1250.5),
        ("1,250", "Pay Ann 1,250 for the car.", 1250),
        ("1.250", "Pay Ann 1.250 for the car.", NONE),  # as it stands
        ("3,5", "Pay Ann 3,5 for the car.", NONE),  # no English number
        ("3,5", "Zahle Ann 3,5 Kronen für das Auto.", 3.5),
        ("12.5", "Zahle Ann 12.5 Kronen für das Auto.", NONE),
        ("1.250", "Zahle Ann 11.250 Kronen für das Auto.", NONE),
        ("1.250", "Zahle Ann 1.250.000 Kronen für das Auto.", NONE),
        ("1.250", "Ann 1.250", NONE),  # in no language that can be told
        ("52.520", "Wie ist das Wetter in Berlin und in der Nähe?", NONE),
        ("1250", "Zahle Ann 1250 Kronen für das Auto.", NONE),
        ("0.125", "Gib ihm 0.125 Gramm für die Nacht.", NONE),
        ("1.250", "Trage 1.250 und 2.5 für uns in die Liste ein.", NONE),
        ("1.250", "Zahle Ann am 3.12. um 19.30 Uhr die 1.250 Kronen für das Auto.", 1250),
        ("1.250", "Zahle Ann am 3.12.2026 die 1.250 Kronen für das Auto.", 1250),
    ],
)
def test_a_number_in_text_is_read_as_the_user_writes_numbers(
    value: str, said: str, made: object
) -> None:
    found = formats.parse_written_number(value, frozenset({"number"}), [said])
    assert found is made if made is NONE else found == made


def test_a_number_that_is_said_in_two_languages_has_no_reading() -> None:
    said = ["Zahle Ann 1.250 Kronen für das Auto.", "Pay Ann 1.250 for the car."]
    types = frozenset({"number"})
    assert formats.parse_written_number("1.250", types, said) is NONE
    assert formats.parse_written_number("1.250", types | {"string"}, said[:1]) is NONE


def test_a_number_that_says_the_same_in_its_language_is_read_where_it_must_be_sure() -> None:
    said = ["Pay Ann 1.250 kroner for the car."]
    assert formats.parse_written_number("1.250", NUMBER, said) is NONE
    assert formats.parse_written_number("1.250", NUMBER, said, sure=True) == 1.25
    assert formats.parse_written_number("1.250", NUMBER, [], sure=True) is NONE
