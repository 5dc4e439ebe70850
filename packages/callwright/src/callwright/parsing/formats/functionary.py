"""Functionary 3.1, ``<function=N>{…}</function>`` (read with the other tags), and 3.2, ``>>>N`` and
JSON below it.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from callwright.nouns.types import ToolCall
from callwright.parsing import names
from callwright.parsing.marker_set import MarkerSet
from callwright.parsing.pieces import Block, Meant, Reading
from callwright.parsing.scanner import Scanner
from callwright.parsing.tool_vocabulary import ToolVocabulary
from callwright.parsing.values import STOPPED, read_arguments

MARKER = ">>>"
_ALL = "all"  # the recipient of plain text
_LINE_END = MarkerSet(["\n"])
_NEXT = MarkerSet([MARKER, "<|eot_id|>", "<|eom_id|>"])


def read(tape: Scanner, offer: ToolVocabulary, marker: str) -> Reading:
    """One call. ``>>>`` begins Python's examples, too: an offered name alone on its line, JSON
    below it, counts, and not behind an arrow or in a tag (``Parser`` sees to that).
    """
    tape.at += len(marker)
    name = yield from names.take_name(tape, offer, _LINE_END)
    if not name or (name == _ALL and name not in offer.tools):
        return None
    if (yield from tape.char()) != "\n" or not offer.calls(name):
        return None
    char = yield from tape.space()
    if not char and name in offer.tools:
        return Block("functionary_v32", [Meant(name, "", [STOPPED], truncated=True)])
    if char != "{":
        return None
    text, closed = yield from tape.value(_NEXT)
    at_end = tape.ended and tape.at >= len(tape.text)
    return Block("functionary_v32", [read_arguments(name, text, closed, offer, at_end=at_end)])


def write(calls: Sequence[ToolCall]) -> str:
    return "".join(
        f"{MARKER}{c.tool}\n{json.dumps(c.arguments, ensure_ascii=False)}" for c in calls
    )


def write_v31(calls: Sequence[ToolCall]) -> str:
    return "".join(
        f"<function={c.tool}>{json.dumps(c.arguments, ensure_ascii=False)}</function>"
        for c in calls
    )
