"""JSON lines in, JSON lines out: one object a line, order kept, a bad line answered and the rest
processed.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import BinaryIO

from callwright.jsontext import JsonError, parse
from callwright.nouns.control_characters import escape_controls
from callwright.nouns.errors import CallwrightError
from callwright.nouns.types import Json, JsonObject, to_canonical_json

Handler = Callable[[JsonObject], JsonObject]


@dataclass(frozen=True, slots=True)
class Answered:
    """Number of lines, and how many of them were answered with an ``error``."""

    lines: int
    errors: int

    @property
    def exit_code(self) -> int:
        """1 where no line could be answered, though there were some."""
        return int(0 < self.lines == self.errors)


class BadLine(Exception):
    """A line that is JSON but not the object the command takes; its text becomes the ``error``."""


def answer_stream(
    handle: Handler, source: BinaryIO | None = None, target: BinaryIO | None = None
) -> Answered:
    """Answer every line of ``source`` on ``target`` as it comes."""
    if source is None and sys.stdin.isatty():
        print("reading JSON lines from the keyboard; Ctrl-D ends them", file=sys.stderr)
    source, target = source or sys.stdin.buffer, target or sys.stdout.buffer
    lines = errors = 0
    for answer in iter_answers(source, handle):
        lines += 1
        errors += "error" in answer
        target.write(encode_line(answer))
        target.flush()
    if errors:
        print(
            f'{errors} of {lines} lines could not be answered: their answers have an "error"',
            file=sys.stderr,
        )
    return Answered(lines, errors)


def iter_answers(lines: Iterable[bytes], handle: Handler) -> Iterator[JsonObject]:
    """One answer for each line that is not blank."""
    for number, line in enumerate(lines, 1):
        if line.strip():
            yield _answer_line(number, line, handle)


def _answer_line(number: int, line: bytes, handle: Handler) -> JsonObject:
    row: Json = None
    try:
        row = _parse_object(line)
        answer = handle(row)
    except (BadLine, CallwrightError, ValueError) as exc:
        return _build_error(number, row, str(exc))
    except RecursionError:
        return _build_error(number, row, "nested too deeply")
    except Exception as exc:  # one bad line must not stop the stream
        return _build_error(number, row, f"{type(exc).__name__}: {exc}")
    return {"id": row.get("id"), **answer}


def _parse_object(line: bytes) -> JsonObject:
    try:
        row = parse(line.strip())
    except JsonError as exc:
        raise BadLine(f"this is no JSON: {exc}") from None
    if not isinstance(row, dict):
        raise BadLine(f"an object is wanted, this is {line.strip().decode()[:40]}")
    return row


def _build_error(number: int, row: Json, message: str) -> JsonObject:
    key = row.get("id") if isinstance(row, dict) else None
    return {"id": key, "error": {"line": number, "message": message}}


def encode_line(value: JsonObject) -> bytes:
    """The object as one line of UTF-8, keys in their given order; no character in it steers a
    terminal.
    """
    import orjson

    try:
        line = orjson.dumps(value, option=orjson.OPT_APPEND_NEWLINE).decode()
    except (TypeError, orjson.JSONEncodeError):  # integers beyond 64 bits, lone surrogates
        line = to_canonical_json(value) + "\n"
    return escape_controls(line).encode()
