"""The calls an upstream delivers itself, gathered from whole messages or from deltas, however badly
numbered. A ``function_call``, the older form, is one of them: some servers write it beside
``tool_calls``, for the same call.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from callwright.jsontext import parse_object
from callwright.nouns.types import Json, JsonObject, ToolCall
from callwright.proxy.session import custom_tools
from callwright.proxy.session.answers.sse import json_bytes

CALLS = ("tool_calls", "function_call")  # the members of a message or a delta that hold calls


@dataclass(slots=True)
class NativeCall:
    """One call as delivered. ``sound``: well-formed as it stands, so that it may be passed on as it
    came. ``is_free``: its tool takes text as it is (``custom``) instead of JSON.
    """

    id: str = ""
    name: str = ""
    arguments: str = ""
    index: int = -1
    sound: bool = True
    is_free: bool = False

    def call(self) -> ToolCall:
        """In our types; arguments as an object where they are one, else as the text they are."""
        given = {"input": self.arguments} if self.is_free else parse_object(self.arguments)
        return ToolCall(self.id, self.name, given)

    def render(self) -> JsonObject:
        """The call as an entry of ``tool_calls``."""
        return custom_tools.render_call(self.call(), self.arguments, is_free=self.is_free)


class NativeCalls:
    """Feed it deltas in order, or a whole message; read ``calls`` at the end. False as long as
    there are none.
    """

    def __init__(self) -> None:
        self._calls: list[NativeCall] = []
        self.entries: list[JsonObject] = []  # of a whole message: those of its calls, as they came
        self._older = NativeCall(sound=False)

    def __bool__(self) -> bool:
        return bool(self._calls or self._older.name)

    @property
    def calls(self) -> list[NativeCall]:
        """The calls so far. One of the older form counts where no other says the same, however it
        is written.
        """
        older, calls = self._older, self._calls
        same = (c for c in calls if c.name == older.name)
        is_said = any(c.call().arguments == older.call().arguments for c in same)
        return calls if is_said or not older.name else [*calls, older]

    def feed(self, delta: Mapping[str, Any]) -> bool:
        """Take the calls of a delta. Return True if it has any."""
        entries = delta.get("tool_calls")
        for entry in entries if isinstance(entries, list) else ():
            if isinstance(entry, dict):
                self._piece(entry)
        self._add_older(delta)
        return bool((entries or delta.get("function_call")) and self)

    def add_message(self, message: Mapping[str, Any]) -> None:
        """Take the calls of an answer that was not streamed."""
        entries = message.get("tool_calls")
        for entry in entries if isinstance(entries, list) else ():
            function, is_free = custom_tools.read_function(entry)
            if function is not None:
                given = entry.get("id")
                made = NativeCall(str(given or ""), str(function.get("name") or ""))
                made.arguments, made.is_free = arguments_text(function.get("arguments")), is_free
                twice = any(c.id == made.id for c in self._calls)
                made.sound = (
                    bool(given) and not twice and isinstance(function.get("arguments"), str)
                )
                self._calls.append(made)
                self.entries.append(entry)
        self._add_older(message)

    def _add_older(self, message: Mapping[str, Any]) -> None:
        function = message.get("function_call")
        if isinstance(function, dict):
            self._older.name = self._older.name or str(function.get("name") or "")
            self._older.arguments += arguments_text(function.get("arguments"))

    def _piece(self, delta: Mapping[str, Any]) -> None:
        found, is_free = custom_tools.read_function(delta)
        function = found or {}
        given, name = str(delta.get("id") or ""), str(function.get("name") or "")
        index = delta.get("index")
        index = index if isinstance(index, int) else -1
        call = self._open(index, given, name)
        if call is None:
            sound = index == len(self._calls) and bool(given)
            call = NativeCall(given, name, "", index, sound, is_free)
            self._calls.append(call)
        elif name and name != call.name and not given:
            call.name += name
        call.sound = call.sound and index >= 0 and isinstance(function.get("arguments", ""), str)
        call.arguments += arguments_text(function.get("arguments"))

    def _open(self, index: int, given: str, name: str) -> NativeCall | None:
        """The call that a piece continues; None where it begins one."""
        if not self._calls:
            return None
        last = self._calls[-1]
        call = (
            next((c for c in reversed(self._calls) if c.index == index), None)
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


def arguments_text(arguments: Json) -> str:
    """Arguments as the text that a call has; one that has none has an empty one."""
    if isinstance(arguments, str):
        return arguments
    return "" if arguments is None else json_bytes(arguments).decode()
