"""MCP's stdio transport with bounds: one JSON-RPC message a line, and no line takes more than
MAX_LINE bytes.

The SDK's own joins an endless line for ever, drops an answer it cannot parse so that its caller
waits for good, and writes what it could not parse to the log. Here the caller is answered with an
error where the line tells whose answer it is; another text on stdout is passed over. Windows has
the SDK's transport.
"""

from __future__ import annotations

import asyncio
import os
import re
import signal
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, suppress
from typing import IO, TYPE_CHECKING, Any

from callwright.tools.mcp.streams import is_unread
from callwright.tools.servers import Server

if TYPE_CHECKING:
    from asyncio.subprocess import Process

    from mcp_types import JSONRPCError, JSONRPCMessage

MAX_LINE = 32_000_000
_CHUNK = 65_536
_WAITING = 4  # messages that may wait to be read: a hand-over of each costs a turn of the loop
_HEAD = 1_000  # bytes in which an answer names its request, at either end of its line
_GRACE = 2.0
_POLL = 0.01

_ID = rb'"id"\s*+:\s*+(-?[0-9]{1,18}|"[^"\\]{0,200}")'
_ID_FIRST = re.compile(rb'\s*+\{\s*+(?:"jsonrpc"\s*+:\s*+"2\.0"\s*+,\s*+)?' + _ID + rb"\s*+[,}]")
_ID_LAST = re.compile(rb",\s*+" + _ID + rb'\s*+(?:,\s*+"jsonrpc"\s*+:\s*+"2\.0"\s*+)?\}\s*+\Z')


class LongLine:
    """Summary of a line beyond the length limit: its first and last bytes. ``ended``: its end has
    arrived.
    """

    def __init__(self, head: bytes, tail: bytes, ended: bool) -> None:
        self.head, self.tail, self.ended = head, tail, ended


class Lines:
    """Chunks of bytes -> lines of at most ``most`` bytes. A longer one is a LongLine, at the bound
    and at its end.
    """

    def __init__(self, most: int = MAX_LINE) -> None:
        self._most = most
        self._parts: list[bytes] = []
        self._size = 0
        self._head = b""  # of a line beyond the bound

    def feed(self, chunk: bytes) -> Iterator[bytes | LongLine]:
        *ended, rest = chunk.split(b"\n")
        for part in ended:
            yield from self._take(part, ends=True)
        if rest:
            yield from self._take(rest, ends=False)

    def _take(self, part: bytes, *, ends: bool) -> Iterator[bytes | LongLine]:
        self._parts.append(part)
        self._size += len(part)
        if self._size > self._most:
            line = b"".join(self._parts)
            first = not self._head
            self._head = self._head or line[:_HEAD]
            tail = line[-_HEAD:]
            self._parts, self._size = (
                [tail],
                self._most + 1,
            )  # what still comes is beyond the bound too
            if first or ends:
                yield LongLine(self._head, tail, ends)
        elif ends:
            yield b"".join(self._parts)
        if ends:
            self._parts, self._size, self._head = [], 0, b""


def find_request_id(head: bytes, tail: bytes) -> int | str | None:
    """The request that an answer names before or after everything else; None where it does not."""
    found = _ID_FIRST.match(head[:_HEAD]) or _ID_LAST.search(tail[-_HEAD:])
    if found is None:
        return None
    return found[1][1:-1].decode("utf-8", "replace") if found[1].startswith(b'"') else int(found[1])


@asynccontextmanager
async def open_stdio(
    server: Server,
    stderr: IO[bytes],
    *,
    grace: float = _GRACE,
    is_dropped: Callable[[str], bool] = is_unread,
) -> AsyncIterator[Any]:
    """The server as a process of ours, and the streams to and from it. Raises OSError where it
    cannot be started.

    Messages whose method ``is_dropped`` are left out.

    At the end it has ``grace`` seconds to end by itself, and as many again after SIGTERM.
    """
    if sys.platform == "win32":
        from mcp import StdioServerParameters
        from mcp.client.stdio import stdio_client

        asked = {"command": server.command, "args": list(server.args), "env": dict(server.env)}
        errlog: Any = stderr  # only its file descriptor is used
        async with stdio_client(
            StdioServerParameters(**asked, cwd=server.cwd or None), errlog=errlog
        ) as streams:
            yield streams
        return
    import anyio

    process = await _start_process(server, stderr)
    try:
        to_session, read_stream = anyio.create_memory_object_stream[Any](_WAITING)
        write_stream, from_session = anyio.create_memory_object_stream[Any](_WAITING)
        async with (
            asyncio.TaskGroup() as group,
            to_session,
            read_stream,
            write_stream,
            from_session,
        ):
            pumps = [
                group.create_task(_read_messages(process, to_session, is_dropped)),
                group.create_task(_write_messages(process, from_session, to_session)),
            ]
            try:
                yield read_stream, write_stream
            finally:
                for pump in pumps:
                    pump.cancel()
    finally:
        await _stop_process(process, grace)


