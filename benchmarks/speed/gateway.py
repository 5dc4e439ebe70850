"""A call through the gateway beside the same call made directly, and through other gateways.

    python benchmarks/speed/gateway.py --fastmcp PYTHON --contextforge FOLDER

One upstream that answers at once (:mod:`gateway_servers`), and every gateway in front of it as a
process of its own, over HTTP. ``--fastmcp``: the Python of an environment with ``fastmcp``;
``--contextforge``: the folder ``bin`` of one with ``mcp-contextforge-gateway``. Each figure is taken
in every round, the servers in turn forwards and backwards; what is added to a direct call, and
ratios, are medians over the rounds. CPU is the time that the scheduler counted for the process.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import secrets
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import aiohttp
from gateway_servers import MODERN
from proxy import cpu, free_port, memory, running

HERE = Path(__file__).resolve().parent
JSON = {"content-type": "application/json", "accept": "application/json, text/event-stream"}
ARGUMENTS = {"city": "Oslo", "days": 3, "unit": "celsius"}
FIGURES = ("p50", "p99", "alone", "many", "cpu")


@dataclass(frozen=True)
class Peer:
    """A server, and how its tool is called there. ``is_modern``: in the form of 2026-07-28."""

    name: str
    url: str
    pid: int
    tool: str
    is_modern: bool = True
    headers: Mapping[str, str] = field(default_factory=dict)

    def build_body(self) -> bytes:
        params: dict[str, Any] = {"name": self.tool, "arguments": ARGUMENTS}
        if self.is_modern:
            params["_meta"] = {
                "io.modelcontextprotocol/protocolVersion": MODERN,
                "io.modelcontextprotocol/clientInfo": {"name": "load", "version": "1"},
                "io.modelcontextprotocol/clientCapabilities": {},
            }
        called = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        return json.dumps(called).encode()

    def build_headers(self) -> dict[str, str]:
        more = {}
        if self.is_modern:
            more = {"mcp-protocol-version": MODERN, "mcp-method": "tools/call"}
            more["mcp-name"] = self.tool
        return {**JSON, **more, **self.headers}


async def load(peer: Peer, count: int, clients: int) -> list[float]:
    """The seconds of every one of ``count`` calls, made by so many clients at once."""
    body, headers, left, waits = peer.build_body(), peer.build_headers(), count, list[float]()

    async def work(session: aiohttp.ClientSession) -> None:
        nonlocal left
        while left > 0:
            left -= 1
            began = time.perf_counter()
            async with session.post(peer.url, data=body, headers=headers) as given:
                told = await given.read()
            waits.append(time.perf_counter() - began)
            if given.status != 200 or b"Rain on Monday" not in told:
                raise RuntimeError(f"{peer.name} answered {given.status}: {told[:300]!r}")

    async with (
        aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session,
        asyncio.TaskGroup() as group,
    ):
        for _ in range(clients):
            group.create_task(work(session))
    return waits


def measure_round(peer: Peer, count: int, clients: int) -> dict[str, float]:
    """Every figure of one server: p50 and p99 of a call in ms, calls a second of one client and of
    many, CPU of a call in ms.
    """
    began, spent = time.perf_counter(), cpu(peer.pid)
    waits = sorted(asyncio.run(load(peer, count, 1)))
    alone = count / (time.perf_counter() - began)
    used = cpu(peer.pid) - spent
    began = time.perf_counter()
    asyncio.run(load(peer, count, clients))
    many = count / (time.perf_counter() - began)
    return {
        "p50": 1000 * statistics.median(waits),
        "p99": 1000 * waits[int(0.99 * len(waits)) - 1],
        "alone": alone,
        "many": many,
        "cpu": 1000 * used / count,
    }


# ---------------------------------------------------------------- the servers


def callwright(folder: Path, up: str, stack: ExitStack) -> Peer:
    """``callwright gateway``, with its log and its evidence."""
    port, servers = free_port(), folder / "mcp.json"
    servers.write_text(json.dumps({"mcpServers": {"weather": {"url": up, "trusted": True}}}))
    command = [sys.executable, "-P", "-m", "callwright", "gateway", "--servers", str(servers)]
    command += ["--port", str(port), "--evidence", str(folder / "evidence.db")]
    pid = stack.enter_context(running(command, port))
    return Peer("callwright", f"http://127.0.0.1:{port}/mcp", pid, "weather__get_forecast")


def fastmcp(python: str, up: str, stack: ExitStack) -> Peer:
    """FastMCP's proxy, stateless."""
    port = free_port()
    command = [python, str(HERE / "gateway_servers.py"), "fastmcp", str(port), up]
    pid = stack.enter_context(running(command, port))
    return Peer("fastmcp", f"http://127.0.0.1:{port}/mcp", pid, "get_forecast")


