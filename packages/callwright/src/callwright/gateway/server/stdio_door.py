"""The door over stdin and stdout: one client, which started this process.

The SDK's own reads and writes in threads, three hand-overs a message; this one uses the event loop
where stdin and stdout are pipes. Its lines are bounded as those of servers are.
"""

from __future__ import annotations

import asyncio
import os
import stat
import sys
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from typing import IO, Any

from callwright.gateway.server.gateway import Gateway
from callwright.gateway.server.handlers import build_server
from callwright.jsontext import write
from callwright.jsontext.surrogates import join_surrogates
from callwright.tools.mcp.stdio import Lines, LongLine, parse_line

_CHUNK = 65_536
_WAITING = 4  # messages that may wait to be read: a hand-over of each costs a turn of the loop


async def serve_stdio(gateway: Gateway) -> None:
    """Serve until the client closes stdin."""
    server = build_server(gateway)
    async with gateway.running(), open_stdio() as (read_stream, write_stream):
        await server.run(read_stream, write_stream, server.create_initialization_options())


def open_stdio() -> AbstractAsyncContextManager[Any]:
    """The streams of the SDK over stdin and stdout. Meanwhile what this process and its children
    print goes to stderr.
    """
    if sys.platform == "win32" or not (_is_pipe(0) and _is_pipe(1)):
        from mcp.server.stdio import stdio_server

        return stdio_server()
    return _open_pipes()


@asynccontextmanager
async def _open_pipes() -> AsyncIterator[Any]:
    import anyio

    source, sink = _divert_streams()
    to_server, read_stream = anyio.create_memory_object_stream[Any](_WAITING)
    write_stream, from_server = anyio.create_memory_object_stream[Any](_WAITING)
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader()
    with source, sink:
        reading, _ = await loop.connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(reader), source
        )
        writing, protocol = await loop.connect_write_pipe(_Flow, sink)
        writer = asyncio.StreamWriter(writing, protocol, None, loop)
        async with to_server, read_stream, write_stream, from_server, asyncio.TaskGroup() as group:
            pumps = [
                group.create_task(read_messages(reader, to_server, write_stream)),
                group.create_task(write_messages(writer, from_server)),
            ]
            try:
                yield read_stream, write_stream
            finally:
                with suppress(ConnectionError):
                    await writer.drain()
                for pump in pumps:
                    pump.cancel()
                reading.close()
                writing.close()


class _Flow(asyncio.streams.FlowControlMixin):
    """The part that a writer needs to wait for a client that does not read."""

    async def _get_close_waiter(self, stream: Any) -> None: ...


async def read_messages(reader: asyncio.StreamReader, to_server: Any, to_client: Any) -> None:
    """Hand every line on as a message. One that cannot be read is answered with a parse error
    (JSON-RPC 2.0, 5.1); a reply of the client that cannot be read is an error for the server, which
    asked. Ends where stdin does.
    """
    import anyio
    from mcp.shared.message import SessionMessage

    lines = Lines()
    with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError, ConnectionError):
        async with to_server:
            while chunk := await reader.read(_CHUNK):
                for line in lines.feed(chunk):
                    head = line.head if isinstance(line, LongLine) else line
                    if not head.strip() or (isinstance(line, LongLine) and not line.ended):
                        continue
                    message, error = parse_line(line)
                    if message is not None:
                        await to_server.send(SessionMessage(message))
                    elif error is not None:
                        is_request = error.id is None or b'"method"' in head
                        await (to_client if is_request else to_server).send(SessionMessage(error))


async def write_messages(writer: asyncio.StreamWriter, from_server: Any) -> None:
    """Write every message as a line. A lone surrogate, which UTF-8 cannot encode, is replaced."""
    with suppress(ConnectionError):
        async with from_server:
            async for item in from_server:
                writer.write(_dump_message(item.message) + b"\n")
                await writer.drain()


def _dump_message(message: Any) -> bytes:
    try:
        text: str = message.model_dump_json(by_alias=True, exclude_unset=True)
    except ValueError:  # pydantic's
        told = message.model_dump(by_alias=True, exclude_unset=True)
        return write(join_surrogates(told)[0])
    return text.encode()


def _is_pipe(descriptor: int) -> bool:
    """Return True if the event loop can read or write a standard stream."""
    try:
        mode = os.fstat(descriptor).st_mode
    except OSError:
        return False
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)


def _divert_streams() -> tuple[IO[bytes], IO[bytes]]:
    """Files of our own for stdin and stdout; the standard ones lead to nothing and to stderr."""
    source, sink = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return os.fdopen(source, "rb", 0), os.fdopen(sink, "wb", 0)
