from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from callwright.gateway.server.gateway import Gateway
from callwright.gateway.session.catalog import GatewayCatalog
from callwright.gateway.session.exposure import Answer, Meant, Resolved
from callwright.gateway.session.pins import ProcessPins
from callwright.gateway.session.profile import ProcessProfiles, Profile
from callwright.gateway.session.record import CallRecord
from callwright.nouns.types import JsonObject
from tests.gateway.cutting_server import SCHEMA
from tests.gateway.doors import BIN, build_gateway, connect, peer, read_text, try_call, world


async def test_200_servers_are_listed_from_what_is_pinned_and_one_is_started_by_its_call() -> None:
    pins, profiles = ProcessPins(), ProcessProfiles()
    servers = {f"p{number}": peer(approve=["*"]) for number in range(200)}
    for name in servers:
        listed = [{"name": f"t{n}", "inputSchema": SCHEMA} for n in range(5)]
        pins.review(name, [*listed, {"name": "pid", "inputSchema": {"type": "object"}}])
        profiles.put(name, Profile(frozenset({"tools"})))
    began = time.process_time()  # its own: others may use this machine
    gateway = build_gateway(servers, pins=pins, profiles=profiles)
    async with gateway.running(), connect(gateway) as client:
        tools, cursor = [], None
        while True:
            page = await client.list_tools(cursor=cursor)
            tools += page.tools
            cursor = page.next_cursor
            if cursor is None:
                break
        assert time.process_time() - began < 3.0
        assert len(tools) == 1_200
        assert (await client.list_prompts()).prompts == []
        assert [one for one in gateway.upstreams.values() if one.links] == []
        told = await try_call(client, "p7__pid")
        started = [one.name for one in gateway.upstreams.values() if one.links]
        assert started == ["p7"]
        assert "pid" in told or "was not called" in told


async def test_a_call_starts_a_server_that_was_never_listed() -> None:
    gateway = build_gateway({"w": world(trusted=True)})
    async with gateway.running(), connect(gateway) as client:
        assert await try_call(client, "w__add", {"a": 1, "b": 2}) == "3"


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_the_reference_servers_for_time_and_git_work_behind_it(
    mode: str, repository: Path
) -> None:
    servers = {
        "time": {"command": str(BIN / "mcp-server-time"), "trusted": True},
        "git": {
            "command": str(BIN / "mcp-server-git"),
            "args": ["--repository", str(repository)],
            "effects": {"git_log": "read", "git_status": "read"},
        },
    }
    gateway = build_gateway(servers)
    async with gateway.running(), connect(gateway, mode) as client:
        names = {tool.name for tool in (await client.list_tools()).tools}
        assert {"time__convert_time", "git__git_log", "git__git_commit"} <= names
        asked = {"source_timezone": "Asia/Tokyo", "time": "12:00", "targetTimezone": "Asia/Kolkata"}
        told = await client.call_tool("time__convert_time", asked)
        assert json.loads(read_text(told))["target"]["datetime"].endswith("T08:30:00+05:30")
        log = await try_call(client, "git__git_log", {"repo_path": str(repository)})
        assert "the first commit" in log
        refused = await try_call(
            client, "git__git_commit", {"repo_path": str(repository), "message": "x"}
        )
        assert "--allow git:git_commit" in refused


async def test_a_pattern_that_names_tools_of_two_servers_allows_neither_and_is_said() -> None:
    gateway = build_gateway({"a": peer(), "b": peer()}, allow=["pid"])
    async with gateway.running(), connect(gateway) as client:
        await client.list_tools()
        assert "was not called" in await try_call(client, "a__pid")
        assert "--allow pid names tools of more than one source" in gateway.problems[0]


class FindFirst:
    """A search and a call instead of all tools; the seam's second implementation."""

    def prepare(self, catalog: GatewayCatalog) -> None:
        pass

    def list_tools(self, catalog: GatewayCatalog) -> Sequence[JsonObject]:
        return [{"name": name, "inputSchema": {"type": "object"}} for name in ("find", "call")]

    def describe(self, catalog: GatewayCatalog) -> str:
        return f"{len(catalog)} tools are found with find."

    def resolve(self, name: str, arguments: Any, catalog: GatewayCatalog) -> Resolved:
        if name == "find":
            return Answer({"content": [{"type": "text", "text": " ".join(catalog.offers)}]})
        if name == "call":
            return Meant(arguments["name"], arguments.get("arguments"))
        return Meant(name, arguments)


