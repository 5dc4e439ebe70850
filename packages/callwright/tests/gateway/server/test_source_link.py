from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import mcp_types as types
import pytest
from aiohttp import web

from callwright.gateway.configuration import read_servers
from callwright.gateway.server.caller import ConnectionKey
from callwright.gateway.server.gateway import Gateway
from callwright.gateway.server.link import Flight, refuse_ask
from callwright.gateway.server.source_link import SourceLink
from callwright.gateway.session.commands import Rejected, Returned
from callwright.tools.trust import TrustStore, digest_of, normalize_location
from tests.gateway.doors import build_gateway, connect, try_call

MODULE = '''
from typing import Literal

def greet(name: str, tone: Literal["warm", "cold"] = "warm") -> dict[str, str]:
    """Greet somebody."""
    return {"said": f"{tone}: {name}"}

def fail(name: str) -> str:
    """Fail."""
    raise ValueError("no such name")
'''


def write_module(folder: Path) -> str:
    path = folder / "greetings.py"
    path.write_text(MODULE)
    return str(path)


async def test_functions_of_a_module_are_tools_of_a_server(tmp_path: Path) -> None:
    write_module(tmp_path)
    gateway = build_gateway(
        {"py": {"python": "greetings.py", "trusted": True}}, tmp_path, consent="client"
    )
    async with gateway.running(), connect(gateway) as client:
        names = {tool.name for tool in (await client.list_tools()).tools}
        assert names == {"py__greet", "py__fail"}
        told = await client.call_tool("py__greet", {"name": "Ann", "tone": "WARM"})
        assert told.structured_content == {"said": "warm: Ann"}
        failed = await client.call_tool("py__fail", {"name": "x"})
        assert failed.is_error


async def test_operations_of_a_document_are_tools_of_a_server(tmp_path: Path) -> None:
    async def answer(request: web.Request) -> web.Response:
        if request.match_info["city"] == "map":
            return web.Response(body=b"\0\1", content_type="image/png")
        return web.json_response({"city": request.match_info["city"], "sun": True})

    application = web.Application()
    application.router.add_get("/weather/{city}", answer)
    runner = web.AppRunner(application)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    address = runner.addresses[0]
    city = {"name": "city", "in": "path", "required": True, "schema": {"type": "string"}}
    document = {
        "openapi": "3.1.0",
        "info": {"title": "W", "version": "1"},
        "paths": {
            "/weather/{city}": {
                "get": {
                    "operationId": "get_weather",
                    "parameters": [city],
                    "responses": {"200": {"description": "ok"}},
                }
            }
        },
    }
    (tmp_path / "doc.json").write_text(json.dumps(document))
    entry = {"openapi": "doc.json", "base_url": f"http://{address[0]}:{address[1]}"}
    gateway = build_gateway({"api": entry}, tmp_path, consent="client")
    async with gateway.running(), connect(gateway, "legacy") as client:
        assert [tool.name for tool in (await client.list_tools()).tools] == ["api__get_weather"]
        told = await client.call_tool("api__get_weather", {"City": "Oslo"})
        assert told.structured_content == {"city": "Oslo", "sun": True}
        drawn = await client.call_tool("api__get_weather", {"city": "map"})
        image = types.ImageContent(type="image", data="AAE=", mime_type="image/png")
        assert (drawn.content, drawn.structured_content) == ([image], None)
    await runner.cleanup()


async def test_it_has_tools_and_nothing_else(tmp_path: Path) -> None:
    write_module(tmp_path)
    (entry,) = read_servers({"py": {"python": "greetings.py"}}, tmp_path).entries
    link = SourceLink(entry, ConnectionKey())
    assert not link.is_open
    assert len(await link.open()) == 2
    assert (link.is_open, link.is_busy, link.is_outdated) == (True, False, False)
    assert [link.has(name) for name in ("tools", "prompts")] == [True, False]
    assert await link.list_all("prompts") == []
    assert len(await link.list_again()) == 2
    flight = Flight(refuse_ask)
    for method, params in (("prompts/get", {}), ("tools/call", {"name": "none"})):
        assert isinstance(await link.send(method, params, flight), Rejected)
    assert isinstance(await link.watch("x://y"), Rejected)
    call = {"name": "greet", "arguments": {"name": "Ann"}}
    assert isinstance(await link.send("tools/call", call, flight), Returned)
    await link.close()
    assert not link.is_open


async def test_a_document_that_is_none_costs_its_own_tools(tmp_path: Path) -> None:
    write_module(tmp_path)
    servers = {"bad": {"openapi": "none.yaml"}, "py": {"python": "greetings.py"}}
    gateway = build_gateway(servers, tmp_path, consent="client")
    async with gateway.running(), connect(gateway) as client:
        assert len((await client.list_tools()).tools) == 2
        assert "none.yaml" in gateway.describe_servers()[0]["last_failure"]
        assert "none.yaml" in await try_call(client, "bad__x")


