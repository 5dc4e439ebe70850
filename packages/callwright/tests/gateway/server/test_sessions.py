"""What servers say by themselves reaches the clients that it concerns, in either era."""

from __future__ import annotations

import asyncio
from typing import Any

import mcp_types as types
import pytest

from callwright.gateway.server.caller import ConnectionKey
from callwright.gateway.server.sessions import Session, Sessions
from tests.gateway.doors import build_gateway, connect, world


@pytest.mark.parametrize("options", [(), ("--legacy",)])
async def test_a_watched_resource_that_changes_is_told_to_a_client_of_the_older_protocol(
    options: tuple[str, ...],
) -> None:
    gateway = build_gateway({"w": world(*options)}, consent="client")
    told: asyncio.Queue[str] = asyncio.Queue()

    async def note(message: Any) -> None:
        if isinstance(message, types.ResourceUpdatedNotification):
            await told.put(str(message.params.uri))

    async with (
        gateway.running(),
        connect(gateway, "legacy", message_handler=note) as client,
        asyncio.timeout(20),
    ):
        await client.list_resources()
        watch = types.SubscribeRequest(params=types.SubscribeRequestParams(uri="note://one"))
        await client.session.send_request(watch, types.EmptyResult)
        while told.empty():  # a stream to a newer server is opened meanwhile
            await client.call_tool("w__touch", {})
            await asyncio.sleep(0)
        assert await told.get() == "note://one"
        leave = types.UnsubscribeRequest(params=types.UnsubscribeRequestParams(uri="note://one"))
        await client.session.send_request(leave, types.EmptyResult)


@pytest.mark.parametrize("options", [(), ("--legacy",)])
async def test_a_watched_resource_that_changes_is_told_to_a_listener_of_2026(
    options: tuple[str, ...],
) -> None:
    gateway = build_gateway({"w": world(*options)}, consent="client")
    async with gateway.running(), connect(gateway) as client, asyncio.timeout(20):
        await client.list_resources()
        async with client.listen(resource_subscriptions=["note://one"]) as stream:
            heard = asyncio.Event()

            async def listen() -> None:
                async for _ in stream:
                    heard.set()
                    return

            async with asyncio.TaskGroup() as group:
                group.create_task(listen())
                while not heard.is_set():
                    await client.call_tool("w__touch", {})
                    await asyncio.sleep(0)


async def test_tools_that_come_later_are_announced(tmp_path: Any) -> None:
    gateway = build_gateway({"w": world()}, consent="client", list_seconds=0.0)
    heard = asyncio.Event()

    async def note(message: Any) -> None:
        if isinstance(message, types.ToolListChangedNotification):
            heard.set()

    async with (
        gateway.running(),
        connect(gateway, "legacy", message_handler=note) as client,
        asyncio.timeout(20),
    ):
        assert (await client.list_tools()).tools == [], "the server has had no time to start"
        await heard.wait()
        assert len((await client.list_tools()).tools) == 10


class Channel:
    """A client's session that keeps what it is sent; a second implementation of the SDK's seam."""

    def __init__(self, *, is_gone: bool = False) -> None:
        self.sent: list[Any] = []
        self.is_gone = is_gone

    async def send_notification(self, notification: Any, related: Any = None) -> None:
        import anyio

        if self.is_gone:
            raise anyio.ClosedResourceError
        self.sent.append(notification)


async def test_what_one_user_s_server_says_reaches_no_other_user() -> None:
    sessions = Sessions()
    ann, bob, gone = Channel(), Channel(), Channel(is_gone=True)
    for name, channel in (("ann", ann), ("bob", bob), ("gone", gone)):
        made = Session(name, f"user {name}", channel, uris={"note://one"})
        sessions._sessions[name] = made
    await sessions.announce_update(ConnectionKey("user ann"), "note://one")
    assert len(ann.sent) == 1
    assert bob.sent == []
    await sessions.announce_update(ConnectionKey("user gone"), "note://one")
    assert sessions.count() == 2, "who cannot be told any more is forgotten"


async def test_a_session_hears_what_it_asked_to_hear() -> None:
    session = Session("s", "", Channel(), level="warning")
    assert [session.wants(level) for level in ("info", "warning", "alert", "odd")] == [
        False,
        True,
        True,
        True,
    ]
