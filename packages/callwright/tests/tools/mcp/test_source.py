from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from callwright.nouns.errors import CatalogError, TrustError
from callwright.nouns.types import DESTRUCTIVE, READ_LOCAL
from callwright.tools.catalog import Catalog, open_catalog
from callwright.tools.mcp.source import MCPSource, sources_from_config
from callwright.tools.servers import Server
from callwright.tools.trust import TrustStore, digest_of, normalize_location

PEER = str(Path(__file__).parent.parent / "peer_server.py")
BIN = Path(sys.executable).parent


def peer(*args: str, trusted: bool = True) -> MCPSource:
    return MCPSource.stdio(sys.executable, PEER, *args, name="peer", trusted=trusted)


async def test_the_time_server_is_listed_and_called() -> None:
    async with open_catalog(
        [MCPSource.stdio(str(BIN / "mcp-server-time"), name="time", trusted=True)]
    ) as catalog:
        assert {"get_current_time", "convert_time"} <= {t.name for t in catalog.tools}
        assert catalog["convert_time"].effects == READ_LOCAL
        assert catalog["convert_time"].output_schema is not None
        asked = {
            "source_timezone": "Asia/Tokyo",
            "time": "12:00",
            "target_timezone": "Asia/Kolkata",
        }
        output = await catalog.call("convert_time", asked)
        assert output.failure is None
        assert output.content["target"]["datetime"].endswith("T08:30:00+05:30")
        wrong = await catalog.call("convert_time", {**asked, "target_timezone": "Asia/Nowhere"})
        assert wrong.failure is not None
        assert wrong.failure.kind == "tool_error"
        assert "Asia/Nowhere" in wrong.failure.message


async def test_the_git_server_is_listed_and_called(repository: Path) -> None:
    source = MCPSource.stdio(
        str(BIN / "mcp-server-git"), "--repository", str(repository), name="git"
    )
    async with open_catalog([source]) as catalog:
        assert {"git_status", "git_log", "git_commit"} <= {t.name for t in catalog.tools}
        assert all(
            t.effects == DESTRUCTIVE for t in catalog.tools
        )  # not trusted: what it says of itself is not believed
        output = await catalog.call("git_log", {"repo_path": str(repository)})
        assert "the first commit" in output.content
        outside = await catalog.call("git_status", {"repo_path": "/"})
        assert outside.failure is not None


async def test_the_filesystem_server_writes_and_reads_inside_its_folder_only(
    node_servers: Any, tmp_path: Path
) -> None:
    source = MCPSource.stdio(
        node_servers.node,
        node_servers.script("server-filesystem"),
        str(tmp_path),
        name="files",
        trusted=True,
    )
    async with open_catalog([source]) as catalog:
        assert catalog["read_text_file"].effects.read_only
        assert catalog["write_file"].effects.destructive
        path = str(tmp_path / "note.txt")
        assert (
            await catalog.call("write_file", {"path": path, "content": "Grüße"})
        ).failure is None
        assert (await catalog.call("read_text_file", {"path": path})).content == {
            "content": "Grüße"
        }
        outside = await catalog.call("read_text_file", {"path": "/etc/hostname"})
        assert outside.failure is not None
        assert "outside allowed directories" in outside.failure.message


async def test_the_everything_server_shows_every_kind_of_content(node_servers: Any) -> None:
    source = MCPSource.stdio(
        node_servers.node, node_servers.script("server-everything"), "stdio", name="everything"
    )
    async with open_catalog([source]) as catalog:
        assert (await catalog.call("echo", {"message": "hi"})).content == "Echo: hi"
        weather = await catalog.call("get-structured-content", {"location": "Chicago"})
        assert set(weather.content) == {"temperature", "conditions", "humidity"}
        image = (await catalog.call("get-tiny-image", {})).content
        assert image[1] == {"type": "image", "mimeType": "image/png", "bytes": 4033}
        links = (await catalog.call("get-resource-links", {"count": 2})).content
        assert [part["type"] for part in links[1:]] == ["resource_link", "resource_link"]
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.05):
                await catalog.call("trigger-long-running-operation", {"duration": 60, "steps": 1})
        wrong = await catalog.call("get-sum", {"a": "one"})
        assert wrong.failure is not None
        assert "expected number" in wrong.failure.message


