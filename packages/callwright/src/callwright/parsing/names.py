"""The name of a tool in plain text: an offered one whatever its characters, any other by its
characters.
"""

from __future__ import annotations

from collections.abc import Iterable

from callwright.parsing.marker_set import MarkerSet
from callwright.parsing.pieces import Steps
from callwright.parsing.scanner import Scanner
from callwright.parsing.tool_vocabulary import MAX_NAME, NAME, ToolVocabulary


def take_name(tape: Scanner, offer: ToolVocabulary, after: MarkerSet) -> Steps[str]:
    """Takes the name that begins here: the longest offered one that is followed by one of
    ``after``, spaces aside, else what looks like a name.
    """
    name = yield from find_name(tape, offer, after)
    if name:
        tape.at += len(name)
        return name
    return (yield from tape.take(NAME, MAX_NAME))


def find_name(tape: Scanner, offer: ToolVocabulary, after: MarkerSet, ahead: int = 0) -> Steps[str]:
    """The longest of the offered names no pattern covers that stands ``ahead`` characters on,
    followed by one of ``after`` or by the end of the reply; not taken; "" where none does.
    """
    if offer.odd is None:
        return ""
    longest = yield from tape.marker(offer.odd, ahead)
    for name in _list_prefix_names(longest, offer.odd.words) if longest else ():
        if (yield from _is_followed(tape, after, ahead + len(name))):
            return name
    return ""


def _list_prefix_names(longest: str, names: Iterable[str]) -> list[str]:
    return sorted((name for name in names if longest.startswith(name)), key=len, reverse=True)


def _is_followed(tape: Scanner, after: MarkerSet, ahead: int) -> Steps[bool]:
    if (yield from tape.marker(after, ahead)):
        return True
    spaces = yield from tape.glance(ahead)
    if spaces < 0:
        return tape.ends(ahead)
    return spaces > 0 and bool((yield from tape.marker(after, ahead + spaces)))


def find_header_name(header: str, offer: ToolVocabulary) -> str:
    """The offered name that a header's text begins with, up to a space, a tag or its end; "" where
    none.
    """
    if offer.odd is None:
        return ""
    fits = (
        n
        for n in offer.odd.words
        if header.startswith(n) and header[len(n) : len(n) + 1].strip() in ("", "<")
    )
    return max(fits, key=len, default="")
