"""Server-sent events as bytes: cut at their ends, never changed. Pure; linear in the input."""

from __future__ import annotations

import re

import orjson

from callwright.jsontext import JsonError, parse
from callwright.types import Json, JsonObject

DONE = b"data: [DONE]\n\n"
COMMENT = b": keep-alive\n\n"
_END = re.compile(rb"(?:\r\n|\n|\r(?!\n))(?:\r\n|\n|\r(?!\n))+")
_LINE = re.compile(rb"\r\n|\n|\r")


class EventSplitter:
    """Cuts a stream into events wherever its pieces happen to end; joined again, they are the stream.

    An event ends with its blank line (WHATWG HTML, 9.2). ``size`` is what waits for its end, in bytes.
    """

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self.size = 0

    def feed(self, data: bytes) -> list[bytes]:
        """The events that this piece completes, each with its blank line."""
        if not self._parts and data.endswith(b"\n\n") and data.count(b"\n\n") == 1 and b"\r" not in data:
            return [data]
        if self._parts:
            # An end may lie across two pieces: look again at the last few bytes only, not at all that waits.
            last = self._parts[-1]
            if len(last) < 4 and len(self._parts) > 1:
                self._parts[-2:] = [self._parts[-2] + last]
                last = self._parts[-1]
            if len(last) >= 4:
                self._parts[-1], data = last[:-4], last[-4:] + data
            else:
                self._parts.pop()
                data = last + data
        events = []
        at = 0
        for found in _END.finditer(data):
            if found.end() == len(data) and data.endswith(b"\r"):
                break  # the line feed of this carriage return may still come
            events.append(b"".join([*self._parts, data[at : found.end()]]))
            self._parts = []
            at = found.end()
        if at < len(data):
            self._parts.append(data[at:])
        self.size = sum(map(len, self._parts))
        return events

    def close(self) -> bytes:
        """What is left when the stream ends without a blank line."""
        rest, self._parts, self.size = b"".join(self._parts), [], 0
        return rest


def data_of(event: bytes) -> bytes:
    """The data of an event: its ``data:`` lines joined by line feeds; empty for comments."""
    if event.startswith(b"data:") and event.find(b"\n") >= len(event) - 2 and b"\r" not in event:
        return event[5:].strip()
    lines = [line[5:].removeprefix(b" ") for line in _LINE.split(event) if line.startswith(b"data:")]
    return b"\n".join(lines).strip()


def encoded(value: Json) -> bytes:
    """One event that carries a JSON value."""
    return b"data: " + json_bytes(value) + b"\n\n"


def named(event: str, value: Json) -> bytes:
    """One event with a name of its own, as Anthropic and OpenAI's Responses API write them."""
    return b"event: " + event.encode() + b"\ndata: " + json_bytes(value) + b"\n\n"


def json_bytes(value: Json) -> bytes:
    """A JSON value as compact UTF-8; integers of any size keep their digits."""
    try:
        return orjson.dumps(value)
    except TypeError:  # an integer beyond 64 bits, or a lone surrogate
        import json

        return json.dumps(value, ensure_ascii=True, separators=(",", ":")).encode()


def json_object(data: bytes) -> JsonObject | None:
    """The JSON object that these bytes are, or None."""
    if not data:
        return None
    try:
        value: Json = parse(data)
    except JsonError:
        return None
    return value if isinstance(value, dict) else None