async def test_the_everything_server_is_reached_over_http(
    node_servers: Any, unused_tcp_port: int
) -> None:
    command = [node_servers.node, node_servers.script("server-everything"), "streamableHttp"]
    env = {**os.environ, "PORT": str(unused_tcp_port)}
    pipe = asyncio.subprocess.PIPE
    server = await asyncio.create_subprocess_exec(
        *command, env=env, stderr=pipe, stdout=asyncio.subprocess.DEVNULL
    )
    try:
        assert server.stderr is not None
        line = b""
        while b"listening" not in line:
            line = await server.stderr.readline()
            assert line, "the server ended before it listened"
        async with open_catalog([f"mcp+http://127.0.0.1:{unused_tcp_port}/mcp"]) as catalog:
            assert (
                await catalog.call("get-sum", {"a": 2, "b": 3})
            ).content == "The sum of 2 and 3 is 5."
    finally:
        server.terminate()
        await server.communicate()


async def test_every_page_of_the_tool_list_is_read_and_a_remote_reference_is_refused() -> None:
    async with open_catalog([peer()]) as catalog:
        assert [t.name for t in catalog.tools][:4] == ["pid", "die", "die_reading", "refuse"]
        assert "remote" not in catalog
        assert any("remote" in problem and "example.org" in problem for problem in catalog.problems)


async def test_a_server_process_ends_with_the_catalogue() -> None:
    async with open_catalog([peer()]) as catalog:
        pid = (await catalog.call("pid", {})).content["pid"]
        os.kill(pid, 0)
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


async def test_a_catalogue_may_be_closed_by_another_task_than_opened_it() -> None:
    stack = AsyncExitStack()

    async def begin() -> Catalog:
        return await stack.enter_async_context(open_catalog([peer()]))

    async with asyncio.TaskGroup() as group:
        opened = group.create_task(begin())
    pid = (await opened.result().call("pid", {})).content["pid"]
    async with asyncio.TaskGroup() as group:
        group.create_task(stack.aclose())
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_without_the_sdk_the_extra_is_named() -> None:
    code = """
import asyncio, sys
sys.modules["mcp"] = None  # importing it fails
from callwright.tools import open_catalog
async def main():
    async with open_catalog(["mcp+http://127.0.0.1:9/mcp"]): pass
try:
    asyncio.run(main())
except Exception as error:
    print(type(error).__name__, error.hint)
"""
    done = subprocess.run(
        [sys.executable, "-P", "-c", code], capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith("MissingExtra ")
    assert done.stdout.strip().endswith("packages/callwright[mcp]'")


async def test_calls_in_parallel_share_one_server() -> None:
    async with open_catalog([peer()]) as catalog:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(catalog.call("pid", {})) for _ in range(8)]
        assert len({task.result().content["pid"] for task in tasks}) == 1


async def test_a_lost_connection_is_a_failure_whose_outcome_is_unknown() -> None:
    async with open_catalog([peer()]) as catalog:
        lost = (await catalog.call("die", {})).failure
        assert lost is not None
        assert (lost.kind, lost.outcome_unknown, lost.retryable) == ("unavailable", True, True)
        read = (await catalog.call("die_reading", {})).failure  # on a connection made again
        assert read is not None
        assert read.kind == "unavailable"
        assert (await catalog.call("pid", {})).failure is None


async def test_what_an_untrusted_server_lost_counts_as_written() -> None:
    async with open_catalog([peer(trusted=False)]) as catalog:
        lost = (await catalog.call("die_reading", {})).failure
        assert lost is not None
        assert lost.outcome_unknown


async def test_a_protocol_error_is_the_tools_error_and_nonsense_is_not_an_exception() -> None:
    async with open_catalog([peer()]) as catalog:
        refused = (await catalog.call("refuse", {})).failure
        assert refused is not None
        assert (refused.kind, refused.message, refused.outcome_unknown) == (
            "tool_error",
            "not on a Sunday",
            False,
        )
        nonsense = (await catalog.call("nonsense", {})).failure
        assert nonsense is not None
        assert nonsense.kind == "unavailable"


