"""Statements in other languages: values are checked, words are not, and nothing is made of capital
letters.
"""

from __future__ import annotations

import pytest

from callwright.grounding import Facts, check_statement, facts_of
from callwright.grounding.foreign import moments_in, numbers_in
from callwright.nouns.types import ToolResult

TRIP = {"from": "Berlin", "to": "Rome", "distance_km": 1184.5, "price": 1250.0, "currency": "EUR"}
DAY = {"departure": "2026-03-03", "duration_minutes": 125}


def facts(query: str) -> Facts:
    return facts_of(query, [ToolResult("r1", "find_trip", {}, TRIP | DAY)])


GERMAN = facts("Wie weit ist es von Berlin nach Rom und was kostet die Reise?")
SPANISH = facts("¿Qué distancia hay entre Berlín y Roma y cuánto cuesta el viaje?")
CHINESE = facts("从柏林到罗马有多远，旅行要花多少钱？")
ARABIC = facts("كم تبلغ المسافة بين برلين وروما؟")


@pytest.mark.parametrize(
    ("known", "text"),
    [
        (GERMAN, "Die Entfernung beträgt 1.184,5 Kilometer."),
        (GERMAN, "Die Reise kostet 1.250 Euro."),
        (GERMAN, "Der Abflug ist am 3. März 2026."),
        (GERMAN, "Der Flug dauert 125 Minuten."),
        (GERMAN, "Es ist die billigste Verbindung zwischen den beiden Städten."),
        (SPANISH, "El viaje cuesta 1250 EUR y la distancia es de 1184.5 km."),
        (CHINESE, "距离为1184.5 km，旅行费用为1250 EUR。"),
        (ARABIC, "المسافة 1184.5 km والسعر 1250 EUR."),
        (ARABIC, "هذه أرخص رحلة."),
    ],
)
def test_what_the_results_say_is_supported_in_every_language(known: Facts, text: str) -> None:
    assert check_statement(text, known).problems == []


@pytest.mark.parametrize(
    ("known", "text"),
    [
        (GERMAN, "Die Entfernung beträgt 2.184,5 Kilometer."),
        (GERMAN, "Der Abflug ist am 4. März 2026."),
        (SPANISH, "El viaje cuesta 1950 EUR."),
        (CHINESE, "距离为 8184.5 km。"),
        (ARABIC, "المسافة 8184.5 km."),
    ],
)
def test_a_wrong_value_is_found_in_every_language(known: Facts, text: str) -> None:
    assert check_statement(text, known).support == "unsupported"


def test_english_words_are_still_checked() -> None:
    known = facts("How far is it from Berlin to Rome?")
    assert check_statement("It is the most beautiful route.", known).problems
    assert check_statement("Lufthansa operates it.", known).problems


def test_a_statement_without_function_words_is_read_as_the_question_was() -> None:
    assert check_statement("Beliebteste Reise Europas", GERMAN).problems == []
    assert check_statement("Cheapest trip in Europe", facts("Which trip is it?")).problems


def test_numbers_have_the_signs_scales_and_units_of_their_language() -> None:
    found = numbers_in("Es sind 3,5 Millionen Euro und 20 Minuten.", (), "de")
    assert [(n.value, n.unit) for n in found] == [(3.5e6, "EUR"), (20.0, "min")]
    (unread,) = numbers_in("3,5", (), "es")[:1]
    assert unread.hedge == "about"


def test_dates_name_their_months_in_their_language() -> None:
    (found,) = moments_in("am 3. Mai 2026", "de")
    assert (found.year, found.month, found.day) == (2026, 5, 3)
    (digits,) = moments_in("el 2026-05-03", "es")
    assert (digits.year, digits.month, digits.day) == (2026, 5, 3)
