from __future__ import annotations

from typing import Any

import mcp_types as types
import pytest
from mcp import MCPError

from tests.gateway.doors import build_gateway, connect, peer, world


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_a_server_that_does_not_complete_has_nothing_to_say(mode: str) -> None:
    gateway = build_gateway({"w": world(), "p": peer()})
    async with gateway.running(), connect(gateway, mode) as client:
        await client.list_prompts()
        ref = types.ResourceTemplateReference(uri="city://{name}")
        done = await client.complete(ref, {"name": "name", "value": "R"})
        assert done.completion.values == ["Rome"]
        with pytest.raises(MCPError, match="list it first"):
            await client.complete(types.PromptReference(name="none"), {"name": "city", "value": ""})


async def test_a_resource_that_nobody_has_cannot_be_watched() -> None:
    gateway = build_gateway({"w": world()})
    async with gateway.running(), connect(gateway, "legacy") as client:
        watch = types.SubscribeRequest(params=types.SubscribeRequestParams(uri="no://such"))
        with pytest.raises(MCPError, match="no server is known to have"):
            await client.session.send_request(watch, types.EmptyResult)


async def test_roots_that_change_are_told_to_the_servers_of_that_session() -> None:
    roots: list[str] = ["file:///one"]

    async def list_roots(context: Any) -> types.ListRootsResult:
        return types.ListRootsResult(roots=[types.Root(uri=one) for one in roots])

    gateway = build_gateway({"w": world("--legacy")}, consent="client")
    async with (
        gateway.running(),
        connect(gateway, "legacy", list_roots_callback=list_roots) as client,
    ):
        await client.list_tools()
        first = await client.call_tool("w__ask_roots", {})
        roots[:] = ["file:///two"]
        await client.session.send_notification(types.RootsListChangedNotification())
        second = await client.call_tool("w__ask_roots", {})
    assert [one.content[0].text for one in (first, second)] == [  # type: ignore[union-attr]
        "file:///one",
        "file:///two",
    ]


async def test_the_lists_of_servers_that_are_not_connected_are_those_that_are_known() -> None:
    gateway = build_gateway({"w": world()}, idle_seconds=0.0)
    async with gateway.running(), connect(gateway) as client:
        assert len((await client.list_resources()).resources) == 1
        for upstream in gateway.upstreams.values():
            await upstream.sweep(float("inf"))
        assert len((await client.list_resources()).resources) == 1
        assert [one for one in gateway.upstreams.values() if one.links] == []
