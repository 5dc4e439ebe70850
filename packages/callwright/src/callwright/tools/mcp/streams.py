"""A transport watched: its end is noticed at once, and tool lists are read before the SDK reads
them.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

from callwright.tools.mcp.pages import ToolPages

UNREAD = (
    "notifications/progress",
    "notifications/message",
)  # nobody asked for them, and there may be any number


def is_unread(method: str) -> bool:
    """Return True for the notifications that a tool source has no use for."""
    return method in UNREAD


class WatchedStream:
    """A receive stream that calls ``ended`` when its other side has closed. Everything else is the
    stream's own.
    """

    def __init__(
        self,
        stream: Any,
        ended: Callable[[], None],
        pages: ToolPages,
        is_dropped: Callable[[str], bool] = is_unread,
    ) -> None:
        self._stream = stream
        self._ended = ended
        self._pages = pages
        self._is_dropped = is_dropped

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    async def __aenter__(self) -> WatchedStream:
        await self._stream.__aenter__()
        return self

    async def __aexit__(self, *error: Any) -> Any:
        return await self._stream.__aexit__(*error)

    def __aiter__(self) -> WatchedStream:
        return self

    async def __anext__(self) -> Any:
        try:
            while True:
                item = await self._stream.__anext__()
                message = getattr(item, "message", None)
                if not self._is_dropped(getattr(message, "method", "")):
                    self._pages.admit(message)
                    return item
        except StopAsyncIteration:
            self._ended()
            raise


class NotedStream:
    """A send stream of which ``pages`` sees every message. Everything else is the stream's own."""

    def __init__(self, stream: Any, pages: ToolPages) -> None:
        self._stream = stream
        self._pages = pages

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    async def __aenter__(self) -> NotedStream:
        await self._stream.__aenter__()
        return self

    async def __aexit__(self, *error: Any) -> Any:
        return await self._stream.__aexit__(*error)

    async def send(self, item: Any) -> None:
        self._pages.note_sent(getattr(item, "message", None))
        await self._stream.send(item)


@asynccontextmanager
async def watch_transport(
    transport: AbstractAsyncContextManager[Any],
    ended: Callable[[], None],
    pages: ToolPages,
    is_dropped: Callable[[str], bool] = is_unread,
) -> AsyncIterator[Any]:
    """The same transport (a pair of streams), watched on both sides; without the messages whose
    method ``is_dropped``.
    """
    async with transport as (read_stream, write_stream):
        yield WatchedStream(read_stream, ended, pages, is_dropped), NotedStream(write_stream, pages)
