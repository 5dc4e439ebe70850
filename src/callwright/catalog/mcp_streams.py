"""A transport whose end is noticed at once: a server that has left is not sent a call that it cannot get."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any


class WatchedStream:
    """A receive stream that calls ``ended`` when its other side has closed. Everything else is the stream's own."""

    def __init__(self, stream: Any, ended: Callable[[], None]) -> None:
        self._stream = stream
        self._ended = ended

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
            return await self._stream.__anext__()
        except StopAsyncIteration:
            self._ended()
            raise


@asynccontextmanager
async def watched(transport: AbstractAsyncContextManager[Any], ended: Callable[[], None]) -> AsyncIterator[Any]:
    """The same transport (a pair of streams) with its receiving side watched."""
    async with transport as (read_stream, write_stream):
        yield WatchedStream(read_stream, ended), write_stream
