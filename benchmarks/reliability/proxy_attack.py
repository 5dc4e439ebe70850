"""Many clients of one proxy, with and without an attacker among them: how long the others wait.

Clients ask at random moments and get a call that has to be repaired, half of them as a stream. The
attacker sends one request after another, each of another shape that once kept a proxy busy for
seconds: long ones, and short ones that are costly to read, to check or to repair. Rounds without
and with the attacker take turns, because a busy machine slows both. The 99th percentile with the
attacker stays under three times that without, and no client gets an error.

The upstream answers after ``--delay`` seconds and reads no request, so that only the proxy can be
kept busy.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import multiprocessing
import os
import random
import signal
import socket
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from typing import Any

MOST = 3.0  # times the 99th percentile without the attacker
CHAT = "/v1/chat/completions"
_PATIENCE = 60.0  # seconds for one answer
CALL = '<tool_call>{"name": "getWeather", "arguments": {"city": "Paris", "days": "2"}}</tool_call>'


def tool(name: str, parameters: Any = None) -> dict[str, Any]:
    usual = {
        "type": "object",
        "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
    }
    made = parameters if parameters is not None else {**usual, "required": ["city"]}
    return {"type": "function", "function": {"name": name, "parameters": made}}


WEATHER = tool("get_weather")


def request(tools: list[Any], messages: list[Any] | None = None, *, stream: bool = False) -> bytes:
    asked = messages or [{"role": "user", "content": "What is the weather in Paris?"}]
    return json.dumps({"model": "m", "messages": asked, "tools": tools, "stream": stream}).encode()


def object_of(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


def call_of(name: str, arguments: Any) -> str:
    return f"<tool_call>{json.dumps({'name': name, 'arguments': arguments})}</tool_call>"


def unpaired(count: int) -> list[Any]:
    function = {"name": "get_weather", "arguments": "{}"}
    calls = ({"id": f"i{n}", "type": "function", "function": function} for n in range(count))
    asked = [{"role": "assistant", "content": None, "tool_calls": [call]} for call in calls]
    return [*asked, {"role": "user", "content": "x"}]


def recursive() -> list[Any]:
    branch = {"type": "object", "properties": {"q": {"$ref": "#/$defs/n"}}, "required": ["z"]}
    return [
        tool("a", {"$defs": {"n": {"anyOf": [branch] * 12}}, **object_of(p={"$ref": "#/$defs/n"})})
    ]


def nested(depth: int) -> Any:
    made: Any = 5
    for _ in range(depth):
        made = {"q": made}
    return made


def deep(levels: int) -> bytes:
    opened, closed = '{"type":"object","properties":{"a":' * levels, "}}" * levels
    asked = request([tool("a", {"MARK": 1})])
    return asked.replace(b'{"MARK": 1}', f"{opened}{{}}{closed}".encode())


def _long() -> Iterator[tuple[str, bytes, str]]:
    text = [{"role": "user", "content": "Paris is a city. " * 1_100_000}]
    yield "20 MB of text", request([WEATHER], text), CALL
    yield (
        "3 MB of text",
        request([WEATHER], [{"role": "user", "content": "Paris is a city. " * 180_000}]),
        CALL,
    )
    yield (
        "20,000 tools",
        request([tool(f"get_{n}") for n in range(20_000)]),
        call_of("frobnicate", {}),
    )
    yield (
        "5,000 tools",
        request([tool(f"get_thing_{n}") for n in range(5_000)]),
        call_of("getThing_77", {}),
    )
    many = {f"p{n}": {"type": "integer"} for n in range(20_000)}
    yield "20,000 properties", request([tool("a", object_of(**many))]), call_of("a", {"P_77": "5"})
    enum = {"enum": [f"value {n}" for n in range(200_000)]}
    yield (
        "200,000 values",
        request([tool("a", object_of(p=enum))]),
        call_of("a", {"p": "Value 77x"}),
    )
    yield (
        "100,000 messages",
        request([WEATHER], [{"role": "user", "content": "hello Paris"}] * 100_000),
        CALL,
    )
    yield "50,000 calls without results", request([WEATHER], unpaired(50_000)), CALL
    yield "a name of 1 MB", request([tool("a" * 1_000_000)]), call_of("a", {})
    yield (
        "brackets, 200 KB",
        b'{"model":"x","messages":' + b"[" * 100_000 + b"]" * 100_000 + b"}",
        CALL,
    )
    yield "schema 5,000 deep", deep(5_000), CALL


def _short() -> Iterator[tuple[str, bytes, str]]:
    """Requests that are read on the event loop, or would be but for what they contain."""
    yield "recursive schema", request(recursive()), call_of("a", {"p": nested(6)})
    bad = tool("a", object_of(p={"type": "string", "pattern": "^(a+)+$"}))
    yield "slow pattern", request([bad]), call_of("a", {"p": "a" * 40 + "!"})
    small = [{"type": "function", "function": {"name": f"t{n}"}} for n in range(2_500)]
    yield "2,500 small tools", request(small), CALL
    many = {f"p{n}": {"type": "integer"} for n in range(4_000)}
    wrong = {f"P_{n}": "5" for n in range(300)}
    yield (
        "300 misspelt of 4,000 properties",
        request([tool("a", object_of(**many))]),
        call_of("a", wrong),
    )
    listed = {"$defs": {"e": {"enum": [f"value {n}" for n in range(9_000)]}}}
    refs = {f"p{n}": {"$ref": "#/$defs/e"} for n in range(100)}
    values = {f"p{n}": f"Value {n}x" for n in range(100)}
    yield (
        "100 values of 9,000",
        request([tool("a", {**listed, **object_of(**refs)})]),
        call_of("a", values),
    )
    yield "900 calls without results", request([WEATHER], unpaired(900)), CALL
    yield (
        "30,000 blanks",
        request([WEATHER]),
        call_of("get_weather", {"city": "Paris", "days": " " * 30_000}),
    )
    yield (
        "2,000 quotes",
        request([WEATHER]),
        call_of("get_weather", {"city": "Paris", "days": '"' * 2_000}),
    )
    yield "1,600 calls", request([WEATHER]), CALL * 1_600
    yield (
        "3,000 calls in Python",
        request([WEATHER]),
        "[get_weather(city='Paris', days='2')]\n" * 3_000,
    )
    yield "braces", request([WEATHER]), "{" * 120_000
    names = [tool("ab" * 30 + str(n), {}) for n in range(900)]
    yield "names alike", request(names), call_of("ba" * 31, {}) * 20


def completion(content: str) -> bytes:
    message = {"role": "assistant", "content": content}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    made = {"id": "x", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}
    return json.dumps(made).encode()


def events(content: str) -> bytes:
    def event(delta: dict[str, Any], finish: str | None = None) -> bytes:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        made = {
            "id": "x",
            "object": "chat.completion.chunk",
            "created": 1,
            "model": "m",
            "choices": [choice],
        }
        return b"data: " + json.dumps(made).encode() + b"\n\n"

    texts = [event({"content": content[n : n + 6]}) for n in range(0, len(content), 6)]
    return b"".join(
        [
            event({"role": "assistant", "content": ""}),
            *texts,
            event({}, "stop"),
            b"data: [DONE]\n\n",
        ]
    )


def attacks() -> list[tuple[str, bytes, bytes]]:
    """(name, request, answer), the long and the short in turn."""
    made = [(name, asked, completion(said)) for name, asked, said in (*_long(), *_short())]
    random.Random(7).shuffle(made)
    return made


# the upstream


async def answer_all(port: int, delay: float) -> None:
    """Answers by the number in ``x-answer``; reads requests away."""
    answers = [completion(CALL), events(CALL), *(answer for *_, answer in attacks())]
    heads = [
        b"HTTP/1.1 200 OK\r\ncontent-type: %b\r\ncontent-length: %d\r\n\r\n" % (kind, len(answer))
        for answer in answers
        for kind in [b"text/event-stream" if answer.startswith(b"data:") else b"application/json"]
    ]

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                left, number = _number(head, b"content-length"), _number(head, b"x-answer")
                while left:
                    left -= len(await reader.read(min(left, 1 << 18)))
                await asyncio.sleep(delay)
                writer.write(heads[number] + answers[number])
                await writer.drain()
        except (ConnectionError, asyncio.IncompleteReadError):
            writer.close()

    async with await asyncio.start_server(serve, "127.0.0.1", port, backlog=2048) as serving:
        await serving.serve_forever()


def _number(head: bytes, name: bytes) -> int:
    _, found, rest = head.lower().partition(b"\r\n" + name + b":")
    return int(rest.split(b"\r\n", 1)[0]) if found else 0


# those who ask


@dataclass
class Connection:
    """One kept connection. ``ask`` returns the status and the body's length."""

    port: int
    reader: asyncio.StreamReader | None = None
    writer: asyncio.StreamWriter | None = None

    async def ask(self, body: bytes, answer: int) -> tuple[int, int]:
        if self.writer is None or self.reader is None:
            self.reader, self.writer = await asyncio.open_connection("127.0.0.1", self.port)
        head = (
            f"POST {CHAT} HTTP/1.1\r\nhost: 127.0.0.1\r\nx-answer: {answer}\r\ncontent-length:"
            f" {len(body)}\r\n\r\n"
        )
        self.writer.write(head.encode() + body)
        await self.writer.drain()
        given = await self.reader.readuntil(b"\r\n\r\n")
        return int(given.split(b" ", 2)[1]), await self._body(given)

    async def _body(self, head: bytes) -> int:
        assert self.reader is not None
        if b"chunked" not in head.lower():
            size = _number(head, b"content-length")
            await self.reader.readexactly(size)
            return size
        total = 0
        while size := int(await self.reader.readline(), 16):
            await self.reader.readexactly(size + 2)
            total += size
        await self.reader.readline()
        return total

    def close(self) -> None:
        if self.writer is not None:
            self.writer.close()
        self.reader = self.writer = None


