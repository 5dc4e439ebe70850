"""Servers that are dead, slow, loud or strange cost their own tools only."""

from __future__ import annotations

import asyncio
import os
import time
from pathlib import Path
from typing import Any

import pytest

from callwright.gateway.configuration import read_servers
from callwright.gateway.server.caller import ConnectionKey
from callwright.gateway.server.upstream import Shelf, Upstream
from callwright.gateway.session.pins import ProcessPins
from callwright.gateway.session.profile import ProcessProfiles
from callwright.gateway.session.record import CallRecord
from callwright.nouns.types import JsonObject
from tests.gateway.doors import build_gateway, connect, hostile, peer, try_call, world


def count_calls(path: Path) -> int:
    return len(path.read_text().split()) if path.exists() else 0


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_the_others_are_served_where_one_server_is_dead_hangs_or_shouts(mode: str) -> None:
    servers = {
        "dead": hostile("--at-start", "die"),
        "gone": {"command": "/no/such/program"},
        "hangs": hostile("--at-start", "hang"),
        "noise": hostile("--at-start", "noise"),
        "stderr": hostile("--at-start", "stderr"),
        "broken": {"comand": "x"},
        "endless": hostile("--endless"),
        "good": world(trusted=True),
    }
    wanted = {"good__add", "noise__fine", "stderr__fine", "endless__t0"}
    gateway = build_gateway(servers, consent="client", list_seconds=1.0)
    async with asyncio.timeout(100), gateway.running(), connect(gateway, mode) as client:
        names: list[str] = []
        while not wanted <= set(names):  # each list waits a second for those that are not known
            names = [tool.name for tool in (await client.list_tools()).tools]
        assert not [name for name in names if name.startswith(("dead", "gone", "hangs", "broken"))]
        assert await try_call(client, "good__add", {"a": 1, "b": 2}) == "3"
        assert await try_call(client, "noise__fine") == "fine"
        states = {one["name"]: one for one in gateway.describe_servers()}
        assert states["dead"]["state"] == "fails"
        assert "I will not start" in states["dead"]["last_failure"]
        assert states["broken"]["state"] == "cannot be used"
        assert states["good"]["state"] == "connected"


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_a_slow_call_ends_at_its_deadline_and_is_said_to_be_of_unknown_outcome(
    mode: str, tmp_path: Path
) -> None:
    calls = tmp_path / "calls"
    servers = {
        "slow": hostile("--calls", str(calls), seconds=1.0),
        "good": world(trusted=True),
    }
    gateway = build_gateway(servers, consent="client")
    async with gateway.running(), connect(gateway, mode) as client:
        await client.list_tools()
        began = time.monotonic()
        async with asyncio.TaskGroup() as group:
            slow = group.create_task(client.call_tool("slow__slow", {}))
            silent = group.create_task(client.call_tool("slow__silent", {}))
            good = group.create_task(try_call(client, "good__add", {"a": 1, "b": 2}))
        assert time.monotonic() - began < 1.5
        assert good.result() == "3"
        for result in (slow.result(), silent.result()):
            assert result.is_error
            assert (result.meta or {})["callwright/gateway"] == {"outcome": "unknown"}
        assert count_calls(calls) == 1, "the second one still waits behind the first"


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_a_write_whose_server_dies_in_the_call_is_not_sent_again(
    mode: str, tmp_path: Path
) -> None:
    calls = tmp_path / "calls"
    records: list[CallRecord] = []
    gateway = build_gateway(
        {"h": hostile("--calls", str(calls))},
        consent="client",
        record=lambda record, end: records.append(record),
    )
    async with gateway.running(), connect(gateway, mode) as client:
        await client.list_tools()
        for name in ("h__die", "h__close"):
            calls.unlink(missing_ok=True)
            told = await try_call(client, name)
            assert "may have taken effect" in told
            assert count_calls(calls) == 1
            await gateway.upstreams["h"].rest(10.0)
            assert await try_call(client, "h__fine") == "fine", "it is started again"
    assert [record.outcome for record in records] == ["unknown", "passed"] * 2


async def test_a_read_whose_server_dies_in_the_call_is_sent_once_more_after_a_rest(
    tmp_path: Path,
) -> None:
    calls = tmp_path / "calls"
    servers = {"h": hostile("--calls", str(calls), effects={"die": "read"})}
    gateway = build_gateway(servers, consent="client")
    async with gateway.running(), connect(gateway) as client:
        await client.list_tools()
        told = await try_call(client, "h__die")
        assert "gave no result" in told
        assert "may have taken effect" not in told
        assert count_calls(calls) == 2