class Api:
    """An API that keeps what it was asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.keys: list[str] = []

    async def answer(self, request: web.Request) -> web.Response:
        self.asked.append(f"{request.method} {request.headers.get('x-key', '')}".strip())
        self.keys.append(request.headers.get("idempotency-key", ""))
        if request.path == "/down":
            return web.json_response({}, status=503)
        if request.path == "/denied":
            return web.json_response({}, status=401)
        if request.path == "/broken":
            return web.Response(text="<html>done</html>", content_type="application/json")
        return web.json_response({"other": 1})

    @asynccontextmanager
    async def running(self, folder: Path, **entry: Any) -> AsyncIterator[Gateway]:
        """The API, and a gateway in front of it."""
        application = web.Application()
        application.router.add_route("*", "/{tail:.*}", self.answer)
        runner = web.AppRunner(application)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        host, port = runner.addresses[0][:2]
        schema = {"type": "object", "properties": {"ok": {"type": "integer"}}, "required": ["ok"]}
        content = {"application/json": {"schema": schema}}
        responses = {"200": {"description": "ok", "content": content}}
        methods = ("get", "put", "post")
        paths = {
            f"/{name}": {
                one: {"operationId": f"{one}_{name}", "responses": responses} for one in methods
            }
            for name in ("odd", "down", "denied", "broken")
        }
        body = {"content": {"application/xml": {"schema": {}}}}
        parameter = {"name": "Idempotency-Key", "in": "header", "schema": {"type": "string"}}
        paths["/down"]["put"] |= {"parameters": [{**parameter, "required": True}]}
        paths["/xml"] = {"post": {"requestBody": body, "responses": {}}}
        document = {
            "openapi": "3.1.0",
            "info": {"title": "A", "version": "1"},
            "servers": [{"url": f"http://{host}:{port}"}],
            "components": {
                "securitySchemes": {"key": {"type": "apiKey", "in": "header", "name": "X-Key"}}
            },
            "security": [{"key": []}],
            "paths": paths,
        }
        (folder / "api.json").write_text(json.dumps(document))
        given = {"openapi": "api.json", "base_url": f"http://{host}:{port}", **entry}
        gateway = build_gateway({"a": given}, folder)
        async with gateway.running():
            yield gateway
        await runner.cleanup()


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("API_KEY", "k-12345678")
    monkeypatch.setenv("CALLWRIGHT_TRUST", str(tmp_path / "trust"))


async def test_an_answer_that_differs_from_its_document_is_an_answer(tmp_path: Path) -> None:
    api = Api()
    async with api.running(tmp_path, approve=True) as gateway, connect(gateway) as client:
        listed = (await client.list_tools()).tools
        assert {one.output_schema for one in listed} == {None}, "clients raise where one is wrong"
        told = await client.call_tool("a__post_odd", {})
        assert (told.structured_content, api.asked) == ({"other": 1}, ["POST k-12345678"])


async def test_reads_need_no_approval_and_writes_do(tmp_path: Path) -> None:
    api = Api()
    async with api.running(tmp_path) as gateway, connect(gateway) as client:
        hints = {one.name: one.annotations for one in (await client.list_tools()).tools}
        reads = hints["a__get_odd"]
        assert reads is not None
        assert reads.read_only_hint
        assert "other" in await try_call(client, "a__get_odd")
        assert "nobody can be asked" in await try_call(client, "a__post_odd")
    async with api.running(tmp_path, trusted=True) as gateway, connect(gateway) as client:
        assert "other" in await try_call(client, "a__post_odd")
        assert "may destroy" in await try_call(client, "a__put_odd")
    assert [one.split()[0] for one in api.asked] == ["GET", "POST"]


async def test_the_source_alone_decides_what_is_sent_again(tmp_path: Path) -> None:
    api = Api()
    async with api.running(tmp_path, approve=True) as gateway, connect(gateway) as client:
        await client.list_tools()
        for name, times in (("put_down", 3), ("post_down", 1), ("post_denied", 1)):
            api.asked.clear()
            assert "gave no result" in await try_call(client, f"a__{name}")
            assert len(api.asked) == times, name
    key, *_ = api.keys
    assert len(key) == 32
    assert api.keys == [key] * 3 + ["", ""], "a request that is sent again has its key"


async def test_a_write_whose_answer_cannot_be_read_may_have_taken_effect(tmp_path: Path) -> None:
    api = Api()
    async with api.running(tmp_path, approve=True) as gateway, connect(gateway) as client:
        await client.list_tools()
        told = await try_call(client, "a__post_broken")
        assert "it begins: <html>done" in told
        assert "may have taken effect" in told


async def test_a_credential_goes_to_a_document_s_own_address_where_the_user_says_so(
    tmp_path: Path,
) -> None:
    api, options = Api(), {"base_url": "", "openapi": "api.json?allow=127.0.0.1"}
    async with api.running(tmp_path, **options) as gateway, connect(gateway) as client:
        told = await try_call(client, "a__get_odd")
        assert "callwright trust" in told
        assert "may have taken effect" not in told
        text = (tmp_path / "api.json").read_text()
        TrustStore().trust("document", normalize_location(tmp_path / "api.json"), digest_of(text))
        await gateway.upstreams["a"].drop("")
        assert "other" in await try_call(client, "a__get_odd"), "as the message says"
    trusted = api.running(tmp_path, **options, trusted=True)
    async with trusted as gateway, connect(gateway) as client:
        assert "other" in await try_call(client, "a__get_odd")
    assert api.asked == ["GET k-12345678"] * 2


async def test_what_could_not_be_imported_is_said(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with Api().running(tmp_path) as gateway, connect(gateway) as client:
        await client.list_tools()
        assert any("/xml" in said for said in gateway.describe_servers()[0]["problems"])
    assert "POST /xml of api left out" in caplog.text
