"""Glaive: ``<functioncall> {"name": "N", "arguments": '{…}'}``, no JSON as it stands: the arguments are JSON in
single quotes, with nothing escaped for them."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

from callwright.dialects.body import Body
from callwright.dialects.marks import Marks
from callwright.dialects.offer import Offer, said
from callwright.dialects.pieces import Block, Meant, Reading, Steps
from callwright.dialects.tape import Tape
from callwright.dialects.values import STOPPED, read_arguments, unquoted
from callwright.types import ToolCall

MARKER = "<functioncall>"
_HEAD = re.compile(r"""\{\s*"name"\s*:\s*("(?:[^"\\\n]|\\.)+")\s*,\s*"arguments"\s*:\s*'""")
_HEAD_ENDS = Marks(["'{", "' {", "'\n", "''", ": {", ":{"])
_CLOSES = Marks(["</functioncall>"])
_QUOTE = Marks(["'"])
_BRACE = Marks(["}"])


def read(tape: Tape, offer: Offer, marker: str) -> Reading:
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
        calls = [(yield from _quoted(tape, offer, said(unquoted(quoted[1]), offer.tools)))]
    if calls:
        yield from tape.closing(_CLOSES)
    return Block("glaive", calls) if calls else None


def _quoted(tape: Tape, offer: Offer, name: str) -> Steps[Meant]:
    """The arguments up to the quote that a closing brace follows, and nothing after it but a tag or a line's end."""
    parts: list[str] = []
    while True:
        text, quote = yield from tape.until(_QUOTE)
        parts.append(text)
        if not quote:
            return Meant(name, "".join(parts), [STOPPED], truncated=True)
        tape.at += 1
        ahead = yield from tape.glance()
        if ahead >= 0 and (yield from tape.marker(_BRACE, ahead)) and (yield from _ends(tape, ahead + 1)):
            tape.at += ahead + 1
            return read_arguments(name, "".join(parts), True, offer, at_end=False)
        parts.append(quote)


def _ends(tape: Tape, ahead: int) -> Steps[bool]:
    spaces = yield from tape.glance(ahead)
    at = tape.at + ahead + max(spaces, 0)
    return spaces < 0 or tape.text[at] == "<" or "\n" in tape.text[tape.at + ahead : at]


def write(calls: Sequence[ToolCall]) -> str:
    return "\n".join(f"{MARKER} {_written(c)}" for c in calls)


def _written(call: ToolCall) -> str:
    inner = json.dumps(call.arguments, ensure_ascii=False).replace("'", "\\u0027")
    return f'{{"name": {json.dumps(call.tool, ensure_ascii=False)}, "arguments": \'{inner}\'}}'
