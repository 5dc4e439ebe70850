"""Keeps the end of what a server's program writes to stderr, for the message that says why the
server cannot be used. It may write as much as it likes, for as long as it runs.
"""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import IO

_MOST = 1_500  # bytes that are kept
_CHUNK = 65_536


class StderrTail(asyncio.Protocol):
    """Reads the other end of ``file``, and keeps its last bytes."""

    def __init__(self, file: IO[bytes], source: int = -1) -> None:
        self.file = file
        self._source = source
        self._kept = b""

    def data_received(self, data: bytes) -> None:
        self._kept = (self._kept + data[-_MOST:])[-_MOST:]

    def read(self) -> str:
        """The end of what was written so far."""
        if self._source < 0:
            size = self.file.seek(0, 2)
            self.file.seek(max(0, size - _MOST))
            return self.file.read().decode("utf-8", "replace").strip()
        with suppress(OSError):  # BlockingIOError: nothing more is there
            while data := os.read(self._source, _CHUNK):
                self.data_received(data)
        return self._kept.decode("utf-8", "replace").strip()


@asynccontextmanager
async def keep_stderr() -> AsyncIterator[StderrTail]:
    """A file for a program's stderr, read meanwhile."""
    if sys.platform == "win32":  # its pipes of this kind cannot be read by the event loop
        with tempfile.TemporaryFile() as file:
            yield StderrTail(file)
        return
    reading, writing = os.pipe()
    with os.fdopen(writing, "wb", 0) as file:
        tail = StderrTail(file, reading)
        loop = asyncio.get_running_loop()
        transport, _ = await loop.connect_read_pipe(lambda: tail, os.fdopen(reading, "rb", 0))
        try:
            yield tail
        finally:
            transport.close()
