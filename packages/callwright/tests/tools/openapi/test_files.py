from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from aiohttp import web
from hypothesis import given, settings
from hypothesis import strategies as st

from callwright.nouns.errors import CatalogError
from callwright.tools.catalog import open_catalog
from callwright.tools.openapi.files import MAX_FILES, may_have_files
from callwright.tools.openapi.source import OpenAPIOptions, OpenAPISource

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


async def test_another_folder_may_be_read_where_the_user_allows_it(tmp_path: Path) -> None:
    text = "openapi: 3.0.3\npaths: {/a: {$ref: ../shared/a.yaml}}"
    path = written(tmp_path / "api", {"openapi.yaml": text})
    written(tmp_path / "shared", {"a.yaml": "get: {operationId: a, responses: {}}"})
    async with open_catalog([f"{path}?files={tmp_path / 'shared'}"]) as catalog:
        assert [tool.name for tool in catalog] == ["a"]
    with pytest.raises(CatalogError, match="files= FOLDER allows another one"):
        await OpenAPISource(path).open()
    with pytest.raises(CatalogError, match="outside the document's folder"):
        await OpenAPISource(path, OpenAPIOptions(files=[str(tmp_path / "api")])).open()


async def test_what_points_at_nothing_in_another_file_names_file_and_pointer(
    tmp_path: Path,
) -> None:
    text = "openapi: 3.0.3\npaths: {/a: {get: {parameters: [{$ref: 'b c.yaml#/x~1y/z'}]}}}"
    path = written(tmp_path, {"openapi.yaml": text, "b c.yaml": "x/y: {}"})
    with pytest.raises(CatalogError, match=r"\$ref 'b c.yaml#/x~1y/z' points at nothing"):
        await OpenAPISource(path).open()


NAMES = ("Pet", "Shop", "Tag", "Order")
SCHEMAS = st.recursive(
    st.sampled_from([{"type": "string"}, {"type": "integer", "maximum": 9}])
    | st.sampled_from(NAMES).map(lambda name: {"$ref": f"#/components/schemas/{name}"}),
    lambda inner: (
        st.dictionaries(st.sampled_from(["a", "b", "c"]), inner, min_size=1, max_size=3).map(
            lambda p: {"type": "object", "properties": p}
        )
        | inner.map(lambda items: {"type": "array", "items": items})
    ),
    max_leaves=6,
)


def split_schemas(root: Any, homes: dict[str, str], here: str) -> Any:
    """The part of a document that stands in the file ``here``, each reference as it is from there."""
    if isinstance(root, list):
        return [split_schemas(one, homes, here) for one in root]
    if not isinstance(root, dict):
        return root
    if isinstance(reference := root.get("$ref"), str):
        name = reference.rpartition("/")[2]
        home = homes[name]
        pointer = f"#/components/schemas/{name}" if home == "openapi.yaml" else f"#/{name}"
        up = "../" * here.count("/")
        return {"$ref": pointer if home == here else f"{up}{home}{pointer}"}
    return {key: split_schemas(value, homes, here) for key, value in root.items()}


@given(
    st.fixed_dictionaries(dict.fromkeys(NAMES, SCHEMAS)),
    st.fixed_dictionaries(
        {name: st.sampled_from(["openapi.yaml", "a.json", "below/b.json"]) for name in NAMES}
    ),
)
@settings(max_examples=60, deadline=None)
async def test_a_split_document_is_what_it_is_in_one_piece(
    schemas: dict[str, Any], homes: dict[str, str]
) -> None:
    reply = {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/Shop"}}}}
    body = {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/Pet"}}}}
    operation = {"requestBody": body, "responses": {"200": reply}}
    whole = {
        "openapi": "3.1.0",
        "paths": {"/a": {"post": operation}},
        "components": {"schemas": schemas},
    }
    files: dict[str, Any] = {}
    for name, home in homes.items():
        files.setdefault(home, {})[name] = split_schemas(schemas[name], homes, home)
    own = files.pop("openapi.yaml", {})
    root = split_schemas({"openapi": "3.1.0", "paths": whole["paths"]}, homes, "openapi.yaml")
    files["openapi.yaml"] = {**root, "components": {"schemas": own}}
    with TemporaryDirectory() as folder:
        path = written(Path(folder), {name: json.dumps(value) for name, value in files.items()})
        made = await imported(OpenAPISource(path))
    assert made == await imported(OpenAPISource(whole))


async def imported(source: OpenAPISource) -> Any:
    """The schemas of its tools, whatever its definitions are called; or why there is none."""
    try:
        tools = await source.open()
    except CatalogError as error:
        return re.sub(r"\$ref '[^']*'", "$ref", error.message.partition(": ")[2])
    finally:
        await source.aclose()
    return [[unfold(tool.input_schema), unfold(tool.output_schema)] for tool in tools]


def unfold(schema: Any, depth: int = 6) -> Any:
    """A schema with its references written out, to some depth."""
    definitions = schema.get("$defs", {}) if isinstance(schema, dict) else {}

    def walk(node: Any, left: int) -> Any:
        if isinstance(node, list):
            return [walk(one, left) for one in node]
        if not isinstance(node, dict):
            return node
        if "$ref" in node:
            name = node["$ref"].removeprefix("#/$defs/")
            return walk(definitions[name], left - 1) if left else "…"
        return {key: walk(value, left) for key, value in node.items() if key != "$defs"}

    return walk(schema, depth)
