"""JSON lines in, JSON lines out: one object a line, order kept, a bad line answered and the rest
processed. A single input that is the path of a file is refused.
"""

from __future__ import annotations

import json
import re
import shlex
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from callwright.jsontext import JsonError, parse
from callwright.nouns.control_characters import escape_controls
from callwright.nouns.errors import CallwrightError, ConfigError
from callwright.nouns.types import Json, JsonObject, to_canonical_json

Handler = Callable[[JsonObject], JsonObject]
_DOCUMENTS = (".json", ".jsonl", ".txt")
_NO_NAME = re.compile(r"""[\s{}\[\]()<>"'=]""")


@dataclass(frozen=True, slots=True)
class Answered:
    """Number of lines, how many of them were answered with an ``error``, and how many hold a call
    that was rejected.
    """

    lines: int
    errors: int
    rejected: int = 0

    @property
    def exit_code(self) -> int:
        """1 where a line could not be answered or a call was rejected, as for a single one."""
        return int(self.errors + self.rejected > 0)


class BadLine(Exception):
    """A line that is JSON but not the object the command takes; its text becomes the ``error``."""


def refuse_path(text: str, command: str, wanted: str) -> None:
    """Raise ConfigError where a text is the path of a file, or looks like one, and the content is
    ``wanted``: a sentence about the argument. ``command`` takes the content from standard input.
    """
    try:
        is_file = text != "-" and Path(text).is_file()
    except (OSError, ValueError):  # too long for a name, or no name at all
        return
    name = shlex.quote(text)
    lines, content = f"--jsonl {name} --tools SOURCE", f"- --tools SOURCE < {name}"
    hint = f"callwright {command} {lines if text.endswith('.jsonl') else content}"
    if is_file:
        raise ConfigError(f"{text} is a file, and {wanted}", hint=hint)
    if text.endswith(_DOCUMENTS) and not _NO_NAME.search(text):
        raise ConfigError(f"there is no file {text!r}", hint=f"{wanted}; for a file: {hint}")


@contextmanager
def open_lines(name: str | None) -> Iterator[BinaryIO]:
    """Yield the lines of the file of this name, or of standard input for None and ``-``. Raises
    ConfigError.
    """
    if name is None or name == "-":
        if sys.stdin.isatty():
            print("reading JSON lines from the keyboard; Ctrl-D ends them", file=sys.stderr)
        yield sys.stdin.buffer
        return
    try:
        file = Path(name).open("rb")  # noqa: SIM115 - an error of the body is none of the file
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", "") or error
        raise ConfigError(
            f"--jsonl cannot read the file {name[:80]}: {why}",
            hint="name a file of JSON lines, or none for standard input",
        ) from None
    with file:
        yield file


def answer_stream(
    handle: Handler,
    source: BinaryIO,
    target: BinaryIO | None = None,
    *,
    is_rejected: Callable[[JsonObject], bool] = lambda _: False,
) -> Answered:
    """Answer every line of ``source`` on ``target``, or standard output, as it comes.
    ``is_rejected`` says of an answer whether it holds a call that was rejected.
    """
    target = target or sys.stdout.buffer
    lines = errors = rejected = 0
    for answer in iter_answers(source, handle):
        lines += 1
        is_error = "error" in answer
        errors += is_error
        rejected += not is_error and is_rejected(answer)
        target.write(encode_line(answer))
        target.flush()
    if errors:
        print(
            f'{errors} of {lines} lines could not be answered: their answers have an "error"',
            file=sys.stderr,
        )
    if rejected:
        print(f'{rejected} of {lines} lines hold rejected calls: see "violations"', file=sys.stderr)
    return Answered(lines, errors, rejected)


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


def print_json(value: Any) -> None:
    """Print a value as indented JSON; sets are sorted. Integers beyond 64 bits and lone surrogates,
    which a model may write, are printed too.
    """
    import orjson

    try:
        print(orjson.dumps(value, option=orjson.OPT_INDENT_2, default=sorted).decode())
    except TypeError:
        print(json.dumps(value, indent=2, default=sorted))


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
