"""Servers over HTTP, of both eras, behind a gateway for clients of both eras."""

from __future__ import annotations

import asyncio
from typing import Any

import mcp_types as types
import pytest

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
