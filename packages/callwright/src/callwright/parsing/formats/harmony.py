"""Harmony (gpt-oss): ``<|channel|>commentary to=functions.N <|constrain|>json<|message|>{…}<|call|>``."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

from callwright.nouns.types import ToolCall
from callwright.parsing import names
from callwright.parsing.formats import tagged
from callwright.parsing.marker_set import MarkerSet
from callwright.parsing.pieces import Block, Reading, Steps
from callwright.parsing.scanner import Scanner
from callwright.parsing.tool_vocabulary import MAX_NAME, NAME, ToolVocabulary, named_tool
from callwright.parsing.values import NO_END, read_arguments

OPENS = ("<|channel|>", "<|start|>", "=functions.")
STARTS = (
    " to=",
    "to=",
    "assistant to=",
    "commentary to=",
    "assistantcommentary to=",
    " analysis to=",
    "analysis to=",
)
_MESSAGE = MarkerSet(["<|message|>", "<|call|>", "<|end|>", "<|return|>"])
_HEADER_ENDS = MarkerSet(["<|message|>", "{", "\n\n", "<|call|>", "<|end|>"])
_ENDS = MarkerSet(["<|call|>", "<|end|>", "<|return|>"])
_CALL = MarkerSet(["<|call|>"])
_ATEM, _MESSAGE_END = MarkerSet([tagged.ATEM]), MarkerSet(["<|eom|>", "<|eot|>"])
_PEOPLE = frozenset({"user", "self"})  # whom a message may be for that are no tools
_TO = re.compile(r"\bto=")
_AFTER_NAME = MarkerSet([" ", "\n", "<", "{"])


def read(tape: Scanner, offer: ToolVocabulary, marker: str) -> Reading:
    """A message with a recipient is a call; any other is text. ``to=functions.N`` without a channel
    is a call whose prompt ended inside of the header, or what is left where a server dropped the
    markers.
    """
    tape.at += len(marker)
    if marker == "=functions." or marker in STARTS:
        return (yield from _take_bare_message(tape, offer))
    header, end = yield from tape.until(_MESSAGE, 200 + offer.longest)
    name = _find_recipient(header, offer)
    if end != "<|message|>" or not name:
        return None
    tape.at += len(end)
    return (yield from _take_message(tape, offer, name))


def _find_recipient(header: str, offer: ToolVocabulary) -> str:
    """The tool that a message is for; "" where it is for people."""
    found = _TO.search(header)
    if found is None:
        return ""
    rest = header[found.end() :]
    name = names.find_header_name(rest, offer) or names.find_header_name(
        rest.removeprefix("functions."), offer
    )
    given = NAME.match(rest, 0, MAX_NAME)
    name = name or named_tool(given[0] if given else "", offer.tools)
    return "" if name in _PEOPLE and name not in offer.tools else name


def _take_bare_message(tape: Scanner, offer: ToolVocabulary) -> Steps[Block | None]:
    name = named_tool((yield from names.take_name(tape, offer, _AFTER_NAME)), offer.tools)
    _, end = yield from tape.until(_HEADER_ENDS, 96)
    if not name or end not in ("<|message|>", "{") or (end == "{" and not offer.calls(name)):
        return None
    if name in _PEOPLE and name not in offer.tools:
        return None
    tape.at += len(end) if end != "{" else 0
    block = yield from _take_message(tape, offer, name)
    if end == "{":
        block.calls[0].problems.append("the message's markers are missing")
    return block


def _take_message(tape: Scanner, offer: ToolVocabulary, name: str) -> Steps[Block]:
    char = yield from tape.space()
    if char == "<" and (yield from tape.marker(_ATEM)):
        return (yield from _take_glimmer(tape, offer))
    if char == "{":
        text, closed = yield from tape.value(_ENDS)
    else:
        text, end = yield from tape.until(_ENDS)
        closed = bool(end)
    call = read_arguments(
        name, text, closed, offer, at_end=tape.ended and tape.at >= len(tape.text)
    )
    if (
        not (yield from tape.closing(_CALL))
        and not call.truncated
        and not (tape.ended and tape.at >= len(tape.text))
    ):
        call.problems.append(NO_END)
    return Block("harmony", [call])


def _take_glimmer(tape: Scanner, offer: ToolVocabulary) -> Steps[Block]:
    """Muse Glimmer's message: calls in tags, whose own names count, the recipient's is a
    repetition.
    """
    block = yield from tagged.read(tape, offer, tagged.ATEM)
    yield from tape.closing(_MESSAGE_END)
    return block or Block("glimmer")


def write(calls: Sequence[ToolCall]) -> str:
    return "<|start|>assistant".join(_format_call(c) for c in calls)


def _format_call(call: ToolCall) -> str:
    body = json.dumps(call.arguments, ensure_ascii=False)
    return (
        f"<|channel|>commentary to=functions.{call.tool} <|constrain|>json<|message|>{body}<|call|>"
    )
