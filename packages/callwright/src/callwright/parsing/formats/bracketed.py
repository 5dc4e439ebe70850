"""Bracket tags: ``[TOOL: nmap -sV x]``, and ``[TOOL: N] {…} [/TOOL]``."""

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

MARKER = "[TOOL: "
_END = MarkerSet(["]", "\n"])
_CLOSE = MarkerSet(["[/TOOL]"])
_AFTER = MarkerSet(["]", " "])
_MAX_TEXT = 4_096
_PLAIN = "arguments are plain text"


def read(tape: Scanner, offer: ToolVocabulary, marker: str) -> Reading:
    """An offered tool's name, then text: the value of its only parameter, if it has but one, of
    type string.
    """
    tape.at += len(marker)
    name = yield from names.take_name(tape, offer, _AFTER)
    if not offer.calls(name):
        return None
    text, end = yield from tape.until(_END, _MAX_TEXT)
    if end != "]":
        return None
    tape.at += 1
    given = text.strip()
    if given:
        return Block("bracket", [_build_plain_call(name, given, offer)])
    ahead = yield from tape.glance()
    if ahead < 0 and offer.schema(name):  # its arguments would follow
        return Block("bracket", [Meant(name, "", [STOPPED], truncated=True)])
    if ahead < 0 or tape.text[tape.at + ahead] != "{":
        return Block("bracket", [Meant(name, {})])
    tape.at += ahead
    value, closed = yield from tape.value(_CLOSE)
    call = read_arguments(
        name, value, closed, offer, at_end=tape.ended and tape.at >= len(tape.text)
    )
    yield from tape.closing(_CLOSE)
    return Block("bracket", [call])


def _build_plain_call(name: str, text: str, offer: ToolVocabulary) -> Meant:
    properties = offer.schema(name)
    if len(properties) == 1:
        ((key, schema),) = properties.items()
        if isinstance(schema, dict) and schema.get("type") == "string":
            return Meant(name, {key: text}, [_PLAIN])
    return Meant(name, text, [_PLAIN])


def write(calls: Sequence[ToolCall]) -> str:
    return "\n".join(
        f"[TOOL: {c.tool}] {json.dumps(c.arguments, ensure_ascii=False)} [/TOOL]" for c in calls
    )