async def test_no_error_of_a_server_ends_the_connection_or_the_calls_of_others() -> None:
    async with open_catalog([peer()]) as catalog:
        first = (await catalog.call("pid", {})).content["pid"]
        said = {}
        for name in ("app_error", "is_error", "refuse", "nonsense", "too_deep"):
            failure = (await catalog.call(name, {})).failure
            assert failure is not None
            said[name] = (failure.kind, failure.outcome_unknown)
            assert name != "nonsense" or "content: Input should be a valid list" in failure.message
            assert (await catalog.call("pid", {})).content["pid"] == first, (
                f"{name} ended the connection"
            )
    assert said == {
        "app_error": ("tool_error", False),
        "is_error": ("tool_error", False),
        "refuse": ("tool_error", False),
        "nonsense": ("unavailable", True),
        "too_deep": ("unavailable", True),
    }


async def test_a_structured_result_without_content_is_a_result() -> None:
    """TypeScript's clients read it: their schema of ``content`` has a default."""
    async with open_catalog([peer()]) as catalog:
        told = await catalog.call("bare", {})
    assert (told.failure, told.content) == (None, {"sum": 3})


async def test_malformed_tools_are_left_out_with_a_note_and_the_others_stay() -> None:
    source = peer("--malformed")
    async with open_catalog([source]) as catalog:
        assert {"pid", "die", "refuse", "slow_to_match"} <= {t.name for t in catalog}
        assert not {"no_schema", "bad_schema"} & {t.name for t in catalog}
        assert (await catalog.call("pid", {})).failure is None
        named = catalog.offered_by(" blanks ")[1]
        assert source.definition(named)["inputSchema"] == {"type": "object"}
        for name in ("entry 1", "entry 2", "no_schema", "bad_schema"):
            assert any(
                p.startswith("peer: ") and name in p and "left out" in p for p in catalog.problems
            ), name


async def test_a_list_without_an_end_is_cut_with_a_note() -> None:
    async with open_catalog([peer("--endless")]) as catalog:
        assert len(catalog) == 200
        assert any("does not end" in problem for problem in catalog.problems)


def test_a_servers_text_does_not_reach_the_terminal() -> None:
    code = f"""
import asyncio
import json
from callwright.tools import open_catalog
from callwright.tools.mcp.source import MCPSource
async def main():
    async with open_catalog([MCPSource.stdio({sys.executable!r}, {PEER!r}, "--noisy", name="noisy")]) as catalog:
        print(len(catalog) > 5)
asyncio.run(main())
"""
    done = subprocess.run(
        [sys.executable, "-P", "-c", code], capture_output=True, text=True, check=False
    )
    assert (done.stdout, done.stderr) == ("True\n", "")


async def test_a_hostile_output_schema_cannot_hold_the_process() -> None:
    async with open_catalog([peer()]) as catalog, asyncio.timeout(10):
        output = await catalog.call("slow_to_match", {})
        assert output.content == {"a": "a" * 40 + "!"}