async def test_tools_may_be_found_and_called_instead_of_listed() -> None:
    records: list[CallRecord] = []
    gateway = build_gateway(
        {"w": world(trusted=True)},
        exposure=FindFirst(),
        record=lambda record, end: records.append(record),
    )
    async with gateway.running(), connect(gateway) as client:
        assert [tool.name for tool in (await client.list_tools()).tools] == ["find", "call"]
        assert "w__add" in await try_call(client, "find")
        inner = {"name": "w__add", "arguments": {"a": 1, "b": "2"}}
        told = await client.call_tool("call", inner)
        assert read_text(told) == "3"
        assert (told.meta or {})["callwright/gateway"]["edits"]
    assert [(one.outcome, one.server) for one in records] == [("passed", ""), ("edited", "w")]
    assert "found with find" in gateway.describe()


async def test_arguments_reach_the_server_byte_for_byte(tmp_path: Path) -> None:
    """The line that arrives is compared with the one of a direct connection."""
    given = {
        "z": 1.0,
        "a": [None, True, {"ü": "\u2028é\x7f", "n": 12345678901234567890}],
        "e": 1e300,
        "f": -0.0,
        "empty": {},
        "text": '{"a": 1}',
    }
    lines = [await _get_line(tmp_path / "direct", given, is_direct=True)]
    for mode in ("auto", "legacy"):
        lines.append(await _get_line(tmp_path / mode, given, is_direct=False, mode=mode))
    assert lines[0] == lines[1] == lines[2]
    assert '"z":1.0' in lines[0]


async def _get_line(path: Path, given: JsonObject, *, is_direct: bool, mode: str = "legacy") -> str:
    """The arguments as they stand in the line that a server of ours read."""
    script = Path(__file__).parent.parent / "echo_server.py"
    entry = {"command": str(BIN / "python"), "args": ["-P", str(script), str(path)]}
    if is_direct:
        from mcp import Client, StdioServerParameters

        started = StdioServerParameters(command=entry["command"], args=entry["args"])
        async with Client(started, mode=mode) as client:
            await client.list_tools()
            await client.call_tool("echo", given)
    else:
        gateway = build_gateway({"e": entry}, consent="client")
        async with gateway.running(), connect(gateway, mode) as client:
            await client.list_tools()
            await client.call_tool("e__echo", given)
    line = await asyncio.to_thread(path.read_text)
    begin = line.index('"arguments":') + len('"arguments":')
    _, end = json.JSONDecoder().raw_decode(line, begin)
    return line[begin:end]


async def test_it_can_be_stopped_while_servers_are_being_started() -> None:
    gateway = build_gateway({"slow": {"command": "sleep", "args": ["60"]}}, list_seconds=0.05)
    async with asyncio.timeout(10), gateway.running(), connect(gateway) as client:
        assert (await client.list_tools()).tools == []


async def test_a_server_that_hangs_at_its_start_is_waited_for_once() -> None:
    servers = {"slow": {"command": "sleep", "args": ["60"]}, "w": world()}
    gateway = build_gateway(servers, list_seconds=3.0)
    async with gateway.running(), connect(gateway) as client:
        await client.list_tools()
        async with asyncio.timeout(2):  # less than one wait
            for _ in range(5):
                listed = await client.list_tools()
        assert {tool.name for tool in listed.tools} >= {"w__add"}


async def test_what_a_server_echoes_of_its_key_is_taken_out() -> None:
    gateway = build_gateway(
        {"w": world(env={"WORLD_KEY": "abcdef-123456-key"}, approve=["*"])},
    )
    async with gateway.running(), connect(gateway) as client:
        await client.list_tools()
        told = await try_call(client, "w__whoami")
        assert "abcdef" not in told
        assert "[secret]" in told


def test_a_gateway_that_does_not_run_has_no_servers() -> None:
    gateway: Gateway = build_gateway({"w": world()})
    assert gateway.upstreams == {}
    assert len(gateway.get_catalog()) == 0


async def test_an_option_that_names_no_tool_is_said_to_when_all_tools_are_known(
    caplog: pytest.LogCaptureFixture,
) -> None:
    gateway = build_gateway({"w": world()}, allow=["w:ordr", "w:order"])
    async with gateway.running(), connect(gateway) as client:
        await client.list_tools()
        gateway.get_catalog()
        assert gateway.problems == ["--allow w:ordr: no server has such a tool"]
    assert caplog.text.count("--allow w:ordr") == 1


async def test_a_name_stays_with_its_tool_when_a_server_comes_late() -> None:
    servers = {"late": world(prefix=""), "early": world(prefix="", trusted=True)}
    gateway = build_gateway(servers)
    async with gateway.running(), connect(gateway) as client:
        late = gateway.upstreams.pop("late")
        assert "add" in {tool.name for tool in (await client.list_tools()).tools}
        gateway.upstreams = {"late": late, **gateway.upstreams}
        names = {tool.name for tool in (await client.list_tools()).tools}
        assert {"add", "late__add"} <= names
        assert await try_call(client, "add", {"a": 1, "b": 2}) == "3", "the other would ask first"
