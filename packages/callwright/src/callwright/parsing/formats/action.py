"""ReAct's actions (RETO A.6): ``Action:`` and ``Action Input:``; and smolagents' ``Action:`` over a
JSON call.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from itertools import product

from callwright.jsontext import JsonError
from callwright.nouns.types import ToolCall
from callwright.parsing import names
from callwright.parsing.body import FENCES
from callwright.parsing.formats import pythonic, untagged
from callwright.parsing.marker_set import MarkerSet
from callwright.parsing.pieces import Block, Meant, Reading, Steps
from callwright.parsing.scanner import Scanner
from callwright.parsing.tool_vocabulary import ToolVocabulary
from callwright.parsing.values import BROKEN, STOPPED

MARKER = "Action"
_NUMBER = re.compile(r"[ \t\d]*")
_BLANK = re.compile(r"[ \t]*")
_DECORATION = re.compile(r"[ \t*`]*")
_NAME = re.compile(r"[^\n`*({\[]*")
_INFO = re.compile(r"[\w+\-]*")
_INPUT = MarkerSet(
    map("".join, product(("", "**"), ("Action", "action"), (" ", "_", ""), ("Input", "input")))
)
_LABELS = MarkerSet(
    ["Thought", "Action", "Observation", "Human:", "User:", "Assistant:", "Final Answer"]
)
_AFTER_NAME = MarkerSet(["\n", "(", "{", "`", "*"])
_LINE_END = MarkerSet(["\n"])


def read(tape: Scanner, offer: ToolVocabulary, marker: str) -> Reading:
    """One action. Its name counts if it is offered or an input follows; broken input stays text for
    the gate.
    """
    tape.at += len(marker)
    yield from tape.take(_NUMBER, 16)
    if (yield from tape.char()) != ":":
        return None
    tape.at += 1
    yield from tape.take(_BLANK, 16)
    known = yield from names.find_name(tape, offer, _AFTER_NAME)
    if not known:
        yield from tape.take(_DECORATION, 16)
        known = yield from names.find_name(tape, offer, _AFTER_NAME)
    char = yield from tape.char()
    if not known and (char in "\n{[" or (char == "`" and (yield from tape.marker(FENCES)))):
        return (yield from _json_action(tape, offer))
    tape.at += len(known)
    name = known or (yield from tape.take(_NAME, offer.longest)).strip().strip("\"'")
    yield from tape.take(_DECORATION, 16)
    char = yield from tape.char()
    if not name or char not in "\n({":
        return None
    if char and char in "({":
        text, closed = yield from tape.value(round_=char == "(")
        if char == "{" or not closed or not (yield from _has_input_label(tape)):
            if not offer.calls(name):
                return None
            return Block("react", [_build_direct_call(offer, name, text, closed)])
    if not (yield from _take_input_label(tape)):
        if not offer.calls(name):
            return None
        return Block("react", [Meant(name, "", ["no Action Input"])])
    return Block("react", [(yield from _take_arguments(tape, offer, name))])


def _json_action(tape: Scanner, offer: ToolVocabulary) -> Steps[Block | None]:
    """``Action:`` and a JSON call, fenced or not."""
    char = yield from tape.space()
    fence = char == "`" and bool((yield from tape.marker(FENCES)))
    if fence:
        tape.at += 3
        yield from tape.take(_INFO, 32)
        char = yield from tape.space()
    block = Block("smolagents")
    if not char or char not in "{[" or not (yield from untagged.take_value(tape, offer, block)):
        return None
    if fence:
        yield from tape.closing(FENCES)
    return block


def _build_direct_call(offer: ToolVocabulary, name: str, text: str, closed: bool) -> Meant:
    """``Action: f({…})``, ``Action: f(a='x')`` and ``Action: f{…}``."""
    if text[:1] == "{" or not closed:
        return _build_call(offer, name, text.removeprefix("("), not closed)
    inner = text[1:-1].strip()
    if not inner or inner[:1] in "{[":
        return _build_call(offer, name, inner or "{}", False)
    return pythonic.read_call(name, text, offer)


def _has_input_label(tape: Scanner) -> Steps[bool]:
    ahead = yield from tape.glance()
    return ahead >= 0 and bool((yield from tape.marker(_INPUT, ahead)))


def _take_input_label(tape: Scanner) -> Steps[bool]:
    """Takes the label ``Action Input:`` if it comes next."""
    ahead = yield from tape.glance()
    label = "" if ahead < 0 else (yield from tape.marker(_INPUT, ahead))
    if not label:
        return False
    tape.at += ahead + len(label)
    yield from tape.take(_NUMBER, 16)
    if (yield from tape.char()) == ":":
        tape.at += 1
    yield from tape.take(_DECORATION, 16)
    return True


def _take_arguments(tape: Scanner, offer: ToolVocabulary, name: str) -> Steps[Meant]:
    ahead = yield from tape.glance()
    if ahead < 0 or (yield from tape.marker(_LABELS, ahead)):
        return Meant(name, "", ["no Action Input"])
    tape.at += ahead
    char = tape.text[tape.at]
    fence = char == "`" or bool(tape.text[tape.at - 1] == "`")
    if char == "`":
        yield from tape.take(_DECORATION, 4)
    if fence:
        yield from tape.take(_INFO, 32)
        char = yield from tape.space()
    if char and char in "{[":
        text, closed = yield from tape.value()
        if fence:
            yield from tape.closing(FENCES)
        return _build_call(offer, name, text, not closed)
    text, _ = yield from tape.until(_LINE_END)
    return _build_call(offer, name, text.strip(), False)


def _build_call(offer: ToolVocabulary, name: str, text: str, stopped: bool) -> Meant:
    if stopped:
        return Meant(name, text, [STOPPED], truncated=True)
    try:
        value = offer.strict(text)
    except JsonError as exc:
        return Meant(name, text, [f"{BROKEN}: {exc.reason}"])
    return (
        Meant(name, value)
        if isinstance(value, dict)
        else Meant(name, text, ["arguments are not an object"])
    )


def write(calls: Sequence[ToolCall]) -> str:
    return (
        "\n".join(f"Action: {c.tool}\nAction Input: {_format_arguments(c)}" for c in calls) + "\n"
    )


def _format_arguments(call: ToolCall) -> str:
    given = call.arguments
    return given if isinstance(given, str) else json.dumps(given, ensure_ascii=False)
