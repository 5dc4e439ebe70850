"""The one module that knows aiohttp, against real sockets: what it connects to, and what it says
when that fails.
"""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

import pytest

from callwright.http.connection import (
    CheckedResolver,
    Connections,
    Exchange,
    Refused,
    system_lookup,
)
from callwright.http.egress import Egress, Target, parse_target
from callwright.http.redirect import Outgoing
from callwright.http.response import HttpResponse
from callwright.nouns.errors import Failure
from tests.certificates import certified

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"


class Peer:
    """A server that answers each request on a connection with the next of ``answers``; the one
    after is hung up on.

    ``until`` ends what it takes for a request. ``stop`` hangs up behind the last answer instead.
    ``connections`` holds, for every connection, how many requests came on it.
    """

    def __init__(self, *answers: bytes, until: bytes = b"\r\n\r\n", stop: bool = False) -> None:
        self.answers = answers if stop else (*answers, b"")
        self.until = until
        self.connections: list[int] = []
        self.port = 0
        self.tasks: set[asyncio.Task[None] | None] = set()

    async def __call__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        number = len(self.connections)
        self.connections.append(0)
        self.tasks.add(asyncio.current_task())
        try:
            for answer in self.answers:
                await reader.readuntil(self.until)
                self.connections[number] += 1
                writer.write(answer)
                await writer.drain()
        except (asyncio.IncompleteReadError, OSError):
            pass
        finally:
            writer.close()


@asynccontextmanager
async def served(peer: Peer, context: ssl.SSLContext | None = None) -> AsyncIterator[Peer]:
    server = await asyncio.start_server(peer, "127.0.0.1", 0, ssl=context)
    peer.port = server.sockets[0].getsockname()[1]
    try:
        yield peer
    finally:
        server.close()
        if tasks := [task for task in peer.tasks if task is not None]:
            await asyncio.wait(tasks, timeout=10)


def serving(*answers: bytes, stop: bool = False) -> AbstractAsyncContextManager[Peer]:
    return served(Peer(*answers, stop=stop))


def names(*addresses: str) -> Callable[[str, int], Awaitable[Sequence[str]]]:
    async def lookup(host: str, port: int) -> Sequence[str]:
        del host, port
        return addresses

    return lookup


@asynccontextmanager
async def pool(
    egress: Egress | None = None,
    lookup: Callable[[str, int], Awaitable[Sequence[str]]] = system_lookup,
    trust: ssl.SSLContext | None = None,
) -> AsyncIterator[Connections]:
    made = Connections(egress or Egress.any(), lookup, trust, 10)
    try:
        yield made
    finally:
        await made.close()


def target(url: str) -> Target:
    made = parse_target(url)
    assert isinstance(made, Target)
    return made


async def got(connections: Connections, url: str, *, idle: float = 5.0) -> HttpResponse | Failure:
    """One GET, read to its end."""
    deadline = asyncio.get_running_loop().time() + 20
    exchange = await connections.send(
        target(url), Outgoing("GET", url, {}), connect=5, idle=idle, deadline=deadline
    )
    if isinstance(exchange, Failure):
        return exchange
    try:
        return await exchange.stream(1000).read()
    finally:
        exchange.close()


async def test_the_system_knows_addresses_as_they_are_written_and_localhost() -> None:
    assert set(await system_lookup("127.0.0.1", 80)) == {"127.0.0.1"}
    assert set(await system_lookup("::1", 80)) == {"::1"}
    assert {"127.0.0.1", "::1"} & set(await system_lookup("localhost", 80))


async def test_a_resolved_name_is_handed_on_as_addresses_each_once_and_never_resolved_again() -> (
    None
):
    lookup = names("8.8.8.8", "2001:4860:4860::8888", "8.8.8.8")
    found = await CheckedResolver(Egress(), lookup).resolve("name.test", 443)
    assert [(r["host"], r["family"], r["port"]) for r in found] == [
        ("8.8.8.8", socket.AF_INET, 443),
        ("2001:4860:4860::8888", socket.AF_INET6, 443),
    ]
    assert {r["hostname"] for r in found} == {"name.test"}
    assert all(r["flags"] & socket.AI_NUMERICHOST for r in found)


async def test_one_forbidden_address_refuses_the_name_and_says_how_to_allow_it() -> None:
    with pytest.raises(Refused, match=r"name\.test:80") as refused:
        await CheckedResolver(Egress(), names("8.8.8.8", "10.0.0.1")).resolve("name.test", 80)
    assert refused.value.failure.kind == "egress"
    allowed = Egress.allow(["name.test:80"])
    assert (
        len(await CheckedResolver(allowed, names("8.8.8.8", "10.0.0.1")).resolve("name.test", 80))
        == 2
    )


@pytest.mark.parametrize(
    ("answers", "said"), [((), "has no address"), (("not an address",), "no address")]
)
async def test_a_lookup_without_a_usable_answer_is_an_error_of_the_network(
    answers: tuple[str, ...], said: str
) -> None:
    with pytest.raises(OSError, match=said):
        await CheckedResolver(Egress(), names(*answers)).resolve("name.test", 80)


async def test_a_connection_is_kept_for_the_next_request() -> None:
    async with serving(OK, OK, OK) as peer, pool() as connections:
        for _ in range(3):
            answer = await got(connections, f"http://127.0.0.1:{peer.port}/")
            assert isinstance(answer, HttpResponse)
            assert answer.text == "ok"
    assert peer.connections == [3]


