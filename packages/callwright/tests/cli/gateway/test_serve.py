"""The gateway as a process of its own, over HTTP: as its user starts it."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx2
import pytest

from callwright.cli.gateway.serve import GatewayOptions, build_access
from callwright.nouns.errors import ConfigError
from tests.gateway.doors import connect_http, hostile, peer, try_call

KEY = "the key of a gateway"


@asynccontextmanager
async def run_gateway(
    folder: Path, *options: str, **environment: str
) -> AsyncIterator[tuple[str, asyncio.subprocess.Process]]:
    """A gateway in front of a peer; its address, and its process."""
    servers = folder / "mcp.json"
    entries = {"p": peer(approve=["pid"]), "h": hostile(approve=["*"], pinned=["fnie"])}
    servers.write_text(json.dumps({"mcpServers": entries}))
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-P", "-m", "callwright", "gateway"),
        *("--servers", str(servers), "--port", "0", *options),
        env={**os.environ, "CALLWRIGHT_EVIDENCE": str(folder / "evidence.db"), **environment},
        stderr=asyncio.subprocess.PIPE,
        stdin=asyncio.subprocess.DEVNULL,
    )
    assert process.stderr is not None
    address = ""
    while not address:
        line = (await process.stderr.readline()).decode()
        assert line, "it ended before it listened"
        found = re.search(r"http://localhost:(\d+)/mcp", line)
        address = f"http://127.0.0.1:{found[1]}" if found else ""
    try:
        yield address, process
    finally:
        if process.returncode is None:
            process.send_signal(signal.SIGTERM)
        await process.wait()


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_calls_are_logged_counted_and_learned_from(tmp_path: Path, mode: str) -> None:
    async with run_gateway(tmp_path, "--log-format", "json") as (address, process):
        async with connect_http(address, mode) as client:
            await client.list_tools()
            assert "pid" in await try_call(client, "p__pid")
            assert await try_call(client, "h__fine") == "fine"
            assert "--allow p:refuse" in await try_call(client, "p__refuse")
        async with httpx2.AsyncClient(trust_env=False) as http:
            metrics = (await http.get(f"{address}/metrics")).text
            assert 'calls_total{server="p",outcome="passed"} 1' in metrics
        process.send_signal(signal.SIGTERM)
        assert process.stderr is not None
        told = (await process.stderr.read()).decode()
        assert await process.wait() == 0
    lines = [json.loads(line) for line in told.splitlines() if line.startswith("{")]
    calls = [line for line in lines if line["event"] == "call"]
    assert [(one["name"], one["outcome"]) for one in calls] == [
        ("p__pid", "passed"),
        ("h__fine", "passed"),
        ("p__refuse", "refused"),
    ]
    assert (tmp_path / "evidence.db").exists()


async def test_a_quiet_gateway_logs_no_calls_and_says_what_is_wrong(tmp_path: Path) -> None:
    async with run_gateway(tmp_path, "--quiet") as (address, process):
        async with connect_http(address) as client:
            await client.list_tools()
            assert await try_call(client, "h__fine") == "fine"
        process.send_signal(signal.SIGTERM)
        assert process.stderr is not None
        told = (await process.stderr.read()).decode()
    assert "names 'fnie'" in told
    assert "h__fine" not in told


async def test_with_a_key_only_its_holder_is_served(tmp_path: Path) -> None:
    async with run_gateway(tmp_path, "--quiet", CALLWRIGHT_GATEWAY_KEY=KEY) as (address, _):
        async with httpx2.AsyncClient(trust_env=False) as http:
            assert (await http.post(f"{address}/mcp", json={})).status_code == 401
        headers = {"authorization": f"Bearer {KEY}"}
        async with connect_http(address, headers=headers) as client:
            assert (await client.list_tools()).tools


def test_beyond_loopback_it_needs_a_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CALLWRIGHT_GATEWAY_KEY", raising=False)
    options = GatewayOptions(servers=Path("mcp.json"), port=0, host="0.0.0.0")
    with pytest.raises(ConfigError, match=r"a gateway on 0\.0\.0\.0 can be used by others"):
        build_access(options)
    monkeypatch.setenv("CALLWRIGHT_GATEWAY_KEY", KEY)
    access = build_access(options)
    assert (access.what, bool(access.key)) == ("gateway", True)
