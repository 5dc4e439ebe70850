"""The calls an upstream delivers itself, gathered from whole messages or from deltas, however badly
numbered.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from callwright.jsontext import parse_object
from callwright.nouns.types import Json, ToolCall
from callwright.proxy.session.answers.sse import json_bytes


@dataclass(slots=True)
class NativeCall:
    """One call as delivered. ``sound``: well-formed as it stands, so that it may be passed on as it
    came.
    """

    id: str = ""
    name: str = ""
    arguments: str = ""
    index: int = -1
    sound: bool = True

    def call(self) -> ToolCall:
        """In our types; arguments as an object where they are one, else as the text they are."""
        return ToolCall(self.id, self.name, parse_object(self.arguments))


class NativeCalls:
    """Feed it ``delta.tool_calls`` in order; read ``calls`` at the end."""

    def __init__(self) -> None:
        self.calls: list[NativeCall] = []

    def feed(self, deltas: Json) -> None:
        for delta in deltas if isinstance(deltas, list) else ():
            if isinstance(delta, dict):
                self._piece(delta)

    def add_message_calls(self, entries: Json) -> None:
        """``message.tool_calls`` of an answer that was not streamed."""
        for place, entry in enumerate(entries if isinstance(entries, list) else ()):
            function = entry.get("function") if isinstance(entry, dict) else None
            if isinstance(function, dict):
                given = entry.get("id")
                made = NativeCall(str(given or ""), str(function.get("name") or ""), "", place)
                made.arguments = _to_text(function.get("arguments"))
                twice = any(c.id == made.id for c in self.calls)
                made.sound = (
                    bool(given) and not twice and isinstance(function.get("arguments"), str)
                )
                self.calls.append(made)

    def _piece(self, delta: Mapping[str, Any]) -> None:
        function = delta.get("function")
        function = function if isinstance(function, dict) else {}
        given, name = str(delta.get("id") or ""), str(function.get("name") or "")
        index = delta.get("index")
        index = index if isinstance(index, int) else -1
        call = self._open(index, given, name)
        if call is None:
            sound = index == len(self.calls) and bool(given)
            call = NativeCall(given, name, "", index, sound)
            self.calls.append(call)
        elif name and name != call.name and not given:
            call.name += name
        call.sound = call.sound and index >= 0 and isinstance(function.get("arguments", ""), str)
        call.arguments += _to_text(function.get("arguments"))

    def _open(self, index: int, given: str, name: str) -> NativeCall | None:
        """The call that a piece continues; None where it begins one."""
        if not self.calls:
            return None
        last = self.calls[-1]
        call = (
            next((c for c in reversed(self.calls) if c.index == index), None)
            if index >= 0
            else last
        )
        if call is None:
            return None
        if given and call.id and given != call.id:
            return None  # an index used again
        if name and not given and call.arguments:
            return None
        if name and given and not call.id and call.arguments:
            return None
        return call


def _to_text(arguments: Json) -> str:
    if isinstance(arguments, str):
        return arguments
    return "" if arguments is None else json_bytes(arguments).decode()