async def test_a_request_that_a_kept_connection_loses_is_not_sent_again_by_itself() -> None:
    async with serving(OK) as peer, pool() as connections:
        assert isinstance(await got(connections, f"http://127.0.0.1:{peer.port}/"), HttpResponse)
        lost = await got(connections, f"http://127.0.0.1:{peer.port}/")
        assert isinstance(lost, Failure)
        assert (lost.kind, lost.retryable, lost.outcome_unknown) == ("unavailable", True, True)
    assert sum(peer.connections) == 2


async def test_headers_are_in_lower_case_and_repeated_ones_joined() -> None:
    reply = (
        b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nX-Two: a\r\nx-two: b\r\nVary: Accept\r\n\r\nok"
    )
    async with serving(reply) as peer, pool() as connections:
        answer = await got(connections, f"http://127.0.0.1:{peer.port}/")
    assert isinstance(answer, HttpResponse)
    assert (answer.headers["x-two"], answer.headers["vary"]) == ("a, b", "Accept")


async def test_the_length_that_a_server_announces_is_known_before_the_body_is_read() -> None:
    async with (
        serving(b"HTTP/1.1 200 OK\r\nContent-Length: 999\r\n\r\n") as peer,
        pool() as connections,
    ):
        url = f"http://127.0.0.1:{peer.port}/"
        exchange = await connections.send(
            target(url), Outgoing("GET", url, {}), connect=5, idle=5, deadline=None
        )
        assert isinstance(exchange, Exchange)
        assert exchange.announced == 999
        exchange.close()


async def test_redirects_are_handed_back_and_not_followed() -> None:
    reply = b"HTTP/1.1 302 Found\r\nLocation: /elsewhere\r\nContent-Length: 0\r\n\r\n"
    async with serving(reply, OK) as peer, pool() as connections:
        answer = await got(connections, f"http://127.0.0.1:{peer.port}/")
    assert isinstance(answer, HttpResponse)
    assert answer.status == 302
    assert peer.connections == [1]


@pytest.mark.parametrize(
    ("reply", "said", "retryable"),
    [
        (b"", "broke", True),
        (b"SSH-2.0-OpenSSH_9.9\r\n\r\n", "did not answer in HTTP", False),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\nhalf", "broke", True),
    ],
    ids=["hangs up", "speaks something else", "stops in the middle"],
)
async def test_once_a_request_was_sent_a_failure_leaves_its_outcome_unknown(
    reply: bytes, said: str, retryable: bool
) -> None:
    async with serving(reply, stop=True) as peer, pool() as connections:
        failure = await got(connections, f"http://127.0.0.1:{peer.port}/path?key=s3cr3t")
    assert isinstance(failure, Failure)
    assert (failure.kind, failure.retryable, failure.outcome_unknown) == (
        "unavailable",
        retryable,
        True,
    )
    assert said in failure.message
    assert f"http://127.0.0.1:{peer.port}" in failure.message
    assert "s3cr3t" not in failure.message


async def test_a_server_that_says_nothing_is_a_timeout() -> None:
    async with (
        served(Peer(OK, until=b"a request never ends with this")) as peer,
        pool() as connections,
    ):
        failure = await got(connections, f"http://127.0.0.1:{peer.port}/", idle=0.05)
    assert isinstance(failure, Failure)
    assert (failure.kind, failure.outcome_unknown) == ("timeout", True)


async def test_before_anything_was_sent_the_outcome_is_known(unused_tcp_port: int) -> None:
    async def unknown(host: str, port: int) -> Sequence[str]:
        raise OSError(-2, "Name or service not known")

    async with pool() as connections:
        closed = await got(connections, f"http://127.0.0.1:{unused_tcp_port}/")
    async with pool(lookup=unknown) as connections:
        nameless = await got(connections, "http://name.test/")
    async with pool(Egress(), names("10.0.0.1")) as connections:
        private = await got(connections, "http://name.test/")
    for failure, kind, retryable, said in (
        (closed, "unavailable", True, "cannot connect"),
        (nameless, "unavailable", True, "Name or service not known"),
        (private, "egress", False, "private address 10.0.0.1"),
    ):
        assert isinstance(failure, Failure)
        assert (failure.kind, failure.retryable, failure.outcome_unknown) == (
            kind,
            retryable,
            False,
        )
        assert said in failure.message


async def test_tls_with_one_who_does_not_speak_it_or_is_another_is_no_connection(
    tmp_path: Path,
) -> None:
    context, trust = certified("name.test", tmp_path)
    async with (
        served(Peer(b"HTTP/1.1 400 Bad Request\r\n\r\n", until=b"\x03", stop=True)) as peer,
        pool() as connections,
    ):
        plain = await got(connections, f"https://127.0.0.1:{peer.port}/")
    async with (
        served(Peer(OK), context) as peer,
        pool(lookup=names("127.0.0.1"), trust=trust) as connections,
    ):
        wrong = await got(connections, f"https://other.test:{peer.port}/")
        right = await got(connections, f"https://name.test:{peer.port}/")
    assert isinstance(right, HttpResponse)
    for failure in (plain, wrong):
        assert isinstance(failure, Failure)
        assert (failure.kind, failure.retryable, failure.outcome_unknown) == (
            "unavailable",
            False,
            False,
        )
        assert "no trusted TLS connection" in failure.message
    assert peer.connections == [1]
