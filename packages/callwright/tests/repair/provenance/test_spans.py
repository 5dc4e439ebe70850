"""Spans of time that a request counts."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from callwright.language.pack import pack
from callwright.repair.provenance.spans import (
    NamedDay,
    Span,
    counts_span,
    find_named_day,
    find_near_days,
    find_span,
    names_any,
)


@pytest.mark.parametrize(
    ("text", "count", "unit"),
    [
        ("Enter 'Stand meeting' two weeks from today at 16:00.", 2, "week"),
        ("Please remind me of it in 10 days at noon.", 10, "day"),
        ("Bitte trage das Treffen in drei Wochen um 10:00 ein.", 3, "week"),
        ("Por favor, crea el evento para dentro de tres semanas en la oficina.", 3, "week"),
        ("三天后开会，请安排在10:00", 3, "day"),
        ("اجتماع بعد ثلاثة أيام في الساعة 10:00", 3, "day"),
    ],
)
def test_a_span_is_read_in_five_languages(text: str, count: int, unit: str) -> None:
    found = find_span(text)
    assert found is not None, text
    assert count in found.counts
    assert found.unit == unit


@pytest.mark.parametrize(
    "text",
    [
        "Book it for 5 nights from the 15th, please.",
        "Book it for next Friday in two weeks, please.",
        "It lasts two weeks and three days from today.",
        "We meet in two weeks, on the 12 or so.",
        "Tra due settimane, per favore.",
        "The week of the meeting",
        "",
    ],
)
def test_where_another_day_could_be_meant_nothing_is_said(text: str) -> None:
    assert find_span(text) is None


def test_days_are_counted_both_ways() -> None:
    start = date(2026, 1, 31)
    assert {*Span(frozenset({2}), "week").count_from(start)} == {
        date(2026, 2, 14),
        date(2026, 1, 17),
    }
    assert date(2026, 2, 28) in {*Span(frozenset({1}), "month").count_from(start)}
    assert date(2027, 1, 31) in {*Span(frozenset({1}), "year").count_from(start)}


@example(date(1, 1, 1), 1, "day")
@example(date(9999, 12, 31), 999, "week")
@given(st.dates(), st.integers(0, 999), st.sampled_from(["day", "week", "month", "year"]))
def test_any_day_of_the_calendar_can_be_counted_from(start: date, count: int, unit: str) -> None:
    assert all(isinstance(day, date) for day in Span(frozenset({count}), unit).count_from(start))


def test_near_days_are_read() -> None:
    assert 1 in find_near_days("What shall we do tomorrow in the office?")
    assert find_near_days("Che facciamo domani?") == frozenset()


@pytest.mark.parametrize(
    ("text", "weekday"),
    [
        ("Enter a visit to the warehouse for us next Monday at 13:00.", 0),
        ("Please put the meeting into the calendar on Friday, and tell nobody.", 4),
        ("Trag für nächsten Montag um 13:00 Uhr 'Lagerbesuch' ein.", 0),
        ("Bitte trage das Treffen am Donnerstag um 10:00 ein.", 3),
    ],
)
def test_a_weekday_that_is_surely_meant_is_read(text: str, weekday: int) -> None:
    assert find_named_day(text) == NamedDay(weekday)


@pytest.mark.parametrize(
    ("text", "distance"),
    [
        ("Enter the visit to the warehouse for tomorrow, please.", 1),
        ("Enter the visit to the warehouse for the day after tomorrow at 09:00.", 2),
        ("Trag für übermorgen um 13:00 Uhr 'Lagerbesuch' ein.", 2),
        ("Trag bitte einen Termin für morgen in den Kalender ein.", 1),
        ("Apunta 'Inventario' para pasado mañana a las 09:00.", 2),
        ("请把开会安排在明天。", 1),
        ("请把开会安排在后天09:00。", 2),
        ("أضف اجتماعا في التقويم بعد غد الساعة 09:00", 2),
    ],
)
def test_a_near_day_that_is_surely_meant_is_read_in_five_languages(
    text: str, distance: int
) -> None:
    assert find_named_day(text) == NamedDay(distance=distance)


@pytest.mark.parametrize(
    "text",
    [
        "We need it before next Monday, so choose the day yourself.",
        "Enter the visit on Monday or on Tuesday, whatever is free.",
        "Enter the visit for the week that begins on Monday.",
        "Tomorrow we speak about what happened on Monday.",
        "Put the visit of next Monday to 2026-03-20, please.",
        "Put the visit of next Monday to the 20th, please.",
        "Book the room on Friday for two nights, please.",
        "Enter 'Monday market' into the calendar for us.",
        "Send the report every day, and on Monday to the board.",
        "Trag das Treffen vom nächsten Montag auf den Tag danach.",
        "Das Treffen ist bis nächsten Montag einzutragen.",
        "Trag es übermorgen ein und nicht am Montag.",
        "Apunta la visita para el próximo lunes a las 13:00.",
        "Apunta la visita para mañana por la mañana en la oficina.",
        "Guten Morgen! Trag bitte einen Termin in den Kalender ein.",
        "Trag den Termin am Morgen in den Kalender ein.",
        "Move tomorrow's visit to Friday, please.",
        "Move the visit of tomorrow by two days, please.",
        "The visit is not tomorrow but on the 20th.",
        "What is on the calendar for today?",
        "",
    ],
)
def test_where_a_day_beside_the_weekday_may_be_meant_nothing_is_said(text: str) -> None:
    assert find_named_day(text) is None


def test_spans_that_are_counted_and_words_by_themselves_are_found() -> None:
    english = pack("en")
    assert english is not None
    assert counts_span("within 3 days", english)
    assert not counts_span("the day of it", english)
    assert names_any("on monday or so", ["Monday"], "en")
    assert not names_any("mondays", ["Monday"], "en")
    assert names_any("在星期一开会", ["星期一"], "zh")
