"""A good server behind the gateway, alone and beside servers that do what none should: how long its
clients wait.

    python benchmarks/reliability/gateway_hostile.py --rounds 4

The bad ones, each over stdio: dead at the start, silent at the start, one that answers with 10 MB,
one that writes garbage between its answers, one whose list has no end, one that dies in every call,
one that never answers, one that sends 20,000 progress messages a call, one that changes its list
all the time. All of them are called all the time in the attacked rounds, by a client of their own;
rounds without and with them take turns, because a busy machine slows both. The good server's clients
call at a steady pace. No call of theirs may fail.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import AsyncExitStack, contextmanager, nullcontext
from pathlib import Path
from typing import Any

from gateway_cuts import clients, gateway_over_http, stdio_entry
from mcp import Client, MCPError

ROOT = Path(__file__).resolve().parents[2]
BAD = ROOT / "packages" / "callwright" / "tests" / "gateway" / "hostile_server.py"
PACE = 0.02  # seconds between two calls of a good client
ATTACKED_FIRST = 3.0  # seconds, in which the attacker connects
SECONDS = 2.0  # a call's deadline at the bad servers
CALLED = ("flood", "garbage", "die", "silent", "slow", "progress", "fine")


def bad_entry(*options: str) -> dict[str, Any]:
    command = ["-S", "-E", "-P", str(BAD), *options]
    return {"command": sys.executable, "args": command, "approve": ["*"], "seconds": SECONDS}


def build_entries(folder: Path) -> dict[str, Any]:
    """The good server and the bad ones: one for each way to be bad."""
    entries = {"good": stdio_entry(folder / "writes")}
    entries |= {name: bad_entry() for name in CALLED if name != "fine"}
    for name in ("die", "hang", "noise", "stderr"):
        entries[f"start_{name}"] = bad_entry("--at-start", name)
    entries["endless"] = bad_entry("--endless")
    return entries


async def attack(client: Client, server: str, tool: str, stop: asyncio.Event) -> None:
    """Call a bad server again and again."""
    while not stop.is_set():
        try:
            result = await client.call_tool(f"{server}__{tool}", {})
            is_refused = result.is_error
        except MCPError:
            is_refused = True
        if is_refused:
            await asyncio.sleep(PACE)


async def attack_lists(client: Client, stop: asyncio.Event) -> None:
    """List all tools again and again, which starts what cannot be started."""
    while not stop.is_set():
        await client.list_tools()
        await asyncio.sleep(10 * PACE)


async def call_steadily(client: Client, calls: int, waits: list[float]) -> int:
    """Call the good server; returns how many calls failed."""
    failed = 0
    for _ in range(calls):
        began = time.perf_counter()
        try:
            failed += bool((await client.call_tool("good__look", {})).is_error)
        except MCPError:
            failed += 1
        waits.append(time.perf_counter() - began)
        await asyncio.sleep(PACE)
    return failed


async def attack_all(address: str) -> None:
    """What the attacking process does until it is ended."""
    stop = asyncio.Event()
    async with clients(address) as (bad, _), asyncio.TaskGroup() as group:
        for name in CALLED[:-1]:
            group.create_task(attack(bad, name, name, stop))
        group.create_task(attack(bad, "endless", "t0", stop))
        group.create_task(attack_lists(bad, stop))


@contextmanager
def attacking(address: str) -> Iterator[None]:
    """An attacker in a process of its own: what it costs itself is not measured."""
    process = subprocess.Popen([sys.executable, __file__, "--attack", address])
    try:
        yield
    finally:
        process.kill()
        process.wait()


async def measure_round(
    good: tuple[Client, Client], attacked: str, calls: int
) -> tuple[list[float], int]:
    """One round; returns the seconds of every good call, and how many failed. ``attacked``: the
    address that is attacked meanwhile.
    """
    waits: list[float] = []
    with attacking(attacked) if attacked else nullcontext():
        if attacked:
            await asyncio.sleep(ATTACKED_FIRST)
        async with asyncio.TaskGroup() as calling:
            tasks = [
                calling.create_task(call_steadily(one, calls, waits)) for one in (*good, *good)
            ]
    return waits, sum(task.result() for task in tasks)


def render(name: str, waits: list[float], failed: int) -> str:
    ranked = sorted(waits)
    middle, late = statistics.median(ranked), ranked[int(0.99 * len(ranked)) - 1]
    return (
        f"{name:9} {len(ranked)} calls of the good server, {failed} failed; p50"
        f" {middle * 1000:.1f} ms, p99 {late * 1000:.1f} ms, longest {ranked[-1] * 1000:.1f} ms"
    )


async def measure(rounds: int, calls: int) -> dict[str, tuple[list[float], int]]:
    """The waits of the good server's clients, ``alone`` and ``attacked``, and their failures."""
    found: dict[str, tuple[list[float], int]] = {"alone": ([], 0), "attacked": ([], 0)}
    async with AsyncExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        # a client of the SDK lists again after each call of a tool that is not on its list
        listed = gateway_over_http(folder, build_entries(folder), "--expose", "all")
        address = stack.enter_context(listed)
        good = await stack.enter_async_context(clients(address))
        await good[0].list_tools()
        await measure_round(good, "", 5)
        for _ in range(rounds):
            for name, attacker in (("alone", ""), ("attacked", address)):
                waits, failed = await measure_round(good, attacker, calls)
                found[name] = found[name][0] + waits, found[name][1] + failed
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("--calls", type=int, default=150, help="of each of four clients in a round")
    parser.add_argument("--attack", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.attack:
        asyncio.run(attack_all(given.attack))
    found = asyncio.run(measure(given.rounds, given.calls))
    for name, (waits, failed) in found.items():
        print(render(name, waits, failed))
    tails = [sorted(waits)[int(0.99 * len(waits)) - 1] for waits, _ in found.values()]
    print(f"p99 {tails[1] / tails[0]:.2f} times as long beside the bad servers")
    return 1 if any(failed for _, failed in found.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
