"""A whole reply's text -> its calls, whichever of the known formats it is written in."""

from __future__ import annotations

import re
from collections.abc import Iterable

from callwright.jsontext import JsonError, parse_lenient
from callwright.nouns.types import Json, JsonObject, Tool, ToolCall
from callwright.parsing.formats import react
from callwright.parsing.parsed import Finish, Parsed
from callwright.parsing.parser import Parser, build_tables
from callwright.parsing.pieces import CallPiece, TextPiece, drop_thoughts
from callwright.parsing.strict import ATTEMPTS
from callwright.parsing.tool_vocabulary import FINISH, ToolVocabulary

_MAY_START = re.compile(r"\(|to=")  # what a call has that counts only where a reply begins
_FENCES = re.compile(r"```[ \t]*\w*[ \t]*\n?|```")


def parse_calls(text: str, tools: Iterable[Tool] = ()) -> Parsed:
    """Read a reply: what :class:`Parser` finds when it is fed the whole of it, with names taken as
    written, known or not (the gate says so).

    Ids are ``call_1``, ``call_2`` … in order. Arguments that are no JSON object stay text. A call
    of ``Finish`` and ``Final Answer:`` become ``finish``, never a call.
    """
    given = tuple(tools)
    return _read_strict_reply(text, given) or _read_lenient_reply(text, given)


def _read_strict_reply(text: str, tools: tuple[Tool, ...]) -> Parsed | None:
    """The reply that is text and one strict block of calls; None where it is anything else."""
    marks = build_tables().marks
    at, word = marks.search(text, 0, True)
    attempt = ATTEMPTS.get(word)
    if attempt is None or (at and (text[at - 1] == "`" or _MAY_START.search(text, 0, at))):
        return None
    found = attempt(text, at, ToolVocabulary(tools, unknown=True), True)
    if found is None:
        return None
    dialect, calls, end = found
    if end < len(text) and (marks.search(text, end, True)[1] or "```" in text[end:]):
        return None
    if any(name == FINISH for name, _ in calls):
        return None
    made = tuple([ToolCall(f"call_{i}", name, given) for i, (name, given) in enumerate(calls, 1)])
    return Parsed(made, (text[:at] + text[end:]).strip(), None, dialect)


def _read_lenient_reply(text: str, tools: tuple[Tool, ...]) -> Parsed:
    parser = Parser(tools, unknown=True)
    pieces = drop_thoughts(parser.read(text))
    found = [p for p in pieces if isinstance(p, CallPiece)]
    rest = "".join(p.text for p in pieces if isinstance(p, TextPiece))
    calls = [p.call for p in found if p.call.tool != FINISH]
    finish = next((_read_finish(p.call.arguments) for p in found if p.call.tool == FINISH), None)
    dialect = (
        found[0].dialect if found else next((b.dialect for b in parser.blocks if b.reason), "")
    )
    reason = next((b.reason for b in parser.blocks if b.reason), "")
    for block in parser.blocks:
        rest = rest.replace(block.raw, "", 1) if block.reason else rest
    answer = react.final_answer(rest)
    if answer is not None and finish is None and dialect in ("", "react"):
        rest, finish, dialect = rest[: answer[0]], Finish(answer[1]), "react"
    if found and "```" in rest:
        rest = _FENCES.sub("", rest)
    numbered = tuple(
        ToolCall(f"call_{i}", c.tool, c.arguments, c.slot) for i, c in enumerate(calls, 1)
    )
    truncated = bool(found) and found[-1].truncated
    return Parsed(numbered, rest.strip(), finish, dialect, reason, truncated)


def _read_finish(arguments: JsonObject | str) -> Finish:
    value: Json = arguments
    if isinstance(value, str):
        try:
            value = parse_lenient(value).value
        except JsonError:
            return Finish(str(arguments))
    if not isinstance(value, dict):
        return Finish(str(value))
    answer = value.get("final_answer", value.get("answer", ""))
    return Finish(
        answer if isinstance(answer, str) else str(answer),
        str(value.get("return_type", "give_answer")),
    )
