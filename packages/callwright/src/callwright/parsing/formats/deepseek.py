"""DeepSeek V3, R1 and 3.1: markers in full-width bars, or in the ASCII that some servers make of
them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from itertools import product

from callwright.nouns.types import ToolCall
from callwright.parsing import names
from callwright.parsing.body import FENCE, FENCES
from callwright.parsing.formats import sections
from callwright.parsing.marker_set import MarkerSet
from callwright.parsing.pieces import Block, Meant, Reading, Steps
from callwright.parsing.scanner import Scanner
from callwright.parsing.tool_vocabulary import ToolVocabulary
from callwright.parsing.values import STOPPED, read_arguments

_INFO = re.compile(r"[\w+\-]*")


def _spell_markers(*words: str) -> list[str]:
    """Each marker with DeepSeek's own characters and with plain ones, in any mixture of the two."""
    spellings = product(words, "｜|", "▁_ ")
    return [f"<{bar}{w.replace('_', low)}{bar}>" for w, bar, low in spellings]


OPENS = _spell_markers("tool_calls_begin", "tool_call_begin")
_BEGIN = MarkerSet(_spell_markers("tool_call_begin"))
_OUTER = frozenset(_spell_markers("tool_calls_begin"))
_SEP = MarkerSet([*_spell_markers("tool_sep"), "\n", "{", *_spell_markers("tool_call_end")])
_NAME_ENDS = MarkerSet(["\n", "{", FENCE, *_spell_markers("tool_call_end")])
_END, _OUTER_END = (
    MarkerSet(_spell_markers("tool_call_end")),
    MarkerSet(_spell_markers("tool_calls_end")),
)
_STOPS = MarkerSet(_spell_markers("tool_call_end", "tool_calls_end", "tool_call_begin"))


def read(tape: Scanner, offer: ToolVocabulary, marker: str) -> Reading:
    """All calls of one section. V3, R1: ``function``, separator, name, fence; 3.1: name, separator,
    JSON.
    """
    tape.at += len(marker)
    block = Block("deepseek_v31")
    if marker in _OUTER and not (yield from tape.closing(_BEGIN)):
        return None
    return (
        yield from sections.take_section_calls(
            tape, offer, block, _take_call, begin=_BEGIN, end=_END, outer_end=_OUTER_END
        )
    )


def _take_call(tape: Scanner, offer: ToolVocabulary, block: Block) -> Steps[Meant | None]:
    name, sep = yield from _take_head(tape, offer, _SEP)
    if sep[:1] == "<" and "sep" in sep:
        tape.at += len(sep)
        if name in ("function", "tool", "") and not (yield from _arguments_next(tape, offer)):
            block.dialect = "deepseek"
            name, _ = yield from _take_head(tape, offer, _NAME_ENDS)
    char = yield from tape.space()
    fence = char == "`" and bool((yield from tape.marker(FENCES)))
    if fence:
        tape.at += len(FENCE)
        yield from tape.take(_INFO, 32)
        char = yield from tape.space()
    if not name or len(name) > offer.longest or ("\n" in name and name not in offer.tools):
        return None
    if char != "{":
        return Meant(name, "", [STOPPED], truncated=True) if not char and tape.ended else None
    text, closed = yield from tape.value(_STOPS)
    at_end = tape.ended and tape.at >= len(tape.text)
    call = read_arguments(name, text, closed, offer, at_end=at_end)
    if fence:
        yield from tape.closing(FENCES)
    return call


def _arguments_next(tape: Scanner, offer: ToolVocabulary) -> Steps[bool]:
    """Return True if the arguments come next. Then ``function`` is the tool's own name, not V3's
    word before a name.
    """
    return (yield from tape.space()) == "{" and not (
        yield from names.find_name(tape, offer, _NAME_ENDS)
    )


def _take_head(tape: Scanner, offer: ToolVocabulary, ends: MarkerSet) -> Steps[tuple[str, str]]:
    """Takes a name up to one of ``ends``; (the name, the end, which is not taken)."""
    name = yield from names.find_name(tape, offer, ends)
    tape.at += len(name)
    rest, end = yield from tape.until(ends, 32 + offer.longest)
    return name or rest.strip(), end


def write_v3(calls: Sequence[ToolCall]) -> str:
    body = "\n".join(
        f"<｜tool▁call▁begin｜>function<｜tool▁sep｜>{c.tool}\n```json\n{_format_arguments(c)}\n```<｜tool▁call▁end｜>"
        for c in calls
    )
    return f"<｜tool▁calls▁begin｜>{body}<｜tool▁calls▁end｜>"


def write_v31(calls: Sequence[ToolCall]) -> str:
    body = "".join(
        f"<｜tool▁call▁begin｜>{c.tool}<｜tool▁sep｜>{_format_arguments(c)}<｜tool▁call▁end｜>"
        for c in calls
    )
    return f"<｜tool▁calls▁begin｜>{body}<｜tool▁calls▁end｜>"


def _format_arguments(call: ToolCall) -> str:
    return json.dumps(call.arguments, ensure_ascii=False)