@dataclass
class Seen:
    """What clients saw: seconds of each answer, and what went wrong."""

    seconds: list[float] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)

    def at(self, part: float) -> float:
        made = sorted(self.seconds)
        return made[min(len(made) - 1, int(len(made) * part))] if made else float("nan")

    def add(self, other: Seen) -> None:
        self.seconds += other.seconds
        self.wrong += other.wrong


async def client(
    connection: Connection, seen: Seen, until: float, pause: float, chance: random.Random
) -> None:
    tools = [WEATHER, *(tool(f"tool_{n}") for n in range(9))]
    bodies = [request(tools), request(tools, stream=True)]
    await asyncio.sleep(min(chance.uniform(0, pause), until - time.monotonic()))
    while time.monotonic() < until:
        kind = chance.randrange(2)
        began = time.perf_counter()
        try:
            async with asyncio.timeout(_PATIENCE):
                status, size = await connection.ask(bodies[kind], kind)
            if status != 200 or not size:
                seen.wrong.append(f"status {status}")
        except (OSError, TimeoutError, asyncio.IncompleteReadError) as error:
            seen.wrong.append(repr(error))
            connection.close()
        seen.seconds.append(time.perf_counter() - began)
        await asyncio.sleep(min(chance.expovariate(1 / pause), max(0.0, until - time.monotonic())))


