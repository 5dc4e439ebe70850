"""A value that strict JSON takes once the commas are there that were left out between its
members.
"""

from __future__ import annotations

from dataclasses import dataclass

from callwright.jsontext.strict import JsonError, parse
from callwright.nouns.types import Json

MAX_COMMAS = 64  # each is one more parse of the text
_SPACES = " \t\r\n"
_BEGINS = frozenset('"{[-0123456789tfn')  # what a value of JSON begins with
_ENDS = frozenset('"}]0123456789el')  # … and ends with
_DIGITS = frozenset("0123456789")


@dataclass(frozen=True, slots=True)
class Complete:
    """``value`` is what stands in the text up to ``end``, its last bracket included, with
    ``commas`` put in.
    """

    value: Json
    end: int
    commas: int = 0


def parse_adding_commas(text: str, refused: JsonError | None = None) -> Complete | None:
    """The object or array that the text begins with, where nothing is wrong with it but commas left
    out.

    Whatever may follow it. None where it is not closed, or anything else is wrong with it. A comma
    is put in only where the strict parser stops before a value that another value ends before,
    white space or a closing bracket between them: a quote inside a string is none, nor a space
    between the digits of one line. ``refused``: what the strict parser said of this text, if it was
    asked.
    """
    added = 0
    while True:
        if refused is None:
            try:
                return Complete(parse(text), len(text) - added, added)
            except JsonError as exc:
                refused = exc
        at = refused.position
        before = at - 1
        while before >= 0 and text[before] in _SPACES:
            before -= 1
        if (closed := _parse_prefix(text, before + 1, added)) is not None:
            return closed
        if added == MAX_COMMAS or not _comma_missing(text, before, at):
            return None
        text, added, refused = f"{text[: before + 1]},{text[before + 1 :]}", added + 1, None


def _parse_prefix(text: str, end: int, added: int) -> Complete | None:
    """The value that ends there, if one does."""
    if text[end - 1 : end] not in ("}", "]"):
        return None
    try:
        return Complete(parse(text[:end]), end - added, added)
    except JsonError:
        return None


def _comma_missing(text: str, before: int, at: int) -> bool:
    if at >= len(text) or before < 0 or text[at] not in _BEGINS or text[before] not in _ENDS:
        return False
    if text[before] in _DIGITS and text[at] in _DIGITS:
        return "\n" in text[before:at]
    return before + 1 < at or text[before] in "}]"
