"""Swagger 2.0: what is converted, and the requests that come of it."""

from __future__ import annotations

import base64
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from aiohttp import web
from hypothesis import given
from hypothesis import strategies as st

from callwright.nouns.errors import CatalogError
from callwright.tools.catalog import open_catalog
from callwright.tools.openapi.source import OpenAPIOptions, OpenAPISource
from callwright.tools.openapi.swagger import convert, is_swagger

WAREHOUSE = """
swagger: '2.0'
info: {title: Warehouse, version: '1'}
host: HOST
basePath: /v2/
schemes: [http]
consumes: [application/json]
produces: [application/json]
securityDefinitions:
  door: {type: apiKey, in: header, name: X-Door}
  staff: {type: basic}
  web: {type: oauth2, flow: implicit, authorizationUrl: 'https://x', scopes: {all: everything}}
parameters:
  Limit: {name: limit, in: query, type: integer, maximum: 50, default: 10}
  Article: {name: article, in: body, required: true, schema: {$ref: '#/definitions/Article'}}
responses:
  Articles: {description: All., schema: {type: array, items: {$ref: '#/definitions/Article'}}}
definitions:
  Article:
    type: object
    required: [name]
    properties:
      id: {type: integer, readOnly: true}
      name: {type: string}
      note: {type: string, x-nullable: true}
      box: {$ref: '#/definitions/Box'}
  Box: {type: object, properties: {wide: {type: number, exclusiveMinimum: true, minimum: 0}}}
  Shelf:
    type: object
    properties:
      above: {$ref: '#/definitions/Shelf'}
      articles: {type: array, items: {$ref: '#/definitions/Article'}}
paths:
  /articles:
    parameters: [{$ref: '#/parameters/Limit'}]
    get:
      operationId: listArticles
      tags: [articles]
      parameters:
      - {name: tags, in: query, type: array, items: {type: string}}
      - {name: ids, in: query, type: array, items: {type: integer}, collectionFormat: multi}
      - {name: sizes, in: query, type: array, items: {type: string}, collectionFormat: pipes}
      - {name: X-Trace, in: header, type: array, items: {type: string}}
      responses: {'200': {$ref: '#/responses/Articles'}}
    post:
      operationId: addArticle
      security: [{door: []}]
      parameters: [{$ref: '#/parameters/Article'}]
      responses: {'201': {description: ok, schema: {$ref: '#/definitions/Shelf'}}}
  /articles/{id}:
    parameters: [{name: id, in: path, required: true, type: array, items: {type: integer}}]
    post:
      operationId: editArticle
      consumes: [application/x-www-form-urlencoded]
      security: [{staff: []}]
      parameters:
      - {name: name, in: formData, type: string, required: true, description: Its name.}
      - {name: words, in: formData, type: array, items: {type: string}, collectionFormat: ssv}
      responses: {'200': {description: ok}}
  /articles/{id}/picture:
    put:
      operationId: sendPicture
      consumes: [multipart/form-data]
      parameters:
      - {name: id, in: path, required: true, type: integer}
      - {name: picture, in: formData, type: file, required: true}
      - {name: tags, in: formData, type: array, items: {type: string}}
      - {name: more, in: formData, type: array, items: {type: string}, collectionFormat: multi}
      responses: {'200': {description: ok}}
    get:
      operationId: getPicture
      produces: [image/png]
      parameters: [{name: id, in: path, required: true, type: integer}]
      responses: {'200': {description: ok, schema: {type: file}}}
  /broken:
    get:
      operationId: broken
      parameters: [{$ref: '#/parameters/Nothing'}]
      responses: {}
  /tabs:
    get:
      operationId: tabs
      parameters: [{name: a, in: query, type: array, items: {type: string}, collectionFormat: tsv}]
      responses: {}
"""


@pytest.fixture
async def seen() -> AsyncIterator[tuple[str, list[dict[str, Any]]]]:
    asked: list[dict[str, Any]] = []

    async def handle(request: web.Request) -> web.Response:
        body = await request.read()
        told = {"method": request.method, "target": request.raw_path, "body": body}
        asked.append({**told, "headers": {k.lower(): v for k, v in request.headers.items()}})
        return web.json_response([])

    app = web.Application()
    app.router.add_route("*", "/{tail:.*}", handle)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    yield f"127.0.0.1:{runner.addresses[0][1]}", asked
    await runner.cleanup()


