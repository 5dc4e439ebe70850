"""Compares a stated number or moment with one in a result: exact, rounded, converted or in another
time zone.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from callwright.grounding.facts import Facts, Figure
from callwright.grounding.fields import MINOR, list_dimensions
from callwright.grounding.quantity import Moment, Number, shift_to_offset, weekday_of
from callwright.grounding.units import ALIASES, is_same_unit, list_readings, list_related_units
from callwright.language import ENGLISH
from callwright.language.quantities import CENT, UNITS, convert_value
from callwright.language.tokens import key_tokens
from callwright.nouns.thresholds import threshold

if TYPE_CHECKING:
    from callwright.grounding.claims import Claims

_ABOUT = threshold("callwright.grounding", "about")  # "about 1200" for 1234
_BOUND = threshold("callwright.grounding", "bound")  # "over 2 million" for 2.1 million
_CONVERTED = threshold("callwright.grounding", "converted")  # people convert with 1.6 km a mile
_LEVELS = ENGLISH.words("statements.levels")
_REVERSED = ENGLISH.pattern("statements.reversed")


def compute_tolerance(n: Number) -> tuple[float, float]:
    """Return how far below and above the stated value the true one may lie."""
    half = n.step / 2 * 1.0001 + abs(n.value) * 1e-9
    size = abs(n.value)
    if n.hedge == "about":
        return max(half, size * _ABOUT), max(half, size * _ABOUT)
    far = size * _BOUND or math.inf  # "below zero"
    beyond = min(half, size * _CONVERTED)  # "over 2 million" is not said of 1.9 million
    if n.hedge == "over":
        return beyond, max(half, far)
    if n.hedge == "under":
        return max(half, far), beyond
    return half, half


def is_close(n: Number, value: float, slack: float = 0.0) -> bool:
    """Return True if ``value`` equals the statement of ``n``, to its stated precision."""
    below, above = compute_tolerance(n)
    extra = abs(n.value) * slack
    return n.value - below - extra <= value <= n.value + above + extra


def same_number(n: Number, figure: Figure) -> str:
    """Return how the figure equals the stated number: "same", "converted" or "" if it does not."""
    return next(
        (
            how
            for r in list_readings(n.unit)
            if (how := _classify_reading(replace(n, unit=r), figure))
        ),
        "",
    )


def _classify_reading(n: Number, figure: Figure) -> str:
    other = figure.number
    if other is None:
        return ""
    if not _dimension_fits(n, figure):
        return ""
    unit = figure.unit
    if _is_in_minor(figure) and n.unit in ("", CENT) and is_close(n, other.value / MINOR):
        return "same"  # 1999 of "price_cents"
    if n.unit == "%" and unit in ("", "%"):
        if (
            not unit
            and abs(other.value) > 1.5
            and not _IN_PERCENT & set(key_tokens(figure.leaf.key))
            and not figure.leaf.part
        ):
            return ""
        if is_close(n, other.value) or (
            abs(other.value) <= 1.5 and not unit and is_close(n, other.value * 100)
        ):
            return "same"
        return ""
    if n.unit and not unit and not is_unit_possible(n, figure):
        return ""
    if n.unit == CENT and _is_close_in_cents(n, figure):
        return "same"
    if is_same_unit(n.unit, unit):
        return "same" if is_close(n, other.value) else ""
    if (
        n.unit in ("USD",)
        and unit in ("CAD", "AUD", "NZD", "SGD", "HKD")
        and is_close(n, other.value)
    ):
        return "same"  # "$" is written for all dollars
    if any(is_close(n, v, _CONVERTED) for v in convert_value(other.value, unit, n.unit)):
        return "converted"
    return ""


_SHARE = ENGLISH.words("fields.share")
_IN_PERCENT = _SHARE | ENGLISH.words("fields.levels")


def _is_in_minor(figure: Figure) -> bool:
    """Return True if a field holds an amount in cents or the like."""
    return figure.number is not None and figure.number.scale == MINOR


def _is_close_in_cents(n: Number, figure: Figure) -> bool:
    """Return True if cents are what a field holds in a unit of money, or in none: 50 of 0.5."""
    is_money = not figure.unit or UNITS[figure.unit].dimension == "money"
    cents = replace(n, value=n.value * MINOR, step=n.step * MINOR)
    return is_money and figure.number is not None and is_close(cents, figure.number.value)


def is_unit_possible(n: Number, figure: Figure) -> bool:
    """Return True if a field without a unit may have the stated one. Its other labels must not
    contradict that unit.
    """
    if n.unit and UNITS[n.unit].dimension == "money":
        codes = {
            ALIASES[x]
            for x in figure.leaf.labels
            if x in ALIASES and UNITS[ALIASES[x]].dimension == "money"
        }
        return not codes or n.unit in codes
    return not (n.unit == "h" and n.value > 48 and "=duration" in figure.leaf.attributes)


def _dimension_fits(n: Number, figure: Figure) -> bool:
    """A unit the result does not name may still be impossible: no temperature is told in
    kilometres.
    """
    if not n.unit or figure.unit or (n.unit == "%" and _SHARE & set(key_tokens(figure.leaf.key))):
        return True
    allowed = list_dimensions(figure.leaf.key)
    return not allowed or UNITS[n.unit].dimension in allowed


def figures_for(n: Number, facts: Facts, claims: Claims) -> list[tuple[Figure, str]]:
    """Every figure that is the stated number, and how."""
    found = [(f, how) for f in _iter_candidates(n, facts) if (how := same_number(n, f))]
    # the sign is told in words: "3 degrees below zero"
    is_reversed = claims.speaks_of("statements.reversed", claims.text) or _REVERSED.search(
        claims.text
    )
    if not found and (is_reversed or claims.speaks_of("statements.spent", claims.text)):
        mirrored = Number(-n.value, n.step, n.span, n.digits, n.unit, n.hedge, n.word, n.scale)
        found = [
            (f, how) for f in _iter_candidates(mirrored, facts) if (how := same_number(mirrored, f))
        ]
        if not is_reversed:  # a balance has its sign, whatever was paid
            found = [pair for pair in found if _LEVELS.isdisjoint(key_tokens(pair[0].leaf.key))]
    return found


def _iter_candidates(n: Number, facts: Facts) -> Iterator[Figure]:
    below, above = compute_tolerance(n)
    yield from facts.between(n.value - below, n.value + above)
    if n.unit in ("", CENT):
        low, high = (n.value - below) * MINOR, (n.value + above) * MINOR
        yield from (f for f in facts.between(low, high) if _is_in_minor(f))
    if n.unit in ("%", CENT):
        yield from facts.between((n.value - below) / 100, (n.value + above) / 100)
    slack = abs(n.value) * _CONVERTED
    for read in list_readings(n.unit):
        for unit in list_related_units(read):
            ends = [
                v
                for x in (n.value - below - slack, n.value + above + slack)
                for v in convert_value(x, read, unit)
            ]
            if ends:
                yield from (f for f in facts.between(min(ends), max(ends)) if f.unit == unit)


def same_moment(m: Moment, figure: Figure, offsets: tuple[int, ...] = ()) -> str:
    """ "same", "converted" (another time zone) or ""."""
    other = figure.moment
    if other is None:
        return ""
    if _is_consistent(m, other):
        return "same"
    shifts = ((m.offset,) if m.offset is not None else ()) + offsets
    if other.offset is not None and any(
        _is_consistent(m, shift_to_offset(other, s)) for s in shifts
    ):
        return "converted"
    return ""


def _is_consistent(m: Moment, other: Moment) -> bool:
    if m.swapped and _agrees_plainly(_swap_day_month(m), other):
        return True
    return _agrees_plainly(m, other) or (
        other.swapped and _agrees_plainly(m, _swap_day_month(other))
    )


def _swap_day_month(m: Moment) -> Moment:
    return replace(m, month=m.day, day=m.month, swapped=False)


def _agrees_plainly(m: Moment, other: Moment) -> bool:
    for mine, theirs in ((m.year, other.year), (m.month, other.month), (m.day, other.day)):
        if mine is not None and theirs is not None and mine != theirs:
            return False
    if m.month is not None and other.month is None:
        return False
    if m.day is not None and other.day is None and other.month is not None:
        return False
    if m.weekday is not None and weekday_told(other) != m.weekday:
        return False
    if not is_same_hour(m, other):
        return False
    if m.minute is not None and other.minute is not None and m.minute != other.minute:
        return False
    return m.second is None or other.second is None or m.second == other.second


def weekday_told(m: Moment) -> int | None:
    """The day of the week of a whole date, else the one that a moment tells; None without both."""
    found = weekday_of(m)
    return m.weekday if found is None else found


def is_same_hour(m: Moment, other: Moment) -> bool:
    """Return True if a moment tells no hour of the day, or may tell that of another one."""
    if m.hour is None or other.hour is None:
        return m.hour is None
    return (m.hour - other.hour) % (12 if m.either or other.either else 24) == 0


def weekday_fits(m: Moment) -> bool:
    """A stated weekday must be that of the stated date."""
    if m.weekday is None:
        return True
    real = weekday_of(m)
    return real is None or real == m.weekday
