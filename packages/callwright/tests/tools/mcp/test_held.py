from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from callwright.nouns.errors import CatalogError
from callwright.tools.mcp.held import HeldClient
from callwright.tools.servers import Server
from tests.gateway.doors import run_app

PEER = str(Path(__file__).parent.parent / "peer_server.py")
SERVER = Server("peer", command=sys.executable, args=(PEER,))


async def test_it_lives_in_the_group_of_its_owner_and_ends_with_a_word() -> None:
    ends: list[str] = []
    async with asyncio.TaskGroup() as group:
        held = HeldClient(SERVER, group=group, ended=lambda: ends.append("ended"))
        assert not held.is_open
        assert len(await held.start()) == 12
        assert held.is_open
        assert held.client is not None
        await held.stop()
        assert held.client is None
        assert not held.is_open
    assert ends == ["ended"]


async def test_a_connection_that_was_given_up_is_made_again() -> None:
    held = HeldClient(SERVER)
    await held.start()
    first = held.client
    assert first is not None
    held.lose(first)
    assert held.client is None
    assert held.is_open
    await held.start()
    assert held.client not in (None, first)
    await held.stop()


async def test_a_server_that_cannot_be_started_is_an_error_and_no_task_is_left() -> None:
    async with asyncio.TaskGroup() as group:
        held = HeldClient(Server("gone", command="/no/such/program"), group=group)
        with pytest.raises(CatalogError, match="there is no command"):
            await held.start()
        await held.stop()


class Deaf:
    """An ASGI application: an MCP server of 2025-11-25 with sessions, whose end it never confirms.
    ``asked`` is set when it is told of one; it answers when ``released``.
    """

    def __init__(self) -> None:
        self.asked, self.released = asyncio.Event(), asyncio.Event()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "lifespan":
            for step in ("startup", "shutdown"):
                await receive()
                await send({"type": f"lifespan.{step}.complete"})
        elif scope["method"] == "DELETE":
            self.asked.set()
            await self.released.wait()
            await self._answer(send, 204, b"")
        elif scope["method"] == "GET":
            await self._answer(send, 405, b"")
        else:
            await self._serve(json.loads((await receive())["body"]), send)

    async def _serve(self, message: Any, send: Any) -> None:
        results = {
            "initialize": {
                "protocolVersion": "2025-11-25",
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "deaf", "version": "1"},
            },
            "tools/list": {"tools": []},
        }
        if "id" not in message:
            return await self._answer(send, 202, b"")
        told: dict[str, Any] = {"jsonrpc": "2.0", "id": message["id"]}
        if message["method"] in results:
            told["result"] = results[message["method"]]
        else:
            told["error"] = {"code": -32601, "message": "Method not found"}
        return await self._answer(send, 200, json.dumps(told).encode())

    async def _answer(self, send: Any, status: int, body: bytes) -> None:
        headers = [(b"content-type", b"application/json"), (b"mcp-session-id", b"s1")]
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": body})


async def test_a_server_that_does_not_confirm_the_end_of_its_session_holds_nobody_up() -> None:
    deaf = Deaf()
    async with run_app(deaf) as address:
        held = HeldClient(Server("deaf", url=f"{address}/mcp"), stop_seconds=0.2)
        assert await held.start() == []
        async with asyncio.timeout(10):
            await held.stop()
        assert deaf.asked.is_set()
        assert not deaf.released.is_set()
        deaf.released.set()
