from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio

from callwright.catalog.mcp_streams import watched


async def test_the_end_of_a_transport_is_noticed_and_its_messages_are_untouched() -> None:
    send, receive = anyio.create_memory_object_stream[int](4)
    ends: list[str] = []

    @asynccontextmanager
    async def transport() -> AsyncIterator[Any]:
        async with send, receive:
            yield receive, send

    async with watched(transport(), lambda: ends.append("ended")) as (read, write):
        for number in (1, 2):
            await write.send(number)
        async with read:
            assert await anext(read) == 1
            assert await read.receive() == 2  # what is not ours to watch goes through
            assert ends == []
            await write.aclose()
            assert [number async for number in read] == []
    assert ends == ["ended"]
