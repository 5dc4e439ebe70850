"""Calls whose connection is cut: none that may write is sent twice, and each ends in time."""

from __future__ import annotations

import asyncio
import random
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import mcp_types as types
import pytest

from callwright.gateway.session.record import CallRecord
from tests.gateway.cutting_server import CUTS, CuttingServer
from tests.gateway.doors import build_gateway, connect, hostile, read_text, try_call, world

SECONDS = 5.0


async def send_all(client: Any, tool: str, number: int, seed: int) -> list[tuple[str, Any, float]]:
    """So many calls, ten at a time: the cut of each, its result, its seconds."""
    chosen = random.Random(seed)
    cuts = [chosen.choice(CUTS) for _ in range(number)]
    done: list[tuple[str, Any, float]] = []
    left = list(enumerate(cuts))

    async def work() -> None:
        while left:
            place, cut = left.pop()
            began = time.monotonic()
            result = await client.call_tool(tool, {"nonce": f"{seed}-{place}", "cut": cut})
            done.append((cut, result, time.monotonic() - began))

    async with asyncio.TaskGroup() as group:
        for _ in range(10):
            group.create_task(work())
    return done


@pytest.mark.parametrize("number", [300, pytest.param(10_000, marks=pytest.mark.heavy)])
async def test_a_write_over_http_that_is_cut_anywhere_is_sent_once(number: int) -> None:
    server = CuttingServer()
    async with server.running() as url:
        gateway = build_gateway({"c": {"url": url, "seconds": SECONDS}}, consent="client")
        async with gateway.running(), connect(gateway) as client:
            await client.list_tools()
            done = await send_all(client, "c__write", number, 1)
    assert len(done) == number
    assert set(server.arrived.values()) == {1}, "every call arrived, and none of them twice"
    assert len(server.arrived) == number
    for cut, result, seconds in done:
        assert seconds < SECONDS + 0.5
        meta = (result.meta or {}).get("callwright/gateway", {})
        if cut == "whole":
            assert read_text(result) == "done"
        else:
            assert result.is_error
            assert meta.get("outcome") == "unknown", (cut, read_text(result))


async def test_a_read_over_http_that_is_cut_is_sent_once_more() -> None:
    server = CuttingServer()
    async with server.running() as url:
        entry = {"url": url, "seconds": SECONDS, "effects": {"read": "read"}}
        gateway = build_gateway({"c": entry}, consent="client")
        async with gateway.running(), connect(gateway) as client:
            await client.list_tools()
            done = await send_all(client, "c__read", 100, 2)
    assert max(server.arrived.values()) == 2
    for cut, result, _ in done:
        assert (result.meta or {}).get("callwright/gateway", {}).get("outcome") is None
        assert result.is_error == (cut != "whole")


@pytest.mark.parametrize("number", [12, pytest.param(300, marks=pytest.mark.heavy)])
async def test_a_write_over_stdio_whose_server_dies_is_sent_once(
    number: int, tmp_path: Path
) -> None:
    servers = {
        f"h{n}": hostile("--calls", str(tmp_path / str(n)), seconds=20) for n in range(number)
    }
    gateway = build_gateway(servers, consent="client", list_seconds=120.0)
    async with gateway.running(), connect(gateway) as client:
        await client.list_tools()
        for n in range(number):
            told = await client.call_tool(f"h{n}__{('die', 'close')[n % 2]}", {})
            assert (told.meta or {})["callwright/gateway"] == {"outcome": "unknown"}
    for n in range(number):
        assert (tmp_path / str(n)).read_text().count("\n") == 1


async def test_a_server_that_is_not_there_is_said_to_have_done_nothing() -> None:
    server = CuttingServer()
    async with server.running() as url:
        gateway = build_gateway({"c": {"url": url, "seconds": 5}}, consent="client")
        running = gateway.running()
        await running.__aenter__()
    # the server has gone; its tools are known
    async with connect(gateway) as client:
        told = await client.call_tool("c__write", {"nonce": "1", "cut": "whole"})
        assert told.is_error
        assert (told.meta or {}).get("callwright/gateway", {}).get("outcome") is None
    await running.__aexit__(None, None, None)


