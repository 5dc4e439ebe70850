"""The transport against real servers on loopback; only name resolution is scripted."""

from __future__ import annotations

import gzip
import ssl
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import httpx2
import pytest
from aiohttp import web

from callwright.http.egress import Target, parse_target
from callwright.nouns.errors import CatalogError
from callwright.tools.catalog import open_catalog
from callwright.tools.mcp.http import MAX_ANSWER, CheckedTransport, client_for
from tests.certificates import certified


class Server:
    """Echoes; ``/to?URL`` redirects there with 307. ``seen`` are the requests that arrived."""

    def __init__(self) -> None:
        self.seen: list[str] = []
        self.port = 0

    async def handle(self, request: web.Request) -> web.Response:
        self.seen.append(f"{request.method} {request.path} {request.headers['Host']}")
        if request.path == "/to":
            return web.Response(status=307, headers={"Location": request.query_string})
        if request.path == "/long":
            return web.Response(body=b"x" * (MAX_ANSWER + 1))
        if request.path == "/packed":
            return web.Response(
                body=gzip.compress(b"x" * 1_000_000), headers={"Content-Encoding": "gzip"}
            )
        return web.Response(text=await request.text())


@asynccontextmanager
async def serving(ssl_context: ssl.SSLContext | None = None) -> AsyncIterator[Server]:
    made = Server()
    app = web.Application()
    app.router.add_route("*", "/{tail:.*}", made.handle)
    runner = web.AppRunner(app)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0, ssl_context=ssl_context).start()
        made.port = runner.addresses[0][1]
        yield made
    finally:
        await runner.cleanup()


class Names:
    """Answers for names, one after the other; the last one stays."""

    def __init__(self, *answers: Sequence[str]) -> None:
        self.answers = list(answers)
        self.asked: list[str] = []

    async def __call__(self, host: str, port: int) -> Sequence[str]:
        self.asked.append(host)
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]


def target(url: str) -> Target:
    made = parse_target(url)
    assert isinstance(made, Target)
    return made


async def test_a_typed_host_is_reached_at_its_address_under_its_name() -> None:
    names = Names(["127.0.0.1"])
    async with serving() as server:
        url = f"http://tools.internal:{server.port}/mcp"
        async with await client_for(target(url), {"x-key": "k"}, names) as http:
            answer = await http.post(url, content=b"hello")
    assert (answer.status_code, answer.text) == (200, "hello")
    assert server.seen == [f"POST /mcp tools.internal:{server.port}"]
    assert set(names.asked) == {"tools.internal"}


async def test_the_next_address_is_tried_where_one_does_not_answer() -> None:
    async with serving() as server:
        url = f"http://tools.internal:{server.port}/mcp"
        async with await client_for(target(url), {}, Names(["127.9.9.9", "127.0.0.1"])) as http:
            assert (await http.post(url, content=b"x")).text == "x"


@pytest.mark.parametrize(
    "address", ["169.254.169.254", "fd00:ec2::254", "224.0.0.1", "0.0.0.0", "169.254.1.1"]
)
async def test_a_name_that_leads_to_a_forbidden_address_is_refused_before_anything_is_sent(
    address: str,
) -> None:
    with pytest.raises(CatalogError, match="not allowed"):
        await client_for(target("http://tools.example/mcp"), {}, Names(["127.0.0.1", address]))


async def test_localhost_leads_to_loopback_only() -> None:
    with pytest.raises(CatalogError, match="not allowed"):
        await client_for(target("http://localhost:1/mcp"), {}, Names(["10.0.0.1"]))


async def test_a_name_that_changes_its_address_later_is_judged_again() -> None:
    names = Names(["127.0.0.1"], ["127.0.0.1"], ["169.254.169.254"])
    async with serving() as server:
        url = f"http://tools.internal:{server.port}/mcp"
        async with await client_for(target(url), {}, names) as http:
            assert (await http.get(url)).status_code == 200
            with pytest.raises(httpx2.ConnectError, match=r"169\.254\.169\.254"):
                await http.get(url)
    assert len(server.seen) == 1


async def test_a_name_that_nobody_knows_is_named() -> None:
    async def nobody(host: str, port: int) -> Sequence[str]:
        raise OSError(-2, "Name or service not known")

    with pytest.raises(
        CatalogError, match=r"http://tools\.example cannot be resolved: Name or service not known"
    ):
        await client_for(target("http://tools.example/mcp"), {}, nobody)


