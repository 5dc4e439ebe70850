from __future__ import annotations

from typing import Any

import mcp_types as types
import pytest
from mcp import MCPError
from pydantic import TypeAdapter

from tests.gateway.doors import build_gateway, connect, peer, run_app, world
from tests.gateway.world_server import build_app


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


class AskTask(types.Request[dict[str, Any], str]):
    name_param = "taskId"


@pytest.mark.parametrize("is_http", [False, True])
async def test_a_task_of_a_server_is_asked_for_and_cancelled_there(is_http: bool) -> None:
    from mcp.client.extension import advertise

    any_object: Any = TypeAdapter(dict[str, Any])
    extensions = [advertise("io.modelcontextprotocol/tasks", {})]
    async with run_app(build_app()) as address:
        entry = {"url": f"{address}/mcp"} if is_http else world()
        gateway = build_gateway({"w": entry}, consent="client")
        async with gateway.running(), connect(gateway, extensions=extensions) as client:
            await client.list_tools()
            assert gateway.has_tasks
            call = types.CallToolRequest(
                params=types.CallToolRequestParams(name="w__work", arguments={"as_task": True})
            )
            made = await client.session.send_request(call, any_object)
            assert (made["resultType"], made["taskId"]) == ("task", "w~t-1")
            for method, status in (("tasks/get", "completed"), ("tasks/cancel", "cancelled")):
                asked = AskTask(method=method, params={"taskId": made["taskId"]})
                told = await client.session.send_request(asked, any_object)
                assert (told["taskId"], told["status"]) == ("w~t-1", status)
            unknown = AskTask(method="tasks/get", params={"taskId": "t-1"})
            with pytest.raises(MCPError, match="there is no task"):
                await client.session.send_request(unknown, any_object)