@contextmanager
def contextforge(binaries: Path, folder: Path, up: str) -> Iterator[Peer]:
    """ContextForge on SQLite, without its pages and plugins, one worker."""
    port, secret = free_port(), secrets.token_hex(24)
    settings = {
        "DATABASE_URL": f"sqlite:///{folder}/contextforge.db",
        "CACHE_TYPE": "memory",
        "JWT_SECRET_KEY": secret,
        "AUTH_ENCRYPTION_SECRET": secrets.token_hex(16),
        "PLATFORM_ADMIN_EMAIL": "admin@example.com",
        "PLATFORM_ADMIN_PASSWORD": secrets.token_urlsafe(18),
        "MCPGATEWAY_UI_ENABLED": "false",
        "MCPGATEWAY_ADMIN_API_ENABLED": "false",
        "PLUGINS_ENABLED": "false",
        "LOG_LEVEL": "ERROR",
        "OBSERVABILITY_ENABLED": "false",
        "SSRF_PROTECTION_ENABLED": "false",
        "USE_STATEFUL_SESSIONS": "false",
        "JSON_RESPONSE_ENABLED": "true",
        "RATE_LIMITING_ENABLED": "false",
        "TOOL_RATE_LIMIT": "1000000",
    }
    environment = {**os.environ, **settings}
    environment.pop("PYTHONPATH", None)
    made = subprocess.run(
        [str(binaries / "python"), "-m", "mcpgateway.utils.create_jwt_token", "--username",
         "admin@example.com", "--admin", "--exp", "600", "--secret", secret],
        env=environment, cwd=folder, capture_output=True, text=True, check=True,
    )  # fmt: skip
    headers = {"authorization": f"Bearer {made.stdout.split()[-1]}"}
    command = ["env", "-u", "PYTHONPATH", "-C", str(folder)]
    command += [*(f"{key}={value}" for key, value in settings.items())]
    command += [str(binaries / "mcpgateway"), "--host", "127.0.0.1"]
    with running([*command, "--port", str(port)], port) as pid:
        base = f"http://127.0.0.1:{port}"
        asyncio.run(_register(base, headers, up))
        tool = "weather-get-forecast"
        yield Peer("contextforge", f"{base}/mcp/", pid, tool, is_modern=False, headers=headers)


async def _register(base: str, headers: Mapping[str, str], up: str) -> None:
    told = {"name": "weather", "url": up, "transport": "STREAMABLEHTTP"}
    async with (
        aiohttp.ClientSession(headers=headers) as session,
        session.post(f"{base}/gateways", json=told) as given,
    ):
        if given.status >= 300:
            raise RuntimeError(f"ContextForge: {(await given.text())[:300]}")


@contextmanager
def all_peers(given: argparse.Namespace) -> Iterator[list[Peer]]:
    """The upstream, and every gateway in front of it."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        port = free_port()
        command = [sys.executable, str(HERE / "gateway_servers.py"), "upstream", str(port)]
        pid = stack.enter_context(running(command, port))
        up = f"http://127.0.0.1:{port}/mcp"
        peers = [Peer("direct", up, pid, "get_forecast"), callwright(folder, up, stack)]
        if given.fastmcp:
            peers.append(fastmcp(given.fastmcp, up, stack))
        if given.contextforge:
            peers.append(stack.enter_context(contextforge(given.contextforge, folder, up)))
        yield peers


# ---------------------------------------------------------------- the report

Rows = dict[str, list[dict[str, float]]]


def measure(peers: list[Peer], count: int, clients: int, rounds: int) -> Rows:
    """The figures of every server, round by round."""
    rows: Rows = {peer.name: [] for peer in peers}
    for peer in peers:
        asyncio.run(load(peer, 20, 2))
    for turn in range(rounds):
        for peer in peers if turn % 2 else reversed(peers):
            rows[peer.name].append(measure_round(peer, count, clients))
    return rows


def render(rows: Rows, peers: list[Peer], clients: int) -> str:
    """A line a server; times added to a direct call, and how many times the calls a second of the
    gateway are theirs.
    """
    lines = [
        f"| server | +p50 ms | +p99 ms | calls/s, 1 client | calls/s, {clients} clients | CPU ms a"
        " call | MiB | ours: times the calls/s, 1 and many | ours: CPU times |",
        "|---" * 9 + "|",
    ]
    ours = rows["callwright"]
    for peer in peers:
        mine = rows[peer.name]
        added = [
            statistics.median(
                a[figure] - b[figure] for a, b in zip(mine, rows["direct"], strict=True)
            )
            for figure in ("p50", "p99")
        ]
        plain = [statistics.median(one[figure] for one in mine) for figure in FIGURES[2:]]
        more = [
            statistics.median(a[figure] / b[figure] for a, b in zip(ours, mine, strict=True))
            for figure in FIGURES[2:]
        ]
        lines.append(
            f"| {peer.name} | {added[0]:.2f} | {added[1]:.2f} | {plain[0]:.0f} | {plain[1]:.0f} |"
            f" {plain[2]:.2f} | {memory(peer.pid):.0f} | {more[0]:.2f} and {more[1]:.2f} |"
            f" {more[2]:.2f} |"
        )
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--fastmcp", default="", help="Python of an environment with fastmcp")
    parser.add_argument("--contextforge", type=Path, help="bin of an environment with ContextForge")
    parser.add_argument("--count", type=int, default=300, help="calls of a figure")
    parser.add_argument("--clients", type=int, default=32)
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args()
    with all_peers(given) as peers:
        print(
            render(measure(peers, given.count, given.clients, given.rounds), peers, given.clients)
        )


if __name__ == "__main__":
    main()
