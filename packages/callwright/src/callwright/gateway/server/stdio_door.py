"""The door over stdin and stdout: one client, which started this process."""

from __future__ import annotations

from callwright.gateway.server.gateway import Gateway
from callwright.gateway.server.handlers import build_server


async def serve_stdio(gateway: Gateway) -> None:
    """Serve until the client closes stdin."""
    from mcp.server.stdio import stdio_server

    server = build_server(gateway)
    async with gateway.running(), stdio_server() as (read_stream, write_stream):
        await server.run(read_stream, write_stream, server.create_initialization_options())
