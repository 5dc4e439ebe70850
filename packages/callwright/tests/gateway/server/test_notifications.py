from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

import mcp_types as types
import pytest

from callwright.gateway.server.caller import ConnectionKey
from callwright.gateway.server.notifications import take_notification
from tests.gateway.doors import build_gateway, connect, peer


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_a_list_that_has_changed_is_asked_for_before_clients_are_told(
    mode: str, tmp_path: Any
) -> None:
    changes = tmp_path / "changed"
    gateway = build_gateway({"p": peer("--changes", str(changes), "--announce")}, consent="client")
    heard = asyncio.Event()

    async def note(message: Any) -> None:
        if isinstance(message, types.ToolListChangedNotification):
            heard.set()

    async with (
        asyncio.timeout(20),
        gateway.running(),
        connect(gateway, mode, message_handler=note) as client,
    ):
        before = len((await client.list_tools()).tools)
        if mode == "legacy":
            heard.clear()
            await client.call_tool("p__pid", {})
            await heard.wait()
        else:
            async with client.listen(tools_list_changed=True) as stream:
                await client.call_tool("p__pid", {})
                async for _ in stream:
                    break
        assert len((await client.list_tools()).tools) < before


async def test_what_a_server_says_that_is_not_of_this_gateway_is_passed_over() -> None:
    gateway = build_gateway({"p": peer()})
    async with gateway.running():
        strange: Any = SimpleNamespace(
            server=SimpleNamespace(name="other"), key=ConnectionKey(), is_busy=False
        )
        await take_notification(gateway, strange, types.ToolListChangedNotification())
