"""Mistral: ``[TOOL_CALLS] [{…}, …]`` (to 2024), ``[TOOL_CALLS]N[ARGS]{…}`` and ``[TOOL_CALLS]N{…}``
(since).
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

from callwright.nouns.types import ToolCall
from callwright.parsing import names
from callwright.parsing.body import Body
from callwright.parsing.marker_set import MarkerSet
from callwright.parsing.pieces import Block, Meant, Reading, Steps
from callwright.parsing.scanner import Scanner
from callwright.parsing.tool_vocabulary import ToolVocabulary
from callwright.parsing.values import STOPPED, read_arguments

MARKER = "[TOOL_CALLS]"
_CALL_ID = re.compile(r"[\w.\-:/]*")
_ID = MarkerSet(["[CALL_ID]"])
_ARGS = MarkerSet(["[ARGS]"])
_AFTER_NAME = MarkerSet(["[ARGS]", "[CALL_ID]", "{"])
_NEXT = MarkerSet([MARKER])
_ENDS = MarkerSet(["</s>", "[/TOOL_CALLS]"])
_NO_ARGS = "no arguments after the name"


def read(tape: Scanner, offer: ToolVocabulary, marker: str) -> Reading:
    tape.at += len(marker)
    char = yield from tape.space()
    if char and char in "{[" and not (yield from names.find_name(tape, offer, _AFTER_NAME)):
        body = Body(tape, offer, _ENDS)
        if not (yield from body.read()):
            return None
        yield from tape.closing(_ENDS)
        return Block("pythonic" if body.kind == "python" else "mistral", body.calls)
    call = yield from _take_named_call(tape, offer)
    if call is None:
        return None
    yield from tape.closing(_ENDS)
    return Block("mistral_args", [call])


def _take_named_call(tape: Scanner, offer: ToolVocabulary) -> Steps[Meant | None]:
    name = yield from names.take_name(tape, offer, _AFTER_NAME)
    if (yield from tape.closing(_ID)):
        yield from tape.take(_CALL_ID)
    args = yield from tape.closing(_ARGS)
    ahead = yield from tape.glance()
    char = tape.text[tape.at + ahead] if ahead >= 0 else ""
    if not name or (not args and char != "{" and not offer.calls(name)):
        return None
    if char == "{":
        tape.at += ahead
        text, closed = yield from tape.value()
        return read_arguments(name, text, closed, offer, at_end=tape.ended)
    if tape.ends():
        return Meant(name, "", [STOPPED], truncated=True)
    return Meant(name, "", [_NO_ARGS])


def write_list(calls: Sequence[ToolCall]) -> str:
    entries = [{"name": c.tool, "arguments": c.arguments} for c in calls]
    return f"{MARKER} {json.dumps(entries, ensure_ascii=False)}"


def write_args(calls: Sequence[ToolCall]) -> str:
    return "".join(
        f"{MARKER}{c.tool}[ARGS]{json.dumps(c.arguments, ensure_ascii=False)}" for c in calls
    )
