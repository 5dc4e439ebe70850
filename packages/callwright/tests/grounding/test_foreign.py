"""Statements in other languages: values are checked, words are not, and nothing is made of capital
letters.
"""

from __future__ import annotations

from typing import Any

import pytest

from callwright.grounding import Facts, check_statement, facts_of
from callwright.grounding.answer.reply import split_prose
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


def result(name: str, content: Any) -> list[ToolResult]:
    return [ToolResult("r1", name, {}, content)]


WEATHER = result("get_weather", {"city": "Oslo", "sky": "cloudy", "high": 19, "low": -3})
PART = result("get_part", {"code": "A-100", "price": 24.5, "stock": 40})
ROUTE = result("route", {"distance": 12.3, "duration": 95, "arrival": "2026-03-12T14:35:00"})
ORDER = result("create_order", {"order_id": "O-5005", "total": 73.5, "delivery": "2026-03-20"})
BALANCE = result("get_balance", {"account": "savings", "balance": 58000.0})
TOWN = result("stats", {"population": 1234567})
EVENTS = result("list_events", [{"id": "V-2", "time": "14:30"}, {"id": "V-3", "time": "09:15"}])


@pytest.mark.parametrize(
    ("results", "query", "true", "false"),
    [
        (WEATHER, "How is Oslo?", "A high of 19 degrees.", "A high of 20 degrees."),
        (WEATHER, "How is Oslo?", "The low is minus 3 °C.", "The low is minus 4 °C."),
        (WEATHER, "كيف الطقس في أوسلو؟", "الحرارة العظمى 19 درجة.", "الحرارة العظمى 21 درجة."),
        (PART, "Was kostet die A-100?", "Die A-100 kostet 24,50 €.", "Die A-100 kostet 25,50 €."),
        (
            ROUTE,
            "Wie lange dauert die Fahrt zum Bahnhof?",
            "Die Fahrt dauert 1 Stunde und 35 Minuten.",
            "Die Fahrt dauert 1 Stunde und 45 Minuten.",
        ),
        (ROUTE, "要多长时间？", "路上要1小时35分钟。", "路上要2小时35分钟。"),
        (
            ORDER,
            "Bestelle 3 A-100.",
            "Die Lieferung kommt am 20.03.2026.",
            "Die Lieferung kommt am 21.03.2026.",
        ),
        (ORDER, "Pide 3 A-100.", "Los pedidos llegan el 20 de marzo.", "Llegan el 21 de marzo."),
        (ORDER, "Pide 3 A-100.", "El pedido cuesta 73,50 euros.", "El pedido cuesta 75,50 euros."),
        (
            ROUTE,
            "Wie lange dauert die Fahrt zum Bahnhof?",
            "Die Fahrt dauert rund 92 Minuten.",
            "Die Fahrt dauert noch 92 Minuten.",
        ),
        (ROUTE, "要多长时间？", "路上要92分钟左右。", "路上要92分钟。"),
        (BALANCE, "savings还有多少？", "savings还有5.8万欧元。", "savings还有6.8万欧元。"),
        (BALANCE, "كم رصيد savings؟", "الرصيد ٥٨٠٠٠ يورو.", "الرصيد ٥٩٠٠٠ يورو."),
        (TOWN, "这个城市有多少人口？", "人口约123万。", "人口约145万。"),
        (
            TOWN,
            "¿Cuántos habitantes tiene la ciudad?",
            "Tiene alrededor de 1,2 millones de habitantes.",
            "Tiene alrededor de 1,9 millones de habitantes.",
        ),
        (TOWN, "كم عدد سكان المدينة؟", "عدد السكان نحو 1.2 مليون.", "عدد السكان نحو 1.9 مليون."),
        (EVENTS, "我明天有什么安排？", "有9:15的V-3和14:30的V-2。", "有9:45的V-3和14:30的V-2。"),
        (
            EVENTS,
            "Welche Termine habe ich?",
            "Es sind die Termine V-2 und V-3.",
            "Es sind die Termine V-2 und V-4.",
        ),
    ],
)
def test_a_right_value_is_confirmed_and_its_neighbour_is_not(
    results: list[ToolResult], query: str, true: str, false: str
) -> None:
    known = facts_of(query, results)
    right, wrong = check_statement(true, known), check_statement(false, known)
    assert (right.support, right.problems) == ("supported", [])
    assert wrong.support == "unsupported"


@pytest.mark.parametrize(
    "text", ["Die Lieferung kommt am 20. März.", "Am 3. Mai ist es so weit. Bis dann!"]
)
def test_a_sentence_does_not_end_within_a_date(text: str) -> None:
    assert split_prose(text)[0].text.endswith(("März.", "weit."))