async def test_a_server_gets_the_configured_environment_and_not_ours(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("SECRET_OF_OURS", "do not hand on")
    config = {
        "peer": {
            "command": sys.executable,
            "args": [PEER],
            "env": {"MINE": "yes", "API_KEY": "sk-canary"},
            "trusted": True,
        }
    }
    async with open_catalog(sources_from_config(config)) as catalog:
        environment = (await catalog.call("environment", {})).content["environment"]
    assert environment["MINE"] == "yes"
    assert environment["API_KEY"] == "[secret]", (
        "what the server says of its own key, no model need read"
    )
    assert "SECRET_OF_OURS" not in environment


async def test_a_server_that_cannot_start_is_named_with_its_last_words() -> None:
    config = {
        "peer": {
            "command": sys.executable,
            "args": [PEER, "--complain"],
            "env": {"API_KEY": "sk-123456789"},
        }
    }
    with pytest.raises(CatalogError, match="'peer' cannot be used") as error:
        async with open_catalog(sources_from_config(config)):
            pass
    assert "no API key given" in error.value.message
    assert "sk-123456789" not in str(error.value)
    assert "--complain" in error.value.hint


async def test_a_missing_command_and_a_dead_port_are_named(unused_tcp_port: int) -> None:
    with pytest.raises(CatalogError, match="there is no command 'no-such-server'"):
        async with open_catalog([MCPSource.stdio("no-such-server")]):
            pass
    with pytest.raises(CatalogError, match=r"127\.0\.0\.1"):
        async with open_catalog([f"mcp+http://127.0.0.1:{unused_tcp_port}/mcp"]):
            pass
    with pytest.raises(CatalogError, match="user name or password"):
        async with open_catalog(["mcp+http://me:secret@127.0.0.1/mcp"]):
            pass


async def test_the_file_s_lists_of_tools_are_those_of_the_gateway() -> None:
    """A tool that the file denies is neither offered nor can it be called; before, it was."""
    config = {
        "peer": {
            "command": sys.executable,
            "args": [PEER],
            "allow": ["pid", "die*"],
            "disabledTools": ["die", "dye"],
        }
    }
    async with open_catalog(sources_from_config(config)) as catalog:
        assert [tool.name for tool in catalog.tools] == ["pid", "die_reading"]
        (said,) = (problem for problem in catalog.problems if "deny" in problem)
        assert "\"deny\" names 'dye'" in said
        with pytest.raises(CatalogError, match="there is no tool 'die'"):
            await catalog.call("die", {})
    config["peer"] |= {"disabledTools": ["*"]}
    async with open_catalog(sources_from_config(config)) as catalog:
        assert not catalog.tools
        assert catalog.problems == ("peer: allow and deny in its file hide every tool",)


async def test_a_server_whose_settings_cannot_be_used_costs_only_itself() -> None:
    config = {
        "odd": {"command": "x", "env": {"A": "${NO_SUCH_VARIABLE_}"}},
        "neither": {},
        "off": {"command": "x", "disabled": True},
        "peer": {"command": sys.executable, "args": [PEER], "trusted": True},
    }
    sources = sources_from_config(config)
    assert [source.name for source in sources] == ["odd", "neither", "peer"]
    async with open_catalog(sources, strict=False) as catalog:
        assert "pid" in catalog
        assert len(catalog.unopened) == 2
    with pytest.raises(CatalogError, match=r"NO_SUCH_VARIABLE_|needs either"):
        async with open_catalog(sources_from_config(config)):
            pass


async def test_a_silent_server_is_given_up() -> None:
    silent = Server(
        "silent", command=sys.executable, args=("-c", "import sys; sys.stdin.read()"), seconds=0.5
    )
    with pytest.raises(CatalogError, match=r"did not answer within 0\.5 seconds"):
        async with open_catalog([MCPSource(silent)]):
            pass


async def test_one_server_that_fails_takes_the_others_down_with_it() -> None:
    good = peer()
    with pytest.raises(CatalogError, match="no-such-server"):
        async with open_catalog([good, MCPSource.stdio("no-such-server")]):
            pass


@asynccontextmanager
async def refusing(status: int) -> AsyncIterator[str]:
    """An MCP server over HTTP that lists one tool and answers every call with ``status``."""

    async def handle(request: web.Request) -> web.Response:
        if request.method != "POST":
            return web.Response(status=405)
        message = await request.json()
        method = message.get("method")
        if request.headers.get("X-Key") != "k":
            return web.Response(status=401)
        if "id" not in message:
            return web.Response(status=202)
        if method == "tools/call":
            return web.Response(status=status)
        if method == "initialize":
            info = {"name": "r", "version": "1"}
            result: dict[str, Any] = {
                "protocolVersion": "2025-06-18",
                "capabilities": {"tools": {}},
                "serverInfo": info,
            }
        elif method == "tools/list":
            result = {"tools": [{"name": "f", "inputSchema": {"type": "object"}}]}
        else:
            error = {"code": -32601, "message": "Method not found"}
            return web.json_response({"jsonrpc": "2.0", "id": message["id"], "error": error})
        return web.json_response({"jsonrpc": "2.0", "id": message["id"], "result": result})

    app = web.Application()
    app.router.add_route("*", "/mcp", handle)
    runner = web.AppRunner(app)
    await runner.setup()
    try:
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        yield f"http://127.0.0.1:{runner.addresses[0][1]}/mcp"
    finally:
        await runner.cleanup()


@pytest.mark.parametrize(
    ("status", "kind", "unknown"),
    [
        (401, "auth", False),
        (403, "auth", False),
        (429, "rate_limit", False),
        (503, "unavailable", True),
    ],
)
async def test_http_refusals_of_a_call_are_told_apart(
    status: int, kind: str, unknown: bool
) -> None:
    keyed = {"X-Key": "k"}
    async with (
        refusing(status) as url,
        open_catalog([MCPSource.http(url, headers=keyed)]) as catalog,
    ):
        failure = (await catalog.call("f", {})).failure
    assert failure is not None
    assert (failure.kind, failure.status, failure.outcome_unknown) == (kind, status, unknown)


@asynccontextmanager
async def forgetting(code: int) -> AsyncIterator[tuple[str, set[str]]]:
    """An MCP server over HTTP with sessions, and the set of those that it knows."""
    known: set[str] = set()

    async def handle(request: web.Request) -> web.Response:
        if request.method != "POST":
            return web.Response(status=405 if request.method == "GET" else 200)
        message = await request.json()
        headers: dict[str, str] = {}
        told: dict[str, Any] = {"jsonrpc": "2.0", "id": message.get("id")}
        result: dict[str, Any] = {}
        match message["method"]:
            case "initialize":
                known.add(session := f"session-{len(known) + 1}")
                headers["mcp-session-id"] = session
                version, info = "2025-11-25", {"name": "f", "version": "1"}
                result = {"protocolVersion": version, "capabilities": {}, "serverInfo": info}
            case "server/discover":
                error = {"code": -32601, "message": "Method not found"}
                return web.json_response({**told, "error": error})
            case _ if request.headers.get("mcp-session-id") not in known:
                error = {"code": code, "message": "Session not found"}
                return web.json_response({**told, "error": error}, status=404)
            case "tools/list":
                result = {"tools": [{"name": "f", "inputSchema": {"type": "object"}}]}
            case "tools/call":
                result = {"content": [{"type": "text", "text": "done"}]}
        if "id" not in message:
            return web.Response(status=202)
        return web.json_response({**told, "result": result}, headers=headers)

    app = web.Application()
    app.router.add_route("*", "/mcp", handle)
    runner = web.AppRunner(app)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        yield f"http://127.0.0.1:{runner.addresses[0][1]}/mcp", known
    finally:
        await runner.cleanup()


@pytest.mark.parametrize("code", [-32600, -32001])  # of the SDKs for Python and TypeScript
async def test_a_session_that_the_server_has_forgotten_is_made_anew(code: int) -> None:
    async with (
        forgetting(code) as (url, known),
        open_catalog([MCPSource.http(url)]) as catalog,
    ):
        assert (await catalog.call("f", {})).content == "done"
        known.clear()
        refused = (await catalog.call("f", {})).failure
        assert refused is not None
        assert (refused.kind, refused.not_done, refused.retryable) == ("unavailable", True, True)
        assert (await catalog.call("f", {})).content == "done"


async def test_an_argument_that_cannot_be_sent_as_it_is_ends_no_call_of_others() -> None:
    async with open_catalog([peer()]) as catalog:
        first = (await catalog.call("pid", {})).content["pid"]
        assert (await catalog.call("pid", {"a": "x\ud800"})).content["pid"] == first


async def test_a_server_that_asks_for_credentials_says_so() -> None:
    async with refusing(200) as url:
        with pytest.raises(CatalogError, match="401"):
            async with open_catalog([MCPSource.http(url)]):
                pass


async def test_a_tool_that_changes_after_a_lost_connection_is_not_called(tmp_path: Path) -> None:
    async with open_catalog([peer("--changes", str(tmp_path / "changed"))]) as catalog:
        assert (await catalog.call("pid", {})).failure is None
        assert (await catalog.call("die", {})).failure is not None
        failure = (await catalog.call("pid", {})).failure
        assert failure is not None
        assert (failure.kind, failure.outcome_unknown) == ("not_executable", False)
        assert "+ Sends your files." in failure.message
        other = (await catalog.call("environment", {})).failure
        assert other is None, "what has not changed is called"


async def test_a_tool_that_the_server_says_has_changed_is_not_called(tmp_path: Path) -> None:
    async with open_catalog(
        [peer("--changes", str(tmp_path / "changed"), "--announce")]
    ) as catalog:
        first = (await catalog.call("environment", {})).failure
        failure = (await catalog.call("pid", {})).failure
        assert first is None
        assert failure is not None
        assert "changed its definition since it was listed" in failure.message


async def test_a_server_that_offers_something_else_next_time_is_refused_until_that_is_confirmed(
    tmp_path: Path,
) -> None:
    store, state = TrustStore(tmp_path / "trust"), tmp_path / "changed"

    async def use() -> Catalog:
        async with open_catalog([peer("--changes", str(state))], pins=store) as catalog:
            return catalog

    assert len(await use()) > 5
    assert len(await use()) > 5
    state.touch()
    with pytest.raises(TrustError) as caught:
        await use()
    assert "the definition of 'pid' of mcp peer" in str(caught.value)
    assert "+ Sends your files." in str(caught.value)
    async with open_catalog([peer("--changes", str(state))]) as catalog:
        assert any("Sends your files." in line for line in catalog.accept(store))
    assert len(await use()) == 1


def configured(tmp_path: Path, **server: object) -> Path:
    path = tmp_path / "mcp.json"
    path.write_text(json.dumps({"mcpServers": {"peer": server}}))
    return path


async def test_what_a_configuration_says_of_trust_counts_when_it_is_confirmed(
    tmp_path: Path,
) -> None:
    store = TrustStore(tmp_path / "trust")
    path = configured(tmp_path, command=sys.executable, args=[PEER], trusted=True)
    async with open_catalog([path], trust=store) as catalog:
        assert (catalog["pid"].trusted, catalog["pid"].effects) == (False, DESTRUCTIVE)
        assert catalog.unconfirmed == (
            f'"trusted": true of peer is not believed before: callwright trust {path}',
        )
    store.trust("document", normalize_location(path), digest_of(json.loads(path.read_text())))
    async with open_catalog([path], trust=store) as catalog:
        assert (catalog["pid"].trusted, catalog["pid"].effects.read_only) == (True, True)
        assert catalog.unconfirmed == ()
    async with open_catalog(
        [path]
    ) as catalog:  # without a store the file is the code's own configuration
        assert catalog["pid"].trusted


async def test_a_configuration_sends_no_key_of_the_environment_before_it_is_confirmed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[str] = []

    async def handle(request: web.Request) -> web.Response:
        seen.append(str(request.headers.get("authorization")))
        return web.Response(status=401)

    app = web.Application()
    app.router.add_route("*", "/mcp", handle)
    runner = web.AppRunner(app)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        monkeypatch.setenv("A_SECRET", "s3cret-of-the-user")
        store = TrustStore(tmp_path / "trust")
        url = f"http://127.0.0.1:{runner.addresses[0][1]}/mcp"
        path = configured(tmp_path, url=url, headers={"Authorization": "Bearer ${A_SECRET}"})
        with pytest.raises(TrustError, match="would be sent A_SECRET") as caught:
            async with open_catalog([path], trust=store):
                pass
        assert f"callwright trust {path}" in str(caught.value)
        assert seen == []
        store.trust("document", normalize_location(path), digest_of(json.loads(path.read_text())))
        with pytest.raises(CatalogError, match="401"):
            async with open_catalog([path], trust=store):
                pass
        assert set(seen) == {"Bearer s3cret-of-the-user"}
    finally:
        await runner.cleanup()