async def test_a_server_that_dies_again_and_again_rests_longer_each_time() -> None:
    gateway = build_gateway({"h": hostile()}, consent="client")
    async with gateway.running(), connect(gateway) as client:
        await client.list_tools()
        await try_call(client, "h__die")
        assert "it is tried again in 1 s" in await try_call(client, "h__fine")
        assert await gateway.upstreams["h"].rest(10.0)
        await try_call(client, "h__die")
        assert not await gateway.upstreams["h"].rest(1.0)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("flood", "xxxx"),
        ("long", "gave no result"),
        ("garbage", "after the garbage"),
        ("progress", "after the progress"),
        ("deep", "gave no result"),
    ],
)
async def test_what_a_server_writes_costs_that_call_only(name: str, said: str) -> None:
    gateway = build_gateway({"h": hostile(seconds=20)}, consent="client")
    async with gateway.running(), connect(gateway) as client:
        await client.list_tools()
        assert said in (await try_call(client, f"h__{name}"))[:2_000]
        await gateway.upstreams["h"].rest(10.0)
        assert await try_call(client, "h__fine") == "fine"


async def test_a_call_that_its_client_cancels_is_cancelled_at_its_server(tmp_path: Path) -> None:
    marks = {name: str(tmp_path / name) for name in ("WORLD_WAITING", "WORLD_CANCELLED")}
    for path in marks.values():
        os.mkfifo(path)
    records: list[CallRecord] = []
    gateway = build_gateway(
        {"w": world(env=marks)},
        consent="client",
        record=lambda record, end: records.append(record),
    )
    async with gateway.running(), connect(gateway, "legacy") as client:
        await client.list_tools()
        async with asyncio.timeout(20), asyncio.TaskGroup() as group:
            waiting = group.create_task(client.call_tool("w__wait", {}))
            await asyncio.to_thread(Path(marks["WORLD_WAITING"]).read_text)
            waiting.cancel()
            await asyncio.to_thread(Path(marks["WORLD_CANCELLED"]).read_text)
    assert [record.outcome for record in records] == ["gone"]


async def test_idle_connections_are_closed_and_made_again() -> None:
    gateway = build_gateway({"p": peer()}, consent="client", idle_seconds=0.0)
    async with gateway.running(), connect(gateway) as client:
        await client.list_tools()
        first = await try_call(client, "p__pid")
        upstream = gateway.upstreams["p"]
        assert len(upstream.links) == 1
        await upstream.sweep(asyncio.get_running_loop().time() + 1.0)
        assert upstream.links == ()
        assert upstream.to_dict()["state"] == "idle"
        second = await try_call(client, "p__pid")
        assert first != second


async def test_a_definition_that_changes_blocks_its_tool_and_no_other(tmp_path: Path) -> None:
    changes = tmp_path / "changed"
    gateway = build_gateway({"p": peer("--changes", str(changes), "--announce")}, consent="client")
    async with gateway.running(), connect(gateway) as client:
        await client.list_tools()
        await try_call(client, "p__pid")
        assert changes.exists()
        told = await try_call(client, "p__pid")
        assert "Sends your files." in told
        assert "p__pid" not in [tool.name for tool in (await client.list_tools()).tools]


async def test_a_server_that_answers_nothing_any_more_is_started_again(tmp_path: Path) -> None:
    gateway = build_gateway({"h": hostile(seconds=1.0)}, consent="client")
    async with gateway.running(), connect(gateway) as client:
        await client.list_tools()
        assert "gave no result" in await try_call(client, "h__slow")
        async with asyncio.timeout(30):
            while await try_call(client, "h__fine") != "fine":
                await gateway.upstreams["h"].rest(10.0)
        assert "answered nothing for 1 seconds" in gateway.describe_servers()[0]["last_failure"]


async def test_a_server_that_never_lists_its_resources_is_called_all_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("callwright.gateway.server.upstream._PROFILE_SECONDS", 0.2)
    gateway = build_gateway({"h": hostile("--mute-lists", seconds=8)}, consent="client")
    async with asyncio.timeout(20), gateway.running(), connect(gateway) as client:
        await client.list_tools()
        assert await try_call(client, "h__fine") == "fine"


class Library:
    """A link to a server that shows each user other resources; nothing else of it is used."""

    is_open, is_busy, is_outdated, used, instructions = True, False, False, 0.0, "Be quiet."
    problems = ()

    def __init__(self, key: ConnectionKey, auth: Any) -> None:
        self.key, self.auth, self.listing = key, auth, asyncio.Lock()

    def has(self, capability: str) -> bool:
        return capability == "resources"

    async def open(self) -> list[JsonObject]:
        return []

    async def list_all(self, kind: str) -> list[JsonObject]:
        return [{"uri": f"mail://{self.key.principal}", "name": "inbox"}]

    async def close(self) -> None: ...


