"""Thousands of connections cut around the gateway: is an unsafe call ever sent twice, and what is
said of a call that may have been done?

    python benchmarks/reliability/gateway_cuts.py --cuts 10000

One gateway (``callwright gateway``, a process of its own) stands in front of servers that count
their one write (:mod:`gateway_writer`, :mod:`gateway_http_writer`): over stdio, and over HTTP of
2026-07-28, of 2025-11-25, and with streams that can be resumed. Every write has an id of its own and
a cut drawn at random: on the way to the server, in the server, on the way back, or silence instead
of an end (:mod:`gateway_relay`). Other connections are cut between client and gateway: raw clients
over HTTP that leave after some byte, and gateways over stdio that lose their client or are killed.

Counted afterwards in the servers' own files. ``twice``: writes that were done more than once;
``unsaid``: writes that were done, whose result the client does not have, and whose error does not
say that the outcome is unknown; ``invented``: a result of a write that was not done; ``late``: calls
that ended later than their deadline and half a second. All four have to be 0. A machine that others
use delays everybody: a call of a server that is never cut is made all the time, and what it waits
while a late call begins and while it ends is taken off; ``delayed`` counts the calls that were late
before that.
"""

from __future__ import annotations

import argparse
import asyncio
import collections
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from itertools import count as count_from
from pathlib import Path
from typing import Any

import httpx2
from gateway_http_writer import KINDS
from gateway_relay import relay_to
from mcp import Client, MCPError
from mcp.client.streamable_http import streamable_http_client

HERE = Path(__file__).resolve().parent
SECONDS, SPARE = 3.0, 0.5  # a call's deadline, and what it may take beyond it
MODERN = "2026-07-28"
META = "callwright/gateway"
_PAD = 150_000  # characters that do not fit into a pipe
_STDIO_WAYS = ("there", "before", "after", "back", "back", "stall")
_HTTP_WAYS = ("there", "during", "during", "back", "back", "stall")
_STDIO_SERVERS = 24
_STALLS = 0.05  # of all cuts: each takes the whole deadline
_ANSWER, _LINE = 700, 90  # over HTTP and over stdio: about the bytes of an answer


@dataclass(frozen=True, slots=True)
class Ended:
    """One call: its group, its id, what its client was told, and the seconds it took. ``told``:
    done, unknown, failed, gone (the client left).
    """

    group: str
    id: str
    told: str
    seconds: float
    at: float = 0.0  # when it ended, on the monotonic clock


@dataclass
class World:
    """The files in which writes are counted, and every call that was made."""

    folder: Path
    seed: int = 1
    calls: list[Ended] = field(default_factory=list)
    calm: list[tuple[float, float]] = field(default_factory=list)  # ended at, seconds

    def __post_init__(self) -> None:
        self.chance = random.Random(self.seed)
        self._numbers = count_from(1)

    @property
    def file(self) -> Path:
        return self.folder / "writes"

    def count_delay(self, at: float) -> float:
        """The longest that a call of the calm server waited around this moment."""
        return max((seconds for when, seconds in self.calm if abs(when - at) <= 1.0), default=0.0)

    def draw_id(self, group: str) -> str:
        return f"{group}-{next(self._numbers)}"

    def read_writes(self) -> collections.Counter[str]:
        return collections.Counter(self.file.read_text().split() if self.file.exists() else [])

    def draw_cut(
        self, ways: Sequence[str], length: int, answer: int, hows: Sequence[str]
    ) -> dict[str, Any]:
        """A cut of a request and an answer of about so many bytes."""
        way = self.chance.choice(ways)
        if way == "stall" and self.chance.random() > _STALLS * len(ways):
            way = "back"
        most = {"there": length, "back": answer, "during": 14}.get(way, 0)
        return {"way": way, "at": self.chance.randint(0, most), "how": self.chance.choice(hows)}


# ---------------------------------------------------------------- the gateway and its servers


@contextmanager
def http_writers(path: Path) -> Iterator[list[int]]:
    """The servers over HTTP; yields their ports."""
    command = [sys.executable, str(HERE / "gateway_http_writer.py"), str(path)]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        yield [int(port) for port in process.stdout.readline().split()]
    finally:
        process.kill()
        process.communicate()


