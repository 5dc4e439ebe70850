"""Numbers with their units, dates and times, read from text: from statements and from results
alike.
"""

from __future__ import annotations

import datetime as dt
import itertools
import re
from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache

from callwright.grounding.units import ALIASES
from callwright.language import ENGLISH
from callwright.language.quantities import CENT, UNITS

Span = tuple[int, int]


def is_overlapping(a: Span, b: Span) -> bool:
    return a[0] < b[1] and b[0] < a[1]


@dataclass(frozen=True, slots=True)
class Number:
    """A number as written. ``step`` is the worth of its last digit, ``digits`` the span without the
    unit.
    """

    value: float
    step: float
    span: Span
    digits: Span
    unit: str = ""
    hedge: str = ""  # "" | about | over | under
    word: bool = False  # spelled out
    scale: float = 1.0  # 1e6 for "2.1 million"


@dataclass(frozen=True, slots=True)
class Moment:
    """A date, a time or both; what is None was not said. ``swapped``: day and month may be the
    other way round.
    """

    span: Span
    year: int | None = None
    month: int | None = None
    day: int | None = None
    weekday: int | None = None
    hour: int | None = None
    minute: int | None = None
    second: int | None = None
    offset: int | None = None  # minutes east of UTC
    swapped: bool = False
    either: bool = False  # the hour may be one of the morning or of the afternoon

    @property
    def has_date(self) -> bool:
        return self.month is not None or self.weekday is not None

    @property
    def has_time(self) -> bool:
        return self.hour is not None


MONTHS: Mapping[str, int] = ENGLISH.table("calendar.months")
WEEKDAYS: Mapping[str, int] = ENGLISH.table("calendar.weekdays")

_MOMENTS = ENGLISH.pattern("calendar.moments")


MOST = 200  # quantities read from one text: what holds more is a table that no sentence tells


def find_moments(text: str) -> list[Moment]:
    """The dates and times in ``text``, in order; at most ``MOST``."""
    return list(_short_moments(text) if len(text) < 64 else _all_moments(text))


def _all_moments(text: str) -> tuple[Moment, ...]:
    found = (_build_moment(m) for m in itertools.islice(_MOMENTS.finditer(text), MOST))
    return tuple(m for m in found if m is not None)


_short_moments = lru_cache(maxsize=4096)(_all_moments)


def _build_moment(m: re.Match[str]) -> Moment | None:
    g = m.groupdict()
    span = m.span()
    if g["iso"]:
        made = Moment(span, int(g["iy"]), int(g["im"]), int(g["id"]))
        if g["ih"]:
            made = replace(
                made,
                hour=int(g["ih"]),
                minute=int(g["ii"]),
                second=_to_int(g["is"]),
                offset=_parse_zone(g["zone"]),
            )
    elif g["ym"]:
        made = Moment(span, int(g["ymy"]), int(g["ymm"]))
    elif g["mo"]:
        made = Moment(span, month=_parse_month(g["mo"]))
    elif g["num"]:
        made = _build_numeric_date(span, int(g["na"]), int(g["nb"]), g["ny"], g["sep"])
    elif g["dm"]:
        made = Moment(
            span, _to_int(g["dy"]), _parse_month(g["dmon"]), int(g["dd"]), _parse_weekday(g["dw"])
        )
    elif g["md"]:
        made = Moment(
            span, _to_int(g["my"]), _parse_month(g["mmon"]), int(g["mdd"]), _parse_weekday(g["mw"])
        )
    elif g["my2"]:
        made = Moment(span, int(g["yy"]), _parse_month(g["mon"]))
    elif g["time"]:
        made = _build_clock(
            span, int(g["th"]), int(g["tm"]), g["tp"], _to_int(g["ts"]), _parse_zone(g["tz"])
        )
    elif g["ampm"]:
        made = _build_clock(span, int(g["ah"]), 0, g["ap"], None, None)
    elif g["wd"]:
        made = Moment(span, weekday=_parse_weekday(g["wd"]))
    else:
        made = Moment(span, hour=0 if g["noon"].lower() == "midnight" else 12, minute=0)
    return made if _is_possible(made) else None


def _is_possible(m: Moment) -> bool:
    in_day = m.hour is None or (0 <= m.hour <= 24 and 0 <= (m.minute or 0) < 60)
    return (
        in_day and (m.month is None or 1 <= m.month <= 12) and (m.day is None or 1 <= m.day <= 31)
    )


def _build_numeric_date(span: Span, a: int, b: int, year: str, sep: str) -> Moment:
    full = int(year) + (2000 if len(year) == 2 else 0)
    if a > 12 or sep == ".":
        return Moment(span, full, b, a)
    if b > 12:
        return Moment(span, full, a, b)
    return Moment(span, full, b, a, swapped=a != b)


def _build_clock(
    span: Span, hour: int, minute: int, half: str | None, second: int | None, offset: int | None
) -> Moment:
    if half:
        hour = hour % 12 + (12 if half[0] in "pP" else 0)
    return Moment(span, hour=hour, minute=minute, second=second, offset=offset)