@pytest.mark.parametrize("options", [(), ("--legacy",)])
async def test_an_older_client_that_may_be_asked_has_connections_of_its_own(
    options: tuple[str, ...],
) -> None:
    async def answer(context: Any, params: Any) -> types.ElicitResult:
        return types.ElicitResult(action="accept", content={"name": "Ann"})

    async def other(context: Any, params: Any) -> types.ElicitResult:
        return types.ElicitResult(action="accept", content={"name": "Bob"})

    gateway = build_gateway({"w": world(*options)}, consent="client")
    async with (
        gateway.running(),
        connect(gateway, elicitation_callback=answer) as ann,
        connect(gateway, elicitation_callback=other) as bob,
    ):
        await ann.list_tools()
        async with asyncio.TaskGroup() as group:
            told = [
                group.create_task(try_call(client, "w__ask_name"))
                for client in (ann, bob, ann, bob)
            ]
        answers = [one.result() for one in told]
    if not options:
        assert answers == ["accept: Ann", "accept: Bob"] * 2
    for one, name in zip(answers, ("Ann", "Bob") * 2, strict=True):
        assert name in one or "accept" not in one, "nobody answers for another"


async def test_a_budget_is_each_client_s_own_and_says_when_it_is_there_again() -> None:
    records: list[CallRecord] = []
    gateway = build_gateway(
        {"w": world(trusted=True, calls=2)},
        record=lambda record, end: records.append(record),
    )
    async with gateway.running(), connect(gateway, "legacy") as client:
        await client.list_tools()
        assert "Missing required" in await try_call(client, "w__add"), "it was not sent"
        told = [await try_call(client, "w__add", {"a": 1, "b": 2}) for _ in range(3)]
    assert told[:2] == ["3", "3"]
    assert "2 calls of the server 'w'" in told[2]
    assert [record.reason for record in records] == ["arguments", "", "", "budget"]


async def test_what_an_older_server_asks_while_nobody_can_answer_is_refused_in_time() -> None:
    async def never(context: Any, params: Any) -> types.ElicitResult:
        return types.ElicitResult(action="cancel")

    gateway = build_gateway({"w": world("--legacy")}, consent="client")
    async with gateway.running(), connect(gateway, elicitation_callback=never) as client:
        await client.list_tools()
        asked = await client.session.call_tool("w__ask_name", {}, allow_input_required=True)
        assert isinstance(asked, types.InputRequiredResult)
        (key,) = asked.input_requests or {}
        answered = await client.session.call_tool(
            "w__ask_name",
            {},
            input_responses={key: types.ElicitResult(action="decline")},
            request_state=asked.request_state,
            allow_input_required=True,
        )
        assert isinstance(answered, types.CallToolResult)
        assert read_text(answered) == "decline: None"
        again = await client.session.call_tool(
            "w__ask_name",
            {},
            input_responses={key: types.ElicitResult(action="decline")},
            request_state=asked.request_state,
            allow_input_required=True,
        )
        assert isinstance(again, types.CallToolResult)
        assert "answered too late" in read_text(again), "a question is answered once"


async def test_a_person_may_take_longer_to_answer_a_server_than_a_call_may() -> None:
    async def slowly(context: Any, params: Any) -> types.ElicitResult:
        await asyncio.sleep(1.5)
        return types.ElicitResult(action="accept", content={"name": "Ann"})

    gateway = build_gateway({"w": world("--legacy", seconds=1.0)}, consent="client")
    async with (
        gateway.running(),
        connect(gateway, "legacy", elicitation_callback=slowly) as client,
    ):
        await client.list_tools()
        assert await try_call(client, "w__ask_name") == "accept: Ann"


async def test_a_tool_that_is_blocked_while_its_call_waits_for_approval_is_not_called(
    tmp_path: Path,
) -> None:
    orders = tmp_path / "orders"
    gateway = build_gateway({"w": world(env={"WORLD_ORDERS": str(orders)})})

    async def block(context: Any, params: Any) -> types.ElicitResult:
        upstream = gateway.upstreams["w"]
        assert upstream.listing is not None
        upstream.listing = replace(upstream.listing, blocked={"order": "it has changed"})
        return types.ElicitResult(action="accept", content={})

    async with (
        gateway.running(),
        connect(gateway, "legacy", elicitation_callback=block) as client,
    ):
        await client.list_tools()
        assert "it has changed" in await try_call(client, "w__order", {"a": 1, "b": 2})
    assert not orders.exists()
