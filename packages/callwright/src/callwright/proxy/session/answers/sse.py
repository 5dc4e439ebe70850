"""Server-sent events as bytes: cut at their ends, never changed. Pure; linear in the input."""

from __future__ import annotations

import re
from collections.abc import Callable

import orjson

from callwright.jsontext import JsonError, parse
from callwright.jsontext.surrogates import join_surrogates
from callwright.nouns.types import Json, JsonObject

DONE = b"data: [DONE]\n\n"
COMMENT = b": keep-alive\n\n"
_END = re.compile(rb"(?:\r\n|\n|\r(?!\n))(?:\r\n|\n|\r(?!\n))+")
_LINE = re.compile(rb"\r\n|\n|\r")


class EventSplitter:
    """Cuts a stream into events wherever its pieces happen to end; joined again, they are the
    stream.

    An event ends with its blank line (WHATWG HTML, 9.2). Add a piece, then take events until there
    are none.
    """

    def __init__(self) -> None:
        self._parts: list[bytes] = []  # of an event whose end has not come
        self._size = 0
        self._data = b""
        self._at = 0
        self._plain = True  # lines end with a line feed alone, as far as is known

    @property
    def size(self) -> int:
        """Return the number of bytes that wait for the end of their event."""
        return self._size + len(self._data) - self._at

    def add(self, data: bytes) -> None:
        """The next piece of the stream. All events of the pieces before must have been taken."""
        if self._parts:
            # An end may lie across two pieces: look again at the last few bytes only, not at all
            # that waits.
            last = self._parts.pop()
            if len(last) < 4 and self._parts:
                last = self._parts.pop() + last
            if len(last) > 4:
                self._parts.append(last[:-4])
                last = last[-4:]
            data = last + data
            self._size = sum(map(len, self._parts))
        self._data, self._at = data, 0
        self._plain = b"\r" not in data

    def take(self) -> bytes:
        """The next event, with its blank line; b"" where none is complete."""
        data, at = self._data, self._at
        if at < len(data):
            end = self._end(data, at)
            if end > at:
                self._at = end
                if not self._parts:
                    return data[at:end]
                event = b"".join([*self._parts, data[at:end]])
                self._parts, self._size = [], 0
                return event
            self._parts.append(data[at:])
            self._size += len(data) - at
        self._data, self._at = b"", 0
        return b""

    def take_with(self, read: Callable[[bytes, int], int]) -> bytes:
        """The events at the place reached that ``read`` (piece, place -> length) takes together."""
        at = self._at
        if self._parts or at >= len(self._data):
            return b""
        self._at = at + read(self._data, at)
        return self._data[at : self._at]

    def _end(self, data: bytes, at: int) -> int:
        if self._plain:
            found = data.find(b"\n\n", at)
            return -1 if found < 0 else found + 2
        match = _END.search(data, at)
        if match is None or (match.end() == len(data) and data.endswith(b"\r")):
            return -1  # the line feed of this carriage return may still come
        return match.end()

    def feed(self, data: bytes) -> list[bytes]:
        """The events that this piece completes."""
        self.add(data)
        return list(iter(self.take, b""))

    def close(self) -> bytes:
        """Return the rest that is left when the stream ends without a blank line."""
        rest = b"".join([*self._parts, self._data[self._at :]])
        self._parts, self._size, self._data, self._at = [], 0, b"", 0
        return rest


def extract_data(event: bytes) -> bytes:
    """The data of an event: its ``data:`` lines joined by line feeds; empty for comments."""
    if event.startswith(b"data:") and event.find(b"\n") >= len(event) - 2 and b"\r" not in event:
        return event[5:].strip()
    lines = [
        line[5:].removeprefix(b" ") for line in _LINE.split(event) if line.startswith(b"data:")
    ]
    return b"\n".join(lines).strip()


def encode_event(value: Json) -> bytes:
    """One event that carries a JSON value."""
    return b"data: " + json_bytes(value) + b"\n\n"


def encode_named_event(event: str, value: Json) -> bytes:
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
    """The JSON object that these bytes are, or None. What some servers and clients take, and no
    specification, is read as well, for it must not pass unread: half a character, NaN, a byte order
    mark, UTF-16.
    """
    if not data:
        return None
    try:
        value: Json = parse(data)
    except JsonError:
        value = _parse_as_python(data)
    return value if isinstance(value, dict) else None


def _parse_as_python(data: bytes) -> Json:
    import json

    try:
        found = json.loads(data)  # noqa: TID251 - as servers in Python do
        return join_surrogates(found)[0]
    except (ValueError, RecursionError):
        return None