async def _start_process(server: Server, stderr: IO[bytes]) -> Process:
    from mcp.client.stdio import get_default_environment

    return await asyncio.create_subprocess_exec(
        server.command,
        *server.args,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=stderr,
        env=get_default_environment() | dict(server.env),
        cwd=server.cwd or None,
        start_new_session=True,
    )


async def _read_messages(
    process: Process, to_session: Any, is_dropped: Callable[[str], bool]
) -> None:
    import anyio

    assert process.stdout is not None
    lines, answered = Lines(), False
    with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError, ConnectionError):
        async with to_session:
            while chunk := await process.stdout.read(_CHUNK):
                for line in lines.feed(chunk):
                    message = None if answered else _parse_message(line, is_dropped)
                    if message is not None:
                        await to_session.send(message)
                    elif isinstance(line, LongLine) and line.ended and not answered:
                        return  # somebody waits for this answer, and nobody can tell who
                    answered = (
                        isinstance(line, LongLine)
                        and not line.ended
                        and (answered or message is not None)
                    )


async def _write_messages(process: Process, from_session: Any, to_session: Any) -> None:
    assert process.stdin is not None
    try:
        async with from_session:
            async for item in from_session:
                text = item.message.model_dump_json(by_alias=True, exclude_unset=True)
                process.stdin.write(text.encode() + b"\n")
                await process.stdin.drain()
    except (OSError, RuntimeError):  # uvloop raises the latter for a pipe that is closed
        await to_session.aclose()  # the session sees the end instead of waiting


def _parse_message(line: bytes | LongLine, is_dropped: Callable[[str], bool]) -> Any:
    """Return the session's message for a line; None if the line is skipped."""
    from mcp.shared.message import SessionMessage

    message, error = parse_line(line)
    if message is not None:
        return None if is_dropped(getattr(message, "method", "")) else SessionMessage(message)
    return None if error is None or error.id is None else SessionMessage(error)


def parse_line(line: bytes | LongLine) -> tuple[JSONRPCMessage | None, JSONRPCError | None]:
    """The JSON-RPC message of a line, or the parse error that says why it holds none: with the id
    that the line names first or last, else null.
    """
    import mcp_types as types

    if isinstance(line, LongLine):
        why, asker = (
            f"it is longer than {MAX_LINE} bytes",
            find_request_id(line.head, line.tail if line.ended else b""),
        )
    else:
        try:
            return types.jsonrpc_message_adapter.validate_json(line, by_name=False), None
        except ValueError as error:
            found: Any = getattr(error, "errors", list)()
            why, asker = (
                (found[0]["msg"] if found else str(error))[:200],
                find_request_id(line, line),
            )
    said = types.ErrorData(code=types.PARSE_ERROR, message=why)
    return None, types.JSONRPCError(jsonrpc="2.0", id=asker, error=said)


async def _stop_process(process: Process, grace: float) -> None:
    """End the process as the protocol says: close its stdin, wait, SIGTERM, wait, SIGKILL; with all
    its children.
    """
    try:
        if process.stdin is not None:
            process.stdin.close()
        if not await _has_ended(process, grace):
            _send_signal(process, signal.SIGTERM)
            if not await _has_ended(process, grace):
                _send_signal(process, signal.SIGKILL)
                await _has_ended(process, grace)
    finally:
        if process.returncode is None:
            _send_signal(process, signal.SIGKILL)
        # A child of the server may hold the pipes open; nothing public closes our side of them.
        getattr(process, "_transport").close()  # noqa: B009


async def _has_ended(process: Process, grace: float) -> bool:
    """Return True if the process ends in time. Its remaining output is read, so that it cannot
    block while writing.
    """
    with suppress(TimeoutError):
        async with asyncio.timeout(grace):
            assert process.stdout is not None
            with suppress(ConnectionError):
                while process.returncode is None and await process.stdout.read(_CHUNK):
                    pass
            while process.returncode is None:  # noqa: ASYNC110 -- wait() waits for the pipes too, which a child may hold
                await asyncio.sleep(_POLL)
    return process.returncode is not None


def _send_signal(process: Process, which: signal.Signals) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, which)
