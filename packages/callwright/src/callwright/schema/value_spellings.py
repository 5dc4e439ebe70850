"""Other spellings of the same value: numbers, booleans, dates, words. A spelling with two readings
has none.

Every function returns :data:`NONE` where the text does not say one thing only. Nothing here knows a
schema.
"""

from __future__ import annotations

import re
from datetime import date
from decimal import Decimal, InvalidOperation
from typing import Any

from callwright.language import ENGLISH
from callwright.language.tokens import with_ascii_digits


class _NoReading:
    """The text does not say one thing only."""

    def __repr__(self) -> str:
        return "NONE"

    def __bool__(self) -> bool:
        return False


NONE: Any = _NoReading()

_PLAIN = re.compile(r"[+-]?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d{1,3})?\Z")
_COMMA_GROUPS = re.compile(r"[+-]?[1-9]\d{0,2}(?:,\d{3})+(?:\.\d+)?\Z")
_DOT_GROUPS = re.compile(r"[+-]?[1-9]\d{0,2}(?:\.\d{3})+(?:,\d+)?\Z")
_OTHER_GROUPS = re.compile(r"[+-]?[1-9]\d{0,2}(?:[ _'\u00a0\u202f]\d{3})+(?:\.\d+)?\Z")
_MINUS = "\u2212"  # the sign that word processors write
_TRUE = frozenset({"true", "yes", "on"})
_FALSE = frozenset({"false", "no", "off"})
_MONTHS = ENGLISH.listed("calendar.month_names")
_YMD = re.compile(r"(\d{4})[-/. ](\d{1,2})[-/. ](\d{1,2})\Z")
_COMPACT = re.compile(r"(\d{4})(\d{2})(\d{2})\Z")
_XXY = re.compile(r"(\d{1,2})[-/.](\d{1,2})[-/.](\d{4})\Z")
_MONTH_FIRST = ENGLISH.pattern("calendar.month_first")
_DAY_FIRST = ENGLISH.pattern("calendar.day_first")
_STAMP = re.compile(
    r"(\d{4}[-/.]\d{1,2}[-/.]\d{1,2})[Tt ]+(\d{1,2}:\d{2})(:\d{2}(?:\.\d+)?)?"
    r" ?([Zz]|UTC|GMT|[+-]\d{2}:?\d{2})\Z"
)
_CLOCK = re.compile(r"(\d{1,2}:\d{2})(:\d{2}(?:\.\d+)?)? ?([Zz]|UTC|GMT|[+-]\d{2}:?\d{2})\Z")


def parse_number(text: str, *, whole: bool) -> Any:
    """The number a text spells, in digits of any script, or NONE. ``whole``: only integers count,
    which decides "1,234" (never 1.234), but not "1.000", which may be a thousand.

    Leading zeros are a code's, not a number's: "007" has no reading.
    """
    text = with_ascii_digits(text.strip()).replace(_MINUS, "-")
    if len(text) > 40:
        return NONE
    if not _PLAIN.match(text) or (whole and _DOT_GROUPS.match(text)):
        text = _remove_grouping(text, whole)
    try:
        exact = Decimal(text) if text else None
    except InvalidOperation:
        return NONE
    if exact is None or not exact.is_finite() or abs(exact.adjusted()) > 400:
        return NONE
    if exact == exact.to_integral_value() and exact.adjusted() < 40:
        return (
            int(exact)
            if whole or ("." not in text and "e" not in text.lower())
            else _to_exact_float(exact)
        )
    return NONE if whole else _to_exact_float(exact)


def _to_exact_float(exact: Decimal) -> Any:
    """The double, unless digits would be lost."""
    value = float(exact)
    return value if Decimal(repr(value)) == exact else NONE


def _remove_grouping(text: str, whole: bool) -> str:
    """Without thousands separators; "" where separator and decimal sign cannot be told apart."""
    for pattern, group, decimal in ((_COMMA_GROUPS, ",", "."), (_DOT_GROUPS, ".", ",")):
        if pattern.match(text):
            if text.count(group) == 1 and decimal not in text and not (whole and group == ","):
                return ""  # "1,234" may be one and a bit
            return text.replace(group, "").replace(decimal, ".")
    return re.sub(r"[ _'\u00a0\u202f]", "", text) if _OTHER_GROUPS.match(text) else ""


def parse_boolean(text: str) -> Any:
    """True or False for the usual words, or NONE."""
    word = text.strip().lower()
    if word in _TRUE:
        return True
    if word in _FALSE:
        return False
    return NONE


def calendar_day(text: str) -> date | None:
    """The day a text names, if it can only be that one: 03/04/2024 has two readings, 25/12/2024 has
    one.
    """
    text = " ".join(text.split())
    found = _YMD.match(text) or _COMPACT.match(text)
    if found:
        return _build_date(found[1], found[2], found[3])
    if found := _XXY.match(text):
        readings = {
            _build_date(found[3], found[1], found[2]),
            _build_date(found[3], found[2], found[1]),
        } - {None}
        return readings.pop() if len(readings) == 1 else None
    if found := _MONTH_FIRST.match(text):
        return _build_date(found[3], _parse_month(found[1]), found[2])
    if found := _DAY_FIRST.match(text):
        return _build_date(found[3], _parse_month(found[2]), found[1])
    return None


def iso_date(text: str) -> Any:
    """RFC 3339 full-date. Midnight is dropped from a time stamp, any other time of day is not ours
    to drop.
    """
    text = re.sub(r"[Tt ]00:00(?::00(?:\.0+)?)?(?:[Zz])?\Z", "", text.strip())
    day = calendar_day(text)
    return day.isoformat() if day else NONE


def iso_datetime(text: str) -> Any:
    """RFC 3339 date-time of a text that states its offset; without one there is no single
    moment.
    """
    found = _STAMP.match(" ".join(text.split()))
    day = calendar_day(found[1]) if found else None
    return (
        f"{day.isoformat()}T{_format_clock(found[2], found[3], found[4])}"
        if found and day
        else NONE
    )


def iso_time(text: str) -> Any:
    """RFC 3339 full-time of a text that states its offset."""
    found = _CLOCK.match(text.strip())
    return _format_clock(found[1], found[2], found[3]) if found else NONE


def fold_word(text: str) -> str:
    """Return a word without case, spaces and separators."""
    return re.sub(r"[\s_\-./]+", "", text).casefold()


def _format_clock(minutes: str, seconds: str | None, offset: str) -> str:
    if offset.upper() in ("Z", "UTC", "GMT"):
        offset = "Z"
    elif ":" not in offset:
        offset = offset[:3] + ":" + offset[3:]
    return f"{minutes:0>5}{seconds or ':00'}{offset}"


def _build_date(year: str, month: str | int, day: str) -> date | None:
    try:
        return date(int(year), int(month), int(day))
    except ValueError:
        return None


def _parse_month(name: str) -> int:
    """1-12 for a month's English name or its first three or four letters; 0 for anything else."""
    lowered = name.lower()
    hits = [
        i
        for i, month in enumerate(_MONTHS, 1)
        if month == lowered or (3 <= len(lowered) <= 4 and month.startswith(lowered))
    ]
    return hits[0] if len(hits) == 1 else 0
