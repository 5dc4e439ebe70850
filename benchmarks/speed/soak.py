"""A soak: mixed requests for a while, then clients that leave at random moments. Memory and
descriptors stay flat, and the upstream's connection is closed soon after its client has gone.

Clients leave the proxy and the bare pass-through in turn, in one run: on a busy machine the
difference counts.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import statistics
import time
from pathlib import Path

import aiohttp
from proxy import Server, cpu, load, memory, request, side_by_side

KINDS = ("whole", "stream", "repair")


def descriptors(pid: int) -> int:
    return len(os.listdir(f"/proc/{pid}/fd"))


async def leave(url: str, seconds: float) -> None:
    """Begin a slow stream and hang up after so long."""
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(force_close=True)) as session:
        try:
            async with (
                asyncio.timeout(seconds),
                session.post(f"{url}/v1/chat/completions", data=request("slow")) as given,
            ):
                await given.read()
        except TimeoutError:
            return


def open_streams(pid: int, port: int) -> int:
    """Connections of a process to the upstream's port that are still established."""
    wanted = f":{port:04X}"
    owned = set()
    for entry in os.listdir(f"/proc/{pid}/fd"):
        try:
            owned.add(os.readlink(f"/proc/{pid}/fd/{entry}"))
        except OSError:
            continue
    rows = (line.split() for line in Path(f"/proc/{pid}/net/tcp").read_text().splitlines()[1:])
    return sum(
        1 for r in rows if r[2].endswith(wanted) and r[3] == "01" and f"socket:[{r[9]}]" in owned
    )


async def closing_times(
    servers: dict[str, Server], port: int, count: int
) -> dict[str, list[float]]:
    """Of each server: how long the upstream's connection outlives a client that leaves."""
    chance = random.Random(3)
    idle = {name: open_streams(pid, port) for name, (_, pid) in servers.items()}
    times: dict[str, list[float]] = {name: [] for name in servers}
    for _ in range(count):
        moment = chance.uniform(0.0, 0.6)
        for name, (url, pid) in servers.items():
            await leave(url, moment)
            began = time.perf_counter()
            while open_streams(pid, port) > idle[name] and time.perf_counter() - began < 5:  # noqa: ASYNC110
                await asyncio.sleep(0.004)
            times[name].append(time.perf_counter() - began)
            idle[name] = min(idle[name], open_streams(pid, port))
    return times


def soak(url: str, pid: int, minutes: float) -> None:
    end, done, seen = time.monotonic() + 60 * minutes, 0, []
    while time.monotonic() < end:
        for kind in KINDS:
            asyncio.run(load(url, kind, 200, 16))
            done += 200
        seen.append(memory(pid))
        if len(seen) % 10 == 1:
            said = (
                f"{done:9d} {seen[-1]:8.1f} MiB {descriptors(pid):4d} descriptors, {cpu(pid):.1f}"
                " s CPU"
            )
            print(said, flush=True)
    half = seen[len(seen) // 2 :] or [memory(pid)]
    print(
        f"{done:9d} requests; second half: {min(half):.1f} to {max(half):.1f} MiB, last"
        f" {half[-1]:.1f} MiB",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--leave", type=int, default=1000, help="clients that leave")
    given = parser.parse_args()
    with side_by_side() as (up, servers):
        url, pid = servers["callwright"]
        asyncio.run(load(url, "repair", 600, 16))
        print(f"warm      {memory(pid):8.1f} MiB {descriptors(pid):4d} descriptors", flush=True)
        soak(url, pid, given.minutes)
        left = asyncio.run(closing_times(servers, up, given.leave)) if given.leave else {}
        for name, unsorted in left.items():
            times = sorted(unsorted)
            late = sum(t > 0.25 for t in times)
            middle, p99 = statistics.median(times) * 1000, times[int(len(times) * 0.99) - 1] * 1000
            print(
                f"left      {name:12} {len(times)} clients; upstream closed after {middle:.0f} ms"
                " (median),"
            )
            print(
                f"          {p99:.0f} ms (99 of 100), {times[-1] * 1000:.0f} ms (last); over 250"
                f" ms: {late}"
            )
        print(f"end       {memory(pid):8.1f} MiB {descriptors(pid):4d} descriptors")


if __name__ == "__main__":
    main()