async def opened(folder: Path, host: str) -> tuple[OpenAPISource, dict[str, Any]]:
    path = folder / "warehouse.yaml"
    path.write_text(WAREHOUSE.replace("HOST", host))
    keys = {
        "WAREHOUSE_DOOR": "k3y",
        "WAREHOUSE_STAFF_USERNAME": "u",
        "WAREHOUSE_STAFF_PASSWORD": "p",
    }
    source = OpenAPISource(path, OpenAPIOptions(allow=[host], environment=keys))
    return source, {tool.name: tool for tool in await source.open()}


CALLS: list[tuple[str, dict[str, Any], str, str]] = [
    (
        "listArticles",
        {
            "limit": 5,
            "tags": ["a b", "c"],
            "ids": [1, 2],
            "sizes": ["s", "m"],
            "X-Trace": ["p", "q"],
        },
        "GET",
        "/v2/articles?limit=5&tags=a%20b,c&ids=1&ids=2&sizes=s%7Cm",
    ),
    ("addArticle", {"name": "nail", "note": None}, "POST", "/v2/articles"),
    ("editArticle", {"id": [4, 5], "name": "a&b", "words": ["x", "y"]}, "POST", "/v2/articles/4,5"),
    ("getPicture", {"id": 7}, "GET", "/v2/articles/7/picture"),
]


@pytest.mark.parametrize(
    ("name", "arguments", "method", "target"), CALLS, ids=[one[0] for one in CALLS]
)
async def test_each_call_is_the_request_that_the_document_means(
    seen: Any, tmp_path: Path, name: str, arguments: dict[str, Any], method: str, target: str
) -> None:
    host, asked = seen
    source, tools = await opened(tmp_path, host)
    output = await source.call(tools[name], arguments)
    await source.aclose()
    assert output.failure is None
    (request,) = asked
    assert (request["method"], request["target"]) == (method, target)


async def test_bodies_forms_and_credentials_are_sent_as_declared(seen: Any, tmp_path: Path) -> None:
    host, asked = seen
    source, tools = await opened(tmp_path, host)
    await source.call(tools["listArticles"], {"X-Trace": ["p", "q"]})
    await source.call(tools["addArticle"], {"name": "nail"})
    await source.call(tools["editArticle"], {"id": [4], "name": "a&b", "words": ["x", "y z"]})
    await source.aclose()
    listed, added, edited = asked
    assert listed["headers"]["x-trace"] == "p,q"
    assert json.loads(added["body"]) == {"name": "nail"}
    assert added["headers"]["x-door"] == "k3y"
    assert edited["body"] == b"name=a%26b&words=x%20y%20z"
    assert edited["headers"]["content-type"] == "application/x-www-form-urlencoded"
    basic = base64.b64encode(b"u:p").decode()
    assert edited["headers"]["authorization"] == f"Basic {basic}"


async def test_a_file_is_uploaded(seen: Any, tmp_path: Path) -> None:
    host, asked = seen
    source, tools = await opened(tmp_path, host)
    picture = base64.b64encode(b"\x89PNG\x00").decode()
    given = {"id": 7, "picture": picture, "tags": ["a", "b"], "more": ["c", "d"]}
    await source.call(tools["sendPicture"], given)
    await source.aclose()
    body = asked[0]["body"]
    assert asked[0]["headers"]["content-type"].startswith("multipart/form-data; boundary=")
    assert b'name="picture"; filename="picture"' in body
    assert b"\r\n\r\n\x89PNG\x00\r\n" in body
    assert body.count(b'name="tags"') == 1
    assert b"\r\n\r\na,b\r\n" in body
    assert body.count(b'name="more"') == 2


async def test_tools_have_the_schemas_of_the_document(tmp_path: Path) -> None:
    source, tools = await opened(tmp_path, "warehouse.example")
    listing = tools["listArticles"]
    assert listing.input_schema["properties"]["limit"]["maximum"] == 50
    assert listing.output_schema["type"] == "array"
    adding = tools["addArticle"].input_schema
    assert adding["required"] == ["name"]
    assert "id" not in adding["properties"], "what only the server writes is no argument"
    assert "null" in json.dumps(adding["properties"]["note"])
    assert adding["properties"]["box"]["properties"]["wide"]["exclusiveMinimum"] == 0
    assert "#/$defs/" in json.dumps(tools["addArticle"].output_schema)
    assert tools["editArticle"].input_schema["properties"]["name"]["description"] == "Its name."
    assert tools["sendPicture"].input_schema["required"] == ["id", "picture"]
    reasons = {one.name: one.reason for one in source.not_imported}
    assert reasons.keys() == {"broken", "tabs"}
    assert "#/parameters/Nothing" in reasons["broken"]
    assert "tabDelimited" in reasons["tabs"]
    await source.aclose()


