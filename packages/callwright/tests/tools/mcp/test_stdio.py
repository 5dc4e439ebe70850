from __future__ import annotations

import asyncio
import os
import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCError, JSONRPCNotification, JSONRPCRequest, JSONRPCResponse

from callwright.tools.mcp.stdio import (
    Lines,
    LongLine,
    _write_messages,
    find_request_id,
    open_stdio,
    parse_line,
)
from callwright.tools.servers import Server

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows has the SDK's transport")


@given(st.binary(max_size=200), st.lists(st.integers(1, 50), max_size=20), st.integers(1, 60))
def test_lines_are_the_same_however_the_bytes_come_and_no_more_is_kept_than_the_bound(
    data: bytes, sizes: list[int], most: int
) -> None:
    lines, found, rest = Lines(most), [], data
    for size in [*sizes, len(data) + 1]:
        found += list(lines.feed(rest[:size]))
        rest = rest[size:]
    whole = data.split(b"\n")[:-1]
    ended = [line for line in found if isinstance(line, bytes) or line.ended]
    assert [line if isinstance(line, bytes) else None for line in ended] == [
        line if len(line) <= most else None for line in whole
    ]
    for line, whole_line in zip(ended, whole, strict=True):
        if isinstance(line, LongLine):
            assert whole_line.startswith(line.head)
            assert whole_line.endswith(line.tail)


def test_a_line_beyond_the_bound_is_told_at_once() -> None:
    lines = Lines(10)
    assert list(lines.feed(b"x" * 10)) == []
    (line,) = lines.feed(b"y")
    assert isinstance(line, LongLine)
    assert (line.head, line.ended) == (b"x" * 10 + b"y", False)
    assert list(lines.feed(b"z" * 1_000_000)) == []
    end, after = lines.feed(b"\nshort\n")
    assert isinstance(end, LongLine)
    assert (end.ended, after) == (True, b"short")


@pytest.mark.parametrize(
    ("text", "asker"),
    [
        ('{"jsonrpc":"2.0","id":4,"result":{"id":5}}', 4),
        (' { "id" : "a-1" , "jsonrpc": "2.0"', "a-1"),
        ('{"jsonrpc":"2.0","result":{"id":5},"id":6}', 6),
        ('{"result":{"id":5},"id":-7,"jsonrpc":"2.0"} ', -7),
        ('{"jsonrpc":"2.0","result":{"id":5}}', None),
        ('{"jsonrpc":"2.0","result":{"a":1,"id":5}}', None),
        ('{"level":"info"}', None),
        ("Starting server", None),
    ],
)
def test_an_answer_names_its_request_at_either_end(text: str, asker: int | str | None) -> None:
    assert find_request_id(text.encode(), text.encode()) == asker


def test_a_line_is_a_message_or_an_error_that_names_its_request() -> None:
    request = JSONRPCRequest(jsonrpc="2.0", id=3, method="m")
    assert parse_line(b'{"jsonrpc":"2.0","id":3,"method":"m"}') == (request, None)
    for line, id in ((b'{"jsonrpc":"2.0","id":3,"method":', 3), (b"Starting server", None)):
        message, error = parse_line(line)
        assert message is None
        assert error is not None
        assert (error.id, error.error.code) == (id, -32700)


async def exchanged(code: str, *sent: int, most: int = 1, grace: float = 2) -> list[Any]:
    """The first messages of a server that runs this code, after requests of these ids; what came
    before its end.
    """
    server = Server("s", command=sys.executable, args=("-c", code))
    found: list[Any] = []
    with tempfile.TemporaryFile() as stderr:
        async with asyncio.timeout(20), open_stdio(server, stderr, grace=grace) as (read, write):
            for number in sent:
                await write.send(
                    SessionMessage(JSONRPCRequest(jsonrpc="2.0", id=number, method="m"))
                )
            async for item in read:
                found.append(item.message)
                if len(found) == most:
                    break
    return found


