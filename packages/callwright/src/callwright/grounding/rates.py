"""Ways that a text counts for a time: "12 kilometres an hour" and "每小时12公里" are speeds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from callwright.grounding.quantity import Number, Span, is_overlapping
from callwright.grounding.units import RATES
from callwright.language.pack import PACKS
from callwright.language.vocabulary import Vocabulary

_BESIDE = 12  # characters before a number in which its time can stand
_BEFORE, _AFTER = "units_written.rate_before", "units_written.rate_after"


def join_rates(numbers: Iterable[Number], text: str, language: str) -> Iterator[Number]:
    """The numbers of a text, a length beside words such as "an hour" as a speed. A number that
    stands in these words is none.
    """
    taken: Span = (0, 0)
    for number in numbers:
        if is_overlapping(number.span, taken):
            continue
        time, end = _read_time(text, number.span, language)
        if unit := RATES.get((number.unit, time)):
            taken = (number.span[0], end)
            yield replace(number, unit=unit, span=taken)
        else:
            yield number


def _read_time(text: str, span: Span, language: str) -> tuple[str, int]:
    """The unit of time for which a number counts, "" for none, and where what says so ends."""
    start, end = span
    vocabulary = Vocabulary(language)
    if language not in PACKS:
        return "", end
    if after := vocabulary.pattern(_AFTER).match(text, end):
        return after.lastgroup or "", after.end()
    if vocabulary.has(_BEFORE):
        before = vocabulary.pattern(_BEFORE).search(text[max(0, start - _BESIDE) : start])
        return (before.lastgroup or "") if before else "", end
    return "", end
