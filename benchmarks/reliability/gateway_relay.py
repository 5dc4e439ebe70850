"""A TCP relay in front of an HTTP server that breaks connections off where a call says so.

The request of a call holds its cut (:mod:`gateway_writer`): ``there`` after N bytes of the request,
``during`` N milliseconds after all of it has gone on, ``back`` after N bytes of the answer,
``stall`` when the request has gone on, with the connection held open. ``how``: ``reset`` or
``close``. The relay closes both of its sides at once.
"""

from __future__ import annotations

import asyncio
import re
import socket
import struct
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass

from gateway_writer import CUT

_LENGTH = re.compile(rb"content-length:\s*(\d+)", re.IGNORECASE)
_RESET = struct.pack("ii", 1, 0)


@dataclass(eq=False)
class _Pair:
    """One connection and the one it is relayed to. ``left``: bytes of the answer that still pass."""

    client: asyncio.StreamWriter
    server: asyncio.StreamWriter
    left: int | None = None

    def break_off(self, how: str) -> None:
        for writer in (self.client, self.server):
            if how == "reset":
                given = writer.get_extra_info("socket")
                with suppress(OSError):
                    given.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
            writer.transport.abort()


async def _read_request(reader: asyncio.StreamReader) -> bytes:
    """One whole request, headers and body; empty at the end."""
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except (asyncio.IncompleteReadError, ConnectionError):
        return b""
    length = _LENGTH.search(head)
    return head + (await reader.readexactly(int(length[1])) if length else b"")


async def _answer(pair: _Pair, reader: asyncio.StreamReader, how: list[str]) -> None:
    while chunk := await reader.read(65_536):
        if pair.left is not None:
            chunk, pair.left = chunk[: pair.left], pair.left - len(chunk)
        pair.client.write(chunk)
        await pair.client.drain()
        if pair.left is not None and pair.left <= 0:
            return pair.break_off(how[0])
    pair.client.close()
    return None


async def _forward(pair: _Pair, reader: asyncio.StreamReader, how: list[str]) -> None:
    while request := await _read_request(reader):
        pair.left = None  # the answer before this request has passed
        cut = CUT.search(request)
        if cut is None:
            pair.server.write(request)
            continue
        way, at, how[0] = cut[1].decode(), int(cut[2]), cut[3].decode()
        if way == "back":
            pair.left = at
        if way == "stall":
            pair.left = 1 << 60
            pair.server.write(request)
            pair.client = _Hole(pair.client)  # type: ignore[assignment]
            continue
        pair.server.write(request[:at] if way == "there" else request)
        await pair.server.drain()
        if way == "during":
            await asyncio.sleep(at / 1000)
        if way != "back":
            return pair.break_off(how[0])
    pair.server.close()
    return None


class _Hole:
    """A connection that stays open and on which nothing is said any more."""

    def __init__(self, writer: asyncio.StreamWriter) -> None:
        self._writer = writer

    def write(self, data: bytes) -> None: ...

    async def drain(self) -> None: ...

    def __getattr__(self, name: str) -> object:
        return getattr(self._writer, name)


@asynccontextmanager
async def relay_to(port: int) -> AsyncIterator[int]:
    """Relay to a port of loopback; yields the relay's own."""
    open_pairs: set[_Pair] = set()
    async with asyncio.TaskGroup() as group:

        def take(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            group.create_task(_serve(port, reader, writer, open_pairs))

        server = await asyncio.start_server(take, "127.0.0.1", 0)
        try:
            yield int(server.sockets[0].getsockname()[1])
        finally:
            server.close()
            for pair in open_pairs:
                pair.break_off("close")


async def _serve(
    port: int,
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
    open_pairs: set[_Pair],
) -> None:
    with suppress(ConnectionError):
        back, to = await asyncio.open_connection("127.0.0.1", port)
        pair, how = _Pair(writer, to), [""]
        open_pairs.add(pair)
        try:
            async with asyncio.TaskGroup() as group:
                answering = group.create_task(_quietly(lambda: _answer(pair, back, how)))
                await _quietly(lambda: _forward(pair, reader, how))
                answering.cancel()
        finally:
            open_pairs.discard(pair)
            pair.break_off("close")


async def _quietly(work: Callable[[], Awaitable[None]]) -> None:
    with suppress(ConnectionError, asyncio.IncompleteReadError):
        await work()
