"""The source against a real server that echoes what arrived."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from callwright.http import Egress, HttpClient, Surroundings
from callwright.nouns.errors import CatalogError, ConfigError
from callwright.nouns.protocols import CALL_KEY
from callwright.nouns.types import Tool
from callwright.tools.openapi.source import OpenAPIOptions, OpenAPISource

SECRET = "s3cr3t-canary"


def operation(name: str, parameters: list[Any] | None = None, **more: Any) -> dict[str, Any]:
    return {"operationId": name, "parameters": parameters or [], "responses": {}, **more}


def param(name: str, place: str, **more: Any) -> dict[str, Any]:
    return {
        "name": name,
        "in": place,
        "required": place == "path",
        "schema": {"type": "string"},
        **more,
    }


DOCUMENT: dict[str, Any] = {
    "openapi": "3.0.3",
    "info": {"title": "Echo Shop", "version": "1"},
    "servers": [{"url": "/"}],
    "paths": {
        "/items/{id}": {
            "get": operation(
                "getItem",
                [param("id", "path"), param("q", "query"), param("X-T", "header")],
                tags=["items"],
            ),
            "delete": operation("deleteItem", [param("id", "path")], tags=["items"]),
        },
        "/items": {
            "post": operation(
                "addItem",
                requestBody={
                    "required": True,
                    "content": {
                        "application/json": {
                            "schema": {"type": "object", "properties": {"name": {}}}
                        }
                    },
                },
                tags=["items", "write"],
            )
        },
        "/admin": {"get": operation("admin", tags=["admin"])},
        "/secure": {
            "get": operation("secure", [param("c", "cookie")], security=[{"key": [], "token": []}])
        },
        "/status/{code}": {"get": operation("status", [param("code", "path")])},
        "/broken": {"get": operation("broken", [{"$ref": "http://evil.test/p"}]), "put": 5},
    },
    "components": {
        "securitySchemes": {
            "key": {"type": "apiKey", "in": "query", "name": "api_key"},
            "token": {"type": "http", "scheme": "bearer"},
        }
    },
}


class Shop:
    """Echoes method, raw path, headers and body; ``/status/N`` answers N; ``/openapi.json`` is the
    document.
    """

    def __init__(self) -> None:
        self.url = ""
        self.seen: list[str] = []
        self.elsewhere = ""

    async def handle(self, request: web.Request) -> web.Response:
        self.seen.append(f"{request.method} {request.raw_path}")
        if request.path == "/openapi.json":
            return web.json_response(DOCUMENT)
        if request.path == "/status/302":
            return web.Response(status=302, headers={"Location": self.elsewhere})
        if request.path.startswith("/status/"):
            return web.json_response({"message": f"said {SECRET}"}, status=int(request.path[8:]))
        headers = {k.lower(): v for k, v in request.headers.items()}
        body = (await request.read()).decode()
        return web.json_response(
            {"method": request.method, "raw": request.raw_path, "headers": headers, "body": body}
        )


@pytest.fixture
async def shop() -> AsyncIterator[Shop]:
    made = Shop()
    app = web.Application()
    app.router.add_route("*", "/{tail:.*}", made.handle)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    made.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
    yield made
    await runner.cleanup()


class Opened:
    """A source that is open, its tools by name."""

    def __init__(self, source: OpenAPISource, tools: dict[str, Tool]) -> None:
        self.source, self.tools = source, tools

    async def call(self, name: str, /, **arguments: Any) -> Any:
        return await self.source.call(self.tools[name], arguments)


async def opened(document: Any, **options: Any) -> Opened:
    source = OpenAPISource(document, **{"environment": {}, "name": "shop", **options})
    return Opened(source, {t.name: t for t in await source.open()})


async def test_options_in_one_object_are_the_same_as_one_by_one(shop: Shop) -> None:
    options = OpenAPIOptions(name="other", base_url="http://elsewhere", environment={})
    for source in (
        OpenAPISource(DOCUMENT, replace(options, base_url=shop.url, include=("GET",))),
        OpenAPISource(DOCUMENT, options, base_url=shop.url, include=("GET",)),
        OpenAPISource(DOCUMENT, name="other", base_url=shop.url, include=["GET"], environment={}),
    ):
        api = Opened(source, {t.name: t for t in await source.open()})
        assert source.name == "other"
        got = (await api.call("getItem", id="a", **{"X-T": "t"})).content
        assert got["method"] == "GET"
        await source.aclose()
    with pytest.raises(TypeError, match="colour"):
        OpenAPISource(DOCUMENT, colour="red")


async def test_a_call_arrives_as_the_document_says(shop: Shop) -> None:
    api = await opened(DOCUMENT, base_url=shop.url)
    got = (await api.call("getItem", id="a/b c", q="x&y", **{"X-T": "t"})).content
    assert (got["method"], got["raw"], got["headers"]["x-t"]) == (
        "GET",
        "/items/a%2Fb%20c?q=x%26y",
        "t",
    )
    posted = (await api.call("addItem", name="n")).content
    assert (posted["body"], posted["headers"]["content-type"]) == (
        '{"name":"n"}',
        "application/json",
    )
    await api.source.aclose()


async def test_methods_of_openapi_3_2_arrive_and_only_query_is_a_read(shop: Shop) -> None:
    body = DOCUMENT["paths"]["/items"]["post"]["requestBody"]
    item = {
        "query": operation("search", requestBody=body),
        "additionalOperations": {"PURGE": operation("purge")},
        "get": operation("raw", [param("all", "querystring")]),
    }
    api = await opened({**DOCUMENT, "openapi": "3.2.0", "paths": {"/q": item}}, base_url=shop.url)
    found = (await api.call("search", name="n")).content
    assert (found["method"], found["body"]) == ("QUERY", '{"name":"n"}')
    assert (await api.call("purge")).content["method"] == "PURGE"
    assert api.tools["search"].effects.read_only
    assert api.tools["purge"].effects.destructive
    [left] = api.source.not_imported
    assert (left.operation, "the whole query string" in left.reason) == ("GET /q", True)
    await api.source.aclose()


async def test_an_idempotency_key_header_is_filled_by_us_and_hidden_from_the_model(
    shop: Shop,
) -> None:
    pay = operation(
        "pay", [param("Idempotency-Key", "header", required=True), param("amount", "query")]
    )
    document = {**DOCUMENT, "paths": {"/pay": {"post": pay}}}
    api = await opened(document, base_url=shop.url, trusted=True)
    assert list(api.tools["pay"].properties) == ["amount"]
    assert api.tools["pay"].effects.keyed
    assert api.tools["pay"].effects.may_repeat
    token = CALL_KEY.set("key-1")
    got = (await api.call("pay", amount="5")).content
    CALL_KEY.reset(token)
    assert got["headers"]["idempotency-key"] == "key-1"
    await api.source.aclose()
    untrusted = await opened(document, base_url=shop.url)
    assert not untrusted.tools["pay"].effects.keyed, (
        "what an untrusted source says of itself loosens nothing"
    )
    await untrusted.source.aclose()


@pytest.mark.parametrize(
    "value",
    ["../admin", "..", "%2e%2e/admin", "..%2fadmin", "x/../../admin", "..\\admin", "a\r\nb"],
)
async def test_no_path_value_reaches_another_operation(shop: Shop, value: str) -> None:
    api = await opened(DOCUMENT, base_url=shop.url)
    result = await api.call("getItem", id=value)
    assert result.failure.kind == "tool_error"
    assert shop.seen == []
    await api.source.aclose()


async def test_a_document_is_fetched_and_its_relative_server_found(shop: Shop) -> None:
    api = await opened(f"{shop.url}/openapi.json")
    assert (await api.call("getItem", id="1")).content["raw"] == "/items/1"
    await api.source.aclose()


async def test_a_document_that_cannot_be_fetched_raises_without_its_query(shop: Shop) -> None:
    with pytest.raises(CatalogError, match="answered 404") as caught:
        await opened(f"{shop.url}/status/404")
    assert SECRET not in str(caught.value)


async def test_what_cannot_be_imported_is_listed_and_the_rest_works(shop: Shop) -> None:
    api = await opened(DOCUMENT)
    assert [(n.operation, n.name) for n in api.source.not_imported] == [
        ("GET /broken", "broken"),
        ("PUT /broken", "put_broken"),
    ]
    assert "nothing is fetched" in api.source.not_imported[0].reason
    assert len(api.tools) == 6


@pytest.mark.parametrize(
    ("options", "names"),
    [
        ({"include": ["tag:items"]}, {"getItem", "deleteItem", "addItem"}),
        ({"include": ["tag:items"], "exclude": ["tag:write", "DELETE"]}, {"getItem"}),
        ({"include": ["GET /items/*", "admin"]}, {"getItem", "admin"}),
        ({"include": ["/items*"], "exclude": ["*Item"]}, set()),
        ({"include": ["get*"]}, {"getItem"}),
    ],
)
async def test_operations_are_chosen_by_tag_method_path_and_name(
    options: Any, names: set[str]
) -> None:
    assert set((await opened(DOCUMENT, **options)).tools) == names


async def test_credentials_come_from_the_environment(shop: Shop) -> None:
    environment = {"SHOP_KEY": "k&1", "SHOP_TOKEN": SECRET}
    api = await opened(DOCUMENT, base_url=shop.url, environment=environment)
    result = await api.call("secure", c="x")
    assert shop.seen == ["GET /secure?api_key=k%261"]
    assert result.content["headers"]["cookie"] == "c=x"
    assert result.content["headers"]["authorization"] == "Bearer [secret]"
    assert SECRET in api.source.secrets
    await api.source.aclose()


async def test_no_argument_stands_beside_a_credential_or_a_header_of_the_same_name(
    shop: Shop,
) -> None:
    given = [param("api_key", "query"), param("q", "query"), param("sid", "cookie")]
    given += [param("lang", "cookie"), param("c", "cookie")]
    schemes = {**DOCUMENT["components"]["securitySchemes"]}
    schemes["session"] = {"type": "apiKey", "in": "cookie", "name": "sid"}
    both = operation("both", given, security=[{"key": [], "session": []}])
    document = {
        **DOCUMENT,
        "paths": {"/both": {"get": both}},
        "components": {"securitySchemes": schemes},
    }
    environment = {"SHOP_KEY": "theirs", "SHOP_SESSION": SECRET}
    options = {"environment": environment, "headers": {"Cookie": "lang=en"}}
    api = await opened(document, base_url=shop.url, **options)
    made = dict.fromkeys(("api_key", "q", "sid", "lang", "c"), "made-up")
    result = await api.call("both", **made)
    assert shop.seen == ["GET /both?q=made-up&api_key=theirs"]
    assert result.content["headers"]["cookie"] == "[secret]; c=made-up; sid=[secret]"
    await api.source.aclose()


async def test_a_document_s_path_does_not_go_on_the_name_of_the_host() -> None:
    """A credential for the address that the user typed would go to another."""
    asked: list[str] = []

    async def look_up(host: str, port: int) -> list[str]:
        asked.append(host)
        raise OSError

    document = {**DOCUMENT, "paths": {".evil.example/steal": {"get": operation("steal")}}}
    async with HttpClient(surroundings=Surroundings(lookup=look_up)) as http:
        api = await opened(document, base_url="https://api.example.com", http=http)
        await api.call("steal")
    assert set(asked) == {"api.example.com"}


async def test_a_missing_credential_is_named_and_nothing_is_sent(shop: Shop) -> None:
    api = await opened(DOCUMENT, base_url=shop.url, environment={"SHOP_KEY": SECRET})
    failure = (await api.call("secure")).failure
    assert failure.kind == "auth"
    assert "SHOP_TOKEN" in failure.message
    assert SECRET not in str(failure)
    assert shop.seen == []
    by_hand = await opened(DOCUMENT, base_url=shop.url, headers={"Authorization": "Bearer own"})
    assert "authorization" in (await by_hand.call("secure")).content["headers"]
    for source in (api.source, by_hand.source):
        await source.aclose()


async def test_another_server_and_a_credential_that_came_are_another_place() -> None:
    async def place(base: str, environment: dict[str, str]) -> str:
        api = await opened(DOCUMENT, base_url=base, environment=environment)
        await api.source.aclose()
        return api.source.place(api.tools["secure"])

    known = {"SHOP_KEY": SECRET, "SHOP_TOKEN": SECRET}
    there = await place("http://a.example", known)
    assert there == await place("http://a.example", dict(known))
    assert (
        len({there, await place("http://b.example", known), await place("http://a.example", {})})
        == 3
    )
    assert SECRET not in there


@pytest.mark.parametrize(
    ("code", "kind"),
    [("401", "auth"), ("429", "rate_limit"), ("500", "unavailable"), ("418", "tool_error")],
)
async def test_error_statuses_are_failures_without_secrets(
    shop: Shop, code: str, kind: str
) -> None:
    async def no_sleep(_: float) -> None: ...

    async with HttpClient(Egress.any(), surroundings=Surroundings(sleep=no_sleep)) as http:
        document = {**DOCUMENT, "security": [{"token": []}]}
        api = await opened(
            document, base_url=shop.url, http=http, environment={"SHOP_TOKEN": SECRET}
        )
        failure = (await api.call("status", code=code)).failure
    assert failure.kind == kind
    assert "said [secret]" in failure.message
    assert SECRET not in str(failure)


async def test_only_calls_that_may_be_repeated_are(shop: Shop) -> None:
    async def no_sleep(_: float) -> None: ...

    item = DOCUMENT["paths"]["/status/{code}"]["get"]
    document = {
        **DOCUMENT,
        "paths": {"/status/{code}": {"get": item, "post": {**item, "operationId": "make"}}},
    }
    async with HttpClient(Egress.any(), surroundings=Surroundings(sleep=no_sleep)) as http:
        api = await opened(document, base_url=shop.url, http=http)
        await api.call("status", code="503")
        await api.call("make", code="503")
    assert [s.split()[0] for s in shop.seen] == ["GET", "GET", "GET", "POST"]


async def test_a_document_cannot_point_inside(shop: Shop) -> None:
    api = await opened({**DOCUMENT, "servers": [{"url": shop.url}]})
    assert (await api.call("getItem", id="1")).failure.kind == "egress"
    shop.elsewhere = "http://169.254.169.254/latest/meta-data/"
    typed = await opened(DOCUMENT, base_url=shop.url)
    assert (await typed.call("status", code="302")).failure.kind == "egress"
    assert shop.seen == ["GET /status/302"]
    for source in (api.source, typed.source):
        await source.aclose()


async def test_servers_are_selected_and_their_variables_filled(shop: Shop) -> None:
    host = shop.url.removeprefix("http://")
    servers = [
        {"url": "https://one.test"},
        {
            "url": "http://{host}/{version}/",
            "description": "mine",
            "variables": {
                "host": {"default": "x"},
                "version": {"default": "v1", "enum": ["v1", "v2"]},
            },
        },
    ]
    document = {**DOCUMENT, "servers": servers}
    for server in (1, "mine"):
        api = await opened(
            document, server=server, server_variables={"host": host, "version": "v2"}, allow=[host]
        )
        assert (await api.call("admin")).content["raw"] == "/v2/admin"
        await api.source.aclose()
    wrong = await opened(document, server=1, server_variables={"version": "v3"})
    assert "must be one of" in (await wrong.call("admin")).failure.message


async def test_without_a_server_the_tools_are_known_but_not_executable() -> None:
    api = await opened(DOCUMENT)
    failure = (await api.call("admin")).failure
    assert failure.kind == "not_executable"
    assert "base_url" in failure.message
    assert (await api.source.call(Tool("stranger"), {})).failure is not None


async def test_long_answers_are_refused(shop: Shop) -> None:
    api = await opened(DOCUMENT, base_url=shop.url, max_bytes=50)
    assert (await api.call("admin")).failure.kind == "too_large"
    await api.source.aclose()


async def test_files_are_read_as_json_or_yaml_and_name_the_source(tmp_path: Path) -> None:
    import yaml

    (tmp_path / "tiny_openapi.json").write_text(json.dumps(DOCUMENT))
    (tmp_path / "tiny.yaml").write_text(yaml.safe_dump(DOCUMENT, sort_keys=False))
    made = [OpenAPISource(tmp_path / n) for n in ("tiny_openapi.json", "tiny.yaml")]
    assert [s.name for s in made] == ["tiny", "tiny"]
    one, two = [await s.open() for s in made]
    assert one == two
    with pytest.raises(CatalogError):
        await OpenAPISource(tmp_path / "none.yaml").open()


@pytest.mark.parametrize("url", ["ftp://x", "nonsense", "http://x:99999", "http://x/?q=1"])
def test_a_base_url_that_is_none_is_refused(url: str) -> None:
    with pytest.raises(ConfigError, match="URL"):
        OpenAPISource(DOCUMENT, base_url=url)


async def test_nested_garbage_in_a_document_never_breaks_the_import() -> None:
    """Every object of the document replaced, one after the other, by something of another shape."""
    for wrong in (None, 5, [5], {"a": 5}):
        for path in _places(DOCUMENT):
            broken = json.loads(json.dumps(DOCUMENT))
            holder = broken
            for key in path[:-1]:
                holder = holder[key]
            holder[path[-1]] = wrong
            try:
                await OpenAPISource(broken, name="x").open()
            except CatalogError:
                assert path[0] in ("openapi", "paths")


def _places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    items = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    )
    return [p for key, inner in items for p in ((*path, key), *_places(inner, (*path, key)))]
