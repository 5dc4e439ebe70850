"""Tells how often a request asks for a call, where it says so surely."""

from __future__ import annotations

import re
from collections.abc import Iterator

from callwright.language.again import asks_again
from callwright.nouns.types import ToolCall, is_number, iter_scalars
from callwright.repair.provenance.echoes import has_argument
from callwright.repair.provenance.sources import ProvenanceIndex

_MOST_AGAIN = 20  # times that somebody asks for the same


def may_be_meant_again(call: ToolCall, query: str) -> bool:
    """Return True unless the request surely asks for a call once: it can be read, does not speak of
    doing it again, names no number that the call does not hold, and no value of it twice.
    """
    from callwright.repair.provenance.readable import can_read_numbers

    if asks_again(query) is not False or not can_read_numbers([query]):
        return True
    return names_other_number(call, query) or _count_values(call, query) > 1


def names_other_number(call: ToolCall, query: str) -> bool:
    """Return True if the request names a number that the call does not hold, and that may say how
    often it is to be made.
    """
    return any(_iter_other_numbers(call, query))


def count_asked(call: ToolCall, query: str) -> int:
    """Return how often the request surely asks for a call. Where it speaks of doing something again, that
    is twice, or as often as the largest number says that the call does not hold; else as often as
    it says all values of the call that it says at all, and at least once.
    """
    said = max(1, _count_values(call, query))
    if asks_again(query) is not True:
        return said
    return max(2, said, *_iter_other_numbers(call, query))


def _iter_other_numbers(call: ToolCall, query: str) -> Iterator[int]:
    given = call.arguments if isinstance(call.arguments, dict) else {}
    for number in ProvenanceIndex(query).numbers_apart:
        is_count = number == int(number) and 1 < number <= _MOST_AGAIN
        if is_count and not has_argument(given, int(number)):
            yield int(number)


def _count_values(call: ToolCall, query: str) -> int:
    """Return how often the request says the value of the call that it says least often; 0 where it says
    none.
    """
    values = iter_scalars(call.arguments if isinstance(call.arguments, dict) else {})
    texts = (str(v) for v in values if is_number(v) or (isinstance(v, str) and v.strip()))
    said = (re.findall(rf"(?<!\w){re.escape(text)}(?!\w)", query) for text in texts)
    return min((len(found) for found in said if found), default=0)
