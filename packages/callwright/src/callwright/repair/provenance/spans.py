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
from callwright.language.phrases import WITHOUT_SPACES, find_phrases
from callwright.language.protocol import LanguagePack
from callwright.language.tokens import fold_text

_DAYS = {"day": 1, "week": 7}
_LONGEST_MONTH = 31
_MONTHS = {"month": 1, "year": 12}
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
    if names_any(folded, (*language.months, *language.weekdays), language.code):
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
    return frozenset(n for word, n in days if names_any(folded, [word], language.code))


class NamedDay(NamedTuple):
    """The one day that a text means: a ``weekday`` (0: Monday), or the day so many days after today
    (``distance``).
    """

    weekday: int | None = None
    distance: int = 0

    def fits(self, day: date, known: Iterable[date]) -> bool:
        """Return True if a day may be meant; ``known``: days of which one may be today."""
        if self.weekday is not None:
            return day.weekday() == self.weekday
        return not known or any(_shift_days(other, self.distance) == day for other in known)

    def count_from(self, start: date) -> date | None:
        """The day, where today is ``start``; None outside the calendar. A weekday is the next one."""
        if self.weekday is None:
            return _shift_days(start, self.distance)
        return _shift_days(start, (self.weekday - start.weekday() - 1) % 7 + 1)


def find_named_day(text: str) -> NamedDay | None:
    """The one day that a text in a known language surely means: "next Monday", "übermorgen". None
    where there is none, there are several, or another day may be meant: by a date, a span of time,
    a word such as "before".
    """
    language = pack_of(text)
    if language is None or not language.weekday_apart or language.says("days.no_near_day", text):
        return None
    folded = fold_text(text)
    near = {fold_text(word): n for word, n in language.near_days.items()}
    said = find_phrases(folded, near, language.code)
    days = {fold_text(word): day for word, day in language.weekdays.items() if len(word) > 3}
    named = [word for word in re.findall(r"[^\W\d_]+", folded) if word in days]
    rest = folded
    for phrase in said:
        rest = rest.replace(phrase, " ")
    if len(said) + len(named) != 1 or _may_mean_another(rest, language, is_near=bool(said)):
        return None
    if said:
        return NamedDay(distance=near[said[0]]) if near[said[0]] else None
    before = "|".join(map(re.escape, map(fold_text, language.weekday_direct)))
    is_direct = before and re.search(rf"(?<!\w)(?:{before})\s+{named[0]}(?!\w)", folded)
    return NamedDay(days[named[0]]) if is_direct else None


def _may_mean_another(rest: str, language: LanguagePack, *, is_near: bool) -> bool:
    """Return True if what a text says beside the day that it names may move it."""
    times = [word for word, unit in language.units.items() if unit in (*_DAYS, *_MONTHS)]
    weekdays = language.weekdays if is_near else ()
    apart = (*language.months, *weekdays, *language.weekday_apart, *times)
    numbers = {*map(int, _DIGITS.findall(rest)), *read_number_words(rest, [language.code])}
    is_counted = any(1 < n <= _LONGEST_MONTH for n in numbers) or bool(_DATE.search(rest))
    return is_counted or names_any(rest, apart, language.code, least=2)


def counts_span(folded: str, language: LanguagePack) -> bool:
    """Return True if a folded text counts days or longer times in a language: "within 3 days"."""
    return any(True for _ in _iter_spans(folded, language, language.code))


def names_any(folded: str, words: Iterable[str], code: str, least: int = 3) -> bool:
    """Return True if a folded text has one of these words, by itself where the language parts words;
    ``least``: letters of a word that counts there.
    """
    if code in WITHOUT_SPACES:
        return any(fold_text(word) in folded for word in words)
    here = {*re.findall(r"[^\W\d_]+", folded)}
    return any(fold_text(word) in here for word in words if len(word) >= least)


def _iter_spans(folded: str, language: LanguagePack, code: str) -> Iterator[Span]:
    wanted = {
        fold_text(word): unit
        for word, unit in language.units.items()
        if (unit in _DAYS or unit in _MONTHS) and (len(word) > 2 or code in WITHOUT_SPACES)
    }
    edge = "" if code in WITHOUT_SPACES else r"(?!\w)"
    start = "" if code in WITHOUT_SPACES else r"(?<![^\W\d_])"
    longest = sorted(map(re.escape, wanted), key=len, reverse=True)
    for match in re.finditer(f"{start}({'|'.join(longest)}){edge}", folded):
        before = folded[: match.start()]
        told = before[-4:] if code in WITHOUT_SPACES else _read_before(before)
        counts = {int(n) for n in _DIGITS.findall(told)}
        counts |= {int(n) for n in read_number_words(told, [code]) if n == int(n)}
        if counts:
            yield Span(frozenset(counts), wanted[match[1]])


def _read_before(text: str) -> str:
    found = _BEFORE.search(text)
    return found[0] if found else ""
