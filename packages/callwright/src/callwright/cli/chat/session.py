"""The conversation of a chat, and the file that keeps it: one message a line, as JSON.

A line is appended once a turn has ended, and never changed. The texts are those of the run's trace:
secrets are replaced there. Only its user can read the file.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import get_args

from callwright.cli.terminal.jsonl import encode_line
from callwright.jsontext import JsonError, parse
from callwright.nouns.errors import ConfigError
from callwright.nouns.types import Json, JsonObject, Message, Role, ToolCall

_ROLES: tuple[str, ...] = get_args(Role)


class Session:
    """The messages so far, kept in a file if there is one."""

    def __init__(self, path: Path | None = None) -> None:
        """Raises ConfigError for a file that cannot be read or continued; it is left as it is."""
        self._path = path
        self.messages = () if path is None else _read_session(path)

    @property
    def turns(self) -> int:
        """The number of the user's messages."""
        return sum(message.role == "user" for message in self.messages)

    def add(self, messages: Sequence[Message]) -> None:
        """Add the messages of a turn. Raises ConfigError where they cannot be written; the
        conversation holds them all the same.
        """
        self.messages = (*self.messages, *messages)
        if self._path is None or not messages:
            return
        lines = b"".join(encode_line(_to_row(message)) for message in messages)
        try:
            _append(self._path, lines)
        except OSError as exc:
            raise ConfigError(
                f"cannot write the session {self._path}: {exc.strerror}",
                hint="make room, or choose another --session",
            ) from exc


def _to_row(message: Message) -> JsonObject:
    row: JsonObject = {"role": message.role, "content": message.content}
    if message.tool_calls:
        row["tool_calls"] = [
            {"id": call.id, "tool": call.tool, "arguments": call.arguments}
            for call in message.tool_calls
        ]
    if message.role == "tool":
        row |= {"tool_call_id": message.tool_call_id, "name": message.name}
    return row


def _append(path: Path, lines: bytes) -> None:
    flags = os.O_RDWR | os.O_CREAT | os.O_APPEND
    with os.fdopen(os.open(path, flags, 0o600), "r+b", buffering=0) as file:
        if os.name == "posix":
            with suppress(OSError):  # it is somebody else's
                os.fchmod(file.fileno(), os.fstat(file.fileno()).st_mode & 0o700)
        size = file.seek(0, os.SEEK_END)
        if size and file.seek(size - 1) and file.read(1) != b"\n":
            lines = b"\n" + lines
        while lines:
            lines = lines[file.write(lines) or 0 :]


def _read_session(path: Path) -> tuple[Message, ...]:
    """The messages of a file; none where there is no file yet. Raises ConfigError."""
    try:
        text = path.read_bytes()
    except FileNotFoundError:
        return ()
    except OSError as exc:
        raise ConfigError(
            f"cannot read the session {path}: {exc.strerror}", hint="choose another --session"
        ) from exc
    return tuple(_read_lines(path, text))


def _read_lines(path: Path, text: bytes) -> Iterator[Message]:
    for number, line in enumerate(text.split(b"\n"), 1):
        if not line.strip():
            continue
        try:
            yield _read_message(parse(line.strip()))
        except (JsonError, UnicodeDecodeError, ValueError) as exc:
            raise ConfigError(
                f"the session {path} is broken: line {number}: {exc}",
                hint="the file is left as it is: correct or remove the line, or choose another"
                " --session",
            ) from None


def _read_message(row: Json) -> Message:
    """The message of a row. Raises ValueError for anything else."""
    if not isinstance(row, dict) or row.get("role") not in _ROLES:
        raise ValueError(f"no message: an object with a role of {', '.join(_ROLES)} is wanted")
    fields = {key: row.get(key, "") for key in ("content", "tool_call_id", "name")}
    wrong = [key for key, value in fields.items() if not isinstance(value, str)]
    if wrong:
        raise ValueError(f"{wrong[0]} is no text")
    calls = row.get("tool_calls", [])
    if not isinstance(calls, list):
        raise ValueError("tool_calls is no list")
    return Message(row["role"], tool_calls=tuple(map(_read_call, calls)), **fields)


def _read_call(row: Json) -> ToolCall:
    if not isinstance(row, dict):
        raise ValueError("a call is no object")
    id_, tool, arguments = row.get("id"), row.get("tool"), row.get("arguments")
    if not (isinstance(id_, str) and isinstance(tool, str) and isinstance(arguments, dict)):
        raise ValueError("a call needs an id, a tool and arguments")
    return ToolCall(id_, tool, arguments)