async def test_redirects_stay_at_the_origin_even_where_the_client_follows_them() -> None:
    async with serving() as server, serving() as other:
        base = f"http://127.0.0.1:{server.port}"
        async with httpx2.AsyncClient(
            transport=CheckedTransport(target(base)), follow_redirects=True
        ) as http:
            assert (await http.get(f"{base}/to?/mcp")).status_code == 200
            for elsewhere in (
                f"http://127.0.0.1:{other.port}/",
                f"http://localhost:{server.port}/",
            ):
                with pytest.raises(httpx2.ConnectError, match="is not the origin"):
                    await http.get(f"{base}/to?{elsewhere}")
    assert other.seen == []
    assert len(server.seen) == 4


@pytest.mark.parametrize(("path", "says"), [("long", "longer than"), ("packed", "compressed")])
async def test_an_answer_beyond_the_bound_or_compressed_is_given_up_and_the_client_goes_on(
    path: str, says: str
) -> None:
    async with serving() as server:
        base = f"http://127.0.0.1:{server.port}"
        async with await client_for(target(base), {}) as http:
            with pytest.raises(httpx2.StreamError, match=says):
                await http.get(f"{base}/{path}")
            assert (await http.post(f"{base}/mcp", content=b"on")).text == "on"


async def test_a_server_that_redirects_elsewhere_cannot_be_opened_and_nothing_arrives_there() -> (
    None
):
    async with serving() as server, serving() as other:
        spec = f"mcp+http://127.0.0.1:{server.port}/to?http://127.0.0.1:{other.port}/mcp"
        with pytest.raises(CatalogError, match="not followed"):
            async with open_catalog([spec]):
                pass
    assert other.seen == []
    assert server.seen


async def test_proxies_of_the_environment_are_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    async with serving() as server, serving() as proxy:
        monkeypatch.setenv("http_proxy", f"http://127.0.0.1:{proxy.port}")
        monkeypatch.setenv("all_proxy", f"http://127.0.0.1:{proxy.port}")
        url = f"http://127.0.0.1:{server.port}/mcp"
        async with await client_for(target(url), {}) as http:
            assert (await http.get(url)).status_code == 200
    assert proxy.seen == []


async def test_tls_checks_the_name_and_not_the_address(tmp_path: Path) -> None:
    context, trust = certified("tools.internal", tmp_path)
    async with serving(context) as server:
        for host, asked, ours in (("tools", 1, trust), ("other", 0, trust), ("tools", 0, None)):
            server.seen.clear()
            url = f"https://{host}.internal:{server.port}/mcp"
            async with await client_for(target(url), {}, Names(["127.0.0.1"]), ours) as http:
                if asked:
                    assert (await http.get(url)).status_code == 200
                else:
                    with pytest.raises(httpx2.ConnectError, match="CERTIFICATE_VERIFY_FAILED"):
                        await http.get(url)
            assert len(server.seen) == asked


class _Visit(httpx2.Auth):
    """A login that asks one other address."""

    def __init__(self, address: str) -> None:
        self._address = address

    async def async_auth_flow(self, request):  # type: ignore[no-untyped-def]
        yield httpx2.Request("POST", self._address)
        yield request


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("https://10.0.0.7/token", "private"),
        ("https://169.254.169.254/latest", "not allowed"),
        ("http://login.example.org/token", "not be encrypted"),
        ("https://127.0.0.1/token", "not allowed"),
    ],
)
async def test_a_login_goes_to_no_place_inside_the_network_and_nowhere_in_the_clear(
    address: str, said: str
) -> None:
    target = parse_target("https://192.0.2.1/mcp")
    assert isinstance(target, Target)
    async with await client_for(target, {}, auth=_Visit(address)) as client:
        with pytest.raises(httpx2.ConnectError, match=said):
            await client.post(target.url)


async def test_a_login_may_go_to_loopback_for_a_server_on_loopback() -> None:
    async with serving() as server, serving() as issuer:
        target = parse_target(f"http://127.0.0.1:{server.port}/mcp")
        assert isinstance(target, Target)
        auth = _Visit(f"http://127.0.0.1:{issuer.port}/token")
        async with await client_for(target, {}, auth=auth) as client:
            assert (await client.post(target.url)).status_code == 200
    assert issuer.seen == [f"POST /token 127.0.0.1:{issuer.port}"]
