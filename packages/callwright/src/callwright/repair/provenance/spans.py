"""Spans of time that a request counts from a day: "two weeks from today", "in 3 Tagen", "3天后".

Read with the units and number words of a language pack. Where a text names no span, more than one,
or anything else that could be a day, nothing is said.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from datetime import date, timedelta
from typing import NamedTuple

from callwright.language.number_words import read_number_words
from callwright.language.pack import pack_of
from callwright.language.protocol import LanguagePack
from callwright.language.tokens import fold_text

_DAYS = {"day": 1, "week": 7}
_LONGEST_MONTH = 31
_MONTHS = {"month": 1, "year": 12}
_WITHOUT_SPACES = frozenset({"zh"})
_BEFORE = re.compile(r"(?:(?<!\S)\S+\s+){0,2}\S*\s*\Z")  # at most three words before a unit
_DATE = re.compile(r"\d{4}-\d{1,2}-\d{1,2}|\d{1,2}[./]\d{1,2}[./]")
_DIGITS = re.compile(r"(?<![\d:.,/-])\d{1,3}(?![\d:.,/-]*\d)")


class Span(NamedTuple):
    """``counts``: the numbers that the words may mean; ``unit``: day, week, month or year."""

    counts: frozenset[int]
    unit: str

    def count_from(self, start: date) -> Iterator[date]:
        """Yield the days that are so far after and before a day, those outside the calendar left out."""
        for count in self.counts:
            for way in (count, -count):
                if self.unit in _DAYS:
                    day = _shift_days(start, way * _DAYS[self.unit])
                else:
                    day = _shift_months(start, way * _MONTHS[self.unit])
                if day is not None:
                    yield day


def _shift_days(start: date, days: int) -> date | None:
    """The day so many days later; None outside the calendar."""
    try:
        return start + timedelta(days=days)
    except OverflowError:
        return None


def _shift_months(start: date, months: int) -> date | None:
    """The same day of another month, or the last of a shorter one; None outside the calendar."""
    year, month = divmod(start.year * 12 + start.month - 1 + months, 12)
    for day in range(start.day, start.day - 4, -1):
        try:
            return date(year, month + 1, day)
        except ValueError:
            continue
    return None


def find_span(text: str) -> Span | None:
    """The one span of time that a text in a known language counts; None where there is none, there
    are several, or the text could name a day in another way: a weekday, a month, a day's number.
    """
    language = pack_of(text)
    if language is None:
        return None
    folded = fold_text(text)
    if _names(folded, (*language.months, *language.weekdays), language.code):
        return None
    found = [*_iter_spans(folded, language, language.code)]
    if len(found) != 1:
        return None
    span = found[0]
    others = {int(n) for n in _DIGITS.findall(folded)} - span.counts
    return None if any(0 < n <= _LONGEST_MONTH for n in others) else span


def find_near_days(text: str) -> frozenset[int]:
    """The distances in days of the near days that a text in a known language names: 1, tomorrow."""
    language = pack_of(text)
    if language is None:
        return frozenset()
    folded, days = fold_text(text), language.near_days.items()
    return frozenset(n for word, n in days if _names(folded, [word], language.code))


def find_weekday(text: str) -> int | None:
    """The one weekday (0: Monday) that a text in a known language surely means: "next Monday", "am
    Montag". None where there is none, there are several, or another day may be meant: another way
    of naming a day, a span of time, a word such as "before".
    """
    language = pack_of(text)
    if language is None or not language.weekday_direct:
        return None
    folded = fold_text(text)
    times = [word for word, unit in language.units.items() if unit in (*_DAYS, *_MONTHS)]
    apart = (*language.months, *language.near_days, *language.weekday_apart, *times)
    numbers = {*map(int, _DIGITS.findall(folded)), *read_number_words(folded, [language.code])} - {
        1
    }
    is_other = any(0 < n <= _LONGEST_MONTH for n in numbers) or bool(_DATE.search(folded))
    if is_other or _names(folded, apart, language.code, least=2):
        return None
    before = "|".join(map(re.escape, map(fold_text, language.weekday_direct)))
    days = {fold_text(word): day for word, day in language.weekdays.items() if len(word) > 3}
    named = [word for word in re.findall(r"[^\W\d_]+", folded) if word in days]
    if len(named) != 1 or not re.search(rf"(?<!\w)(?:{before})\s+{named[0]}(?!\w)", folded):
        return None
    return days[named[0]]


def _names(folded: str, words: Iterable[str], code: str, least: int = 3) -> bool:
    if code in _WITHOUT_SPACES:
        return any(fold_text(word) in folded for word in words)
    here = {*re.findall(r"[^\W\d_]+", folded)}
    return any(fold_text(word) in here for word in words if len(word) >= least)


def _iter_spans(folded: str, language: LanguagePack, code: str) -> Iterator[Span]:
    wanted = {
        fold_text(word): unit
        for word, unit in language.units.items()
        if (unit in _DAYS or unit in _MONTHS) and (len(word) > 2 or code in _WITHOUT_SPACES)
    }
    edge = "" if code in _WITHOUT_SPACES else r"(?!\w)"
    start = "" if code in _WITHOUT_SPACES else r"(?<![^\W\d_])"
    longest = sorted(map(re.escape, wanted), key=len, reverse=True)
    for match in re.finditer(f"{start}({'|'.join(longest)}){edge}", folded):
        before = folded[: match.start()]
        told = before[-4:] if code in _WITHOUT_SPACES else _read_before(before)
        counts = {int(n) for n in _DIGITS.findall(told)}
        counts |= {int(n) for n in read_number_words(told, [code]) if n == int(n)}
        if counts:
            yield Span(frozenset(counts), wanted[match[1]])


def _read_before(text: str) -> str:
    found = _BEFORE.search(text)
    return found[0] if found else ""
