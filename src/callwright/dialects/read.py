"""A whole reply's text -> its calls, whichever of the known formats it is written in."""

from __future__ import annotations

import re
from collections.abc import Iterable

from callwright.dialects import react
from callwright.dialects.offer import FINISH
from callwright.dialects.parsed import Finish, Parsed
from callwright.dialects.parser import Parser
from callwright.dialects.pieces import CallPiece, TextPiece
from callwright.jsontext import JsonError, mend
from callwright.types import Json, JsonObject, Tool, ToolCall

_FENCES = re.compile(r"```[ \t]*\w*[ \t]*\n?|```")


def parse_calls(text: str, tools: Iterable[Tool] = ()) -> Parsed:
    """Read a reply: what :class:`Parser` finds when it is fed the whole of it, with names taken as written, known or
    not (the gate says so).

    Ids are ``call_1``, ``call_2`` … in order. Arguments that are no JSON object stay text. A call of ``Finish`` and
    ``Final Answer:`` become ``finish``, never a call.
    """
    parser = Parser(tools, unknown=True)
    pieces = [*parser.feed(text), *parser.close()]
    found = [p for p in pieces if isinstance(p, CallPiece)]
    rest = "".join(p.text for p in pieces if isinstance(p, TextPiece))
    calls = [p.call for p in found if p.call.tool != FINISH]
    finish = next((_finish(p.call.arguments) for p in found if p.call.tool == FINISH), None)
    dialect = found[0].dialect if found else next((b.dialect for b in parser.blocks if b.reason), "")
    reason = next((b.reason for b in parser.blocks if b.reason), "")
    for block in parser.blocks:
        rest = rest.replace(block.raw, "", 1) if block.reason else rest
    answer = react.final_answer(rest)
    if answer is not None and finish is None and dialect in ("", "react"):
        rest, finish, dialect = rest[: answer[0]], Finish(answer[1]), "react"
    if found and "```" in rest:
        rest = _FENCES.sub("", rest)
    numbered = tuple(ToolCall(f"call_{i}", c.tool, c.arguments, c.slot) for i, c in enumerate(calls, 1))
    truncated = bool(found) and found[-1].truncated
    return Parsed(numbered, rest.strip(), finish, dialect, reason, truncated)


def _finish(arguments: JsonObject | str) -> Finish:
    value: Json = arguments
    if isinstance(value, str):
        try:
            value = mend(value).value
        except JsonError:
            return Finish(str(arguments))
    if not isinstance(value, dict):
        return Finish(str(value))
    answer = value.get("final_answer", value.get("answer", ""))
    return Finish(answer if isinstance(answer, str) else str(answer), str(value.get("return_type", "give_answer")))
