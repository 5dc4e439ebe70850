"""The counted write over HTTP, with the official SDK's server: one process, three ports.

``gateway_http_writer.py FILE``: every write that is carried out is a line of FILE. It prints its
ports when it serves, in the order of ``KINDS``: a server of 2026-07-28, one of 2025-11-25 with
sessions, and one whose broken streams can be resumed.
"""

from __future__ import annotations

import asyncio
import logging
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import mcp_types as types
import uvicorn
from gateway_writer import TOOLS, count
from mcp.server.lowlevel.server import Server
from mcp.server.streamable_http import EventMessage, EventStore
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

from callwright.serving.sockets import open_socket

KINDS = ("modern", "older", "resumable")
_HALF = 0.005  # seconds before and after the write
_MOST_EVENTS = 1_000


class Events(EventStore):
    """The last events of all streams."""

    def __init__(self) -> None:
        self._events: dict[str, tuple[str, Any]] = {}
        self._number = 0

    async def store_event(self, stream_id: str, message: Any) -> str:
        self._number += 1
        self._events[str(self._number)] = stream_id, message
        while len(self._events) > _MOST_EVENTS:
            self._events.pop(next(iter(self._events)))
        return str(self._number)

    async def replay_events_after(
        self, last_event_id: str, send_callback: Callable[[EventMessage], Awaitable[None]]
    ) -> str | None:
        found = self._events.get(last_event_id)
        if found is None:
            return None
        for number, (stream, message) in list(self._events.items()):
            if stream == found[0] and int(number) > int(last_event_id) and message is not None:
                await send_callback(EventMessage(message, number))
        return found[0]


def build_server(path: str) -> Server[Any]:
    async def list_tools(ctx: Any, params: Any) -> Any:
        return types.ListToolsResult(tools=[types.Tool.model_validate(one) for one in TOOLS])

    async def call_tool(ctx: Any, params: Any) -> Any:
        if params.name == "write":
            await asyncio.sleep(_HALF)
            count(path, params.arguments["id"].encode())
            await asyncio.sleep(_HALF)
        return types.CallToolResult(content=[types.TextContent(type="text", text="done")])

    return Server("writer", on_list_tools=list_tools, on_call_tool=call_tool)


def build_app(path: str, kind: str) -> Any:
    """ASGI application of one kind of server."""
    manager = StreamableHTTPSessionManager(
        build_server(path),
        event_store=Events() if kind == "resumable" else None,
        retry_interval=50 if kind == "resumable" else None,
    )

    async def serve(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "lifespan":
            await _live(manager, receive, send)
        elif kind != "modern" and _get_header(scope, b"mcp-method"):
            await send({"type": "http.response.start", "status": 404, "headers": []})
            await send({"type": "http.response.body", "body": b""})
        else:
            await manager.handle_request(scope, receive, send)

    return serve


async def _live(manager: Any, receive: Any, send: Any) -> None:
    await receive()
    async with manager.run():
        await send({"type": "lifespan.startup.complete"})
        await receive()
    await send({"type": "lifespan.shutdown.complete"})


def _get_header(scope: Any, name: bytes) -> bytes:
    return next((value for key, value in scope["headers"] if key == name), b"")


@asynccontextmanager
async def serve_all(path: str) -> AsyncIterator[list[int]]:
    """All three kinds; yields their ports."""
    async with asyncio.TaskGroup() as group:
        ports, servers = [], []
        for kind in KINDS:
            listening = open_socket("127.0.0.1", 0)
            ports.append(int(listening.getsockname()[1]))
            config = uvicorn.Config(
                build_app(path, kind), log_level="critical", ws="none", lifespan="on"
            )
            servers.append(uvicorn.Server(config))
            group.create_task(servers[-1].serve(sockets=[listening]))
        yield ports
        for server in servers:
            server.should_exit = True


async def main() -> None:
    logging.disable(logging.CRITICAL)
    async with serve_all(sys.argv[1]) as ports:
        print(*ports, flush=True)
        await asyncio.to_thread(sys.stdin.read)


if __name__ == "__main__":
    asyncio.run(main())
