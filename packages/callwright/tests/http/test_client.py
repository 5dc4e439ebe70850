"""The client against a real server on loopback."""

from __future__ import annotations

import asyncio
import gzip
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from aiohttp import web

from callwright.http import (
    Egress,
    HttpClient,
    HttpResponse,
    HttpStream,
    Retry,
    Surroundings,
    Timeout,
)
from callwright.nouns.errors import Failure
from callwright.nouns.protocols import MAY_REPEAT
from tests.certificates import certified


class Server:
    """Echoes requests; ``/status/N``, ``/fail/N`` (fails N times), ``/hang``, ``/big/N``,
    ``/events``, ``/cut``.
    """

    def __init__(self) -> None:
        self.url = ""
        self.requests: list[tuple[str, str]] = []
        self.failures = 0
        self.released = asyncio.Event()
        self.left = asyncio.Event()

    async def handle(self, request: web.Request) -> web.StreamResponse:
        self.requests.append((request.method, request.raw_path))
        _, verb, number, *_ = [*request.path.split("/"), "", ""]
        handler = getattr(self, f"on_{verb}", None)
        if handler is not None:
            return await handler(request, int(number or 0))  # type: ignore[no-any-return]
        body = (await request.read()).decode()
        return web.json_response(
            {"raw": request.raw_path, "headers": dict(request.headers), "body": body}
        )

    async def on_status(self, _: web.Request, number: int) -> web.StreamResponse:
        return web.Response(status=number, headers={"Retry-After": "2"})

    async def on_fail(self, _: web.Request, number: int) -> web.StreamResponse:
        self.failures += 1
        return web.Response(status=503 if self.failures <= number else 200)

    async def on_hang(self, _: web.Request, __: int) -> web.StreamResponse:
        await self.released.wait()
        return web.Response()

    async def on_big(self, _: web.Request, number: int) -> web.StreamResponse:
        return web.Response(body=b"x" * number)

    async def on_bomb(self, _: web.Request, number: int) -> web.StreamResponse:
        return web.Response(
            body=gzip.compress(b"\0" * number), headers={"Content-Encoding": "gzip"}
        )

    async def on_cut(self, request: web.Request, _: int) -> web.StreamResponse:
        assert request.transport is not None
        request.transport.abort()
        return web.Response()

    async def on_cutbody(self, request: web.Request, _: int) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Length": "100"})
        await response.prepare(request)
        await response.write(b"half")
        assert request.transport is not None
        request.transport.close()
        return response

    async def on_events(self, request: web.Request, _: int) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        try:
            await response.write(b"data: 1\n\n")
            await self.released.wait()
            await response.write(b"data: 2\n\n")
        finally:
            self.left.set()
        return response

    async def on_again(self, _: web.Request, number: int) -> web.StreamResponse:
        raise web.HTTPFound(f"/again/{number + 1}")


