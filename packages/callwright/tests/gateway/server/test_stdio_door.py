from __future__ import annotations

import asyncio
import json
import os
import socket
import sys
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client, StdioServerParameters
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCNotification, JSONRPCResponse

from callwright.gateway.server.stdio_door import read_messages, write_messages
from tests.gateway.doors import build_gateway, connect_http, serve_http

BIN = Path(sys.executable).parent


def write_servers(folder: Path, servers: dict[str, Any]) -> Path:
    path = folder / "mcp.json"
    path.write_text(json.dumps({"mcpServers": servers}))
    return path


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_a_client_of_either_era_lists_and_calls_a_server_behind_the_gateway(
    tmp_path: Path, mode: str
) -> None:
    servers = write_servers(
        tmp_path, {"time": {"command": str(BIN / "mcp-server-time"), "trusted": True}}
    )
    started = StdioServerParameters(
        command=sys.executable,
        args=["-P", "-m", "callwright", "gateway", "--servers", str(servers)],
        env=dict(os.environ),
    )
    async with Client(started, mode=mode) as client:
        listed = await client.list_tools()
        assert [tool.name for tool in listed.tools] == [
            "time__get_current_time",
            "time__convert_time",
        ]
        right = await client.call_tool("time__get_current_time", {"timezone": "Asia/Tokyo"})
        assert not right.is_error
        assert right.structured_content is not None
        assert right.structured_content["timezone"] == "Asia/Tokyo"
        assert "callwright/gateway" not in (right.meta or {})
        renamed = await client.call_tool("time__get_current_time", {"time_zone": "Asia/Tokyo"})
        assert not renamed.is_error
        assert renamed.meta is not None
        assert renamed.meta["callwright/gateway"]["edits"][0]["rule"] == "rename_key"


MODULE = '''
from callwright import READ, tool

@tool(effects=READ)
def list_names() -> dict[str, str]:
    """List the names of files (\\ud83d)."""
    return {"one": "caf\\udce9.txt"}

@tool(effects=READ)
def read_name() -> str:
    """Read the name of a file."""
    raise ValueError("caf\\udce9.txt")
'''


async def test_half_a_character_in_a_result_ends_no_connection(tmp_path: Path) -> None:
    """A file name that is no UTF-8 has one; nobody could call anything after it."""
    (tmp_path / "names.py").write_text(MODULE)
    servers = write_servers(tmp_path, {"py": {"python": "names.py"}})
    started = StdioServerParameters(
        command=sys.executable,
        args=["-P", "-m", "callwright", "gateway", "--servers", str(servers)],
        env=dict(os.environ),
    )
    async with Client(started) as client:
        await call_with_halves(client)


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_half_a_character_in_a_result_is_replaced_over_http(
    tmp_path: Path, mode: str
) -> None:
    (tmp_path / "names.py").write_text(MODULE)
    gateway = build_gateway({"py": {"python": "names.py"}}, tmp_path)
    async with serve_http(gateway) as address, connect_http(address, mode) as client:
        await call_with_halves(client)


async def call_with_halves(client: Client) -> None:
    listed = await client.list_tools()
    assert listed.tools[0].description == "List the names of files (\ufffd)."
    told = await client.call_tool("py__list_names", {})
    assert told.structured_content == {"one": "caf\ufffd.txt"}
    assert (await client.call_tool("py__read_name", {})).is_error
    assert not (await client.call_tool("py__list_names", {})).is_error


async def test_half_a_character_in_a_notification_ends_no_connection() -> None:
    ours, theirs = socket.socketpair()
    reader, client = await asyncio.open_connection(sock=ours)
    _, writer = await asyncio.open_connection(sock=theirs)
    to_client, from_server = anyio.create_memory_object_stream[Any](2)
    params = {"progressToken": 1, "progress": 1.0, "message": "a\ud83d"}
    told = JSONRPCNotification(jsonrpc="2.0", method="notifications/progress", params=params)
    async with to_client:
        for message in (told, JSONRPCResponse(jsonrpc="2.0", id=1, result={})):
            await to_client.send(SessionMessage(message))
    await write_messages(writer, from_server)
    writer.close()
    lines = [json.loads(line) async for line in reader]
    client.close()
    assert lines[0]["params"]["message"] == "a\ufffd"
    assert lines[1:] == [{"jsonrpc": "2.0", "id": 1, "result": {}}]


async def read_line(line: bytes) -> tuple[list[Any], list[Any]]:
    """The messages for the server, and those for the client, of a client that writes one line."""
    reader = asyncio.StreamReader()
    reader.feed_data(line + b"\n")
    reader.feed_eof()
    to_server, from_client = anyio.create_memory_object_stream[Any](4)
    to_client, from_server = anyio.create_memory_object_stream[Any](4)
    async with from_client, to_client, from_server:
        await read_messages(reader, to_server, to_client)
        to_client.close()
        told = [item.message async for item in from_client]
        return told, [item.message async for item in from_server]


CALL = '{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"city":%s}}'


@pytest.mark.parametrize(
    ("line", "id"),
    [
        (CALL % r'"a\ud83db"', 7),
        (CALL % ("9" * 6_000), 7),
        (CALL % ("[" * 3_000 + "]" * 3_000), 7),
        (CALL.replace('"id":7,', "").replace("}}", '},"id":"a"}') % r'"\ud83d"', "a"),
        ("{not json", None),
        ('{"jsonrpc":"2.0","params":"' + "a" * 32_000_000 + '"}', None),
    ],
    ids=["surrogate", "digits", "levels", "id last", "no id", "long"],
)
async def test_a_request_that_cannot_be_read_is_answered(line: str, id: int | str | None) -> None:
    told, (answer,) = await read_line(line.encode())
    assert told == []
    assert (answer.id, answer.error.code) == (id, -32700)


async def test_a_reply_that_cannot_be_read_is_an_error_for_the_server_that_asked() -> None:
    (told,), answers = await read_line(rb'{"jsonrpc":"2.0","id":7,"result":{"a":"\ud83d"}}')
    assert (told.id, told.error.code, answers) == (7, -32700, [])


async def test_a_message_is_handed_on_and_an_empty_line_is_nothing() -> None:
    (told,), answers = await read_line(b"\r\n" + (CALL % '"Oslo"').encode())
    assert (told.id, answers) == (7, [])
