"""A transport watched: its end is noticed at once, and tool lists are read before the SDK reads
them.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Collection
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

from callwright.tools.mcp.pages import ToolPages

UNREAD = (
    "notifications/progress",
    "notifications/message",
)  # nobody asked for them, and there may be any number


class WatchedStream:
    """A receive stream that calls ``ended`` when its other side has closed. Everything else is the
    stream's own.
    """

    def __init__(
        self,
        stream: Any,
        ended: Callable[[], None],
        pages: ToolPages,
        unread: Collection[str] = UNREAD,
    ) -> None:
        self._stream = stream
        self._ended = ended
        self._pages = pages
        self._unread = unread

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
                if getattr(message, "method", "") not in self._unread:
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
    unread: Collection[str] = UNREAD,
) -> AsyncIterator[Any]:
    """The same transport (a pair of streams), watched on both sides; without the notifications of
    the methods in ``unread``.
    """
    async with transport as (read_stream, write_stream):
        yield WatchedStream(read_stream, ended, pages, unread), NotedStream(write_stream, pages)
