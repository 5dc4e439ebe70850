"""Times of day as people say them: "18 Uhr 30", "a las 6 de la tarde", "下午6点", "half past two"."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from itertools import chain, islice

from callwright.grounding.quantity import MOST, Moment, is_overlapping
from callwright.language import ENGLISH
from callwright.language.number_words import read_number_words
from callwright.language.pack import PACKS
from callwright.language.vocabulary import Vocabulary

_PARTS: Mapping[str, int] = ENGLISH.table("calendar.clock_parts")
_SHIFTS: Mapping[str, int] = ENGLISH.table("calendar.clock_shifts")
_HALF_DAY = 12


def find_clocks(text: str, language: str) -> list[Moment]:
    """The times of day that a text says in a language, in order. One without a word for the part of
    the day may be ``either``; where that cannot be, as in "18 Uhr", it is not.
    """
    found: list[Moment] = []
    every = (islice(pattern.finditer(text), MOST) for pattern in _list_patterns(language))
    matches = chain.from_iterable(every)
    for match in sorted(matches, key=lambda m: (m.start(), -m.end())):
        moment = _build_clock(match, language)
        if moment is not None and not (found and is_overlapping(moment.span, found[-1].span)):
            found.append(moment)
    return found


@cache
def _list_patterns(language: str) -> tuple[re.Pattern[str], ...]:
    """One expression for each way to say a time; its groups are those of the two tables."""
    vocabulary = Vocabulary(language)
    if language not in PACKS:
        return ()
    parts = {
        "HOUR": f"(?P<hour>{vocabulary.expression('calendar.clock_hour')})",
        "MINUTE": "(?P<minute>[0-5]\\d)",
        "PART": f"(?:{vocabulary.expression('calendar.clock_part')})",
    }
    found = []
    for expression in vocabulary.listed("calendar.clocks"):
        for name, part in parts.items():
            expression = expression.replace(name, part)
        found.append(re.compile(expression, re.IGNORECASE))
    return tuple(found)


def _build_clock(match: re.Match[str], language: str) -> Moment | None:
    said = {name: part for name, part in match.groupdict().items() if part is not None}
    hour = _read_count(said["hour"], language)
    minute = _read_count(said.get("minute", "0"), language)
    if hour is None or minute is None or hour > 2 * _HALF_DAY:
        return None
    start = next((_PARTS[name] for name in said if name in _PARTS), None)
    if start is not None and hour <= _HALF_DAY:
        hour = start + (hour - start) % _HALF_DAY
    shift = sum(_SHIFTS[name] for name in said if name in _SHIFTS)
    hour, minute = divmod(hour * 60 + minute + shift, 60)
    is_sure = start is not None or "exact" in said or not 0 < hour <= _HALF_DAY
    return Moment(match.span(), hour=hour % (2 * _HALF_DAY), minute=minute, either=not is_sure)


def _read_count(text: str, language: str) -> int | None:
    """The whole number that a text is, in figures or in words."""
    if text.isdecimal():
        return int(text)
    read = [*read_number_words(text, [language])]
    return int(read[0]) if len(read) == 1 and read[0] == int(read[0]) else None
