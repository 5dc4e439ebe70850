"""An MCP server over HTTP that cuts its connections, wherever it is told to. It counts what arrives."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

CUTS = ("no answer", "half a head", "half a body", "stream", "reset", "whole")
SCHEMA = {
    "type": "object",
    "properties": {"nonce": {"type": "string"}, "cut": {"type": "string"}},
    "required": ["nonce", "cut"],
}


class CuttingServer:
    """``arrived``: how often each call came whole, by its nonce."""

    def __init__(self) -> None:
        self.arrived: Counter[str] = Counter()

    @asynccontextmanager
    async def running(self) -> AsyncIterator[str]:
        server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        async with server:
            yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/mcp"

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while await self._answer(reader, writer):
                pass
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
        length = next(
            (int(line[15:]) for line in head.split("\r\n") if line.startswith("content-length:")), 0
        )
        body = await reader.readexactly(length)
        if not head.startswith("post"):
            writer.write(b"HTTP/1.1 405 No\r\ncontent-length: 0\r\n\r\n")
            await writer.drain()
            return True
        message = json.loads(body)
        if "id" not in message:
            writer.write(b"HTTP/1.1 202 Accepted\r\ncontent-length: 0\r\n\r\n")
            await writer.drain()
            return True
        if message["method"] == "tools/call":
            return await self._call(message, writer)
        _write_whole(writer, _reply(message))
        await writer.drain()
        return True

    async def _call(self, message: dict[str, Any], writer: asyncio.StreamWriter) -> bool:
        given = message["params"]["arguments"]
        self.arrived[given["nonce"]] += 1
        reply = _reply(message)
        match given["cut"]:
            case "whole":
                _write_whole(writer, reply)
            case "half a head":
                writer.write(b"HTTP/1.1 200 OK\r\ncontent-ty")
            case "half a body":
                writer.write(_head("application/json", len(reply)) + reply[: len(reply) // 2])
            case "stream":
                writer.write(
                    b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n"
                    b"transfer-encoding: chunked\r\n\r\n9\r\n: hello\n\n\r\n"
                )
            case "reset":
                transport: Any = writer.transport
                transport.abort()
        if given["cut"] != "reset":
            await writer.drain()
        return bool(given["cut"] == "whole")


def _head(kind: str, length: int) -> bytes:
    return f"HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\ncontent-length: {length}\r\n\r\n".encode()


def _write_whole(writer: asyncio.StreamWriter, body: bytes) -> None:
    writer.write(_head("application/json", len(body)) + body)


def _reply(message: dict[str, Any]) -> bytes:
    result: dict[str, Any] = {}
    match message["method"]:
        case "initialize":
            result = {
                "protocolVersion": "2025-06-18",
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "cutting", "version": "1"},
            }
        case "tools/list":
            result = {
                "tools": [
                    {"name": "write", "inputSchema": SCHEMA},
                    {"name": "read", "inputSchema": SCHEMA},
                ]
            }
        case "tools/call":
            result = {"content": [{"type": "text", "text": "done"}]}
        case _:
            error = {"code": -32601, "message": "Method not found"}
            return json.dumps({"jsonrpc": "2.0", "id": message["id"], "error": error}).encode()
    return json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}).encode()
