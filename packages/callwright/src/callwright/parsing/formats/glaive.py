"""Glaive: ``<functioncall> {"name": "N", "arguments": '{…}'}``, no JSON as it stands: the arguments
are JSON in single quotes, with nothing escaped for them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

from callwright.nouns.types import ToolCall
from callwright.parsing.body import Body
from callwright.parsing.marker_set import MarkerSet
from callwright.parsing.pieces import Block, Meant, Reading, Steps
from callwright.parsing.scanner import Scanner
from callwright.parsing.tool_vocabulary import ToolVocabulary, named_tool
from callwright.parsing.values import STOPPED, read_arguments, unquote_text

MARKER = "<functioncall>"
_HEAD = re.compile(r"""\{\s*"name"\s*:\s*("(?:[^"\\\n]|\\.)+")\s*,\s*"arguments"\s*:\s*'""")
_HEAD_ENDS = MarkerSet(["'{", "' {", "'\n", "''", ": {", ":{"])
_CLOSES = MarkerSet(["</functioncall>"])
_QUOTE = MarkerSet(["'"])
_BRACE = MarkerSet(["}"])


def read(tape: Scanner, offer: ToolVocabulary, marker: str) -> Reading:
    tape.at += len(marker)
    if (yield from tape.space()) != "{":
        return None
    head = yield from tape.ahead(_HEAD_ENDS, 2 * offer.longest + 64)
    quoted = _HEAD.match(head)
    if quoted is None:
        body = Body(tape, offer, _CLOSES)
        calls = body.calls if (yield from body.read()) else []
    else:
        tape.at += quoted.end()
        calls = [
            (
                yield from _take_quoted_call(
                    tape, offer, named_tool(unquote_text(quoted[1]), offer.tools)
                )
            )
        ]
    if calls:
        yield from tape.closing(_CLOSES)
    return Block("glaive", calls) if calls else None


def _take_quoted_call(tape: Scanner, offer: ToolVocabulary, name: str) -> Steps[Meant]:
    """The arguments up to the quote that a closing brace follows, and nothing after it but a tag or
    a line's end.
    """
    parts: list[str] = []
    while True:
        text, quote = yield from tape.until(_QUOTE)
        parts.append(text)
        if not quote:
            return Meant(name, "".join(parts), [STOPPED], truncated=True)
        tape.at += 1
        ahead = yield from tape.glance()
        if (
            ahead >= 0
            and (yield from tape.marker(_BRACE, ahead))
            and (yield from _is_call_end(tape, ahead + 1))
        ):
            tape.at += ahead + 1
            return read_arguments(name, "".join(parts), True, offer, at_end=False)
        parts.append(quote)


def _is_call_end(tape: Scanner, ahead: int) -> Steps[bool]:
    spaces = yield from tape.glance(ahead)
    at = tape.at + ahead + max(spaces, 0)
    return spaces < 0 or tape.text[at] == "<" or "\n" in tape.text[tape.at + ahead : at]


def write(calls: Sequence[ToolCall]) -> str:
    return "\n".join(f"{MARKER} {_format_call(c)}" for c in calls)


def _format_call(call: ToolCall) -> str:
    inner = json.dumps(call.arguments, ensure_ascii=False).replace("'", "\\u0027")
    return f'{{"name": {json.dumps(call.tool, ensure_ascii=False)}, "arguments": \'{inner}\'}}'
