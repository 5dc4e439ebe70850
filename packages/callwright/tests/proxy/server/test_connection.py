"""Real connections to a real server: long, slow and half requests, too many of them, clients that
read nothing.
"""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
import uvicorn
from uvicorn.server import ServerState

from callwright.models.secret import Secret
from callwright.proxy.server.budget import Budget
from callwright.proxy.server.connection import Connection, build_protocol
from callwright.proxy.session.settings import Settings
from callwright.serving.access import Access
from tests.proxy.playbook import JSON
from tests.proxy.upstream import Asked, Reply, proxy, upstream

GET = b"GET /v1/models HTTP/1.1\r\nhost: localhost\r\n"
POST = b"POST /v1/files HTTP/1.1\r\nhost: localhost\r\n"


class Client:
    """One connection, written and read by hand."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader, self.writer = reader, writer

    async def send(self, *pieces: bytes) -> None:
        for piece in pieces:
            self.writer.write(piece)
            await self.writer.drain()

    async def answer(self) -> tuple[int, bytes]:
        """Status and body; 0 where the connection ends without one."""
        async with asyncio.timeout(20):
            try:
                head = await self.reader.readuntil(b"\r\n\r\n")
            except (asyncio.IncompleteReadError, ConnectionError):
                return 0, b""
            length = next((v for k, _, v in _fields(head) if k == b"content-length"), None)
            if length is not None:
                return int(head.split()[1]), await self.reader.readexactly(int(length))
            body = b""
            while size := int(await self.reader.readline(), 16):
                body += (await self.reader.readexactly(size + 2))[:-2]
            await self.reader.readline()
            return int(head.split()[1]), body

    async def is_closed(self) -> bool:
        """Whether the other side hangs up."""
        async with asyncio.timeout(20):
            try:
                return await self.reader.read() == b""
            except ConnectionError:
                return True


def _fields(head: bytes) -> list[tuple[bytes, bytes, bytes]]:
    return [
        (k.lower(), c, v.strip())
        for k, c, v in (line.partition(b":") for line in head.split(b"\r\n")[1:])
    ]


@asynccontextmanager
async def connected(address: str) -> AsyncIterator[Client]:
    host, port = address.removeprefix("http://").split(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    try:
        yield Client(reader, writer)
    finally:
        writer.transport.abort()


@asynccontextmanager
async def served(
    budget: Budget | None = None, access: Access | None = None
) -> AsyncIterator[tuple[str, list[Asked]]]:
    """The proxy's address, and what its upstream was asked."""
    settings = Settings(guided="off", budget=budget or Budget())
    async with (
        upstream(lambda asked: Reply([b'"%d bytes"' % len(asked.body)], headers=JSON)) as up,
        proxy(up.url, settings, access=access) as (address, _),
    ):
        yield address, up.asked


@pytest.mark.parametrize(
    "head",
    [
        [GET + b"x: " + b"v" * 3_000 + b"\r\n\r\n"],
        [GET, *[b"x-%d: %b\r\n" % (i, b"v" * 90) for i in range(40)], b"\r\n"],
        [GET, b"x: ", *[b"v" * 100] * 40],
        [b"GET /" + b"a" * 3_000 + b" HTTP/1.1\r\nhost: localhost\r\n\r\n"],
        [b"\r\n" * 3_000],
        [GET + b"\r\n" + GET + b"x: " + b"v" * 3_000 + b"\r\n\r\n"],
    ],
    ids=["one piece", "many headers", "no end", "path", "blank lines", "behind another request"],
)
async def test_a_head_that_is_too_long_is_refused(head: list[bytes]) -> None:
    async with served(Budget(head_bytes=2_000)) as (address, asked), connected(address) as client:
        first = head[0].startswith(GET + b"\r\n")
        if first:
            await client.send(GET + b"\r\n")
            assert (await client.answer())[0] == 200
            head = [head[0].removeprefix(GET + b"\r\n")]
        await client.send(*head)
        status, body = await client.answer()
        assert status == 431
        assert "Budget.head_bytes" in json.loads(body)["error"]["message"]
        assert await client.is_closed()
        assert len(asked) == first


