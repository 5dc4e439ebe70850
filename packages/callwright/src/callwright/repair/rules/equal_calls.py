"""Tells whether equal calls of one reply may all be meant."""

from __future__ import annotations

from callwright.language.again import asks_again
from callwright.nouns.types import ToolCall
from callwright.repair.provenance.echoes import has_argument
from callwright.repair.provenance.readable import can_read_numbers
from callwright.repair.provenance.sources import ProvenanceIndex

_MOST_AGAIN = 20  # times that somebody asks for the same


def may_be_meant_again(call: ToolCall, query: str) -> bool:
    """Return True unless the request surely asks for a call once: it can be read, does not speak of
    doing it again, and names no number that the call does not hold.
    """
    if asks_again(query) is not False or not can_read_numbers([query]):
        return True
    return names_other_number(call, query)


def names_other_number(call: ToolCall, query: str) -> bool:
    """Return True if the request names a number that the call does not hold, and that may say how
    often it is to be made.
    """
    given = call.arguments if isinstance(call.arguments, dict) else {}
    return any(
        1 < number <= _MOST_AGAIN and not has_argument(given, int(number))
        for number in ProvenanceIndex(query).numbers_apart
        if number == int(number)
    )
