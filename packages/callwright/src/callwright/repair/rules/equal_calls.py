"""Tells how often a request asks for a call, where it says so surely."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from callwright.language.times import count_times
from callwright.nouns.types import ToolCall, is_number, iter_scalars
from callwright.repair.provenance.echoes import has_argument
from callwright.repair.provenance.sources import ProvenanceIndex

_MOST_AGAIN = 20  # times that somebody asks for the same


def may_be_meant_again(call: ToolCall, query: str) -> bool:
    """Return True unless the request surely asks for a call once. It does if it can be read, names
    neither a number of times nor a number that the call does not hold, and no value of it twice.
    "Once more" asks for one call.
    """
    from callwright.repair.provenance.readable import can_read_numbers

    times = count_times(query)
    if times is None or not can_read_numbers([query]):
        return True
    is_named = times > 1 or _count_values(call, query) > 1
    return is_named or names_other_number(call, query)


def names_other_number(call: ToolCall, query: str) -> bool:
    """Return True if the request names a number that the call does not hold, and that may say how
    often it is to be made.
    """
    return any(_iter_other_numbers(call, query))


def count_asked(call: ToolCall, query: str) -> int:
    """Return how often the request surely asks for a call: as many times as it names, or as often
    as it says all values of the call that it says at all; at least once.
    """
    return max(1, count_times(query) or 1, _count_values(call, query))


def _iter_other_numbers(call: ToolCall, query: str) -> Iterator[int]:
    given = call.arguments if isinstance(call.arguments, dict) else {}
    for number in ProvenanceIndex(query).numbers_apart:
        is_count = number == int(number) and 1 < number <= _MOST_AGAIN
        if is_count and not has_argument(given, int(number)):
            yield int(number)


def _count_values(call: ToolCall, query: str) -> int:
    """Return how often the request says the value of the call that it says least often; 0 where it
    says none. Two arguments of one value are said by two words.
    """
    values = iter_scalars(call.arguments if isinstance(call.arguments, dict) else {})
    texts = Counter(
        str(value)
        for value in values
        if is_number(value) or (isinstance(value, str) and value.strip())
    )
    said = {text: len(re.findall(rf"(?<!\w){re.escape(text)}(?!\w)", query)) for text in texts}
    return min((many // texts[text] for text, many in said.items() if many), default=0)
