"""The log of a server: one line for everything that is served, written where nobody waits for it."""

from __future__ import annotations

import logging
import os
import queue
import threading
from collections.abc import Callable
from contextlib import suppress

_MOST_LINES = 1_000  # that wait to be written
_PATIENCE = 1.0  # seconds for the last lines at the end


class LogHandler(logging.Handler):
    """Writes what our own loggers say in the form of the log."""

    def __init__(self, write: Callable[[str], None], render_warning: Callable[[str], str]) -> None:
        super().__init__(logging.WARNING)
        self._write, self._render_warning = write, render_warning

    def emit(self, record: logging.LogRecord) -> None:
        self._write(self._render_warning(f"{record.name}: {record.getMessage()}"))


class LineLog:
    """Writes lines to a file descriptor in a thread of its own: who does not read the other end of
    a pipe holds no request up. Lines for which there is no room are counted, not kept.
    """

    def __init__(
        self, descriptor: int, render_warning: Callable[[str], str] = lambda said: f"({said})"
    ) -> None:
        self._descriptor = descriptor
        self._render_warning = render_warning
        self._lines: queue.Queue[str | None] = queue.Queue(_MOST_LINES)
        self._left_out = 0
        self._thread = threading.Thread(target=self._write, name="line log", daemon=True)
        self._thread.start()

    def __call__(self, line: str) -> None:
        try:
            self._lines.put_nowait(line)
        except queue.Full:
            self._left_out += 1

    def close(self) -> None:
        """Write what waits, as far as somebody takes it soon."""
        with suppress(queue.Full):
            self._lines.put_nowait(None)
        self._thread.join(_PATIENCE)

    def _write(self) -> None:
        while (line := self._lines.get()) is not None:
            left_out, self._left_out = self._left_out, 0
            said = f"{left_out} lines were left out: nobody read them"
            more = f"{self._render_warning(said)}\n" if left_out else ""
            try:
                os.write(self._descriptor, f"{line}\n{more}".encode())
            except OSError:
                return