@pytest.mark.parametrize("has_logins", [True, False])
async def test_what_a_server_lists_to_one_user_s_login_is_not_another_s(has_logins: bool) -> None:
    async def ready(link: Any) -> None: ...

    def open_link(entry: Any, key: ConnectionKey, capabilities: Any) -> Any:
        return Library(key, key.principal if has_logins else None)

    (entry,) = read_servers({"m": {"url": "http://localhost/mcp"}}, Path()).entries
    shelf = Shelf(ProcessPins(), ProcessProfiles())
    async with asyncio.TaskGroup() as group:
        made = Upstream(entry, shelf, open_link, group, lambda _: None, ready)
        await made.connect(ConnectionKey("ann"), {}, 5.0)
        seen = {user: made.get_profile(user) for user in ("ann", "bob", "")}
        assert all(one is not None and one.instructions == "Be quiet." for one in seen.values())
        uris = {user: [r["uri"] for r in one.get("resources")] for user, one in seen.items() if one}
        hers = ["mail://ann"]
        if has_logins:
            assert uris == {"ann": hers, "bob": [], "": []}
            await made.connect(ConnectionKey("bob"), {}, 5.0)
            (link,) = (one for one in made.links if one.key.principal == "ann")
            await made.list_kind("resources", link)
            for user in ("ann", "bob"):
                known = made.get_profile(user)
                assert known is not None
                assert known.get("resources") == [{"uri": f"mail://{user}", "name": "inbox"}]
        else:
            assert uris == {"ann": hers, "bob": hers, "": hers}
        await made.aclose()


async def test_a_server_that_is_slow_in_one_call_and_answers_others_is_kept() -> None:
    gateway = build_gateway({"h": hostile(seconds=0.5)}, consent="client")
    async with gateway.running(), connect(gateway) as client:
        await client.list_tools()
        upstream = gateway.upstreams["h"]
        (link,) = upstream.links
        assert "gave no result" in await try_call(client, "h__silent")
        assert await try_call(client, "h__fine") == "fine"
        assert upstream.links == (link,)
        assert upstream.health.failed == 0


async def test_a_server_that_dies_under_many_calls_has_failed_once() -> None:
    gateway = build_gateway({"h": hostile(seconds=20)}, consent="client")
    async with gateway.running(), connect(gateway) as client:
        await client.list_tools()
        async with asyncio.timeout(20), asyncio.TaskGroup() as group:
            for name in ("silent",) * 8 + ("die",):
                group.create_task(try_call(client, f"h__{name}"))
        assert gateway.upstreams["h"].health.failed == 1
        assert await gateway.upstreams["h"].rest(1.5)
        assert await try_call(client, "h__fine") == "fine"


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_a_call_whose_connection_is_closed_under_it_is_of_unknown_outcome(
    mode: str, tmp_path: Path
) -> None:
    waiting = tmp_path / "WORLD_WAITING"
    os.mkfifo(waiting)
    env = {"WORLD_WAITING": str(waiting), "WORLD_CANCELLED": os.devnull}
    gateway = build_gateway({"w": world(env=env)}, consent="client")
    async with gateway.running(), connect(gateway, mode) as client:
        await client.list_tools()
        async with asyncio.timeout(20), asyncio.TaskGroup() as group:
            call = group.create_task(client.call_tool("w__wait", {}))
            await asyncio.to_thread(waiting.read_text)
            for link in gateway.upstreams["w"].links:
                await link.close()
        assert (call.result().meta or {})["callwright/gateway"] == {"outcome": "unknown"}


async def test_a_server_that_cannot_be_used_is_named_in_the_log_and_to_who_calls_its_tools(
    caplog: pytest.LogCaptureFixture,
) -> None:
    servers = {"dead": hostile("--at-start", "die"), "broken": {"comand": "x"}}
    gateway = build_gateway(servers, consent="client")
    async with gateway.running(), connect(gateway) as client:
        assert (await client.list_tools()).tools == []
        told = await try_call(client, "dead__fine")
        assert "ended the connection before" in told
        assert "I will not start" in told
        assert "needs either a command or a url" in await try_call(client, "broken__x")
        assert "among the 0 tools" in await try_call(client, "other__x")
        await gateway.upstreams["dead"].rest(10.0)
        await client.list_tools()
    assert caplog.text.count("MCP server 'dead' cannot be used") == 1, "the same is said once"
