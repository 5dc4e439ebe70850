"""A hundred thousand calls through one gateway: memory and descriptors stay flat.

    python benchmarks/speed/gateway_soak.py --calls 100000

A tenth of the calls has to be repaired, a tenth is refused, and every hundredth client leaves before
its answer. What counts is the memory after a tenth of the calls, when every buffer has its size,
against that at the end.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import aiohttp
from gateway import HERE, Peer, callwright
from proxy import cpu, free_port, memory, running

CLIENTS = 16
MOST_GROWTH = 1.05  # of the memory after a tenth of the calls
MOST_DESCRIPTORS = 8  # more than then
KINDS: tuple[tuple[str, dict[str, Any]], ...] = (
    *((("right", {"city": "Oslo", "days": 3, "unit": "celsius"}),) * 8),
    ("repaired", {"City": "Oslo", "days": "3"}),
    ("refused", {"days": 3}),
)


def build_body(peer: Peer, arguments: dict[str, Any], number: int) -> bytes:
    """A call whose arguments are its own: nothing can be kept of another one."""
    called = json.loads(peer.build_body())  # noqa: TID251 -- what was written just now
    called["id"] = number
    given = {**arguments, "city": f"Oslo {number}"} if "city" in arguments else arguments
    called["params"]["arguments"] = given
    return json.dumps(called).encode()


async def call_many(peer: Peer, first: int, count: int) -> None:
    """Make so many calls, of every kind in turn."""
    headers, numbers = peer.build_headers(), iter(range(first, first + count))

    async def work(session: aiohttp.ClientSession) -> None:
        for number in numbers:
            kind, arguments = KINDS[number % len(KINDS)]
            body = build_body(peer, arguments, number)
            try:
                seconds = 0.001 if number % 100 == 0 else 60
                async with (
                    asyncio.timeout(seconds),
                    session.post(peer.url, data=body, headers=headers) as given,
                ):
                    told = await given.read()
            except TimeoutError:
                continue
            if (b"Rain on Monday" in told) != (kind != "refused"):
                raise RuntimeError(f"a call that is {kind} was answered {told[:300]!r}")

    async with (
        aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session,
        asyncio.TaskGroup() as group,
    ):
        for _ in range(CLIENTS):
            group.create_task(work(session))


def count_descriptors(pid: int) -> int:
    return len(os.listdir(f"/proc/{pid}/fd"))


def soak(calls: int) -> list[tuple[int, float, int]]:
    """(calls so far, MiB, descriptors) after each tenth."""
    found = []
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        port = free_port()
        command = [sys.executable, str(HERE / "gateway_servers.py"), "upstream", str(port)]
        stack.enter_context(running(command, port))
        peer = callwright(folder, f"http://127.0.0.1:{port}/mcp", stack)
        for turn in range(10):
            asyncio.run(call_many(peer, turn * calls // 10, calls // 10))
            found.append(((turn + 1) * calls // 10, memory(peer.pid), count_descriptors(peer.pid)))
            print(
                f"{found[-1][0]:7} calls {found[-1][1]:8.1f} MiB {found[-1][2]:4} descriptors,"
                f" {cpu(peer.pid):.1f} s CPU",
                flush=True,
            )
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--calls", type=int, default=100_000)
    given = parser.parse_args()
    found = soak(given.calls)
    (_, early, first), (_, late, last) = found[0], found[-1]
    print(f"memory {early:.1f} -> {late:.1f} MiB ({late / early:.3f} times), {first} -> {last} fds")
    return int(late > MOST_GROWTH * early or last > first + MOST_DESCRIPTORS)


if __name__ == "__main__":
    sys.exit(main())