def stdio_entry(path: Path) -> dict[str, Any]:
    """A server over stdio, whose write needs no approval."""
    command = [sys.executable, "-S", "-E", "-P", str(HERE / "gateway_writer.py"), str(path)]
    return {
        "command": command[0],
        "args": command[1:],
        "approve": ["*"],
        "seconds": SECONDS,
        "effects": {"look": "read"},
    }


@contextmanager
def gateway_over_http(folder: Path, entries: dict[str, Any], *options: str) -> Iterator[str]:
    """``callwright gateway`` as a process; yields its address."""
    servers = folder / "mcp.json"
    servers.write_text(json.dumps({"mcpServers": entries}))
    command = [sys.executable, "-P", "-m", "callwright", "gateway", "--servers", str(servers)]
    command += ["--port", "0", "--quiet", "--no-evidence", *options]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    try:
        for line in process.stderr:
            if line.startswith("gateway:"):
                yield line.split()[1].removesuffix("/mcp")
                return
        raise RuntimeError("the gateway did not start")
    finally:
        process.send_signal(signal.SIGINT)
        try:
            process.communicate(timeout=30)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()


@asynccontextmanager
async def clients(address: str) -> AsyncIterator[tuple[Client, Client]]:
    """A client of either era."""
    async with AsyncExitStack() as stack:
        made = []
        for mode in ("auto", "legacy"):
            http = await stack.enter_async_context(httpx2.AsyncClient(timeout=60, trust_env=False))
            transport = streamable_http_client(f"{address}/mcp", http_client=http)
            made.append(await stack.enter_async_context(Client(transport, mode=mode, cache=None)))
        yield made[0], made[1]


# ---------------------------------------------------------------- cuts on the servers' side


async def call(world: World, client: Client, group: str, name: str, arguments: Any) -> str:
    """One call; returns what its client was told."""
    began = time.monotonic()
    try:
        result = await client.call_tool(name, arguments)
    except MCPError as error:
        told = f"error {error.code}: {error.message}"
    else:
        told = "done"
        if result.is_error:
            said = (result.meta or {}).get(META) or {}
            told = "unknown" if said.get("outcome") == "unknown" else "failed"
    if "id" in arguments:
        now = time.monotonic()
        world.calls.append(Ended(group, arguments["id"], told, now - began, now))
    return told


async def watch_calm(world: World, client: Client) -> None:
    """Call the server that is never cut, until cancelled."""
    while True:
        began = time.monotonic()
        await call(world, client, "", "calm__look", {})
        now = time.monotonic()
        world.calm.append((now, now - began))
        await asyncio.sleep(0.05)


async def cut_over_http(world: World, both: Sequence[Client], kind: str, cuts: int) -> None:
    """One worker: so many cuts at a server of a kind over HTTP."""
    for _ in range(cuts):
        number = world.draw_id(kind)
        cut = world.draw_cut(_HTTP_WAYS, 900, _ANSWER, ("reset", "close"))
        client = world.chance.choice(both)
        await call(world, client, kind, f"{kind}__write", {"id": number, "cut": cut})


async def cut_over_stdio(world: World, both: Sequence[Client], server: str, cuts: int) -> None:
    """One worker: so many cuts at a server over stdio, which is looked at before each: it rests
    after every end.
    """
    for _ in range(cuts):
        client = world.chance.choice(both)
        while (told := await call(world, client, "", f"{server}__look", {})) != "done":
            if told.startswith("error"):
                raise RuntimeError(f"the gateway serves a client no longer: {told}")
            await asyncio.sleep(0.1)
        arguments: dict[str, Any] = {"id": world.draw_id("stdio")}
        is_long = world.chance.random() < 0.2
        arguments["cut"] = world.draw_cut(
            _STDIO_WAYS, _PAD if is_long else 300, _LINE, ("exit", "kill", "close")
        )
        if is_long:
            arguments["pad"] = "x" * _PAD
        await call(world, client, "stdio", f"{server}__write", arguments)


# ---------------------------------------------------------------- cuts on the clients' side