@pytest.mark.parametrize(
    "ending", [b"0\r\n" + b"x: v\r\n" * 1_000, b"0\r\nx: " + b"v" * 5_000, b"1;" + b"x" * 5_000]
)
async def test_a_body_may_not_be_framed_by_more_than_a_head_is_long(ending: bytes) -> None:
    async with served(Budget(head_bytes=2_000)) as (address, asked), connected(address) as client:
        await client.send(POST + b"transfer-encoding: chunked\r\n\r\n", ending)
        assert (await client.answer())[0] in (0, 400)
        assert await client.is_closed()
    assert not asked


async def test_what_comes_behind_a_body_is_read_and_not_kept() -> None:
    async with served() as (address, asked), connected(address) as client:
        await client.send(
            POST + b"transfer-encoding: chunked\r\n\r\n",
            b"1\r\nx\r\n0\r\nauthorization: later\r\n\r\n",
        )
        assert await client.answer() == (200, b'"1 bytes"')
    assert "authorization" not in asked[0].headers


@pytest.mark.parametrize("begun", [b"G", GET, GET + b"x: "])
async def test_a_head_whose_rest_does_not_come_is_refused(begun: bytes) -> None:
    async with served(Budget(head_seconds=0.05)) as (address, asked), connected(address) as client:
        await client.send(begun)
        status, body = await client.answer()
        assert (status, "Budget.head_seconds" in body.decode()) == (408, True)
        assert await client.is_closed()
    assert not asked


async def test_a_head_that_comes_byte_by_byte_gets_no_more_time() -> None:
    async with served(Budget(head_seconds=0.1)) as (address, _), connected(address) as client:
        await client.send(GET + b"x: ")
        async with asyncio.timeout(20), asyncio.TaskGroup() as group:
            reading = group.create_task(client.answer())
            while not reading.done():
                await client.send(b"v")
                await asyncio.sleep(0.01)
        assert reading.result()[0] in (0, 408)


@pytest.mark.parametrize("used", [False, True])
async def test_a_connection_without_a_request_is_closed(used: bool) -> None:
    async with served(Budget(idle_seconds=0.05)) as (address, _), connected(address) as client:
        if used:
            await client.send(GET + b"\r\n")
            assert (await client.answer())[0] == 200
        assert await client.is_closed()


async def test_half_requests_do_not_keep_others_out() -> None:
    """Far more than there may be connections: those that wait longest go, and a whole request is
    served.
    """
    async with served(Budget(connections=10)) as (address, _):
        halves = [await _half(address) for _ in range(60)]
        async with connected(address) as client:
            await client.send(GET + b"\r\n")
            assert (await client.answer())[0] == 200
        assert await halves[0].is_closed()
        for half in halves:
            half.writer.transport.abort()


async def _half(address: str) -> Client:
    host, port = address.removeprefix("http://").split(":")
    made = Client(*await asyncio.open_connection(host, int(port)))
    await made.send(GET)
    return made


async def test_where_every_connection_has_a_request_the_next_is_refused() -> None:
    hold = asyncio.Event()
    settings = Settings(guided="off", budget=Budget(connections=2))

    def answer(asked: Asked) -> Reply:
        return Reply([b"1", b"2"], headers=JSON, hold=hold)

    async with (
        upstream(answer) as up,
        proxy(up.url, settings) as (address, _),
        connected(address) as one,
        connected(address) as two,
    ):
        for client in (one, two):
            await client.send(GET + b"\r\n")
            assert (await client.reader.readline()).split()[1] == b"200"
        async with connected(address) as third:
            status, body = await third.answer()
            assert (status, "Budget.connections" in body.decode()) == (503, True)
        hold.set()
        for client in (one, two):
            assert b"2" in await client.reader.readuntil(b"\r\n0\r\n\r\n")


async def test_a_key_is_checked_before_the_body_and_the_connection_goes_on() -> None:
    access = Access(Secret("k" * 16))
    async with served(access=access) as (address, asked), connected(address) as client:
        await client.send(POST + b"content-length: 1000000\r\n\r\n", b"x")
        assert (await client.answer())[0] == 401
        await client.send(b"x" * 999_999)
        await client.send(
            POST + b"content-length: 2\r\nauthorization: Bearer " + b"k" * 16 + b"\r\n\r\nab"
        )
        assert await client.answer() == (200, b'"2 bytes"')
    assert [a.body for a in asked] == [b"ab"]