async def round_of(port: int, clients: int, seconds: float, pause: float, seed: int) -> Seen:
    seen, until = Seen(), time.monotonic() + seconds
    connections = [Connection(port) for _ in range(clients)]
    async with asyncio.TaskGroup() as group:
        for n, connection in enumerate(connections):
            group.create_task(
                client(connection, seen, until, pause, random.Random(seed * 100_003 + n))
            )
    for connection in connections:
        connection.close()
    return seen


async def attack(port: int, done: Callable[[str, float, int], None]) -> None:
    """One attack after another until the process is ended."""
    made = attacks()
    while True:
        for number, (name, asked, _) in enumerate(made):
            connection, began, status = Connection(port), time.perf_counter(), 0
            try:
                async with asyncio.timeout(_PATIENCE):
                    status, _ = await connection.ask(asked, 2 + number)
            except (OSError, TimeoutError, asyncio.IncompleteReadError):
                status = 0
            connection.close()
            done(name, time.perf_counter() - began, status)


def _attack(port: int, rows: Any) -> None:
    asyncio.run(attack(port, lambda *row: rows.put(row)))


def _answer_all(port: int, delay: float) -> None:
    asyncio.run(answer_all(port, delay))


# the processes


def free_port() -> int:
    with socket.socket() as made:
        made.bind(("127.0.0.1", 0))
        return int(made.getsockname()[1])