async def test_messages_go_both_ways_and_other_text_is_passed_over() -> None:
    code = """
import json, sys
print("Starting server...", "{not json}", "[]", "null", json.dumps({"level": "info"}), sep="\\n", flush=True)
message = json.loads(input())
print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": {"said": message["method"]}}), flush=True)
"""
    assert await exchanged(code, 3) == [JSONRPCResponse(jsonrpc="2.0", id=3, result={"said": "m"})]


async def test_an_answer_that_cannot_be_parsed_is_an_error_for_whom_it_was_for() -> None:
    code = """
import sys
deep = "[" * 50_000 + "]" * 50_000
sys.stdout.write('{"jsonrpc":"2.0","id":3,"result":' + deep + "}\\n")
sys.stdout.flush()
sys.stdout.buffer.write(b'{"jsonrpc":"2.0","result":{"text":"\\xff')
sys.stdout.buffer.flush()
sys.stdout.write('"} oops,"id":4}\\n')
sys.stdout.flush()
sys.stdin.read()
"""
    found = await exchanged(code, 3, 4, most=2)
    assert all(isinstance(message, JSONRPCError) for message in found)
    assert [message.id for message in found] == [3, 4]
    assert "recursion" in found[0].error.message


async def test_an_endless_answer_is_an_error_and_the_connection_goes_on() -> None:
    code = """
import sys
sys.stdout.write('{"jsonrpc":"2.0","id":3,"result":{"text":"')
for _ in range(34): sys.stdout.write("B" * 1_000_000)
sys.stdout.write('"}}\\n{"jsonrpc":"2.0","id":4,"result":{}}\\n')
sys.stdout.flush()
sys.stdin.read()
"""
    found = await exchanged(code, 3, 4, most=2)
    assert [message.id for message in found] == [3, 4]
    assert "longer than" in found[0].error.message
    assert isinstance(found[1], JSONRPCResponse)


async def test_an_endless_line_that_names_nobody_ends_the_connection() -> None:
    code = (
        'import sys; sys.stdout.write("G" * 33_000_000 + "\\n"); sys.stdout.flush();'
        " sys.stdin.read()"
    )
    assert await exchanged(code, 3) == []


async def test_a_server_that_ignores_its_end_is_killed_with_its_children() -> None:
    code = """
import os, signal, subprocess, sys, json, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
print(json.dumps({"jsonrpc": "2.0", "id": 3, "result": {"pids": [os.getpid(), child.pid]}}), flush=True)
time.sleep(60)
"""
    (answer,) = await exchanged(code, 3, grace=0.1)
    for pid in answer.result["pids"]:
        await gone(pid)


async def gone(pid: int) -> None:
    """Returns once there is no such process: a child that nobody waits for is a zombie until init
    takes it.
    """
    async with asyncio.timeout(10):
        while await asyncio.to_thread(is_running, pid):
            pass


def is_running(pid: int) -> bool:
    with suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    with suppress(ProcessLookupError):
        os.kill(pid, 0)
        return not Path("/proc").exists()
    return False


async def test_a_command_that_is_not_there_is_an_error_of_the_system() -> None:
    with tempfile.TemporaryFile() as stderr, pytest.raises(FileNotFoundError):
        async with open_stdio(Server("s", command="no-such-server"), stderr):
            pass


async def test_a_pipe_that_is_closed_ends_the_connection_whatever_the_loop_raises() -> None:
    class Closed:
        def write(self, data: bytes) -> None:
            raise RuntimeError("the handler is closed")  # as uvloop does

    class Process:
        stdin = Closed()

    to_session, read_stream = anyio.create_memory_object_stream[Any](1)
    write_stream, from_session = anyio.create_memory_object_stream[Any](1)
    ping = JSONRPCNotification(jsonrpc="2.0", method="ping")
    await write_stream.send(SessionMessage(ping))
    await _write_messages(Process(), from_session, to_session)  # type: ignore[arg-type]
    with pytest.raises(anyio.EndOfStream):
        await read_stream.receive()
    write_stream.close()
    read_stream.close()
