"""Two packs behind one protocol: numbers, dates, units and words of English and German."""

from __future__ import annotations

import datetime as dt

import pytest

from callwright.grounding.units import ALIASES
from callwright.language.pack import PACKS, Pack, pack, pack_of, pack_or_english
from callwright.language.protocol import LanguagePack
from callwright.language.quantities import UNITS

ENGLISH, GERMAN = pack("en"), pack("de")
assert ENGLISH is not None
assert GERMAN is not None
BOTH = pytest.mark.parametrize("language", [ENGLISH, GERMAN], ids=lambda found: found.code)


@BOTH
def test_every_pack_fills_the_protocol(language: LanguagePack) -> None:
    assert language.code in PACKS
    assert len(language.stop_words) > 100
    assert len(language.question_words) >= 9
    assert set(language.months.values()) == set(range(1, 13))
    assert set(language.weekdays.values()) == set(range(7))
    assert {0, 1, 2, -1} <= set(language.near_days.values())
    assert language.verbs_of("destroying")
    assert set(language.units.values()) <= set(UNITS)


def test_what_a_pack_does_not_hold_is_empty() -> None:
    assert GERMAN.verbs_of("asking_to_change") == frozenset()
    assert pack("fr") is None
    spanish, chinese = pack("es"), pack("zh")
    assert spanish is not None
    assert chinese is not None
    assert spanish.verbs_of("destroying") == frozenset()
    assert chinese.stop_words == frozenset()


def test_english_units_are_those_that_the_checker_reads() -> None:
    assert ENGLISH.units == ALIASES


@pytest.mark.parametrize(
    ("language", "text", "value", "unit"),
    [
        (ENGLISH, "It weighs 1,234.5 kg.", 1234.5, "kg"),
        (GERMAN, "Es wiegt 1.234,5 kg.", 1234.5, "kg"),
        (GERMAN, "Es kostet 3,5 Millionen Euro", 3.5e6, "EUR"),
        (GERMAN, "nach 20 Minuten", 20.0, "min"),
        (GERMAN, "bei 12,5 °C", 12.5, "C"),
        (GERMAN, "80 Kilometer pro Stunde", 80.0, "km/h"),
        (ENGLISH, "about 2 million dollars", 2e6, "USD"),
        (ENGLISH, "room 12", 12.0, ""),
    ],
)
def test_numbers_are_read_with_their_signs_scales_and_units(
    language: LanguagePack, text: str, value: float, unit: str
) -> None:
    (found,) = language.numbers(text)
    assert (found.value, found.unit) == (value, unit)
    assert text[slice(*found.span)][0].isdigit()


@pytest.mark.parametrize(
    ("language", "text", "day"),
    [
        (ENGLISH, "on March 3, 2026", dt.date(2026, 3, 3)),
        (ENGLISH, "on 3 March 2026", dt.date(2026, 3, 3)),
        (GERMAN, "am 3. März 2026", dt.date(2026, 3, 3)),
        (GERMAN, "am 24. Dez. 2026", dt.date(2026, 12, 24)),
        (GERMAN, "am 31. Februar 2026", None),
        (GERMAN, "im Mai 2026", None),
        (pack("es"), "el 3 de marzo de 2026", dt.date(2026, 3, 3)),
        (pack("es"), "el 3 de marzo", None),
    ],
)
def test_dates_are_read_with_the_names_of_their_months(
    language: LanguagePack, text: str, day: dt.date | None
) -> None:
    (found,) = language.dates(text)
    assert found.to_date() == day


def test_signs_of_numbers_are_swapped_in_place() -> None:
    text = "Von 1.234,5 auf 2,5 am 3.4.2026 um 12.30 Uhr, Raum 7, gut."
    swapped = GERMAN.with_point(text)
    assert len(swapped) == len(text)
    assert swapped.startswith("Von 1,234.5 auf 2.5 am 3.4.2026")
    assert swapped.endswith("Raum 7, gut.")
    assert ENGLISH.with_point(text) == text


def test_forms_of_a_word_share_a_stem() -> None:
    assert GERMAN.stem("rechnungen") == GERMAN.stem("rechnung")
    assert ENGLISH.stem("cities") == ENGLISH.stem("city")


def test_the_pack_of_a_text_is_that_of_its_language() -> None:
    assert pack_of("Wie ist das Wetter morgen in Oslo?") is GERMAN
    assert pack_of("What is the weather in Oslo?") is ENGLISH
    assert pack_of("¿Qué tiempo hará mañana en Oslo?") is pack("es")
    assert pack_of("明天的天气怎么样？") is pack("zh")
    assert pack_of("ما هو الطقس في أوسلو غدا؟") is pack("ar")
    assert pack_of("Quel temps fera-t-il demain dans la ville ?") is None
    assert pack_of("42") is None


def test_a_text_that_cannot_be_told_is_read_as_english_and_a_foreign_one_is_not() -> None:
    assert pack_or_english("42") is ENGLISH
    assert pack_or_english("Wie ist das Wetter morgen in Oslo?") is GERMAN
    assert pack_or_english("Quel temps fera-t-il demain dans la ville ?") is None
    assert pack_or_english("明日のオスロの天気は？") is None


def test_a_pack_says_nothing_about_what_it_has_no_expression_for() -> None:
    assert ENGLISH.says("calls.written_out", "an example, please") is True
    assert GERMAN.says("calls.written_out", "wie spät ist es?") is False
    assert GERMAN.says("calls.of_tools", "welche Werkzeuge gibt es?") is None


def test_a_text_stays_as_it_is_where_a_language_has_no_such_entry() -> None:
    assert Pack("en").without("requests.granting", "don't worry, go") == " , go"
    assert Pack("en").without("requests.none_such", "don't worry, go") == "don't worry, go"
