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
)
from callwright.language.pack import pack
from callwright.language.protocol import WrittenNumber

_DECIMAL_COMMA = re.compile(r"(?<![\d.,])(\d+),(\d{1,2})(?![\d,])")
_UNPARTED = re.compile("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff]")  # Chinese and Japanese signs


def blank_unparted(text: str) -> str:
    """The text, as long as it was, with blanks in the place of signs of scripts that part no words:
    a code stands right beside them.
    """
    return _UNPARTED.sub(" ", text)


def numbers_in(text: str, taken: Sequence[Span], language: str) -> list[Number]:
    """The numbers of a text in a language, outside ``taken``, in order.

    The signs of numbers, scales and units are those of the language's pack, where there is one. All
    count as rough: "etwa" cannot be told from other words. Spelled-out numbers are not read.
    """
    reader = pack(language)
    if reader is None:
        pointed = _DECIMAL_COMMA.sub(r"\1.\2", text)
        return [replace(n, hedge="about") for n in find_numbers(pointed, taken, words=False)]
    written = {w.span[0]: w for w in reader.numbers(text)}
    aside = [*taken, *reader.no_amounts(text)]
    found = find_numbers(blank_unparted(reader.with_point(text)), aside, words=False)
    return [_with_words(n, written.get(n.digits[0])) for n in found]


def _with_words(number: Number, written: WrittenNumber | None) -> Number:
    """A number with the scale and the unit that its language's words give it."""
    number = replace(number, hedge="about")
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
    named = [Moment(d.span, d.year, d.month, d.day) for d in (reader.dates(text) if reader else ())]
    plain = [
        m for m in find_moments(text) if not any(is_overlapping(m.span, n.span) for n in named)
    ]
    return sorted([*named, *plain], key=lambda m: m.span)
