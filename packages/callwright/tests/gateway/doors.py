"""Clients of a gateway in this process, and servers behind it that are real."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx2
import uvicorn
from mcp import Client, MCPError
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.memory import create_client_server_memory_streams

from callwright.gateway.configuration import read_servers
from callwright.gateway.server.authorizer import Authorizer, KeyAuthorizer
from callwright.gateway.server.counters import GatewayCounters
from callwright.gateway.server.gateway import Gateway, GatewaySetup
from callwright.gateway.server.handlers import build_server
from callwright.gateway.server.http_door import HttpDoor
from callwright.serving.access import Access
from callwright.serving.sockets import open_socket
from tests.gateway.warm_python import words_of

HERE = Path(__file__).parent
WORLD = HERE / "world_server.py"
HOSTILE = HERE / "hostile_server.py"
PEER = HERE.parent / "tools" / "peer_server.py"
BIN = Path(sys.executable).parent


def world(*options: str, env: Mapping[str, str] | None = None, **more: Any) -> dict[str, Any]:
    """An entry of the servers file for the server that offers everything."""
    return {
        "command": sys.executable,
        "args": words_of(WORLD, *options),
        "env": dict(env or {}),
        **more,
    }


def peer(*options: str, **more: Any) -> dict[str, Any]:
    """An entry for the server that misbehaves."""
    return {"command": sys.executable, "args": [str(PEER), *options], **more}


def hostile(*options: str, **more: Any) -> dict[str, Any]:
    """An entry for a server that does what no server should."""
    return {"command": sys.executable, "args": ["-P", str(HOSTILE), *options], **more}


def build_gateway(servers: Mapping[str, Any], folder: Path | None = None, **setup: Any) -> Gateway:
    """A gateway in front of these servers."""
    found = read_servers(json.loads(json.dumps(servers)), folder or HERE)
    return Gateway(GatewaySetup(entries=found.entries, **setup))


@asynccontextmanager
async def connect(gateway: Gateway, mode: str = "auto", **callbacks: Any) -> AsyncIterator[Client]:
    """A client of a gateway that runs already, over a pair of streams as stdio has them."""
    server = build_server(gateway)
    async with (
        create_client_server_memory_streams() as (ours, theirs),
        asyncio.TaskGroup() as group,
    ):
        options = server.create_initialization_options()
        serving = group.create_task(server.run(theirs[0], theirs[1], options))
        async with Client(_Streams(ours), mode=mode, cache=None, **callbacks) as client:
            yield client
        serving.cancel()


class _Streams:
    """A pair of streams as a transport of the SDK."""

    def __init__(self, streams: Any) -> None:
        self._streams = streams

    async def __aenter__(self) -> Any:
        return self._streams

    async def __aexit__(self, *error: object) -> None: ...


@asynccontextmanager
async def serve_http(
    gateway: Gateway, access: Access | None = None, authorizer: Authorizer | None = None
) -> AsyncIterator[str]:
    """The gateway over HTTP; yields its address."""
    allowed = access or Access(what="gateway", variable="CALLWRIGHT_GATEWAY_KEY")
    counters = GatewayCounters()
    gateway.setup = replace(gateway.setup, record=lambda record, _: counters.add(record))
    door = HttpDoor(gateway, allowed, authorizer or KeyAuthorizer(allowed), counters)
    async with run_app(door) as address:
        yield address


@asynccontextmanager
async def run_app(app: Any, port: int = 0) -> AsyncIterator[str]:
    """An ASGI application on a port of loopback; 0: a free one."""
    listening = open_socket("127.0.0.1", port)
    config = uvicorn.Config(app, log_level="error", ws="none", lifespan="on")
    started = asyncio.Event()

    class Started(uvicorn.Server):
        async def startup(self, sockets: Any = None) -> None:
            await super().startup(sockets)
            started.set()

    server = Started(config)
    with listening:
        async with asyncio.TaskGroup() as group:
            group.create_task(server.serve(sockets=[listening]))
            await started.wait()
            try:
                yield f"http://127.0.0.1:{listening.getsockname()[1]}"
            finally:
                server.should_exit = True


@asynccontextmanager
async def connect_http(
    address: str, mode: str = "auto", headers: Mapping[str, str] | None = None, **callbacks: Any
) -> AsyncIterator[Client]:
    """A client over HTTP."""
    async with (
        httpx2.AsyncClient(headers=dict(headers or {}), timeout=30, trust_env=False) as http,
        Client(
            streamable_http_client(f"{address}/mcp", http_client=http),
            mode=mode,
            cache=None,
            **callbacks,
        ) as client,
    ):
        yield client


def read_text(result: Any) -> str:
    """The text of a result."""
    return "\n".join(block.text for block in result.content)


async def try_call(client: Client, name: str, arguments: dict[str, Any] | None = None) -> str:
    """The text of a result, or of the error in its place."""
    try:
        return read_text(await client.call_tool(name, arguments or {}))
    except MCPError as error:
        return error.message
