from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCNotification, JSONRPCRequest, JSONRPCResponse

from callwright.tools.mcp.pages import ToolPages
from callwright.tools.mcp.streams import UNREAD, watch_transport


async def test_the_end_of_a_transport_is_noticed_and_its_messages_are_untouched() -> None:
    send, receive = anyio.create_memory_object_stream[int](4)
    ends: list[str] = []

    @asynccontextmanager
    async def transport() -> AsyncIterator[Any]:
        async with send, receive:
            yield receive, send

    async with watch_transport(transport(), lambda: ends.append("ended"), ToolPages()) as (
        read,
        write,
    ):
        for number in (1, 2):
            await write.send(number)
        async with read:
            assert await anext(read) == 1
            assert await read.receive() == 2  # what is not ours to watch goes through
            assert ends == []
            await write.aclose()
            assert [number async for number in read] == []
    assert ends == ["ended"]


async def test_tool_lists_are_read_first_and_news_that_nobody_reads_is_dropped() -> None:
    send, receive = anyio.create_memory_object_stream[Any](8)

    @asynccontextmanager
    async def transport() -> AsyncIterator[Any]:
        async with send, receive:
            yield receive, send

    page = {"tools": [{"name": "a", "inputSchema": {"type": "object"}}, 5]}
    pages = ToolPages()
    async with watch_transport(transport(), lambda: None, pages) as (read, write), read:
        await write.send(SessionMessage(JSONRPCRequest(jsonrpc="2.0", id=1, method="tools/list")))
        for method in UNREAD:
            await write.send(SessionMessage(JSONRPCNotification(jsonrpc="2.0", method=method)))
        await write.send(SessionMessage(JSONRPCResponse(jsonrpc="2.0", id=1, result=page)))
        assert (await anext(read)).message.method == "tools/list"
        assert [tool["name"] for tool in (await anext(read)).message.result["tools"]] == ["a"]
    assert pages.problems == ["'entry 2' left out: it is no object"]
