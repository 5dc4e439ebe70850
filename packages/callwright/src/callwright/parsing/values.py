"""The text of a bracketed value -> the calls it means: read strictly, else repaired with problems
named, else torn.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TypeVar

from callwright.jsontext import JsonError, parse
from callwright.parsing.formats.objects import (
    ARGUMENT_KEYS,
    LABELS,
    LISTS,
    NAME_KEYS,
    Found,
    build_call,
    read_object,
)
from callwright.parsing.pieces import Meant, Steps
from callwright.parsing.scanner import Scanner
from callwright.parsing.tool_vocabulary import MAX_NAME, ToolVocabulary, named_tool

T = TypeVar("T")
UNCLOSED = "the closing bracket of the call is missing"
STOPPED = "the text stops inside the arguments"
BROKEN = "the arguments cannot be read"
NO_END = "the closing marker is missing"
_MEMBERS = 64
_KEY = re.compile(r"[\w\-]*")


@dataclass(frozen=True, slots=True)
class Member:
    """``"key": value`` of an object as text. ``closed``: the value is complete."""

    key: str
    value: str
    closed: bool


def read_value(text: str, closed: bool, offer: ToolVocabulary, *, at_end: bool) -> Found | None:
    """The calls of one bracketed value, None where it is no call.

    Not ``closed``: its last bracket was not seen, because the stream ended (``at_end``) or a
    closing marker came. Then only what is complete in itself is read; arguments that stop stay
    text, never completed.
    """
    if closed:
        try:
            repaired = offer.read(text)
        except JsonError:
            return _salvage_calls(text, offer, at_end=False)
        if not repaired.truncated:
            found = read_object(repaired.value, offer.tools)
            for call in found.calls if found else ():
                call.problems += repaired.problems
            return found
    return _salvage_calls(text, offer, at_end)


def read_arguments(
    name: str, text: str, closed: bool, offer: ToolVocabulary, *, at_end: bool
) -> Meant:
    """A call whose name stands outside of the value: ``text`` are its arguments."""
    if not closed:
        return Meant(name, text, [STOPPED if at_end else UNCLOSED], truncated=at_end)
    try:
        repaired = offer.read(text)
    except JsonError as exc:
        return Meant(name, text, [f"{BROKEN}: {exc.reason}"])
    if repaired.truncated:
        return Meant(name, text, [STOPPED], truncated=True)
    call = build_call(name, repaired.value)
    call.problems += repaired.problems
    return call


def _salvage_calls(text: str, offer: ToolVocabulary, at_end: bool) -> Found | None:
    """The calls of a value that cannot be read as a whole."""
    tape = Scanner(text, ended=True)
    if text[:1] == "[":
        return _salvage_list(tape, offer, at_end)
    return _salvage_object(run_reader(take_members(tape)), offer, at_end)


def _salvage_list(tape: Scanner, offer: ToolVocabulary, at_end: bool) -> Found | None:
    found = Found()
    tape.at += 1
    while True:
        while run_reader(tape.space()) == ",":
            tape.at += 1
        if tape.text[tape.at : tape.at + 1] != "{":
            break
        text, closed = run_reader(tape.value())
        inner = read_value(text, closed, offer, at_end=at_end)
        if inner is None:
            break
        found.calls += inner.calls
    return found if found.calls else None


def _salvage_object(given: list[Member], offer: ToolVocabulary, at_end: bool) -> Found | None:
    first = {m.key: m for m in reversed(given)}
    for key in LISTS:
        if key in first and first[key].value[:1] == "[":
            return read_value(first[key].value, first[key].closed, offer, at_end=at_end)
    inner = first.get("function")
    if inner is not None and inner.value[:1] == "{":
        return read_value(inner.value, inner.closed, offer, at_end=at_end)
    name = next(
        (first[k] for k in NAME_KEYS if k in first and first[k].value[:1] in ("'", '"')), None
    )
    arguments = next((first[k] for k in ARGUMENT_KEYS if k in first), None)
    if name is None or not name.closed:
        return None
    label = named_tool(unquote_text(name.value), offer.tools)
    if not 0 < len(label) <= offer.longest:
        return None
    if arguments is None:
        stops = at_end and label in offer.tools
        return Found([Meant(label, "", [STOPPED], truncated=True)]) if stops else None
    call = _salvage_call(label, arguments, offer, at_end)
    call.slot = next(
        (unquote_text(first[k].value) for k in LABELS if k in first and first[k].closed), ""
    )
    return Found([call])


def _salvage_call(name: str, arguments: Member, offer: ToolVocabulary, at_end: bool) -> Meant:
    text = arguments.value
    if arguments.closed and text[:1] in ("{", "["):
        call = read_arguments(name, text, True, offer, at_end=at_end)
        call.problems.append(UNCLOSED if isinstance(call.arguments, dict) else BROKEN)
        return call
    if arguments.closed and text[:1] == '"':
        try:
            return build_call(name, offer.strict(text.strip()))
        except JsonError:
            pass
    cut = at_end and not arguments.closed
    return Meant(name, text.strip(), [STOPPED if cut else BROKEN], truncated=cut)


def take_members(tape: Scanner) -> Steps[list[Member]]:
    """The members of the object that begins here, as far as they can be told apart."""
    given: list[Member] = []
    tape.at += 1
    while len(given) < _MEMBERS:
        char = yield from tape.space()
        if char == ",":
            tape.at += 1
            continue
        if char in "\"'" and char:
            text, closed = yield from tape.string(MAX_NAME)
            key = unquote_text(text)
            if not closed:
                break
        else:
            key = yield from tape.take(_KEY, MAX_NAME)
        char = yield from tape.space()
        if not key or char != ":":
            break
        tape.at += 1
        given.append((yield from _take_member(tape, key)))
    return given


def _take_member(tape: Scanner, key: str) -> Steps[Member]:
    char = yield from tape.space()
    if char in "{[" and char:
        return Member(key, *(yield from tape.value()))
    if char in "\"'" and char:
        return Member(key, *(yield from tape.string()))
    text = yield from tape.scalar()
    return Member(key, text.strip(), tape.at < len(tape.text))


def unquote_text(text: str) -> str:
    """Return the content of a quoted string: for names and keys, which rarely hold an escape."""
    text = text.strip()
    if "\\" in text:
        try:
            return str(parse(text))
        except JsonError:
            pass
    return (
        text[1:-1]
        if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'"
        else text.strip("\"'")
    )


def run_reader(steps: Steps[T]) -> T:
    """Runs a reader on text that is all there."""
    try:
        next(steps)
    except StopIteration as stop:
        value: T = stop.value
        return value
    raise AssertionError("a reader waits for text after its end")
