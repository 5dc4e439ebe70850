"""Times of day as people say them: "18 Uhr 30", "a las 6 de la tarde", "下午6点", "half past two"."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from itertools import chain, islice
from typing import NamedTuple

from callwright.language import ENGLISH
from callwright.language.number_words import number_words, read_number_words
from callwright.language.pack import PACKS
from callwright.language.protocol import Span
from callwright.language.tokens import with_ascii_digits
from callwright.language.vocabulary import Vocabulary

MOST_CLOCKS = 200  # of one way to say a time in one text
_PARTS: Mapping[str, int] = ENGLISH.table("calendar.clock_parts")
_SHIFTS: Mapping[str, int] = ENGLISH.table("calendar.clock_shifts")
_HALF_DAY, _HOUR = 12, 60


class Clock(NamedTuple):
    """A time of day. ``either``: the hour may be one of the morning or of the afternoon."""

    span: Span
    hour: int
    minute: int
    either: bool


def find_clocks(text: str, language: str) -> list[Clock]:
    """The times of day that a text says in a language, in order. One without a word for the part of
    the day may be ``either``; where that cannot be, as in "18 Uhr", it is not.
    """
    found: list[Clock] = []
    text = with_ascii_digits(text)
    every = (islice(pattern.finditer(text), MOST_CLOCKS) for pattern in _list_patterns(language))
    matches = chain.from_iterable(every)
    for match in sorted(matches, key=lambda m: (m.start(), -m.end())):
        clock = _build_clock(match, language)
        if clock is not None and not (found and match.start() < found[-1].span[1]):
            found.append(clock)
    return found


@cache
def _list_patterns(language: str) -> tuple[re.Pattern[str], ...]:
    """One expression for each way to say a time; its groups are those of the two tables."""
    vocabulary = Vocabulary(language)
    if language not in PACKS:
        return ()
    said, optional = vocabulary.expression("calendar.clock_minutes"), ("shift", "end")
    parts = {
        part.upper(): vocabulary.expression(f"calendar.clock_{part}")
        for part in optional
        if vocabulary.has(f"calendar.clock_{part}")
    } | {
        "HOUR": f"(?P<hour>{vocabulary.expression('calendar.clock_hour')})",
        "MINUTE": "(?P<minute>[0-5]\\d)",
        "PART": f"(?:{vocabulary.expression('calendar.clock_part')})",
        "AFTER": f"(?P<minute>{said})",
        "BEFORE": f"(?P<before>{said})",
    }
    found = []
    for expression in vocabulary.listed("calendar.clocks"):
        for name, part in parts.items():
            expression = expression.replace(name, part)
        found.append(re.compile(expression, re.IGNORECASE))
    return tuple(found)


def _build_clock(match: re.Match[str], language: str) -> Clock | None:
    said = {name: part for name, part in match.groupdict().items() if part is not None}
    counts = (said["hour"], said.get("minute", "0"), said.get("before", "0"))
    hour, minute, before = (_read_count(part, language) for part in counts)
    if hour is None or minute is None or before is None or hour > 2 * _HALF_DAY:
        return None
    if "range" in said and before < hour:  # "a table for ten to twelve"
        return None
    start = next((_PARTS[name] for name in said if name in _PARTS), None)
    if start is not None and hour <= _HALF_DAY:
        hour = start + (hour - start) % _HALF_DAY
    shift = sum(_SHIFTS[name] for name in said if name in _SHIFTS) - before
    is_sure = start is not None or "exact" in said or not 0 < hour <= _HALF_DAY
    hour, minute = divmod(hour * _HOUR + minute + shift, _HOUR)
    return Clock(match.span(), hour % (2 * _HALF_DAY), minute, not is_sure)


def _read_count(text: str, language: str) -> int | None:
    """The whole number that a text is, in figures or in words."""
    if text.isdecimal():
        return int(text)
    words = number_words(language)
    if words is not None and words.says_one(text):
        return 1
    read = [*read_number_words(text, [language])]
    return int(read[0]) if len(read) == 1 and read[0] == int(read[0]) else None
