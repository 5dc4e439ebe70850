"""Numbers of statements that are not in English, and dates and times in any language, read by the
pack of that language.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from callwright.grounding.quantity import (
    MOST,
    Moment,
    Number,
    Span,
    find_moments,
    find_numbers,
    is_overlapping,
    join_parts,
)
from callwright.language.clocks import find_clocks
from callwright.language.detect import language_of
from callwright.language.number_words import number_languages
from callwright.language.pack import PACKS, pack
from callwright.language.protocol import LanguagePack, WrittenNumber
from callwright.language.quantities import UNITS
from callwright.language.tokens import blank_unparted, holds_unparted
from callwright.language.vocabulary import Vocabulary

_MEASURED = ("time", "years", "length")  # what one sign may count; 节 is more than a knot
_BESIDE = 16  # characters before and behind a number in which a word can hedge it
_WEEKDAY_BEFORE = re.compile(r"(?<![^\W\d_])([^\W\d_]{4,})(?:,?\sde[nm])?[,\s（(]{0,3}\Z")
_WEEKDAY_AFTER = re.compile(r"[,\s（(]{0,3}([\u4e00-\u9fff]{2,3}|[^\W\d_]{4,})")
_SHORT = "calendar.short_date"
_DECIMAL_COMMA = re.compile(r"(?<![\d.,])(\d+),(\d{1,2})(?![\d,])")


def numbers_in(text: str, taken: Sequence[Span], language: str) -> list[Number]:
    """The numbers of a text in a language, outside ``taken``, in order.

    The signs of numbers, scales and units are those of the language's pack, else of one that knows
    the word for a million in the text. Without one all that have no decimals count as rough.
    Spelled-out numbers are not read.
    """
    readers = (
        one for one in map(pack, PACKS) if one and any(n.scale != 1 for n in one.numbers(text))
    )
    reader = pack(language) or next(readers, None)
    if reader is None:
        pointed = _DECIMAL_COMMA.sub(r"\1.\2", text)
        found = find_numbers(pointed, taken, words=False)
        return [replace(n, hedge="about" if n.step >= 1 else "") for n in found]
    written = {w.span[0]: w for w in reader.numbers(text)}
    aside = [*taken, *reader.no_amounts(text)]
    found = find_numbers(blank_unparted(reader.with_point(text)), aside, words=False)
    worded = (_with_words(n, written.get(n.digits[0]), text, reader) for n in found)
    return [_hedge(n, text, reader) for n in join_parts(text, worded, reader.joiners)]


def numbers_in_result(text: str, taken: Sequence[Span], *, words: bool) -> list[Number]:
    """The numbers of a text of a result, as English writes them and as its own language does. Where
    that is not known, a comma may be the sign of decimals. ``words``: also numbers spelled out.
    """
    found, language = find_numbers(text, taken, words=words), language_of(text)
    if language in PACKS and language != "en":
        more = numbers_in(text, taken, language)
    elif not language and _DECIMAL_COMMA.search(text):
        more = find_numbers(_DECIMAL_COMMA.sub(r"\1.\2", text), taken, words=False)
    else:
        return found
    read = {(n.digits[0], n.value, n.unit) for n in found}
    return [*found, *(n for n in more if (n.digits[0], n.value, n.unit) not in read)]


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


def _with_words(
    number: Number, written: WrittenNumber | None, text: str, reader: LanguagePack
) -> Number:
    """A number with the scale and the unit that its language's words give it."""
    if written is None:
        return number
    if not written.unit:
        written = _with_sign(written, text, reader)
    scale = written.scale if number.scale == 1 else 1.0
    return replace(
        number,
        value=number.value * scale,
        step=number.step * scale,
        scale=number.scale * scale,
        span=(number.span[0], max(number.span[1], written.span[1])),
        unit=number.unit or written.unit,
    )


def _with_sign(written: WrittenNumber, text: str, reader: LanguagePack) -> WrittenNumber:
    """A number with the unit that one sign of a script without blanks gives it: 3天, 12米."""
    start, end = written.span
    sign = text[end : end + 1]
    unit = reader.units.get(sign, "") if holds_unparted(sign) else ""
    if not unit or UNITS[unit].dimension not in _MEASURED:
        return written
    return replace(written, unit=unit, span=(start, end + 1))


def moments_in(text: str, language: str = "") -> list[Moment]:
    """The dates and times of a text, in order: what is written in digits, dates that name a month,
    and times as people say them. Where the language is not known, any of the script may be meant.
    """
    plain = find_moments(text)
    if plain and plain[0].span == (0, len(text)):
        return plain
    is_known = language in PACKS
    codes = [language] if is_known else [*PACKS]
    readers = (one for code in codes if code != "en" and (one := pack(code)))
    dates = (date for one in readers for date in one.dates(text)[:MOST])
    named = [Moment(d.span, d.year, d.month, d.day) for d in dates]
    named += [
        Moment((m.start("day"), m.end()), month=int(m["month"]), day=int(m["day"]))
        for vocabulary in map(Vocabulary, codes)
        if vocabulary.has(_SHORT)
        for m in vocabulary.pattern(_SHORT).finditer(text)
    ]
    spoken = codes if is_known else number_languages(text)
    clocks = (clock for code in spoken for clock in find_clocks(text, code))
    said = (Moment(c.span, hour=c.hour, minute=c.minute, either=c.either) for c in clocks)
    told = sorted([*plain, *said], key=lambda m: (m.span[0], -m.span[1]))
    kept = _keep_apart([*named, *told] if is_known else [*told, *named])[:MOST]
    return [_as_written(m, text, language) for m in kept]


def _as_written(m: Moment, text: str, language: str) -> Moment:
    """A date as its language writes it: with the weekday beside it, and the day before the month
    where that is the only order.
    """
    reader = pack(language)
    if reader is None or m.day is None or language == "en":
        return m
    before = text[max(0, m.span[0] - 20) : m.span[0]]
    beside = (_WEEKDAY_BEFORE.search(before), _WEEKDAY_AFTER.match(text, m.span[1]))
    names = (found[1].lower() for found in beside if found)
    weekday = next((day for name in names if (day := reader.weekdays.get(name)) is not None), None)
    return replace(m, weekday=weekday, swapped=m.swapped and language == "zh")


def _keep_apart(found: Iterable[Moment]) -> list[Moment]:
    """The moments that overlap none of those before them, in their order in the text."""
    kept: list[Moment] = []
    for moment in found:
        if not any(is_overlapping(moment.span, other.span) for other in kept):
            kept.append(moment)
    return sorted(kept, key=lambda m: m.span)
