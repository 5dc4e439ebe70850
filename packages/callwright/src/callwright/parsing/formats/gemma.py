"""Google's small models: ``call:N{key:<mark>text<mark>,n:1}`` with bare keys and marks of their own
around text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

from callwright.jsontext import MAX_DEPTH, JsonError
from callwright.nouns.types import Json, ToolCall
from callwright.parsing import names
from callwright.parsing.formats.typed import escape_markers, unescape_markers
from callwright.parsing.marker_set import MarkerSet, get_marker_set
from callwright.parsing.pieces import Meant, Steps
from callwright.parsing.scanner import Scanner
from callwright.parsing.tool_vocabulary import ToolVocabulary
from callwright.parsing.values import BROKEN, STOPPED, UNCLOSED

QUOTES = ('<|"|>', "<escape>")  # Gemma 4, FunctionGemma
_BRACE = MarkerSet(["{"])
_QUOTES = MarkerSet(QUOTES)
_KEY_ENDS = MarkerSet([":", "}", "\n"])
_KEY = re.compile(r"[A-Za-z_][\w\-]*\Z")


class _Broken(Exception):
    """The value cannot be read; ``stopped``: because the text ends."""

    def __init__(self, stopped: bool = False) -> None:
        self.stopped = stopped


def take_call(tape: Scanner, offer: ToolVocabulary, closes: MarkerSet) -> Steps[Meant | None]:
    """The call whose ``call:`` is read already; None where no name and brace follow."""
    name = yield from names.take_name(tape, offer, _BRACE)
    if not name or (yield from tape.space()) != "{":
        return None
    before = len(tape.raw())
    value = _Value(tape, offer, closes)
    try:
        arguments = yield from value.object()
    except _Broken as broken:
        _, closer = yield from tape.until(closes)
        raw = tape.raw()[before:]
        stopped = broken.stopped or not closer
        return Meant(
            name, raw, [*value.problems, STOPPED if stopped else BROKEN], truncated=stopped
        )
    return Meant(name, arguments, value.problems)


class _Value:
    """Reads one value a character class at a time; problems are collected, what cannot be read
    raises _Broken.
    """

    def __init__(self, tape: Scanner, offer: ToolVocabulary, closes: MarkerSet) -> None:
        self._tape, self._offer, self._closes = tape, offer, closes
        self.problems: list[str] = []

    def object(self) -> Steps[dict[str, Json]]:
        """The object whose brace comes next. What is open stands on a list, so that depth costs
        nothing.
        """
        self._tape.at += 1
        whole: dict[str, Json] = {}
        opened: list[dict[str, Json] | list[Json]] = [whole]
        while opened:
            inner = opened[-1]
            char = yield from self._tape.space()
            if char == ("}" if isinstance(inner, dict) else "]"):
                self._tape.at += 1
                opened.pop()
            elif char == ",":
                self._tape.at += 1
            elif (yield from self._closed_early(char)):
                if len(opened) > 1:
                    raise _Broken
                self.problems.append(UNCLOSED)
                return whole
            else:
                yield from self._entry(inner, char, opened)
        return whole

    def _entry(
        self,
        inner: dict[str, Json] | list[Json],
        char: str,
        opened: list[dict[str, Json] | list[Json]],
    ) -> Steps[None]:
        """Takes one entry of what was opened last; a bracket opens something more."""
        key = ""
        if isinstance(inner, dict):
            key = yield from self._key(char)
            if (yield from self._tape.space()) != ":":
                raise _Broken(stopped=not (yield from self._tape.char()))
            self._tape.at += 1
        elif char == "}":
            raise _Broken
        char = yield from self._tape.space()
        value: Json
        if char and char in "{[":
            if len(opened) >= MAX_DEPTH:
                raise _Broken
            self._tape.at += 1
            value = {} if char == "{" else []
            opened.append(value)
        else:
            value = yield from self._leaf(char)
        if isinstance(inner, dict):
            inner[key] = value
        else:
            inner.append(value)

    def _closed_early(self, char: str) -> Steps[bool]:
        return char == "<" and bool((yield from self._tape.marker(self._closes)))

    def _key(self, char: str) -> Steps[str]:
        if not char:
            raise _Broken(stopped=True)
        if (yield from self._tape.marker(_QUOTES)):
            return (yield from self._text())
        if char in "\"'":
            return (yield from self._quoted())
        key, end = yield from self._tape.until(_KEY_ENDS, 1024)
        if end != ":":
            raise _Broken(stopped=not (yield from self._tape.char()))
        return key.strip()

    def _leaf(self, char: str) -> Steps[Json]:
        if not char:
            raise _Broken(stopped=True)
        if (yield from self._tape.marker(_QUOTES)):
            return (yield from self._text())
        if char in "\"'":
            return (yield from self._quoted())
        text = (yield from self._tape.scalar()).strip()
        if not (yield from self._tape.char()):
            raise _Broken(stopped=True)
        try:
            return self._offer.strict(text)
        except JsonError:
            self.problems.append("text without its marks")
            return text

    def _text(self) -> Steps[str]:
        mark = yield from self._tape.marker(_QUOTES)
        self._tape.at += len(mark)
        text, end = yield from self._tape.until(get_marker_set(frozenset([mark])))
        if not end:
            raise _Broken(stopped=True)
        self._tape.at += len(end)
        return unescape_markers(text)

    def _quoted(self) -> Steps[str]:
        self.problems.append("ordinary quotes instead of the format's own marks")
        text, closed = yield from self._tape.string()
        if not closed:
            raise _Broken(stopped=True)
        text = text.strip()
        try:
            value = self._offer.strict(text)
        except JsonError:
            value = text[1:-1]
        return str(value)


def write_value(call: ToolCall, mark: str) -> str:
    given = call.arguments if isinstance(call.arguments, dict) else {}
    body = _format_value(given, mark) if isinstance(call.arguments, dict) else str(call.arguments)
    return f"call:{call.tool}{body}"


def _format_value(value: Json, mark: str) -> str:
    if isinstance(value, dict):
        return (
            "{"
            + ",".join(f"{_format_key(k, mark)}:{_format_value(v, mark)}" for k, v in value.items())
            + "}"
        )
    if isinstance(value, list):
        return "[" + ",".join(_format_value(v, mark) for v in value) + "]"
    return f"{mark}{escape_markers(value)}{mark}" if isinstance(value, str) else json.dumps(value)


def _format_key(key: str, mark: str) -> str:
    return key if _KEY.match(key) and key.isascii() else f"{mark}{escape_markers(key)}{mark}"


def write_gemma(calls: Sequence[ToolCall]) -> str:
    return "".join(f"<|tool_call>{write_value(c, QUOTES[0])}<tool_call|>" for c in calls)


def write_functiongemma(calls: Sequence[ToolCall]) -> str:
    return "".join(
        f"<start_function_call>{write_value(c, QUOTES[1])}<end_function_call>" for c in calls
    )
