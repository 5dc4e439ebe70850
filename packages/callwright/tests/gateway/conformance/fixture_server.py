"""A server with all that the conformance suite's server scenarios ask for, on the ``mcp`` library.

``python -m tests.gateway.conformance.fixture_server`` speaks stdio; with a port it serves streamable
HTTP on the loopback, where resumable streams are offered too.
"""

from __future__ import annotations

import asyncio
import sys
from typing import Any

from mcp.server.mcpserver import Context, MCPServer, RequestStateSecurity
from mcp.server.mcpserver.prompts.base import Prompt
from mcp.server.streamable_http import EventCallback, EventMessage, EventStore
from mcp.types import (
    EmptyResult,
    SetLevelRequestParams,
    SubscribeRequestParams,
    UnsubscribeRequestParams,
)

from tests.gateway.conformance.contents import add_contents
from tests.gateway.conformance.questions import add_questions

_STEP = 0.05  # seconds between two events of one call: the suite looks at their order in time


class Events(EventStore):
    """The events of all streams in order, for a client that comes back (SEP-1699)."""

    def __init__(self) -> None:
        self._kept: list[tuple[str, Any]] = []

    async def store_event(self, stream_id: str, message: Any) -> str:
        self._kept.append((stream_id, message))
        return str(len(self._kept))

    async def replay_events_after(self, last_event_id: str, send_callback: EventCallback) -> Any:
        at = int(last_event_id)
        stream = self._kept[at - 1][0]
        for number, (other, message) in enumerate(self._kept[at:], at + 1):
            if other == stream and message is not None:
                await send_callback(EventMessage(message, str(number)))
        return stream


def make_server() -> MCPServer:
    """The server, not yet running."""
    server = MCPServer(
        name="callwright-conformance-fixture",
        version="1.0.0",
        request_state_security=RequestStateSecurity(keys=[b"a fixture has no secret to protect"]),
    )
    add_contents(server)
    add_questions(server)
    _add_events(server)
    _add_changes(server)
    _add_old_requests(server)
    return server


def _add_events(server: MCPServer) -> None:
    @server.tool()
    async def test_tool_with_logging(ctx: Context) -> str:
        """Logs three times."""
        for said in ("started", "processing data", "completed"):
            await ctx.info(f"Tool execution {said}")
            await asyncio.sleep(_STEP)
        return "Tool with logging executed successfully"

    @server.tool()
    async def test_logging_tool(ctx: Context) -> str:
        """Logs once."""
        await ctx.info("test_logging_tool ran")
        return "logged"

    @server.tool()
    async def test_tool_with_progress(ctx: Context) -> str:
        """Reports progress three times."""
        for done in (0, 50, 100):
            await ctx.report_progress(done, 100, f"Completed step {done} of 100")
            await asyncio.sleep(_STEP)
        return "progress reported"

    @server.tool()
    async def test_reconnection(ctx: Context) -> str:
        """Ends its stream in the middle of the call (SEP-1699)."""
        await ctx.info("Before disconnect")
        await ctx.close_sse_stream()
        await asyncio.sleep(4 * _STEP)
        await ctx.info("After reconnect")
        return "Reconnection test completed"


def _add_changes(server: MCPServer) -> None:
    def added() -> str:
        """Comes and goes."""
        return "added"

    @server.tool()
    async def test_trigger_tool_change(ctx: Context) -> str:
        """Adds and removes a tool."""
        server.add_tool(added, name="test_dynamic_tool")
        server.remove_tool("test_dynamic_tool")
        await ctx.notify_tools_changed()
        return "tool list changed"

    @server.tool()
    async def test_trigger_prompt_change(ctx: Context) -> str:
        """Adds and removes a prompt."""
        server.add_prompt(Prompt.from_function(added, name="test_dynamic_prompt"))
        server.remove_prompt("test_dynamic_prompt")
        await ctx.notify_prompts_changed()
        return "prompt list changed"


def _add_old_requests(server: MCPServer) -> None:
    """Requests of 2025-11-25 for which MCPServer has no decorator."""

    async def accept(ctx: Any, params: Any) -> EmptyResult:
        return EmptyResult()

    for method, params in (
        ("logging/setLevel", SetLevelRequestParams),
        ("resources/subscribe", SubscribeRequestParams),
        ("resources/unsubscribe", UnsubscribeRequestParams),
    ):
        server._lowlevel_server.add_request_handler(method, params, accept)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        make_server().run(
            "streamable-http", port=int(sys.argv[1]), event_store=Events(), retry_interval=100
        )
    else:
        make_server().run("stdio")
