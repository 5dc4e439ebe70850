"""Two hundred servers over stdio behind one gateway: the time until all of them are listed, the first
time and from pinned definitions, and how many of them run.

    python benchmarks/speed/gateway_many.py --servers 200

Nothing is started for a list whose definitions are known; a call starts its own server, and one that
nobody has used for a while is ended.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx2
import uvicorn
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from callwright.gateway.configuration import read_servers
from callwright.gateway.server.authorizer import KeyAuthorizer
from callwright.gateway.server.counters import GatewayCounters
from callwright.gateway.server.gateway import Gateway, GatewaySetup
from callwright.gateway.server.http_door import HttpDoor
from callwright.gateway.session.pins import ProcessPins
from callwright.gateway.session.profile import ProcessProfiles
from callwright.serving.access import Access
from callwright.serving.sockets import open_socket

HERE = Path(__file__).resolve().parent
WRITER = HERE.parent / "reliability" / "gateway_writer.py"
SECONDS = 3.0  # that a list from pinned definitions may take
_FIRST_SECONDS = 120.0


@asynccontextmanager
async def serve(gateway: Gateway) -> AsyncIterator[Client]:
    """The gateway over HTTP, and a client of it."""
    access = Access(what="gateway", variable="CALLWRIGHT_GATEWAY_KEY")
    door = HttpDoor(gateway, access, KeyAuthorizer(access), GatewayCounters())
    listening = open_socket("127.0.0.1", 0)
    server = uvicorn.Server(uvicorn.Config(door, log_config=None, ws="none", lifespan="on"))
    url = f"http://127.0.0.1:{listening.getsockname()[1]}/mcp"
    async with asyncio.TaskGroup() as group:
        group.create_task(server.serve(sockets=[listening]))
        async with (
            httpx2.AsyncClient(timeout=_FIRST_SECONDS, trust_env=False) as http,
            Client(streamable_http_client(url, http_client=http), cache=None) as client,
        ):
            yield client
        server.should_exit = True


async def list_all(client: Client) -> tuple[float, int]:
    """The seconds of a whole list, and its tools."""
    began, cursor, count = time.perf_counter(), None, 0
    while True:
        page = await client.list_tools(cursor=cursor)
        count += len(page.tools)
        cursor = page.next_cursor
        if not cursor:
            return time.perf_counter() - began, count


def count_running(gateway: Gateway) -> int:
    return sum(bool(one.links) for one in gateway.upstreams.values())


async def measure(count: int, folder: Path) -> list[str]:
    """What was measured, a line each."""
    command = {
        "command": sys.executable,
        "args": ["-S", "-E", "-P", str(WRITER), str(folder / "writes")],
    }
    entries = read_servers({f"s{n}": command for n in range(count)}, folder).entries
    pins, profiles = ProcessPins(), ProcessProfiles()
    said = []

    def build(idle_seconds: float) -> Gateway:
        setup = GatewaySetup(
            entries=entries,
            consent="client",
            pins=pins,
            profiles=profiles,
            idle_seconds=idle_seconds,
            list_seconds=_FIRST_SECONDS,
        )
        return Gateway(setup)

    first = build(600.0)
    async with serve(first) as client:
        seconds, tools = await list_all(client)
        said.append(f"first list: {seconds:.2f} s, {tools} tools, {count_running(first)} running")
    second = build(0.0)
    async with serve(second) as client:
        seconds, tools = await list_all(client)
        said.append(f"pinned list: {seconds:.2f} s, {tools} tools, {count_running(second)} running")
        is_late = seconds > SECONDS or tools != 2 * count or count_running(second) > 0
        await client.call_tool("s7__look", {})
        said.append(f"after one call: {count_running(second)} running")
        await second.upstreams["s7"].sweep(asyncio.get_running_loop().time() + 1.0)
        said.append(f"after a rest: {count_running(second)} running")
        is_late |= count_running(second) > 0
    said.append("within its bounds" if not is_late else "NOT within its bounds")
    return said


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--servers", type=int, default=200)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        said = asyncio.run(measure(given.servers, Path(folder)))
    print("\n".join(said))
    return int("NOT" in said[-1])


if __name__ == "__main__":
    sys.exit(main())
