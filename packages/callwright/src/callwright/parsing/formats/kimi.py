"""Kimi K2: ``<|tool_call_begin|>functions.N:0<|tool_call_argument_begin|>{…}<|tool_call_end|>`` within a section."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

from callwright.nouns.types import ToolCall
from callwright.parsing import names
from callwright.parsing.formats import sections
from callwright.parsing.marker_set import MarkerSet
from callwright.parsing.pieces import Block, Meant, Reading, Steps
from callwright.parsing.scanner import Scanner
from callwright.parsing.tool_vocabulary import ToolVocabulary, named_tool
from callwright.parsing.values import STOPPED, read_arguments

_SECTION, _SECTION_END = "<|tool_calls_section_begin|>", "<|tool_calls_section_end|>"
_CALL, _ARGUMENT, _CALL_END = (
    "<|tool_call_begin|>",
    "<|tool_call_argument_begin|>",
    "<|tool_call_end|>",
)
OPENS = (_SECTION, "<|tool_call_section_begin|>", _CALL)
_BEGIN, _END = MarkerSet([_CALL]), MarkerSet([_CALL_END])
_SECTION_ENDS = MarkerSet([_SECTION_END, "<|tool_call_section_end|>"])
_HEAD_ENDS = MarkerSet([_ARGUMENT, _CALL_END, "{", "\n\n"])
_STOPS = MarkerSet([_CALL_END, _SECTION_END, _CALL])
_COUNTER = re.compile(r":\d+\Z")
_NAMESPACE, _AFTER_NAME = MarkerSet(["functions."]), MarkerSet([_ARGUMENT, "{", ":"])


def read(tape: Scanner, offer: ToolVocabulary, marker: str) -> Reading:
    """The calls of a section, or those of one whose outer markers were lost. The name is what the
    id begins with.
    """
    tape.at += len(marker)
    if marker != _CALL and not (yield from tape.closing(_BEGIN)):
        return None
    return (
        yield from sections.take_section_calls(
            tape, offer, Block("kimi"), _take_call, begin=_BEGIN, end=_END, outer_end=_SECTION_ENDS
        )
    )


def _take_call(tape: Scanner, offer: ToolVocabulary, _block: Block) -> Steps[Meant | None]:
    known = yield from _take_known_name(tape, offer)
    head, end = yield from tape.until(_HEAD_ENDS, offer.longest + 32)
    name = known or named_tool(_COUNTER.sub("", head.strip()), offer.tools)
    if not name or end not in (_ARGUMENT, "{"):
        return None
    if end == _ARGUMENT:
        tape.at += len(end)
    char = yield from tape.space()
    if char != "{":
        return Meant(name, "", [STOPPED], truncated=True) if not char else None
    text, closed = yield from tape.value(_STOPS)
    return read_arguments(
        name, text, closed, offer, at_end=tape.ended and tape.at >= len(tape.text)
    )


def _take_known_name(tape: Scanner, offer: ToolVocabulary) -> Steps[str]:
    """Takes an offered name that no pattern covers, and the namespace before it."""
    for before in ("functions.", ""):
        stands = not before or (yield from tape.marker(_NAMESPACE))
        name = (yield from names.find_name(tape, offer, _AFTER_NAME, len(before))) if stands else ""
        if name:
            tape.at += len(before) + len(name)
            return name
    return ""


def write(calls: Sequence[ToolCall]) -> str:
    body = "".join(
        f"{_CALL}functions.{c.tool}:{i}{_ARGUMENT}{json.dumps(c.arguments, ensure_ascii=False)}{_CALL_END}"
        for i, c in enumerate(calls)
    )
    return f"{_SECTION}{body}{_SECTION_END}"