def build_message(name: str, number: str) -> bytes:
    """A call of 2026-07-28, as bytes."""
    meta = {
        "io.modelcontextprotocol/protocolVersion": MODERN,
        "io.modelcontextprotocol/clientInfo": {"name": "raw", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    params = {"name": name, "arguments": {"id": number}, "_meta": meta}
    return json.dumps(
        {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    ).encode()


def build_request(name: str, number: str) -> bytes:
    """The same over HTTP."""
    body = build_message(name, number)
    head = (
        "POST /mcp HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n"
        "accept: application/json, text/event-stream\r\n"
        f"mcp-protocol-version: {MODERN}\r\nmcp-method: tools/call\r\nmcp-name: {name}\r\n"
        f"content-length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body


async def leave_over_http(world: World, address: str, names: Sequence[str], cuts: int) -> None:
    """One worker: raw clients that leave after some byte of the request or of the answer, or some
    milliseconds after the request.
    """
    port = int(address.rpartition(":")[2])
    for _ in range(cuts):
        number = world.draw_id("left")
        asked = build_request(world.chance.choice(names), number)
        most = len(asked)
        at = world.chance.choice(
            (world.chance.randint(0, most), most + world.chance.randint(0, _ANSWER))
        )
        began = time.monotonic()
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        with suppress(ConnectionError, TimeoutError, asyncio.IncompleteReadError):
            writer.write(asked[:at])
            await writer.drain()
            async with asyncio.timeout(world.chance.uniform(0.0, 0.2) if at >= most else 0.001):
                await reader.readexactly(max(1, at - most))
        writer.transport.abort()
        world.calls.append(Ended("left", number, "gone", time.monotonic() - began))


async def leave_over_stdio(world: World, folder: Path, cuts: int) -> None:
    """One worker: gateways over stdio whose client closes their stdin after some byte, or which are
    killed some milliseconds after the call.
    """
    servers = folder / "stdio.json"
    servers.write_text(json.dumps({"mcpServers": {"s": stdio_entry(world.file)}}))
    for _ in range(cuts):
        number = world.draw_id("gateway")
        asked = build_message("s__write", number) + b"\n"
        command = [sys.executable, "-P", "-m", "callwright", "gateway", "--servers", str(servers)]
        process = await asyncio.create_subprocess_exec(
            *command,
            "--quiet",
            "--no-evidence",
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            start_new_session=True,
        )
        assert process.stdin is not None
        assert process.stdout is not None
        discover = asked.replace(b'"tools/call"', b'"tools/list"').replace(
            b'"id": 1', b'"id": 0', 1
        )
        process.stdin.write(discover)
        await process.stdout.readline()  # its server has been started
        at = world.chance.randint(1, 2 * len(asked))
        process.stdin.write(asked[:at])
        if at >= len(asked):
            with suppress(TimeoutError):
                async with asyncio.timeout(world.chance.uniform(0.0, 0.03)):
                    await process.stdout.read(at - len(asked) + 1)
            os.killpg(process.pid, signal.SIGKILL)
        process.stdin.close()
        began = time.monotonic()
        await process.stdout.read()
        await process.wait()
        world.calls.append(Ended("gateway", number, "gone", time.monotonic() - began))


# ---------------------------------------------------------------- the whole


@dataclass(frozen=True, slots=True)
class Shares:
    """How many cuts each group gets."""

    http: int
    stdio: int
    left: int
    gateways: int

    @property
    def stdio_servers(self) -> int:
        """Servers over stdio. Each rests after every cut, so many are cut at the same time."""
        return min(_STDIO_SERVERS, max(2, self.stdio // 2))

    @classmethod
    def of(cls, cuts: int) -> Shares:
        """A half over HTTP, a third over stdio, the rest between client and gateway."""
        gateways = max(2, cuts // 200)
        left = cuts * 15 // 100
        stdio = cuts * 30 // 100
        return cls(cuts - stdio - left - gateways, stdio, left, gateways)


async def cut_all(world: World, cuts: int, workers: int = 4) -> None:
    """Make so many cuts; what came of them is in ``world``."""
    shares = Shares.of(cuts)
    async with AsyncExitStack() as stack:
        ports = stack.enter_context(http_writers(world.file))
        entries: dict[str, Any] = {}
        for kind, port in zip(KINDS, ports, strict=True):
            relay = await stack.enter_async_context(relay_to(port))
            entries[kind] = {
                "url": f"http://127.0.0.1:{relay}/mcp",
                "approve": ["*"],
                "seconds": SECONDS,
            }
        names = ["calm", *(f"s{number}" for number in range(shares.stdio_servers))]
        entries |= {name: stdio_entry(world.file) for name in names}
        gateway = gateway_over_http(world.folder, entries)
        address = await asyncio.to_thread(gateway.__enter__)  # the relays go on meanwhile
        stack.push_async_callback(asyncio.to_thread, gateway.__exit__, None, None, None)
        both = await stack.enter_async_context(clients(address))
        for client in both:
            await client.list_tools()
        async with asyncio.TaskGroup() as group:
            watching = group.create_task(watch_calm(world, both[0]))
            await _run_workers(world, shares, both, address, workers)
            watching.cancel()
        async with asyncio.TaskGroup() as group:
            for part in _split(shares.gateways, 2):
                group.create_task(leave_over_stdio(world, world.folder, part))
        await asyncio.sleep(SECONDS)  # calls whose client has left may still be under way


async def _run_workers(
    world: World, shares: Shares, both: Sequence[Client], address: str, workers: int
) -> None:
    names = [f"s{number}" for number in range(shares.stdio_servers)]
    async with asyncio.TaskGroup() as group:
        for kind, part in zip(KINDS, _split(shares.http, 3), strict=True):
            for mine in _split(part, workers):
                group.create_task(cut_over_http(world, both, kind, mine))
        for name, part in zip(names, _split(shares.stdio, shares.stdio_servers), strict=True):
            group.create_task(cut_over_stdio(world, both, name, part))
        targets = [f"{kind}__write" for kind in KINDS]
        for part in _split(shares.left, workers):
            group.create_task(leave_over_http(world, address, targets, part))


def _split(whole: int, parts: int) -> list[int]:
    return [whole // parts + (place < whole % parts) for place in range(parts)]


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a group of cuts shows."""

    group: str
    calls: int
    written: int
    done: int
    unknown: int
    failed: int
    twice: list[str]
    unsaid: list[str]
    invented: list[str]
    late: list[str]
    delayed: int
    longest: float

    @property
    def is_good(self) -> bool:
        return not (self.twice or self.unsaid or self.invented or self.late)

    def render(self) -> str:
        bad = " ".join(
            f"{name} {len(found)}"
            for name, found in (
                ("twice", self.twice),
                ("unsaid", self.unsaid),
                ("invented", self.invented),
                ("late", self.late),
            )
        )
        return (
            f"{self.group:10} {self.calls:6} cut, {self.written:6} written; told done"
            f" {self.done}, unknown {self.unknown}, failed {self.failed}; {bad} (delayed"
            f" {self.delayed}); longest {self.longest:.2f} s"
        )


def is_late(one: Ended, delay: float) -> bool:
    """Return True if a call ended too late, with what the machine delayed it taken off."""
    return one.told != "gone" and one.seconds - delay > SECONDS + SPARE


def judge(world: World) -> list[Verdict]:
    """One verdict a group."""
    writes = world.read_writes()
    verdicts = []
    for name in dict.fromkeys(one.group for one in world.calls):
        calls = [one for one in world.calls if one.group == name]

        def pick(fits: Callable[[Ended], bool], among: list[Ended] = calls) -> list[str]:
            return [f"{one.id} ({one.told}, {one.seconds:.2f} s)" for one in among if fits(one)]

        verdicts.append(
            Verdict(
                name,
                len(calls),
                sum(writes[one.id] > 0 for one in calls),
                sum(one.told == "done" for one in calls),
                sum(one.told == "unknown" for one in calls),
                sum(one.told.startswith(("failed", "error")) for one in calls),
                pick(lambda one: writes[one.id] > 1),
                pick(
                    lambda one: writes[one.id] > 0 and one.told not in ("done", "unknown", "gone")
                ),
                pick(lambda one: one.told == "done" and not writes[one.id]),
                pick(
                    lambda one: is_late(
                        one, world.count_delay(one.at - one.seconds) + world.count_delay(one.at)
                    )
                ),
                sum(is_late(one, 0.0) for one in calls),
                max(one.seconds for one in calls),
            )
        )
    return verdicts


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cuts", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        world = World(Path(folder), given.seed)
        asyncio.run(cut_all(world, given.cuts))
        verdicts = judge(world)
    for verdict in verdicts:
        print(verdict.render())
        for bad in (verdict.twice, verdict.unsaid, verdict.invented, verdict.late):
            print(*bad[:10], sep="\n", end="\n" if bad else "")
    total = sum(one.calls for one in verdicts)
    broken = sum(not one.is_good for one in verdicts)
    print(f"total {total} cuts; groups with a broken promise: {broken}")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
