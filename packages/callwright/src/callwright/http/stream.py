"""An answer that is read while it arrives."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from typing import Any

from callwright.http.response import HttpResponse
from callwright.nouns.errors import Failure

ReadPiece = Callable[[], Coroutine[Any, Any, bytes | Failure]]


class HttpStream:
    """Status and headers, and the body as it arrives. Read it once, by one of ``chunks``, ``lines``
    or ``read``.

    ``cookies`` are the values of ``set-cookie``, the one header that cannot be joined to a line
    (RFC 9110, 5.3). If the answer breaks off or grows too long, the *last* item of an iteration is
    a Failure.
    """

    def __init__(
        self,
        status: int,
        headers: Mapping[str, str],
        url: str,
        read_piece: ReadPiece,
        max_bytes: int,
        cookies: tuple[str, ...] = (),
    ) -> None:
        self.status = status
        self.headers = headers
        self.cookies = cookies
        self.url = url
        self._read_piece = read_piece
        self._max_bytes = max_bytes

    @property
    def ok(self) -> bool:
        return 200 <= self.status < 300

    async def chunks(self) -> AsyncIterator[bytes | Failure]:
        """Pieces of the body as they arrive, decompressed, never empty; a Failure last if it breaks
        off.
        """
        size = 0
        while piece := await self._read_piece():
            if isinstance(piece, Failure):
                yield piece
                return
            size += len(piece)
            if size > self._max_bytes:
                yield too_large(self._max_bytes)
                return
            yield piece

    async def lines(self) -> AsyncIterator[str | Failure]:
        """Lines of UTF-8 text without their end (LF, CR LF or CR, as in server-sent events); a
        Failure last.
        """
        splitter = LineSplitter()
        async for piece in self.chunks():
            if isinstance(piece, Failure):
                yield piece
                return
            for line in splitter.feed(piece):
                yield line
        for line in splitter.close():
            yield line

    async def read(self) -> HttpResponse | Failure:
        """The whole body, as ``HttpClient.request`` would have returned it."""
        pieces = []
        async for piece in self.chunks():
            if isinstance(piece, Failure):
                return piece
            pieces.append(piece)
        return HttpResponse(self.status, self.headers, b"".join(pieces), self.url)


class LineSplitter:
    """Cuts bytes into lines of text wherever the pieces happen to end. Pure; linear in the
    input.
    """

    _END = re.compile(rb"\r\n|\n|\r")

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._after_cr = False

    def feed(self, piece: bytes) -> list[str]:
        """The lines that this piece completes."""
        if self._after_cr and piece.startswith(b"\n"):
            piece = piece[1:]
            self._after_cr = False
        if not piece:
            return []
        self._after_cr = piece.endswith(b"\r")
        first, *rest = self._END.split(piece)
        self._parts.append(first)
        lines = []
        for part in rest:
            lines.append(self._take())
            self._parts.append(part)
        return lines

    def close(self) -> list[str]:
        """The last line, if it did not end."""
        line = self._take()
        return [line] if line else []

    def _take(self) -> str:
        line = b"".join(self._parts).decode("utf-8", "replace")
        self._parts = []
        return line


def too_large(limit: int) -> Failure:
    return Failure("too_large", f"the answer is longer than {limit} bytes", outcome_unknown=True)
