"""Days that are said relative to today: "tomorrow", "next Tuesday", "in three days"."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import date, timedelta

from callwright.language import ENGLISH
from callwright.language.detect import is_foreign
from callwright.language.pack import pack_of

_WEEKDAYS = ENGLISH.listed("calendar.weekday_names")
_COUNTS: Mapping[str, int] = ENGLISH.table("calendar.counts")
_UNITS: Mapping[str, int] = ENGLISH.table("calendar.lengths")
_MONTHS: Mapping[str, int] = ENGLISH.table("calendar.months")
SAID = ENGLISH.pattern("calendar.relative")
_PLAIN: Mapping[str, int] = ENGLISH.table("calendar.near_days")


def find_relative_days(text: str, today: date) -> list[date]:
    """The days that a text speaks of without their year, each once, in the order in which they are
    said.

    A weekday is the next one after today ("last": the one before); a day of a month is the next
    such day.
    """
    if is_foreign(text):
        return _near_days(text, today)
    found = (_compute_day(m, today) for m in SAID.finditer(text))
    return list(dict.fromkeys(day for day in found if day is not None))


def _near_days(text: str, today: date) -> list[date]:
    """The days near today that a text in another language names, where there is a pack for it."""
    language = pack_of(text)
    names = sorted(language.near_days, key=len, reverse=True) if language else []
    found = re.findall(rf"\b(?:{'|'.join(map(re.escape, names))})\b", text) if names else []
    days = (today + timedelta(days=language.near_days[name]) for name in found if language)
    return list(dict.fromkeys(days))


def iter_phrases(text: str) -> Iterator[str]:
    """The words that speak of such days."""
    return (m[0] for m in SAID.finditer(text))


def _compute_day(m: re.Match[str], today: date) -> date | None:
    if m["plain"]:
        return today + timedelta(days=_PLAIN[m["plain"].lower()])
    if m["count"]:
        count = _COUNTS.get(m["count"].lower()) or int(m["count"])
        return today + timedelta(days=count * _UNITS[m["unit"].lower()])
    if m["weekday"]:
        ahead = (_WEEKDAYS.index(m["weekday"].lower()) - today.weekday() - 1) % 7 + 1
        return today + timedelta(days=ahead - 7 if (m["which"] or "").lower() == "last" else ahead)
    if m["span"]:
        return _compute_span_start(m["part"].lower(), m["span"].lower() == "next", today)
    return _find_next_date(m["month"] or m["month2"], int(m["dom"] or m["dom2"]), today)


def _compute_span_start(part: str, following: bool, today: date) -> date:
    """The first day of this or the next week or month; the Saturday of a weekend."""
    if part == "weekend":
        return today + timedelta(days=(5 - today.weekday()) % 7 + 7 * following)
    if part == "week":
        return today + timedelta(days=7 - today.weekday()) if following else today
    if not following:
        return today
    return date(today.year + (today.month == 12), today.month % 12 + 1, 1)


def _find_next_date(month: str, day: int, today: date) -> date | None:
    for year in (today.year, today.year + 1):
        try:
            found = date(year, _MONTHS[month[:3].lower()], day)
        except ValueError:
            continue
        if found >= today:
            return found
    return None
