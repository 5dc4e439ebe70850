"""Standard output and standard error of a command: what goes through them steers no terminal. Loads
no library.

Any line of any command may hold texts of others (names, descriptions, errors, replies). All of them
pass here, whoever prints them; our own colours and moving lines go past it
(:mod:`callwright.cli.terminal.console`).
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from io import BytesIO, TextIOWrapper
from typing import Any, TextIO, cast

from callwright.nouns.control_characters import escape_controls


class GuardedStream:
    """A text stream in which control characters of texts are written visibly. All else is the
    stream's.
    """

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream

    def write(self, text: str) -> int:
        """Write it; returns its length, as streams do."""
        if not isinstance(text, str):
            raise TypeError(f"a text stream takes texts, not {type(text).__name__}")
        self.stream.write(escape_controls(text))
        return len(text)

    def writelines(self, lines: Iterable[str]) -> None:
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)


def guard_streams() -> None:
    """Have standard output and standard error guarded, for the rest of the process or until they
    are replaced. What their encoding cannot say is escaped; a closed standard input is empty,
    and what is written to a closed output is lost.
    """
    sys.stdin = sys.stdin or TextIOWrapper(BytesIO())
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name) or TextIOWrapper(BytesIO(), encoding="utf-8")
        if not isinstance(stream, GuardedStream):
            if isinstance(stream, TextIOWrapper):
                stream.reconfigure(errors="backslashreplace")
            setattr(sys, name, cast(TextIO, GuardedStream(stream)))


def unwrap_stream(stream: TextIO) -> TextIO:
    """The stream itself, for what prints control characters of ours and has escaped all others."""
    return stream.stream if isinstance(stream, GuardedStream) else stream