async def test_the_rest_of_a_request_that_was_answered_is_not_awaited_for_long() -> None:
    access = Access(Secret("k" * 16))
    async with (
        served(Budget(head_seconds=0.05), access) as (address, _),
        connected(address) as client,
    ):
        await client.send(POST + b"content-length: 1000000\r\n\r\n", b"x")
        assert (await client.answer())[0] == 401
        assert await client.is_closed()


async def test_requests_sent_at_once_are_answered_in_order() -> None:
    async with served() as (address, _), connected(address) as client:
        await client.send(
            b"".join(POST + b"content-length: %d\r\n\r\n" % n + b"x" * n for n in range(1, 20))
        )
        assert [(await client.answer())[1] for _ in range(1, 20)] == [
            b'"%d bytes"' % n for n in range(1, 20)
        ]


async def test_a_request_that_offers_an_upgrade_is_answered_as_any_other() -> None:
    """Java's HttpClient offers HTTP/2 with every first request to an http:// address."""
    offer = b"connection: upgrade, http2-settings\r\nupgrade: h2c\r\nhttp2-settings: AAEAAEAA\r\n"
    async with served() as (address, asked), connected(address) as client:
        await client.send(POST + offer + b"content-length: 5\r\n\r\nab")
        await client.send(b"cde")
        assert await client.answer() == (200, b'"5 bytes"')
        chunked = b"transfer-encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n"
        await client.send(POST + offer + chunked + (GET + offer + b"\r\n") * 20 + GET + b"\r\n")
        assert [(await client.answer())[1] for _ in range(22)] == [
            b'"3 bytes"',
            *[b'"0 bytes"'] * 21,
        ]
    assert [a.method for a in asked] == ["POST", "POST", *["GET"] * 21]


@pytest.mark.parametrize(
    "target", [b"http://evil.example/v1/x", b"@evil.example/x", b":80@evil.example/x", b"*"]
)
@pytest.mark.parametrize("method", [b"GET", b"OPTIONS", b"CONNECT"])
async def test_a_target_that_names_a_server_is_refused(method: bytes, target: bytes) -> None:
    async with served() as (address, asked), connected(address) as client:
        await client.send(b"%b %b HTTP/1.1\r\nhost: localhost\r\n\r\n" % (method, target))
        assert (await client.answer())[0] == 400
        assert await client.is_closed()
    assert not asked


async def test_what_is_no_http_is_refused() -> None:
    async with served() as (address, _), connected(address) as client:
        await client.send(b"\x16\x03\x01\x02\x00\x01\x00")  # the beginning of TLS
        status, body = await client.answer()
        assert (status, json.loads(body)["error"]["message"]) == (400, "this is no HTTP request")
        assert await client.is_closed()


async def _nothing(scope: object, receive: object, send: object) -> None:
    """Answers nothing: the test writes for itself."""


async def test_a_client_that_takes_some_is_waited_for_and_one_that_takes_none_is_cut_off() -> None:
    loop = asyncio.get_running_loop()
    budget = Budget(stalled_seconds=1_000.0)
    config = uvicorn.Config(_nothing, http=build_protocol(budget), ws="none", log_config=None)
    config.load()
    ours, theirs = socket.socketpair()
    theirs.setblocking(False)

    def made() -> asyncio.Protocol:
        return config.http_protocol_class(config=config, server_state=ServerState(), app_state={})  # type: ignore[call-arg]

    with theirs:
        transport, protocol = await loop.connect_accepted_socket(made, ours)
        assert isinstance(protocol, Connection)
        assert protocol.budget is budget
        transport.write(bytes(8_000_000))
        waiting = transport.get_write_buffer_size()
        assert protocol.flow.write_paused
        taken = 0
        while (
            taken <= 8_000_000 - waiting
        ):  # one byte more than the socket held: so more was written since
            taken += len(await loop.sock_recv(theirs, 65_536))
        protocol.look(waiting)
        assert not transport.is_closing()
        protocol.look(transport.get_write_buffer_size())
        assert transport.is_closing()
        while await _more(loop, theirs):
            taken += 1
        assert taken < 8_000_000


async def _more(loop: asyncio.AbstractEventLoop, client: socket.socket) -> bytes:
    try:
        return await loop.sock_recv(client, 1_000_000)
    except ConnectionError:
        return b""
