"""A soak: mixed requests for a while, then clients that leave at random moments. Memory and descriptors stay flat."""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import statistics
import sys
import time
from pathlib import Path

import aiohttp
from run import HERE, cpu, free_port, load, memory, request, running


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
    return sum(1 for r in rows if r[2].endswith(wanted) and r[3] == "01" and f"socket:[{r[9]}]" in owned)


async def closing_times(url: str, pid: int, port: int, count: int) -> list[float]:
    """How long the upstream's connection outlives a client that leaves in the middle of a stream."""
    chance = random.Random(3)
    idle = open_streams(pid, port)
    times = []
    for _ in range(count):
        await leave(url, chance.uniform(0.0, 0.6))
        began = time.perf_counter()
        while open_streams(pid, port) > idle and time.perf_counter() - began < 5:  # noqa: ASYNC110
            await asyncio.sleep(0.005)
        times.append(time.perf_counter() - began)
        idle = min(idle, open_streams(pid, port))
    return times


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--leave", type=int, default=1000, help="clients that leave")
    given = parser.parse_args()
    up, ours = free_port(), free_port()
    base, url = f"http://127.0.0.1:{up}", f"http://127.0.0.1:{ours}"
    proxy = [sys.executable, "-m", "callwright", "proxy", "--upstream", f"{base}/v1", "--guided", "off"]
    with (
        running([sys.executable, str(HERE / "peers.py"), "upstream", str(up)], up),
        running([*proxy, "--port", str(ours)], ours) as pid,
    ):
        asyncio.run(load(url, "mend", 300, 8))
        print(f"warm      {memory(pid):8.1f} MiB {descriptors(pid):4d} descriptors")
        end, done = time.monotonic() + 60 * given.minutes, 0
        while time.monotonic() < end:
            for kind in ("whole", "stream", "mend"):
                asyncio.run(load(url, kind, 200, 16))
                done += 200
            print(
                f"{done:9d} {memory(pid):8.1f} MiB {descriptors(pid):4d} descriptors, {cpu(pid):.1f} s CPU",
                flush=True,
            )
        if given.leave:
            times = sorted(asyncio.run(closing_times(url, pid, up, given.leave)))
            late = sum(t > 0.25 for t in times)
            p99 = times[int(len(times) * 0.99) - 1]
            middle = statistics.median(times) * 1000
            print(f"left      {len(times)} clients; upstream closed after {middle:.0f} ms (median),")
            print(f"          {p99 * 1000:.0f} ms (99 of 100), {times[-1] * 1000:.0f} ms (last); over 250 ms: {late}")
        print(f"end       {memory(pid):8.1f} MiB {descriptors(pid):4d} descriptors")


if __name__ == "__main__":
    main()
