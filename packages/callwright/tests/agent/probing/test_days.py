"""Days that are said relative to today."""

from __future__ import annotations

from datetime import date

import pytest

from callwright.agent.probing.days import find_relative_days, iter_phrases

SUNDAY = date(2026, 11, 22)


@pytest.mark.parametrize(
    ("said", "day"),
    [
        ("today", "2026-11-22"),
        ("tomorrow morning", "2026-11-23"),
        ("the day after tomorrow", "2026-11-24"),
        ("yesterday", "2026-11-21"),
        ("next Tuesday", "2026-11-24"),
        ("on Sunday", "2026-11-29"),
        ("last Friday", "2026-11-20"),
        ("in three days", "2026-11-25"),
        ("in 2 weeks", "2026-12-06"),
        ("next week", "2026-11-23"),
        ("this weekend", "2026-11-28"),
        ("next month", "2026-12-01"),
        ("on March 3rd", "2027-03-03"),
        ("on the 5th of December", "2026-12-05"),
    ],
)
def test_a_relative_day_is_a_day(said: str, day: str) -> None:
    assert [d.isoformat() for d in find_relative_days(f"What happens {said}?", SUNDAY)] == [day]


@pytest.mark.parametrize(
    "said", ["a plan for 2027", "on March 3rd, 2027", "the Sundays", "February 30"]
)
def test_what_is_no_relative_day_is_none(said: str) -> None:
    assert find_relative_days(said, SUNDAY) == []


def test_the_words_that_speak_of_days_are_told() -> None:
    assert list(iter_phrases("from today until next Friday")) == ["today", "next Friday"]


def test_near_days_are_read_in_the_language_of_the_text_where_there_is_a_pack() -> None:
    said = "Was ist das Wetter für heute, morgen und übermorgen? Guten Morgen!"
    assert [d.isoformat() for d in find_relative_days(said, SUNDAY)] == [
        "2026-11-22",
        "2026-11-23",
        "2026-11-24",
    ]
    assert find_relative_days("¿Qué tiempo hará mañana en Oslo?", SUNDAY) == []
    assert find_relative_days("明天奥斯陆的天气怎么样？", SUNDAY) == []
