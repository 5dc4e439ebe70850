"""A small real HTTP server that answers as a script says: rightly, wrongly, slowly, or not at
all.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from callwright.cli.proxy import build_server
from callwright.proxy.server.app import Proxy
from callwright.proxy.session.settings import Settings


@dataclass
class Reply:
    """One answer: pieces are written one by one; ``hold`` waits before the piece of that number;
    ``cut`` hangs up.
    """

    pieces: Sequence[bytes]
    status: int = 200
    headers: dict[str, str] = field(default_factory=lambda: {"content-type": "text/event-stream"})
    hold: asyncio.Event | None = None
    hold_at: int = 1
    cut: bool = False


@dataclass
class Asked:
    method: str
    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


Answer = Callable[[Asked], Reply | Awaitable[Reply]]


class Upstream:
    """``asked`` is all that came; ``gone`` counts the connections that were closed in the middle of
    an answer; ``written`` the bytes of answers that were taken from this end.
    """

    def __init__(self, answer: Answer) -> None:
        self._answer = answer
        self.asked: list[Asked] = []
        self.gone = 0
        self.went = asyncio.Event()
        self.open = 0
        self.written = 0
        self.url = ""

    async def handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.open += 1
        try:
            while (asked := await _read(reader)) is not None:
                self.asked.append(asked)
                reply = self._answer(asked)
                reply = await reply if isinstance(reply, Awaitable) else reply
                if not await self._write(reader, writer, reply):
                    break
        except ConnectionError:
            self._left()
        finally:
            self.open -= 1
            writer.close()

    def _left(self) -> None:
        self.gone += 1
        self.went.set()

    async def _write(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, reply: Reply
    ) -> bool:
        lines = [f"HTTP/1.1 {reply.status} OK", *(f"{k}: {v}" for k, v in reply.headers.items())]
        writer.write("\r\n".join([*lines, "transfer-encoding: chunked", "", ""]).encode())
        for number, piece in enumerate(reply.pieces):
            if (
                reply.hold is not None
                and number == reply.hold_at
                and await self._left_while(reader, reply.hold)
            ):
                return False
            if piece:
                writer.write(b"%x\r\n%b\r\n" % (len(piece), piece))
            await writer.drain()
            self.written += len(piece)
        if reply.cut:
            return False
        writer.write(b"0\r\n\r\n")
        await writer.drain()
        return True

    async def _left_while(self, reader: asyncio.StreamReader, hold: asyncio.Event) -> bool:
        """Wait for the event, or for the other side to hang up; True if it did."""
        async with asyncio.TaskGroup() as group:
            waiting = group.create_task(hold.wait())
            leaving = group.create_task(reader.read(1))
            done, _ = await asyncio.wait({waiting, leaving}, return_when=asyncio.FIRST_COMPLETED)
            left = leaving in done and not leaving.result()
            waiting.cancel()
            leaving.cancel()
        if left:
            self._left()
        return left


async def _read(reader: asyncio.StreamReader) -> Asked | None:
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError:
        return None
    first, *lines = head.decode("latin-1").strip().split("\r\n")
    method, path, _ = first.split(" ")
    headers = {k.strip().lower(): v.strip() for k, _, v in (line.partition(":") for line in lines)}
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    return Asked(method, path, headers, body)


@asynccontextmanager
async def upstream(answer: Answer) -> AsyncIterator[Upstream]:
    made = Upstream(answer)
    listening = await asyncio.start_server(made.handle, "127.0.0.1", 0)
    made.url = f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}/v1"
    try:
        yield made
    finally:
        listening.close()


@asynccontextmanager
async def proxy(
    url: str, settings: Settings | None = None, **more: Any
) -> AsyncIterator[tuple[str, Proxy]]:
    """The real proxy on a real port, as ``callwright proxy`` serves it; yields its address without
    ``/v1``.
    """
    made = Proxy(url, settings or Settings(guided="off"), **more)
    serving = build_server(made, "127.0.0.1", 0)
    serving.config.load()
    serving.lifespan = serving.config.lifespan_class(serving.config)
    await serving.startup()
    port = serving.servers[0].sockets[0].getsockname()[1]
    try:
        async with asyncio.TaskGroup() as group:
            group.create_task(serving.main_loop())
            yield f"http://127.0.0.1:{port}", made
            serving.should_exit = True
    finally:
        serving.force_exit = True
        await serving.shutdown()
        await serving.lifespan.shutdown()
