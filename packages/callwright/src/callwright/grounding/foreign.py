"""Numbers and dates of statements that are not in English, read by the pack of their language."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from callwright.grounding.quantity import (
    Moment,
    Number,
    Span,
    find_moments,
    find_numbers,
    is_overlapping,
    join_parts,
)
from callwright.language.pack import PACKS, pack
from callwright.language.protocol import LanguagePack, WrittenNumber
from callwright.language.tokens import blank_unparted

_BESIDE = 16  # characters before and behind a number in which a word can hedge it
_DECIMAL_COMMA = re.compile(r"(?<![\d.,])(\d+),(\d{1,2})(?![\d,])")


def numbers_in(text: str, taken: Sequence[Span], language: str) -> list[Number]:
    """The numbers of a text in a language, outside ``taken``, in order.

    The signs of numbers, scales and units are those of the language's pack, where there is one;
    without one all that have no decimals count as rough. Spelled-out numbers are not read.
    """
    reader = pack(language)
    if reader is None:
        pointed = _DECIMAL_COMMA.sub(r"\1.\2", text)
        found = find_numbers(pointed, taken, words=False)
        return [replace(n, hedge="about" if n.step >= 1 else "") for n in found]
    written = {w.span[0]: w for w in reader.numbers(text)}
    aside = [*taken, *reader.no_amounts(text)]
    found = find_numbers(blank_unparted(reader.with_point(text)), aside, words=False)
    worded = (_with_words(n, written.get(n.digits[0])) for n in found)
    return [_hedge(n, text, reader) for n in join_parts(text, worded, reader.joiners)]


def _hedge(number: Number, text: str, reader: LanguagePack) -> Number:
    """The number as a rough one if a word beside it says so, or if it is round, as 20, 300 or 1500
    are. Another one is meant as it is written.
    """
    figures = f"{abs(number.value) / number.step:.0f}".rstrip("0")
    is_round = len(figures) <= 1 or (len(figures) == 2 and figures[1] == "5")
    start, end = number.span
    beside = f"{text[max(0, start - _BESIDE) : start]} {text[end : end + _BESIDE]}"
    is_rough = is_round or reader.says("statements.hedge", beside)
    return replace(number, hedge="about" if is_rough else "")


def _with_words(number: Number, written: WrittenNumber | None) -> Number:
    """A number with the scale and the unit that its language's words give it."""
    if written is None:
        return number
    scale = written.scale if number.scale == 1 else 1.0
    return replace(
        number,
        value=number.value * scale,
        step=number.step * scale,
        scale=number.scale * scale,
        span=(number.span[0], max(number.span[1], written.span[1])),
        unit=number.unit or written.unit,
    )


def moments_in(text: str, language: str) -> list[Moment]:
    """The dates and times of a text in a language, in order: what is written in digits, and the
    dates that name a month.
    """
    reader = pack(language)
    plain = find_moments(text)
    if reader is not None:
        named = [Moment(d.span, d.year, d.month, d.day) for d in reader.dates(text)]
        return sorted([*named, *_list_apart(plain, named)], key=lambda m: m.span)
    # where the language is not known, a date of any of them may be meant
    readers = (one for code in PACKS if (one := pack(code)))
    for date in (date for one in readers for date in one.dates(text)):
        plain += _list_apart([Moment(date.span, date.year, date.month, date.day)], plain)
    return sorted(plain, key=lambda m: m.span)


def _list_apart(found: Sequence[Moment], taken: Sequence[Moment]) -> list[Moment]:
    return [m for m in found if not any(is_overlapping(m.span, n.span) for n in taken)]
