"""Servers over HTTP, of both eras, behind a gateway for clients of both eras."""

from __future__ import annotations

import asyncio
from typing import Any

import mcp_types as types
import pytest
from aiohttp import web

from tests.gateway.doors import build_gateway, connect, read_text, run_app, try_call
from tests.gateway.world_server import build_app

ERAS = [
    pytest.param(mode, is_legacy, id=f"{mode}-client-{'older' if is_legacy else 'newer'}-server")
    for mode in ("auto", "legacy")
    for is_legacy in (False, True)
]


async def give_name(context: Any, params: Any) -> types.ElicitResult:
    return types.ElicitResult(action="accept", content={"name": "Ann"})


async def list_roots(context: Any) -> types.ListRootsResult:
    return types.ListRootsResult(roots=[types.Root(uri="file:///home/ann")])


@pytest.mark.parametrize(("mode", "is_legacy"), ERAS)
async def test_calls_questions_progress_and_large_results_pass(mode: str, is_legacy: bool) -> None:
    steps: list[float] = []

    async def note_progress(done: float, total: float | None, message: str | None) -> None:
        steps.append(done)

    async with run_app(build_app(is_legacy=is_legacy)) as address:
        gateway = build_gateway({"w": {"url": f"{address}/mcp"}}, consent="client")
        callbacks: dict[str, Any] = {
            "elicitation_callback": give_name,
            "list_roots_callback": list_roots,
        }
        async with gateway.running(), connect(gateway, mode, **callbacks) as client:
            assert len((await client.list_tools()).tools) == 10
            added = await client.call_tool("w__add", {"a": "1", "b": 2})
            assert added.structured_content == {"sum": 3}
            assert await try_call(client, "w__ask_name") == "accept: Ann"
            assert await try_call(client, "w__ask_roots") == "file:///home/ann"
            big = await client.call_tool(
                "w__work", {"size": 3_000_000}, progress_callback=note_progress
            )
            assert len(read_text(big)) == 3_000_000
            assert steps == [1, 2, 3]
            read = await client.read_resource("city://Oslo")
            assert read.contents[0].text == "all of city://Oslo"  # type: ignore[union-attr]


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_what_an_older_server_asks_in_the_answer_to_a_call_belongs_to_that_call(
    mode: str,
) -> None:
    """Two calls at once over one connection: over HTTP it is certain whose question it is."""

    async def answer(context: Any, params: Any) -> types.ElicitResult:
        return types.ElicitResult(action="accept", content={"name": "Ann"})

    async with run_app(build_app(is_legacy=True)) as address:
        gateway = build_gateway({"w": {"url": f"{address}/mcp"}}, consent="client")
        async with (
            gateway.running(),
            connect(gateway, mode, elicitation_callback=answer) as client,
        ):
            await client.list_tools()
            async with asyncio.TaskGroup() as group:
                told = [group.create_task(try_call(client, "w__ask_name")) for _ in range(5)]
            assert [one.result() for one in told] == ["accept: Ann"] * 5
            assert len(gateway.upstreams["w"].links) == 1


async def test_a_server_that_has_forgotten_its_sessions_is_met_again_and_nothing_is_lost() -> None:
    app = build_app(is_legacy=True)
    async with run_app(app) as address:
        port = int(address.rpartition(":")[2])
        gateway = build_gateway({"w": {"url": f"{address}/mcp", "trusted": True}})
        running = gateway.running()
        await running.__aenter__()
        async with connect(gateway) as client:
            assert await try_call(client, "w__add", {"a": 1, "b": 2}) == "3"
    async with run_app(build_app(is_legacy=True), port), connect(gateway) as client:
        assert await try_call(client, "w__order", {"a": 1, "b": 2}) != ""
        assert await try_call(client, "w__add", {"a": 2, "b": 2}) == "4"
    await running.__aexit__(None, None, None)


def build_odd_server(asked: list[str]) -> web.Application:
    """A server over HTTP whose tools are the ways in which their calls are answered."""
    answers: dict[str, web.Response] = {
        "page": web.Response(text="<html>log in</html>", content_type="text/html"),
        "accepted": web.Response(status=202),
        "broken": web.Response(text='{"jsonrpc": "2.0"', content_type="application/json"),
        "denied": web.Response(status=401),
    }
    info = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}}
    listed = [{"name": name, "inputSchema": {"type": "object"}} for name in answers]
    results: dict[str, Any] = {
        "initialize": {**info, "serverInfo": {"name": "odd", "version": "1"}},
        "tools/list": {"tools": listed},
    }

    async def answer(request: web.Request) -> web.Response:
        message = await request.json()
        if message["method"] == "tools/call":
            asked.append(message["params"]["name"])
            made = answers[asked[-1]]
            return web.Response(body=made.body, status=made.status, headers=made.headers)
        result = results.get(message["method"])
        if result is None:
            return web.Response(status=202 if "id" not in message else 400)
        return web.json_response({"jsonrpc": "2.0", "id": message["id"], "result": result})

    app = web.Application()
    app.router.add_post("/mcp", answer)
    return app


async def test_a_write_whose_answer_is_none_may_have_taken_effect_and_is_sent_once() -> None:
    asked: list[str] = []
    runner = web.AppRunner(build_odd_server(asked))
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    url = f"http://127.0.0.1:{runner.addresses[0][1]}/mcp"
    gateway = build_gateway({"o": {"url": url, "seconds": 5}}, consent="client")
    async with gateway.running(), connect(gateway) as client:
        await client.list_tools()
        for name in ("page", "accepted", "broken"):
            told = await client.call_tool(f"o__{name}", {})
            assert "may have taken effect" in read_text(told)
            assert "pydantic" not in read_text(told)
        assert "HTTP 401" in await try_call(client, "o__denied")
    await runner.cleanup()
    assert asked == ["page", "accepted", "broken", "denied"]