def _parse_zone(text: str | None) -> int | None:
    if not text:
        return None
    found = re.search(r"([+\-−])(\d{1,2}):?(\d{2})?", text)
    if not found:
        return 0
    minutes = int(found[2]) * 60 + int(found[3] or 0)
    return minutes if found[1] == "+" else -minutes


def _to_int(text: str | None) -> int | None:
    return int(text) if text else None


def _parse_month(name: str) -> int:
    return MONTHS[name.lower()[:3]]


def _parse_weekday(name: str | None) -> int | None:
    return WEEKDAYS[name.lower()[:3]] if name else None


def shift_to_offset(m: Moment, minutes: int) -> Moment:
    """A full moment with a known offset, told in the zone ``minutes`` east of UTC."""
    if m.offset is None or m.year is None or m.day is None or m.hour is None:
        return m
    try:
        base = dt.datetime(m.year, m.month or 1, m.day, m.hour % 24, m.minute or 0, m.second or 0)
        local = base + dt.timedelta(minutes=minutes - m.offset)
    except (ValueError, OverflowError):
        return m
    return Moment(
        m.span, local.year, local.month, local.day, None, local.hour, local.minute, local.second, minutes
    )  # fmt: skip


def moment_order(m: Moment) -> float:
    """A number that sorts moments; what is not said counts as zero."""
    days = (m.year or 0) * 372.0 + (m.month or 0) * 31 + (m.day or 0)
    return days * 1440 + (m.hour or 0) * 60 + (m.minute or 0)


def date_of(m: Moment | None) -> dt.date | None:
    """The day of a moment; None unless the whole date is known."""
    if m is None or m.year is None or m.month is None or m.day is None:
        return None
    try:
        return dt.date(m.year, m.month, m.day)
    except ValueError:
        return None


def weekday_of(m: Moment | None) -> int | None:
    """0 for Monday; None unless the whole date is known."""
    day = date_of(m)
    return day.weekday() if day is not None else None


def convert_epoch(value: float) -> Moment | None:
    """A Unix time in seconds or milliseconds, as a moment in UTC."""
    seconds = value / 1000 if value > 1e11 else value
    if not 3e8 <= seconds <= 4.2e9:
        return None
    when = dt.datetime.fromtimestamp(seconds, dt.UTC)
    return Moment(
        (0, 0), when.year, when.month, when.day, None, when.hour, when.minute, when.second, 0
    )


# ---- numbers

_SCALES: Mapping[str, float] = ENGLISH.table("numbers.scales")
_SMALL: Mapping[str, int] = ENGLISH.table("numbers.small")
_TENS: Mapping[str, int] = ENGLISH.table("numbers.tens")
_SPELLED = ENGLISH.pattern("numbers.spelled")
_DIGITS = ENGLISH.pattern("numbers.digits")
_AND_A_HALF = ENGLISH.pattern("numbers.and_a_half")
_MONEY_SIGNS = {"US$": "USD", "C$": "CAD", "A$": "AUD", "R$": "BRL"}
_UNIT = re.compile(
    ENGLISH.expression("units_written.before")
    + "(?P<u>"
    + "|".join(
        re.escape(a).replace(r"\ ", r"[\s\-]") for a in sorted(ALIASES, key=len, reverse=True)
    )
    + r")(?![\w°²³/])",
    re.IGNORECASE,
)
_DECADE = re.compile(r"(?:1\d|20)\d0s")
_CASED: Mapping[str, str] = ENGLISH.table("units_written.cased")
_HEDGE = ENGLISH.pattern("numbers.hedge")


def find_numbers(text: str, taken: Iterable[Span] = (), *, words: bool = True) -> list[Number]:
    """The numbers in ``text`` outside ``taken``, in order; "1 h 25 min" is one number of
    minutes.
    """
    text = re.sub(r"\d{40,}", lambda m: "_" * len(m.group()), text)  # no quantity, and slow to read
    masked = _mask_spans(text, taken)
    found = [
        _parse_number(masked, m) for m in itertools.islice(_DIGITS.finditer(masked), MOST) if m["n"]
    ]
    if words:
        found += [
            n
            for m in itertools.islice(_SPELLED.finditer(masked), MOST)
            if (n := _parse_spelled(masked, m)) is not None
        ]
        found.sort(key=lambda n: n.span)
    return join_parts(text, found)


def _mask_spans(text: str, taken: Iterable[Span]) -> str:
    letters = list(text)
    for start, end in taken:
        letters[start:end] = "_" * (end - start)
    return "".join(letters)