@contextmanager
def proxied(delay: float) -> Iterator[int]:
    """The upstream and ``callwright proxy`` in front of it, each in its process; yields the proxy's
    port.
    """
    up, port = free_port(), free_port()
    upstream = multiprocessing.get_context("spawn").Process(
        target=_answer_all, args=(up, delay), daemon=True
    )
    upstream.start()
    wait_for(up)
    options = ["--upstream", f"http://127.0.0.1:{up}/v1", "--port", str(port), "--guided", "off"]
    command = [sys.executable, "-P", "-m", "callwright", "proxy", *options]
    started = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    try:
        wait_for(port)
        yield port
    finally:
        started.send_signal(signal.SIGINT if os.name == "posix" else signal.SIGTERM)
        started.wait(60)
        upstream.kill()
        upstream.join()


def wait_for(port: int) -> None:
    end = time.monotonic() + 60
    while time.monotonic() < end:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return
        except OSError:
            time.sleep(0.05)
    raise TimeoutError(f"nothing listens on port {port}")


@asynccontextmanager
async def attacking(port: int, rows: list[tuple[str, float, int]]) -> AsyncIterator[None]:
    """One attacker, in its own process."""
    context = multiprocessing.get_context("spawn")
    queue = context.Queue()
    made = context.Process(target=_attack, args=(port, queue), daemon=True)
    made.start()
    await asyncio.to_thread(lambda: rows.append(queue.get(timeout=_PATIENCE * 2)))  # it is at work
    try:
        yield
    finally:
        while not queue.empty():
            rows.append(queue.get())
        made.kill()
        made.join()


@dataclass
class Outcome:
    without: Seen
    attacked: Seen
    rows: list[tuple[str, float, int]]

    @property
    def ratio(self) -> float:
        return self.attacked.at(0.99) / self.without.at(0.99)

    @property
    def good(self) -> bool:
        return self.ratio < MOST and not self.without.wrong and not self.attacked.wrong


async def measure(
    port: int, clients: int, seconds: float, pause: float, rounds: int, say: Callable[[str], None]
) -> Outcome:
    """Rounds without and with an attacker, in turn."""
    made = Outcome(Seen(), Seen(), [])
    await round_of(port, clients, seconds / 4, pause, 99)  # what is loaded with the first requests
    for number in range(rounds):
        without = await round_of(port, clients, seconds, pause, 2 * number)
        async with attacking(port, made.rows):
            attacked = await round_of(port, clients, seconds, pause, 2 * number + 1)
        for name, seen, all_of in (
            ("alone", without, made.without),
            ("attacked", attacked, made.attacked),
        ):
            all_of.add(seen)
            say(_line(f"round {number + 1}, {name}", seen))
    return made


def _line(name: str, seen: Seen) -> str:
    middle, late, longest = (round(seen.at(part) * 1000) for part in (0.5, 0.99, 1))
    answers = f"{len(seen.seconds):6} answers, {len(seen.wrong)} wrong"
    return f"{name:20} {answers}, p50 {middle} ms, p99 {late} ms, longest {longest} ms"


def say(line: str) -> None:
    print(line, flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--clients", type=int, default=500)
    parser.add_argument("--seconds", type=float, default=45.0, help="of each round")
    parser.add_argument(
        "--pause", type=float, default=20.0, help="mean seconds between two requests of a client"
    )
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument(
        "--delay", type=float, default=0.05, help="seconds that the upstream takes for an answer"
    )
    given = parser.parse_args()
    with proxied(given.delay) as port:
        made = asyncio.run(
            measure(port, given.clients, given.seconds, given.pause, given.rounds, say)
        )
    slowest: dict[str, tuple[float, int]] = {}
    for name, seconds, status in made.rows:
        slowest[name] = max(slowest.get(name, (0.0, 0)), (seconds, status))
    for name, (seconds, status) in sorted(slowest.items(), key=lambda item: -item[1][0]):
        print(f"attack: {name:35} {seconds:6.2f} s at most, status {status}")
    print(_line("alone", made.without))
    print(_line("attacked", made.attacked))
    for wrong in sorted({*made.without.wrong, *made.attacked.wrong})[:5]:
        print(f"wrong: {wrong}")
    print(
        f"{given.clients} clients, {len(made.rows)} attacks: p99 {made.ratio:.2f} times that"
        " without the attacker"
    )
    return 0 if made.good else 1


if __name__ == "__main__":
    raise SystemExit(main())