async def test_a_catalogue_takes_a_document_in_json_and_one_of_several_files(
    tmp_path: Path,
) -> None:
    document = yaml.safe_load(WAREHOUSE.replace("HOST", "warehouse.example"))
    parts = {k: document.pop(k) for k in ("definitions", "parameters", "responses")}
    text = json.dumps(document)
    for key in parts:
        text = text.replace(f'"#/{key}/', f'"parts.json#/{key}/')
    (tmp_path / "parts.json").write_text(json.dumps(parts))
    (tmp_path / "warehouse.json").write_text(text)
    whole, split = await opened(tmp_path, "warehouse.example")
    await whole.aclose()
    async with open_catalog([str(tmp_path / "warehouse.json")]) as catalog:
        found = {tool.name: tool for tool in catalog.tools}
    assert found.keys() == split.keys()
    for name, tool in found.items():
        assert tool.description == split[name].description
        assert sorted(tool.input_schema["properties"]) == sorted(
            split[name].input_schema["properties"]
        )
    assert any("parts.json#/parameters/Nothing" in problem for problem in catalog.problems)


SERVERS: list[tuple[dict[str, Any], str, list[str]]] = [
    ({"host": "a.example", "schemes": ["http", "https"]}, "http", ["https://a.example", "http://a.example"]),
    ({"host": "a.example", "basePath": "/"}, "http", ["http://a.example"]),
    ({"host": "a.example:8443", "schemes": ["wss"]}, "https", ["https://a.example:8443"]),
    ({"basePath": "/v1"}, "https", ["/v1"]),
    ({"host": "a.example", "basePath": "v1"}, "https", ["https://a.example/v1"]),
    ({}, "https", ["/"]),
]  # fmt: skip


@pytest.mark.parametrize(("said", "scheme", "urls"), SERVERS)
def test_servers_come_of_host_path_and_schemes(
    said: dict[str, Any], scheme: str, urls: list[str]
) -> None:
    made = convert({"swagger": "2.0", "paths": {}, **said}, "test", scheme)
    assert [one["url"] for one in made["servers"]] == urls


@pytest.mark.parametrize(
    ("root", "said"),
    [
        ({"swagger": "1.2"}, "Swagger 1.2"),
        ({"swagger": "2.0"}, "no paths"),
        ({"swagger": "2.0", "paths": {"/a": {"get": {"parameters": 5}}}}, "its parameters are no"),
    ],
)
async def test_what_is_no_swagger_2_is_said(root: dict[str, Any], said: str) -> None:
    with pytest.raises(CatalogError, match=said):
        await OpenAPISource({"info": {"title": "x"}, **root}).open()


def test_the_version_may_be_a_number() -> None:
    assert is_swagger({"swagger": 2.0})
    assert not is_swagger({"swagger": "2.0", "openapi": "3.0.0"})


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=9),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner, max_size=3)
    ),
    max_leaves=9,
)
NAMED = st.fixed_dictionaries(
    {},
    optional={
        "name": JSON,
        "in": st.sampled_from(["body", "formData", "query", "path"]) | JSON,
        "type": st.sampled_from(["array", "file", "string"]) | JSON,
        "schema": JSON,
        "items": JSON,
        "required": JSON,
        "collectionFormat": JSON,
        "$ref": st.just("#/parameters/a"),
    },
)
ANYTHING = st.fixed_dictionaries(
    {"swagger": st.just("2.0")},
    optional={
        "paths": JSON
        | st.fixed_dictionaries(
            {
                "/a": JSON
                | st.fixed_dictionaries(
                    {"get": st.fixed_dictionaries({"parameters": st.lists(NAMED) | JSON})},
                    optional={"parameters": JSON, "post": JSON},
                )
            }
        ),
        "schemes": JSON,
        "host": JSON,
        "parameters": JSON,
        "consumes": JSON,
        "securityDefinitions": JSON | st.dictionaries(st.text(max_size=3), JSON, max_size=2),
    },
)


@given(ANYTHING)
def test_no_document_breaks_the_conversion(root: dict[str, Any]) -> None:
    before = json.dumps(root)
    made = convert(root, "test", "https")
    assert made["openapi"] == "3.0.3"
    assert json.dumps(root) == before or "x-nullable" in before
