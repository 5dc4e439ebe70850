"""The MCP server that stands behind every gateway of ``gateway.py``: it answers at once, over HTTP,
in both eras of the protocol. And FastMCP's proxy in front of it.

``gateway_servers.py upstream PORT``, ``gateway_servers.py fastmcp PORT URL`` (with the Python of
FastMCP's environment). The upstream is no SDK: what it costs would hide what the gateways cost.
"""

from __future__ import annotations

import asyncio
import json
import re
import sys
from typing import Any

MODERN, OLDER = "2026-07-28", "2025-11-25"
_LENGTH = re.compile(rb"content-length:\s*(\d+)", re.IGNORECASE)
TOOL = {
    "name": "get_forecast",
    "description": "The forecast of a city for some days.",
    "inputSchema": {
        "type": "object",
        "properties": {
            "city": {"type": "string"},
            "days": {"type": "integer", "minimum": 1, "maximum": 14},
            "unit": {"type": "string", "enum": ["celsius", "fahrenheit"]},
        },
        "required": ["city", "days"],
    },
    "annotations": {"readOnlyHint": True},
}
_INFO = {"name": "upstream", "version": "1"}
_LISTED = {"ttlMs": 60_000, "cacheScope": "private", "resultType": "complete"}


def build_result(method: str) -> dict[str, Any] | None:
    """The result of a request; None for a method that there is not."""
    capabilities: dict[str, Any] = {"tools": {}}
    if method == "server/discover":
        return {
            "supportedVersions": [MODERN],
            "capabilities": capabilities,
            "serverInfo": _INFO,
            **_LISTED,
        }
    if method == "initialize":
        return {"protocolVersion": OLDER, "capabilities": capabilities, "serverInfo": _INFO}
    if method == "tools/list":
        return {"tools": [TOOL], **_LISTED}
    if method == "tools/call":
        content = [{"type": "text", "text": "Rain on Monday, sun on Tuesday, 14 to 19 degrees."}]
        return {"content": content, "isError": False, "resultType": "complete"}
    return {} if method == "ping" else None


class Upstream(asyncio.Protocol):
    """One connection."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport: Any = transport
        self._kept = b""

    def data_received(self, data: bytes) -> None:
        self._kept += data
        while (end := self._kept.find(b"\r\n\r\n")) >= 0:
            found = _LENGTH.search(self._kept, 0, end)
            whole = end + 4 + (int(found[1]) if found else 0)
            if len(self._kept) < whole:
                return
            head, body, self._kept = (
                self._kept[:end],
                self._kept[end + 4 : whole],
                self._kept[whole:],
            )
            self._answer(head, body)

    def _answer(self, head: bytes, body: bytes) -> None:
        if not head.startswith(b"POST"):
            return self._write("405 Method Not Allowed", b"")
        message = json.loads(body)  # noqa: TID251 -- stands alone
        if "id" not in message:
            return self._write("202 Accepted", b"")
        told: dict[str, Any] = {"jsonrpc": "2.0", "id": message["id"]}
        result = build_result(message["method"])
        if result is None:
            told["error"] = {"code": -32601, "message": "Method not found"}
        else:
            told["result"] = result
        return self._write("200 OK", json.dumps(told).encode())

    def _write(self, status: str, body: bytes) -> None:
        head = f"HTTP/1.1 {status}\r\ncontent-type: application/json\r\n"
        self._transport.write(f"{head}content-length: {len(body)}\r\n\r\n".encode() + body)


async def serve_upstream(port: int) -> None:
    server = await asyncio.get_running_loop().create_server(Upstream, "127.0.0.1", port)
    await server.serve_forever()


def serve_fastmcp(port: int, url: str) -> None:
    """FastMCP's proxy, stateless, as its documentation starts it."""
    from fastmcp.server import create_proxy  # type: ignore[import-not-found, unused-ignore]

    proxy = create_proxy({"mcpServers": {"weather": {"url": url, "transport": "http"}}})
    proxy.run(
        transport="http",
        host="127.0.0.1",
        port=port,
        stateless_http=True,
        show_banner=False,
        log_level="CRITICAL",
    )


def main() -> None:
    role, port = sys.argv[1], int(sys.argv[2])
    if role == "upstream":
        try:
            import uvloop

            uvloop.install()
        except ImportError:
            pass
        asyncio.run(serve_upstream(port))
    else:
        serve_fastmcp(port, sys.argv[3])


if __name__ == "__main__":
    main()
