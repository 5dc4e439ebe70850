"""Defines the result of checking one statement: its support, its problems, and corrections."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from callwright.grounding.binding import Bound
from callwright.grounding.facts import Figure, Leaf
from callwright.grounding.fields import MINOR
from callwright.grounding.quantity import Moment, Number, Span
from callwright.language import ENGLISH
from callwright.language.tokens import blank_unparted
from callwright.nouns.types import Citation, Support

NOWHERE = "stands in no result"  # how a problem ends, and
NOBODY_SAYS = (  # how one begins, of which no result speaks, neither for it nor against
    "no result says: "
)


@dataclass(frozen=True, slots=True)
class Fix:
    """Correction of a wrong value: replace ``span`` of the statement by ``text``."""

    span: Span
    before: str
    text: str
    leaf: Leaf


@dataclass
class GroundingResult:
    """Result of checking one statement. ``fixes`` holds a replacement for every problem that has
    exactly one.
    """

    support: Support
    problems: list[str] = field(default_factory=list)
    citations: tuple[Citation, ...] = ()
    fixes: list[Fix] = field(default_factory=list)
    derived: list[str] = field(default_factory=list)
    checked: int = 0  # claims that were looked up

    @property
    def repairable(self) -> bool:
        return bool(self.problems) and len(self.fixes) == len(self.problems)


def is_unheard(problem: str) -> bool:
    """Return True if a problem is that no result supports the statement. Otherwise a result
    contradicts it.
    """
    return problem.endswith(NOWHERE) or problem.startswith(NOBODY_SAYS)


def record_problem(
    text: str, bound: Bound, verdict: GroundingResult, claim: Number | Moment
) -> None:
    """Record that a value that a text states does not hold, with the replacement where exactly one
    is meant. A bound ("over 3") is not replaced by a value, nor is a part of a longer word.
    """
    stated = text[slice(*claim.span)]
    if bound.rival is None:
        verdict.problems.append(f"{stated} {NOWHERE}")
        return
    right = render_value(bound.rival)
    if bound.taken is not None:
        verdict.problems.append(
            f"{stated} is {describe_leaf(bound.taken.leaf)}; {describe_leaf(bound.rival.leaf)} is {right}"
        )
    else:
        verdict.problems.append(f"{stated} {NOWHERE}; {describe_leaf(bound.rival.leaf)} is {right}")
    told = _rewrite_value(claim, bound.rival)
    if bound.only and told and not _is_part(text, claim):
        verdict.fixes.append(Fix(claim.span, stated, told, bound.rival.leaf))


def _is_part(text: str, claim: Number | Moment) -> bool:
    """Return True if what a text says is more than a value: a bound, or with a sign or letters
    behind it that belong to it ("20th", "50¢").
    """
    behind = blank_unparted(text[claim.span[1] :][:1])
    is_bound = isinstance(claim, Number) and claim.hedge in ("over", "under")
    return is_bound or behind.isalnum() or unicodedata.category(behind or " ") == "Sc"


def describe_leaf(leaf: Leaf) -> str:
    """Return the place of a value for people: the result and the path in it."""
    return f"{leaf.result} {leaf.where}" if leaf.path else leaf.result


def render_value(figure: Figure) -> str:
    """A value as its result tells it, with the unit that the result names."""
    value = figure.leaf.part or _get_amount(figure)
    if isinstance(value, str):
        text = value
    elif isinstance(value, int | float):
        text = format(value, ",")
    else:
        text = str(value)
    unit = figure.leaf.unit
    return f"{text[:80]} {unit}".rstrip() if not isinstance(value, str) else text[:80]


def _get_amount(figure: Figure) -> Any:
    """The value of a figure's field; what it counts in cents, in the currency itself."""
    number = figure.number
    if number is not None and number.scale == MINOR:
        return round(number.value, 2)
    return figure.leaf.value


def _rewrite_value(claim: Number | Moment, figure: Figure) -> str:
    """The right value as the statement may say it: with the result's own digits and unit."""
    value = _get_amount(figure)
    if isinstance(claim, Moment) or figure.number is None:
        return value if isinstance(value, str) and len(value) <= 40 and not figure.leaf.part else ""
    if figure.leaf.part or (isinstance(value, str) and len(value) > 24):
        return ""
    if isinstance(value, str):
        digits = value
    elif isinstance(value, int) and value >= 10_000:
        digits = f"{value:,}"
    else:
        digits = str(value)
    if isinstance(value, str) and figure.number.span != (0, len(value)):
        return value if figure.number.span[0] <= 1 and not value.isalpha() else ""
    unit = figure.unit or claim.unit
    return _with_unit(digits, unit)


_WRITTEN: Mapping[str, str] = ENGLISH.table("units_written.told")


def _with_unit(digits: str, unit: str) -> str:
    if not unit:
        return digits
    if unit == "%":
        return f"{digits}%"
    return f"{digits} {_WRITTEN.get(unit, unit)}"