def _parse_number(text: str, m: re.Match[str]) -> Number:
    raw = m["n"]
    plain = re.sub(r"[’'_\u00a0\u202f\u2009]", "", raw)
    plain = (
        plain.replace(".", "").replace(",", ".")
        if re.fullmatch(r"\d{1,3}(\.\d{3})+,\d+", plain)
        else plain
    )
    plain = plain.replace(",", "")
    scale = _SCALES[(m["scale"] or m["short"] or "").lower()] if m["scale"] or m["short"] else 1.0
    mantissa, _, exponent = plain.lower().partition("e")
    places = len(mantissa.partition(".")[2])
    step = 10.0 ** max(-300, min(300, int(exponent or 0) - places)) * scale
    value = float(plain) * scale * (-1 if m["sign"] and m["sign"] != "+" else 1)
    unit, end = _unit_after(text, m.end(), attached=bool(m["short"]))
    if m["money"]:
        unit = _MONEY_SIGNS.get(m["money"].strip()) or ALIASES[m["money"].strip()]
    if _DECADE.fullmatch(text[m.start() : end]):
        value, step, unit = value + 4.5, 9.0, ""  # ten years
    digits = (m.start("sign") if m["sign"] else m.start("n"), m.end())
    return Number(
        value, step, (m.start(), end), digits, unit, _find_hedge(text, m.start()), scale=scale
    )


def _find_hedge(text: str, position: int) -> str:
    """Return the hedge before a number: "about", "over", "under" or ""."""
    found = _HEDGE.search(text[max(0, position - 24) : position])
    return (found.lastgroup or "") if found else ""


def _unit_after(text: str, position: int, *, attached: bool = False) -> tuple[str, int]:
    found = _UNIT.match(text, position)
    if found is None:
        return "", position
    alias = re.sub(r"[\s\-]", " ", found["u"])
    allowed = _CASED.get(alias.lower())
    if allowed is not None and alias[0] not in allowed:
        return "", position
    if attached and len(alias) == 1:
        return "", position
    return ALIASES[alias.lower()], found.end()


def _parse_spelled(text: str, m: re.Match[str]) -> Number | None:
    words = re.split(r"[-\s]+", m["w"].lower())
    words = [w for w in words if w]
    if words in (["a"], ["an"]):
        value = 1.0
    elif words[-1] == "of":
        value = 2.0
    elif words[0] == "half" and "dozen" not in words:
        value = 0.5
    elif "dozen" in words:
        value = 6.0 if words[0] == "half" else 12.0
    elif len(words) == 2 and (words[0] not in _TENS or _SMALL.get(words[1], 0) not in range(1, 10)):
        return None
    else:
        value = float(sum(_SMALL.get(w, _TENS.get(w, 0)) for w in words))
    scale = _SCALES[m["ws"].lower()] if m["ws"] else 1.0
    unit, end = _unit_after(text, m.end())
    if words == ["one"] and not unit and scale == 1:
        return None  # "this one", "one of the"
    half = _AND_A_HALF.match(text, m.end()) or _AND_A_HALF.match(text, end)
    if half:
        value += 0.5
        unit, end = (unit, half.end()) if unit else _unit_after(text, half.end())
    step = scale / 2 if half else scale
    return Number(
        value * scale,
        step,
        (m.start(), end),
        m.span(),
        unit,
        _find_hedge(text, m.start()),
        True,
        scale,
    )


def join_parts(
    text: str, found: Iterable[Number], joints: Container[str] = ("and",)
) -> list[Number]:
    """The numbers, hours joined with the minutes that follow, euros with cents, and so on: with a
    comma, one of these words, or nothing between them.
    """
    return [*_iter_joined(text, found, joints)]


def _iter_joined(text: str, found: Iterable[Number], joints: Container[str]) -> Iterator[Number]:
    held: Number | None = None
    for number in found:
        if held is not None and held.unit == "h" and number.unit == "m":
            number = replace(number, unit="min")  # "1h 25m"
        if held is not None and _is_continuation(text, held, number, joints):
            if number.unit == CENT:  # "12 euros and 50 cents"
                number = replace(number, value=number.value / 100, step=0.01, unit=held.unit)
            big, small = UNITS[held.unit], UNITS[number.unit]
            value = held.value * big.factor / small.factor + number.value
            held = replace(
                number,
                value=value,
                span=(held.span[0], number.span[1]),
                digits=(held.digits[0], number.digits[1]),
            )
            continue
        if held is not None:
            yield held
        held = number
    if held is not None:
        yield held


def _is_continuation(text: str, a: Number, b: Number, joints: Container[str]) -> bool:
    between = text[a.span[1] : b.span[0]].strip(" ,").lower()
    if not a.unit or not b.unit or (between and between not in joints):
        return False
    one, two = UNITS[a.unit], UNITS[b.unit]
    if one.dimension == "money" and a.unit != CENT:
        return b.unit == CENT and b.value < 100
    return one.dimension == two.dimension in ("time", "length", "mass") and one.factor > two.factor and b.value < (
        one.factor / two.factor
    )  # fmt: skip


_ISO_DURATION = re.compile(r"^P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?$")


def iso_duration(text: str) -> float | None:
    """Seconds of an ISO 8601 duration, or None."""
    m = _ISO_DURATION.match(text)
    if m is None or not any(m.groups()):
        return None
    return sum(float(v or 0) * f for v, f in zip(m.groups(), (86400, 3600, 60, 1), strict=True))
