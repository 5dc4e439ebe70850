from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from callwright.nouns.errors import CatalogError
from callwright.tools.catalog import open_catalog
from callwright.tools.openapi.files import MAX_FILES, may_have_files
from callwright.tools.openapi.source import OpenAPISource

ROOT = """
openapi: 3.0.3
info: {title: Pets, version: '1'}
servers: [{url: 'https://example.org'}]
paths:
  /pets/{id}: {$ref: 'paths/pets item.yaml'}
  /shops:
    get:
      operationId: listShops
      responses: {'200': {description: ok, content: {application/json: {schema: {$ref: 'schemas.json#/Shops'}}}}}
components:
  parameters:
    Id: {name: id, in: path, required: true, schema: {type: string, maxLength: 9}}
"""
FILES = {
    "openapi.yaml": ROOT,
    "paths/pets item.yaml": (
        """
get:
  operationId: getPet
  parameters: [{$ref: '../openapi.yaml#/components/parameters/Id'}, {$ref: '#/own'}]
  responses: {'200': {description: ok, content: {application/json: {schema: {$ref: '../schemas.json#/Pet'}}}}}
own: {name: limit, in: query, schema: {$ref: ../schemas.json#/Limit}}
"""
    ),
    "schemas.json": json.dumps(
        {
            "Limit": {"type": "integer", "maximum": 7},
            "Pet": {
                "type": "object",
                "properties": {"name": {"type": "string"}, "child": {"$ref": "#/Pet"}},
            },
            "Shops": {"type": "array", "items": {"$ref": "schemas.json#/Pet"}},
        }
    ),
}


def written(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder / "openapi.yaml"


def is_whole(tools: Any) -> None:
    by_name = {tool.name: tool for tool in tools}
    assert set(by_name) == {"getPet", "listShops"}
    inputs = by_name["getPet"].input_schema["properties"]
    assert inputs["id"]["maxLength"] == 9
    assert inputs["limit"]["maximum"] == 7
    assert "name" in json.dumps(by_name["listShops"].output_schema)


async def test_a_document_of_several_files_is_one(tmp_path: Path) -> None:
    source = OpenAPISource(written(tmp_path / "api", FILES))
    is_whole(await source.open())
    assert source.not_imported == ()


@pytest.fixture
async def served(tmp_path: Path) -> AsyncIterator[str]:
    async def handle(request: web.Request) -> web.Response:
        if request.path == "/away/openapi.yaml":
            return web.Response(
                text=ROOT.replace("schemas.json", "http://127.0.0.1:9/schemas.json")
            )
        text = FILES.get(request.path.removeprefix("/v1/"))
        return web.Response(text=text) if text else web.Response(status=404)

    app = web.Application()
    app.router.add_route("*", "/{tail:.*}", handle)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    yield f"http://127.0.0.1:{runner.addresses[0][1]}"
    await runner.cleanup()


async def test_a_document_at_an_address_has_its_files_there(served: str) -> None:
    async with open_catalog([f"{served}/v1/openapi.yaml"]) as catalog:
        is_whole(catalog.tools)
    async with open_catalog([f"{served}/away/openapi.yaml"]) as catalog:
        assert [tool.name for tool in catalog] == ["listShops"], "its answer's schema is left out"
        assert any("/pets/{id}" in problem and "404" in problem for problem in catalog.problems)


@pytest.mark.parametrize(
    ("reference", "says"),
    [
        ("../secret.yaml", "outside the document's folder"),
        ("/etc/passwd", "outside the document's folder"),
        ("link.yaml", "outside the document's folder"),
        ("%2e%2e/secret.yaml", "outside the document's folder"),
        ("file:///etc/passwd", "refers to files only"),
        ("http://127.0.0.1:9/x.yaml", "refers to files only"),
        ("missing.yaml", "cannot be read"),
        ("broken.yaml", "not YAML"),
        ("deep.yaml", "too large"),
        ("a\\u0000b", "refers to files only"),
    ],
)
async def test_what_may_not_or_cannot_be_read_is_said_and_ends_no_other_operation(
    tmp_path: Path, reference: str, says: str
) -> None:
    (tmp_path / "secret.yaml").write_text("get: {operationId: secret, responses: {}}")
    other = "{get: {operationId: other, responses: {}}}"
    text = f'openapi: 3.0.3\npaths:\n  /a: {{$ref: "{reference}"}}\n  /b: {other}\n'
    path = written(
        tmp_path / "api", {"openapi.yaml": text, "broken.yaml": "a: b: c", "deep.yaml": "[" * 5000}
    )
    (tmp_path / "api" / "link.yaml").symlink_to(tmp_path / "secret.yaml")
    source = OpenAPISource(path)
    assert [tool.name for tool in await source.open()] == ["other"]
    (left_out,) = source.not_imported
    assert left_out.operation == "/a"
    assert says in left_out.reason


async def test_where_nothing_can_be_used_that_is_an_error(tmp_path: Path) -> None:
    path = written(tmp_path, {"openapi.yaml": "openapi: 3.0.3\npaths: {/a: {$ref: missing.yaml}}"})
    with pytest.raises(
        CatalogError, match=r"none of its operations can be used; /a: .*missing\.yaml"
    ):
        await OpenAPISource(path).open()


async def test_files_that_refer_to_each_other_end_and_very_many_are_not_read(
    tmp_path: Path,
) -> None:
    files = {
        "openapi.yaml": "openapi: 3.0.3\npaths: {/a: {$ref: f0.yaml}, /b: {get: {responses: {}}}}"
    }
    files |= {
        f"f{n}.yaml": f"next: {{$ref: f{n + 1}.yaml}}\nback: {{$ref: openapi.yaml}}"
        for n in range(300)
    }
    path = written(tmp_path, files)
    source = OpenAPISource(path)
    assert len(await source.open()) == 1
    circle = "openapi: 3.0.3\npaths: {/a: {$ref: f.yaml}, /b: {get: {responses: {}}}}"
    path = written(
        tmp_path / "c", {"openapi.yaml": circle, "f.yaml": "$ref: g.yaml", "g.yaml": "$ref: f.yaml"}
    )
    source = OpenAPISource(path)
    assert len(await source.open()) == 1
    assert "leads back" in source.not_imported[0].reason
    assert MAX_FILES < 300


class Noting:
    """Confirms nothing, and keeps what it was asked about."""

    def __init__(self) -> None:
        self.digests: list[str] = []

    def is_trusted(self, kind: str, where: str, digest: str) -> bool:
        self.digests.append(digest)
        return False


async def test_what_is_confirmed_of_a_document_covers_its_files(tmp_path: Path) -> None:
    path, noting = written(tmp_path, FILES), Noting()
    for change in ("", " "):
        path.with_name("schemas.json").write_text(FILES["schemas.json"] + change)
        async with open_catalog([path], trust=noting):
            pass
    assert len(set(noting.digests)) == 2


@pytest.mark.parametrize(
    ("text", "may"),
    [
        ('{"$ref": "#/a"}', False),
        ("$ref: '#/a'", False),
        ("$ref: other.yaml", True),
        ('{"$ref":"./x.json#/a"}', True),
        ("a: b", False),
    ],
)
def test_a_document_of_one_file_is_known_quickly(text: str, may: bool) -> None:
    assert may_have_files(text) is may
