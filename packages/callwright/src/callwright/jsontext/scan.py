"""Finds the start and the end of a JSON-like value in a text, by quotes and brackets only:
tolerant, linear, builds nothing.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_CLOSER = {"{": "}", "[": "]"}
_LOOK = re.compile(r"[\"'{}\[\]]")
# What is repeated possessively is atomic itself, (?>…)*+: before 3.11.5, Python took a (?:…)*+
# whose last round failed half-way for no match at all (gh-106052).
_STRING = {  # up to the quote that a comma, colon, closing bracket or the end of the text follows, spaces aside
    quote: re.compile(rf"(?>[^{quote}\\]|\\.|{quote}(?!\s*+(?:[,:}}\])]|\Z)))*+{quote}", re.DOTALL)
    for quote in "\"'"
}
_MAX_OPEN = 1024


@dataclass(frozen=True, slots=True)
class Span:
    """``text[start:end]`` is one bracketed value. ``closed``: its last bracket was seen."""

    start: int
    end: int
    closed: bool


def first_span(text: str, start: int = 0) -> Span | None:
    """The first ``{…}`` or ``[…]`` at or after ``start``; None where no bracket opens.

    A string may stand in single or double quotes. A quote inside a string ends it only when the
    next character that is no space could follow a value, so that an unescaped inner quote does not
    derail the count. A bracket that closes another kind is taken to close what is open.
    """
    opened = min((i for i in (text.find("{", start), text.find("[", start)) if i >= 0), default=-1)
    if opened < 0:
        return None
    stack: list[str] = []
    i = opened
    size = len(text)
    while (found := _LOOK.search(text, i)) is not None:
        i = found.start()
        char = text[i]
        if char in "\"'" and _begins_string(text, i):
            after = string_end(text, i)
            if after < 0:
                return Span(opened, size, False)
            i = after
            continue
        if char in _CLOSER:
            stack.append(_CLOSER[char])
            if len(stack) > _MAX_OPEN:
                return Span(opened, size, False)
        elif char in "}]":
            if char in stack:
                while stack.pop() != char:
                    pass
            if not stack:
                return Span(opened, i + 1, True)
        i += 1
    return Span(opened, size, False)


def string_end(text: str, start: int) -> int:
    """The index after the string that begins with the quote at ``start``; -1 where it is never
    closed.
    """
    found = _STRING[text[start]].match(text, start + 1)
    return found.end() if found else -1


def _begins_string(text: str, i: int) -> bool:
    """An apostrophe inside a bare word is not the beginning of a string."""
    if text[i] == '"':
        return True
    before = text[i - 1] if i else " "
    return not before.isalnum()