@pytest.fixture
async def server() -> AsyncIterator[Server]:
    made = Server()
    app = web.Application(client_max_size=10_000_000)
    app.router.add_route("*", "/{tail:.*}", made.handle)
    runner = web.AppRunner(app, handler_cancellation=True, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    made.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
    yield made
    made.released.set()
    await runner.cleanup()


class Naps:
    """Remembers how long it was asked to sleep."""

    def __init__(self) -> None:
        self.seconds: list[float] = []

    async def __call__(self, seconds: float) -> None:
        self.seconds.append(seconds)


@pytest.fixture
async def client() -> AsyncIterator[HttpClient]:
    async with HttpClient(
        Egress.any(), surroundings=Surroundings(sleep=Naps(), chance=lambda: 1.0, now=lambda: 0.0)
    ) as made:
        yield made


async def test_a_request_arrives_as_it_was_meant(server: Server, client: HttpClient) -> None:
    url = f"{server.url}/a/%2e%2e/b?x=%2B"
    params = [("q", "\u00e9 &="), ("b", True), ("b", 2)]
    answer = await client.request(
        "post", url, params=params, json={"k": "\u00e9"}, headers={"X-A": "1"}
    )
    assert isinstance(answer, HttpResponse)
    assert '"raw": "/a/%2e%2e/b?x=%2B&q=%C3%A9%20%26%3D&b=true&b=2"' in answer.text
    assert '"x-a": "1"' in answer.text
    assert '\\"k\\":' in answer.text
    assert answer.content_type == "application/json"


@pytest.mark.parametrize(
    "headers",
    [
        {"x": "a\r\nevil: 1"},
        {"x": "a\nb"},
        {"x\r\n": "1"},
        {"x y": "1"},
        {"": "1"},
        {"x": "\0"},
        {"x": "\ud800"},
    ],
)
async def test_headers_cannot_be_injected(
    server: Server, client: HttpClient, headers: dict[str, str]
) -> None:
    answer = await client.request("GET", f"{server.url}/", headers=headers)
    assert isinstance(answer, Failure)
    assert answer.not_done
    assert server.requests == []


async def test_error_statuses_are_answers(server: Server, client: HttpClient) -> None:
    answer = await client.request("GET", f"{server.url}/status/404")
    assert isinstance(answer, HttpResponse)
    assert answer.status == 404


async def test_nothing_is_repeated_unless_the_caller_says_so(
    server: Server, client: HttpClient
) -> None:
    for method in ("GET", "POST", "PUT", "DELETE"):
        await client.request(method, f"{server.url}/status/503")
        await client.request(method, f"{server.url}/cut")
    assert len(server.requests) == 8


async def test_a_repeatable_request_waits_and_succeeds(server: Server) -> None:
    naps = Naps()
    async with HttpClient(
        Egress.any(), surroundings=Surroundings(sleep=naps, chance=lambda: 1.0)
    ) as client:
        answer = await client.request("GET", f"{server.url}/fail/2", repeat=True)
    assert isinstance(answer, HttpResponse)
    assert answer.status == 200
    assert naps.seconds == [0.5, 1.0]


async def test_whoever_counts_the_calls_is_asked_before_a_request_is_sent_again(
    server: Server,
) -> None:
    left = [True, False]
    before = MAY_REPEAT.set(lambda: left.pop(0))
    try:
        async with HttpClient(
            Egress.any(), surroundings=Surroundings(sleep=Naps(), chance=lambda: 0.0)
        ) as client:
            answer = await client.request("GET", f"{server.url}/status/503", repeat=True)
    finally:
        MAY_REPEAT.reset(before)
    assert isinstance(answer, HttpResponse)
    assert (answer.status, len(server.requests), left) == (503, 2, [])


async def test_retry_after_decides_how_long_to_wait(server: Server) -> None:
    naps = Naps()
    async with HttpClient(
        Egress.any(),
        retry=Retry(attempts=2),
        surroundings=Surroundings(sleep=naps, chance=lambda: 0.0),
    ) as client:
        await client.request("GET", f"{server.url}/status/429", repeat=True)
    assert naps.seconds == [2.0]
    naps = Naps()
    async with HttpClient(
        Egress.any(), retry=Retry(longest=1.0), surroundings=Surroundings(sleep=naps)
    ) as client:
        await client.request("GET", f"{server.url}/status/429", repeat=True)
    assert naps.seconds == []


async def test_an_answer_after_a_request_that_was_not_served_is_the_first_to_speak_of_it(
    server: Server,
) -> None:
    surroundings = Surroundings(sleep=Naps(), chance=lambda: 0.0)
    async with HttpClient(
        Egress.any(), retry=Retry(attempts=2), surroundings=surroundings
    ) as client:
        limited = await client.request("PUT", f"{server.url}/status/429", repeat=True)
        broken = await client.request("PUT", f"{server.url}/status/503", repeat=True)
    assert isinstance(limited, HttpResponse)
    assert isinstance(broken, HttpResponse)
    assert (limited.acted, limited.not_done) == (False, True)
    assert (broken.acted, broken.not_done) == (True, False)


async def test_a_server_that_says_nothing_is_a_timeout_with_unknown_outcome(
    server: Server, client: HttpClient
) -> None:
    for timeout in (0.05, Timeout(idle=0.05)):
        answer = await client.request("POST", f"{server.url}/hang", timeout=timeout)
        assert isinstance(answer, Failure)
        assert (answer.kind, answer.outcome_unknown) == ("timeout", True)


async def test_a_closed_port_is_unavailable_and_nothing_happened(client: HttpClient) -> None:
    answer = await client.request("POST", "http://127.0.0.1:1/")
    assert isinstance(answer, Failure)
    assert (answer.kind, answer.retryable, answer.outcome_unknown) == ("unavailable", True, False)


@pytest.mark.parametrize("path", ["cut", "cutbody"])
async def test_a_connection_that_breaks_leaves_the_outcome_unknown(
    server: Server, client: HttpClient, path: str
) -> None:
    answer = await client.request("PUT", f"{server.url}/{path}")
    assert isinstance(answer, Failure)
    assert (answer.kind, answer.outcome_unknown) == ("unavailable", True)
    assert len(server.requests) == 1


@pytest.mark.parametrize("path", ["big/1001", "bomb/5000000"])
async def test_long_answers_are_refused_also_when_compressed(
    server: Server, client: HttpClient, path: str
) -> None:
    answer = await client.request("GET", f"{server.url}/{path}", max_bytes=1000)
    assert isinstance(answer, Failure)
    assert answer.kind == "too_large"


async def test_redirects_end(server: Server, client: HttpClient) -> None:
    answer = await client.request("GET", f"{server.url}/again/0")
    assert isinstance(answer, Failure)
    assert "redirects" in answer.message
    assert len(server.requests) == 6


async def test_a_stream_hands_out_lines_as_they_arrive(server: Server, client: HttpClient) -> None:
    async with client.stream("POST", f"{server.url}/events", json={}) as stream:
        assert isinstance(stream, HttpStream)
        lines = stream.lines()
        assert await anext(lines) == "data: 1"
        server.released.set()
        assert [x async for x in lines] == ["", "data: 2", ""]


async def test_leaving_a_stream_early_ends_the_request_at_the_server(
    server: Server, client: HttpClient
) -> None:
    async with client.stream("GET", f"{server.url}/events") as stream:
        assert isinstance(stream, HttpStream)
        assert await anext(stream.lines()) == "data: 1"
    async with asyncio.timeout(5):
        await server.left.wait()


async def test_a_stream_that_stalls_ends_in_a_timeout(server: Server, client: HttpClient) -> None:
    async with client.stream("GET", f"{server.url}/events", timeout=0.1) as stream:
        assert isinstance(stream, HttpStream)
        items = [x async for x in stream.lines()]
    assert isinstance(items[-1], Failure)
    assert items[-1].kind == "timeout"


async def test_a_stream_that_cannot_begin_is_a_failure() -> None:
    async with HttpClient() as client, client.stream("GET", "http://127.0.0.1:1/") as stream:
        assert isinstance(stream, Failure)
        assert stream.kind == "egress"


async def test_a_resolver_that_answers_nonsense_is_a_failure() -> None:
    for nonsense in (["not an address"], [], ["1.2.3.4.5"]):

        async def lookup(_: str, __: int, found: list[str] = nonsense) -> list[str]:
            return found

        async with HttpClient(surroundings=Surroundings(lookup=lookup)) as client:
            answer = await client.request("GET", "http://name.test/", params={"\ud800": "\ud800"})
        assert isinstance(answer, Failure)
        assert answer.kind == "unavailable"


async def test_tls_is_checked_against_the_name_that_was_asked_for(tmp_path: Path) -> None:
    """The connection goes to a checked address, the certificate must still be the name's."""
    server, trust = certified("name.test", tmp_path)

    async def hello(_: web.Request) -> web.Response:
        return web.Response(text="hello")

    app = web.Application()
    app.router.add_get("/", hello)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0, ssl_context=server).start()
    port = runner.addresses[0][1]

    async def lookup(_: str, __: int) -> list[str]:
        return ["127.0.0.1"]

    egress = Egress.allow(["name.test", "other.test"])
    async with HttpClient(
        egress, ssl_context=trust, surroundings=Surroundings(lookup=lookup)
    ) as client:
        good = await client.request("GET", f"https://name.test:{port}/")
        bad = await client.request("GET", f"https://other.test:{port}/")
    async with HttpClient(egress, surroundings=Surroundings(lookup=lookup)) as client:
        untrusted = await client.request("GET", f"https://name.test:{port}/")
    await runner.cleanup()
    assert isinstance(good, HttpResponse)
    for answer in (bad, untrusted):
        assert isinstance(answer, Failure)
        assert (answer.kind, answer.retryable) == ("unavailable", False)
        assert "TLS" in answer.message


def test_a_client_closed_in_one_event_loop_works_in_the_next() -> None:
    client = HttpClient(Egress.any())

    async def once() -> object:
        try:
            return await client.request("GET", "http://127.0.0.1:1/")
        finally:
            await client.aclose()

    for _ in range(2):
        answer = asyncio.run(once())
        assert isinstance(answer, Failure)
        assert answer.kind == "unavailable"


async def test_misuse_raises(client: HttpClient) -> None:
    with pytest.raises(ValueError, match="HTTP method"):
        await client.request("GET /\r\n", "http://example.com/")
    with pytest.raises(ValueError, match="JSON"):
        await client.request("POST", "http://example.com/", json=float("nan"))


async def test_proxies_of_the_environment_are_not_used(
    server: Server, client: HttpClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    answer = await client.request("GET", f"{server.url}/x")
    assert isinstance(answer, HttpResponse)
