from __future__ import annotations

import asyncio
import sys
from typing import Any

import mcp_types as types
import pytest

from callwright.gateway.server.caller import ConnectionKey
from callwright.gateway.server.link import Flight, McpLink, build_error, refuse_ask
from callwright.gateway.session.commands import Failed, Rejected, Returned
from callwright.nouns.errors import CatalogError
from callwright.tools.servers import Server
from tests.gateway.doors import HOSTILE, PEER, WORLD
from tests.gateway.warm_python import words_of


class Listener:
    """Keeps what it is told; the seam's second implementation."""

    def __init__(self) -> None:
        self.told: asyncio.Queue[str] = asyncio.Queue()

    async def take_notification(self, link: McpLink, notification: Any) -> None:
        await self.told.put(notification.method)

    async def ask_owner(self, key: ConnectionKey, request: Any) -> Any:
        return build_error("nobody owns this connection")


def build_link(
    group: asyncio.TaskGroup, *args: str, capabilities: dict[str, Any] | None = None
) -> McpLink:
    server = Server("s", command=sys.executable, args=args)
    return McpLink(server, ConnectionKey(), Listener(), group, capabilities or {})


@pytest.mark.parametrize("options", [(), ("--legacy",)])
async def test_a_connection_lists_calls_and_knows_what_its_server_can(
    options: tuple[str, ...],
) -> None:
    async with asyncio.TaskGroup() as group:
        link = build_link(group, *words_of(WORLD, *options))
        assert not link.is_open
        assert len(await link.open()) == 10
        assert link.is_open
        assert link.is_modern == (not options)
        assert link.instructions == "Be kind."
        assert link.has("prompts")
        assert link.has("completions")
        assert [one["name"] for one in await link.list_all("prompts")] == ["trip"]
        assert await link.list_all("templates") == [
            {"uriTemplate": "city://{name}", "name": "city"}
        ]
        told = await link.send(
            "tools/call", {"name": "add", "arguments": {"a": 1, "b": 2}}, Flight(refuse_ask)
        )
        assert isinstance(told, Returned)
        assert told.result["structuredContent"] == {"sum": 3}
        assert "_meta" not in told.result, "the server's stamp is not the gateway's"
        assert not link.is_busy
        await link.close()
        assert not link.is_open


async def test_a_server_s_own_error_a_lost_answer_and_a_closed_connection_are_told_apart() -> None:
    async with asyncio.TaskGroup() as group:
        link = build_link(group, "-P", str(PEER))
        await link.open()
        flight = Flight(refuse_ask)
        for name, code in (("refuse", -32603), ("app_error", -32000)):
            told = await link.send("tools/call", {"name": name}, flight)
            assert isinstance(told, Rejected)
            assert told.code == code
        broken = await link.send("tools/call", {"name": "nonsense"}, flight)
        assert isinstance(broken, Failed)
        assert broken.failure.outcome_unknown
        lost = await link.send("tools/call", {"name": "die"}, flight)
        assert isinstance(lost, Failed)
        assert lost.failure.outcome_unknown
        assert not link.is_open
        closed = await link.send("tools/call", {"name": "pid"}, flight)
        assert isinstance(closed, Failed)
        assert closed.failure.not_done
        await link.close()


async def test_what_a_server_asks_belongs_to_the_only_call_under_way_or_to_none() -> None:
    asked: list[str] = []

    async def answer(request: Any) -> Any:
        asked.append(request.method)
        return types.ElicitResult(action="accept", content={"name": "Ann"})

    async with asyncio.TaskGroup() as group:
        words = words_of(WORLD, "--legacy")
        link = build_link(group, *words, capabilities={"elicitation": {"form": {}}})
        await link.open()
        alone = await link.send("tools/call", {"name": "ask_name"}, Flight(answer))
        assert isinstance(alone, Returned)
        assert alone.result["content"][0]["text"] == "accept: Ann"
        async with asyncio.TaskGroup() as both:
            two = [
                both.create_task(link.send("tools/call", {"name": "ask_name"}, Flight(answer)))
                for _ in range(2)
            ]
        assert any(isinstance(one.result(), Rejected) for one in two), "it is not certain whose"
        await link.close()
    assert set(asked) == {"elicitation/create"}


async def test_a_list_that_a_server_does_not_give_again_is_an_error() -> None:
    async with asyncio.TaskGroup() as group:
        link = build_link(group, str(HOSTILE))
        await link.open()
        assert len(await link.list_again()) == 10
        await link.send("tools/call", {"name": "die"}, Flight(refuse_ask))
        assert len(await link.list_again()) == 10, "it is started again"
        await link.close()
        gone = McpLink(Server("x", command="/no/such"), ConnectionKey(), Listener(), group)
        with pytest.raises(CatalogError):
            await gone.open()
        await gone.close()


async def test_an_argument_that_cannot_be_sent_as_it_is_ends_no_call_of_others() -> None:
    async with asyncio.TaskGroup() as group:
        link = build_link(group, "-P", str(PEER))
        await link.open()
        params = {"name": "pid", "arguments": {"a": "x\ud800"}}
        assert isinstance(await link.send("tools/call", params, Flight(refuse_ask)), Returned)
        assert link.is_open
        await link.close()
