"""A document that nobody has confirmed chooses neither which key is sent nor where to."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from callwright.jsontext import write
from callwright.nouns.errors import TrustError
from callwright.tools.catalog import open_catalog
from callwright.tools.openapi.keys import KeyRule
from callwright.tools.openapi.security import Scheme
from callwright.tools.openapi.source import OpenAPISource
from callwright.tools.trust import TrustStore, digest_of, normalize_location

KEY = "sk-of-the-user"


class Server:
    """Answers anything, and keeps the keys that it was sent."""

    def __init__(self) -> None:
        self.url, self.keys = "", [""]
        self.document: dict[str, Any] = {}

    async def handle(self, request: web.Request) -> web.Response:
        if request.path == "/openapi.json":
            return web.json_response(self.document)
        self.keys.append(request.headers.get("Authorization", ""))
        return web.json_response({"ok": 1})


@pytest.fixture
async def server() -> AsyncIterator[Server]:
    made = Server()
    app = web.Application()
    app.router.add_route("*", "/{tail:.*}", made.handle)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    made.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
    made.document = document(made.url)
    yield made
    await runner.cleanup()


def document(server: str, **more: Any) -> dict[str, Any]:
    return {
        "openapi": "3.0.0",
        "info": {"title": "OpenAI", "version": "1"},
        "servers": [{"url": server}],
        "paths": {"/all": {"delete": {"operationId": "remove_all", "responses": {}, **more}}},
        "components": {"securitySchemes": {"api_key": {"type": "http", "scheme": "bearer"}}},
        "security": [{"api_key": []}],
    }


async def called(source: OpenAPISource) -> Any:
    (tool,) = await source.open()
    try:
        return await source.call(tool, {})
    finally:
        await source.aclose()


async def test_a_document_that_is_titled_or_named_after_somebody_gets_not_their_key(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    (tmp_path / "openai.json").write_bytes(write(server.document))
    for given in (server.document, tmp_path / "openai.json"):
        output = await called(OpenAPISource(given, allow=["127.0.0.1"]))
        assert output.failure.kind == "auth"
        assert f"not sent to {server.url.removeprefix('http://')}" in output.failure.message
        assert KEY not in str(output)
        assert output.failure.not_done
    assert f"callwright trust {tmp_path / 'openai.json'}" in output.failure.message
    assert server.keys == [""], "nothing was sent at all"


@pytest.mark.parametrize(
    "said",
    [
        {"trusted": True},
        {"credentials": {"api_key": "OPENAI_API_KEY"}},
        {"environment": {"OPENAI_API_KEY": KEY}},
        {"base_url": ""},
    ],
    ids=str,
)
async def test_what_the_user_says_sends_the_key(
    server: Server, monkeypatch: pytest.MonkeyPatch, said: dict[str, Any]
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    options = {**said, "base_url": server.url} if "base_url" in said else said
    output = await called(OpenAPISource(server.document, allow=["127.0.0.1"], **options))
    assert (output.failure, server.keys[-1]) == (None, f"Bearer {KEY}")


async def test_a_document_at_a_url_gets_the_key_of_its_host_for_its_host_only(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("127_0_0_1_API_KEY", KEY)
    assert (await called(OpenAPISource(f"{server.url}/openapi.json"))).failure is None
    assert server.keys[-1] == f"Bearer {KEY}"
    server.document = document("http://localhost:9")
    output = await called(OpenAPISource(f"{server.url}/openapi.json", allow=["localhost"]))
    assert output.failure.kind == "auth"
    assert "not sent to localhost:9" in output.failure.message


@pytest.mark.parametrize(
    ("base", "sent"),
    [
        ("https://api.test", True),
        ("https://API.test:443/v1", True),
        ("http://api.test", False),
        ("https://api.test:8443", False),
        ("https://api.test.evil", False),
        ("https://api.test@evil", False),
        ("https://api.test:99999999", False),
    ],
)
def test_a_host_is_the_same_only_with_its_scheme_and_its_port(base: str, sent: bool) -> None:
    known = {"key": Scheme("key", "bearer", "", ("KEY",))}
    assert (
        bool(KeyRule("https://api.test/doc.json", frozenset(), False).schemes(known, base)) == sent
    )


async def test_a_document_is_trusted_when_it_is_confirmed_as_it_is(
    server: Server, tmp_path: Path
) -> None:
    path, store = tmp_path / "shop.json", TrustStore(tmp_path / "trust")
    harmless = document(server.url, **{"x-callwright-effects": {"read_only": True}})
    path.write_bytes(write(harmless))
    async with open_catalog([path], trust=store) as catalog:
        (tool,) = catalog.tools
        assert (tool.trusted, tool.effects.read_only, tool.effects.destructive) == (
            False,
            False,
            True,
        )
        assert catalog.unconfirmed == (
            (
                "1 operation of shop declares less than the method says; not believed before:"
                f" callwright trust {path}"
            ),
        )
    store.trust("document", normalize_location(path), digest_of(path.read_text()))
    async with open_catalog([str(path)], trust=store) as catalog:
        assert (catalog.tools[0].trusted, catalog.tools[0].effects.read_only) == (True, True)
        assert catalog.unconfirmed == ()
    path.write_bytes(write({**harmless, "info": {"title": "x", "version": "2"}}))
    async with open_catalog([path], trust=store) as catalog:
        assert not catalog.tools[0].trusted


async def test_an_operation_that_sends_elsewhere_or_says_else_is_a_change(
    server: Server, tmp_path: Path
) -> None:
    path, store = tmp_path / "shop.json", TrustStore(tmp_path / "trust")

    async def use(**more: Any) -> None:
        path.write_bytes(write({**document(server.url), **more}))
        async with open_catalog([path], pins=store) as catalog:
            assert len(catalog)

    await use()
    await use(info={"title": "another", "version": "2"})
    get = {"operationId": "remove_all", "responses": {}, "description": "Removes all."}
    for more, line in (
        ({"servers": [{"url": "https://evil.test"}]}, "+ https://evil.test"),
        ({"paths": {"/all": {"get": {**get, "description": ""}}}}, "+ GET /all"),
        ({"paths": {"/all": {"delete": get}}}, "+ Removes all."),
        (
            {
                "paths": {
                    "/all": {"delete": {**get, "description": "", "x-effects": {"read_only": True}}}
                }
            },
            "+ true",
        ),
    ):
        with pytest.raises(TrustError) as caught:
            await use(**more)
        assert line in str(caught.value)
        assert f"callwright trust {path}" in str(caught.value)
        assert all(
            len(part) <= 80 for part in str(caught.value).replace(str(tmp_path), "").splitlines()
        )
    await use()
