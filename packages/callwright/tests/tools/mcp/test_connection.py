from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import pytest
from mcp import MCPError

from callwright.nouns.errors import CatalogError
from callwright.tools.mcp.connection import (
    Answering,
    Watch,
    build_open_error,
    definitions_of,
    list_tools,
    open_client,
)
from callwright.tools.mcp.pages import ToolPages
from callwright.tools.mcp.results import CONNECTION_CLOSED
from callwright.tools.servers import Server

PEER = str(Path(__file__).parent.parent / "peer_server.py")


async def note_nothing(response: object) -> None: ...


def watch(pages: ToolPages) -> Watch:
    return Watch(lambda: None, pages, note_nothing)


async def test_every_page_of_the_tools_is_read_and_the_capabilities_are_those_that_are_answered() -> (
    None
):
    server = Server("peer", command=sys.executable, args=(PEER,))

    async def list_roots(context: object) -> None: ...

    with tempfile.TemporaryFile() as stderr:
        async with open_client(
            server, stderr, watch(ToolPages()), Answering(list_roots=list_roots)
        ) as client:
            listed = await list_tools(client)
            assert client.protocol_version == "2025-06-18"
            declared = client.session._build_capabilities("2025-06-18")
    assert len(listed) == 12
    assert set(definitions_of(listed)) >= {"pid", "remote"}
    assert declared.roots is not None
    assert declared.elicitation is None


def test_the_error_says_what_the_server_wrote_without_its_keys() -> None:
    server = Server("mail", command="mail", env={"API_KEY": "abcdef123456"}, shown="mail --serve")
    error = build_open_error(server, TimeoutError(), "no such key: abcdef123456", None)
    assert isinstance(error, CatalogError)
    assert "did not answer within 60 seconds" in error.message
    assert "it wrote: no such key: [secret]" in error.message
    assert "mail --serve" in error.hint


async def test_a_url_that_cannot_be_is_said_to_be_none() -> None:
    with tempfile.TemporaryFile() as stderr, pytest.raises(CatalogError, match="MCP server 'x'"):
        async with open_client(Server("x", url="nowhere"), stderr, watch(ToolPages())):
            raise AssertionError("it was opened")


def test_no_part_of_an_error_holds_a_secret() -> None:
    args = ("--token", "abcdef123456")
    server = Server("mail", command="mail", args=args, shown="mail --token abcdef123456")
    error = build_open_error(server, ValueError("bad token abcdef123456"), "", None)
    assert "ValueError: bad token [secret]" in error.message
    assert "abcdef123456" not in error.hint


def test_a_program_that_ends_at_once_is_said_to_have_ended() -> None:
    closed = MCPError(CONNECTION_CLOSED, "Connection closed")
    for server, said in (
        (Server("a", command="x"), "it ended the connection before it had listed its tools"),
        (Server("a", url="http://x.example"), "MCPError: Connection closed"),
    ):
        assert said in build_open_error(server, closed, "", None).message
