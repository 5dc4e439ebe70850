from __future__ import annotations

import json
import subprocess
import sys
import types
from collections.abc import AsyncIterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from callwright.nouns.errors import CatalogError
from callwright.nouns.types import JsonObject, Tool, ToolOutput
from callwright.tools.catalog import open_catalog
from callwright.tools.lists.source import ListSource
from callwright.tools.mcp.source import MCPSource
from callwright.tools.openapi.source import OpenAPISource
from callwright.tools.python.functions import FunctionSource
from callwright.tools.sources import _OPTION_KEYS, FORMS, SourceSpec, sources_of
from tests.places import DOCS

OPENAPI = {
    "openapi": "3.0.3",
    "info": {"title": "T", "version": "1"},
    "servers": [{"url": "https://example.org"}],
    "paths": {"/a": {"get": {"operationId": "get_a", "responses": {"200": {"description": "ok"}}}}},
}
LIST = [
    {
        "type": "function",
        "function": {"name": "f", "parameters": {"type": "object", "properties": {}}},
    }
]


def written(path: Path, value: Any) -> Path:
    path.write_text(value if isinstance(value, str) else json.dumps(value))
    return path


@pytest.mark.parametrize(
    ("name", "content", "kind"),
    [
        ("a.json", OPENAPI, OpenAPISource),
        ("a.yaml", "openapi: 3.0.3\n", OpenAPISource),
        ("a.json", {"mcpServers": {"s": {"command": "x"}}}, MCPSource),
        ("a.json", {"servers": {"s": {"type": "stdio", "command": "x"}}}, MCPSource),
        ("a.json", LIST, ListSource),
        ("a.json", {"tools": LIST}, ListSource),
        ("a.jsonl", json.dumps(LIST[0]) + "\n\n", ListSource),
        ("a.py", "def f(): ...", FunctionSource),
    ],
)
@pytest.mark.parametrize("as_text", [True, False])
def test_a_file_is_known_by_what_stands_in_it(
    tmp_path: Path, name: str, content: Any, kind: type, as_text: bool
) -> None:
    path = written(tmp_path / name, content)
    (source,) = sources_of(str(path) if as_text else path)
    assert type(source) is kind


async def test_a_folder_gives_all_that_it_holds(tmp_path: Path) -> None:
    written(tmp_path / "tools.py", "def f() -> int: return 1")
    written(tmp_path / "mcp.json", {"mcpServers": {"s": {"command": "x"}}})
    functions, server = sources_of(str(tmp_path))
    assert (functions.name, server.name) == (tmp_path.name, "s")
    assert isinstance(server, MCPSource)
    assert server.server.cwd == str(tmp_path)


def test_urls_say_what_they_lead_to() -> None:
    (described,) = sources_of("https://example.org/openapi.json")
    assert isinstance(described, OpenAPISource)
    (server,) = sources_of("mcp+https://example.org/mcp")
    assert isinstance(server, MCPSource)
    assert (server.server.url, server.name, server.server.trusted) == (
        "https://example.org/mcp",
        "example.org",
        False,
    )


async def test_attributes_of_files_and_modules_are_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    code = (
        "def f() -> int:\n    return 1\ndef g() -> int:\n    return 2\nTOOLS = [f]\nBOTH = (f, g)\n"
    )
    path = written(tmp_path / "attribute_example.py", code)
    monkeypatch.chdir(tmp_path)
    for spec, names in (
        (str(path), ["f"]),
        (f"{path}:g", ["g"]),
        (f"{path}:BOTH", ["f", "g"]),
        ("attribute_example", ["f"]),
        ("attribute_example:g", ["g"]),
    ):
        async with open_catalog([spec]) as catalog:
            assert [t.name for t in catalog] == names


class OwnSource:
    """A source that is none of ours."""

    name = "own"

    async def open(self) -> Sequence[Tool]:
        return [Tool("mine")]

    async def call(self, tool: Tool, arguments: JsonObject) -> ToolOutput:
        return ToolOutput([tool.name, arguments])

    async def aclose(self) -> None:
        """Nothing is held."""


async def test_python_objects_are_sources() -> None:
    def f() -> int:
        return 1

    module = types.ModuleType("pkg.desk")
    f.__module__ = "pkg.desk"
    module.f = f  # type: ignore[attr-defined]
    specs: list[tuple[SourceSpec, str]] = [
        (f, "f"),
        (module, "f"),
        (Tool("t"), "t"),
        (OwnSource(), "mine"),
        (LIST[0], "f"),
    ]
    for spec, name in specs:
        async with open_catalog([spec]) as catalog:
            assert [t.name for t in catalog] == [name]


def test_a_partial_comes_from_the_module_of_its_function() -> None:
    bound = partial(partial(written, Path()), "y")
    for spec in (bound, [bound]):
        (source,) = sources_of(spec)
        assert source.name == "test_sources"


@pytest.mark.parametrize("spec", ["missing.json", "missing.py:f", "a/b"])
def test_a_file_that_is_not_there_is_said_with_where_it_was_looked_for(spec: str) -> None:
    with pytest.raises(CatalogError, match="there is no ") as error:
        sources_of(spec)
    assert str(Path.cwd()) in error.value.hint


@pytest.mark.parametrize("spec", ["no such thing", "nosuchmodule_", "nosuch.module:attr"])
def test_a_spec_that_matches_nothing_lists_the_forms_there_are(spec: str) -> None:
    with pytest.raises(CatalogError) as error:
        sources_of(spec)
    assert error.value.hint == FORMS


def test_what_is_wrong_with_a_file_is_said(tmp_path: Path) -> None:
    with pytest.raises(CatalogError, match="holds none of tools"):
        sources_of(tmp_path)
    with pytest.raises(CatalogError, match="is not JSON"):
        sources_of(written(tmp_path / "a.json", "{'a': 1}"))
    with pytest.raises(CatalogError, match="no list of tools"):
        sources_of(written(tmp_path / "b.json", "3"))
    for servers in ([], None):
        with pytest.raises(CatalogError, match="mcpServers must be an object of servers") as caught:
            sources_of(written(tmp_path / "mcp.json", {"mcpServers": servers}))
        assert '"command"' in caught.value.hint
    with pytest.raises(CatalogError, match="no document of tools"):
        sources_of(written(tmp_path / "c.txt", "x"))
    with pytest.raises(CatalogError, match="holds no tool"):
        sources_of(written(tmp_path / "d.py", "A = 1"))
    with pytest.raises(CatalogError, match="a int is no tool source"):
        sources_of(3)  # type: ignore[arg-type]


def test_an_error_inside_a_module_is_not_taken_for_its_absence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written(tmp_path / "broken_example.py", "import nowhere_to_be_found")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(CatalogError, match="nowhere_to_be_found"):
        sources_of("broken_example")


def test_reading_specs_loads_no_optional_library() -> None:
    code = (
        "import sys, callwright.tools; print([m for m in ('mcp', 'pydantic', 'yaml') if m in"
        " sys.modules])"
    )
    out = subprocess.run(
        [sys.executable, "-P", "-c", code], capture_output=True, text=True, check=True
    )
    assert out.stdout.strip() == "[]"


PETS: dict[str, Any] = {
    "openapi": "3.0.3",
    "info": {"title": "Pets", "version": "1"},
    "servers": [
        {"url": "https://example.org"},
        {"url": "{where}/v2", "variables": {"where": {"default": "/"}}},
    ],
    "paths": {
        "/pets/{id}": {
            "parameters": [
                {"name": "id", "in": "path", "required": True, "schema": {"type": "string"}}
            ],
            "get": {
                "operationId": "getPet",
                "tags": ["pets"],
                "responses": {},
                "security": [{"token": []}],
            },
            "delete": {"operationId": "deletePet", "tags": ["pets"], "responses": {}},
        },
        "/shops": {"get": {"operationId": "listShops", "tags": ["shops+more"], "responses": {}}},
    },
    "components": {"securitySchemes": {"token": {"type": "http", "scheme": "bearer"}}},
}


@pytest.fixture
async def pets() -> AsyncIterator[str]:
    """A server that serves its description to those who give the key, and echoes every other
    request.
    """

    async def handle(request: web.Request) -> web.Response:
        if request.path == "/openapi.json":
            return web.json_response(PETS if request.query.get("v") == "2" else {})
        return web.json_response(
            {"path": request.path, "token": request.headers.get("Authorization", "")}
        )

    app = web.Application()
    app.router.add_route("*", "/{tail:.*}", handle)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    yield f"127.0.0.1:{runner.addresses[0][1]}"
    await runner.cleanup()


async def test_options_behind_a_file_reach_the_server_they_name(
    tmp_path: Path, pets: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTHER_TOKEN", "t-value")
    spec = f"{written(tmp_path / 'pets.json', PETS)}?base_url=http%3A%2F%2F{pets}/base&include=tag:pets&exclude=DELETE"
    async with open_catalog([f"{spec}&credential=token:OTHER_TOKEN&name=zoo&timeout=5"]) as catalog:
        assert [t.name for t in catalog] == ["getPet"]
        assert catalog["getPet"].source == "openapi zoo"
        output = await catalog.call("getPet", {"id": "a b"})
        assert output.failure is None
        assert output.content == {"path": "/base/pets/a b", "token": "Bearer [secret]"}
        assert "t-value" in catalog.secrets


async def test_a_server_of_the_document_can_be_chosen_filled_in_and_allowed(
    tmp_path: Path, pets: str
) -> None:
    spec = f"{written(tmp_path / 'pets.json', PETS)}?server=1&variable=where:http://{pets}&include=listShops"
    async with open_catalog([spec]) as catalog:
        refused = (await catalog.call("listShops", {})).failure
        assert refused is not None
        assert refused.kind == "egress", "naming a server is not allowing it"
    async with open_catalog([f"{spec}&allow={pets}"]) as catalog:
        assert (await catalog.call("listShops", {})).content["path"] == "/v2/shops"


async def test_options_behind_a_url_begin_at_the_last_question_mark(pets: str) -> None:
    url = f"http://{pets}/openapi.json?v=2"
    async with open_catalog([f"{url}?include=tag:shops+more&base_url=http://{pets}"]) as catalog:
        assert [t.name for t in catalog] == ["listShops"]
        assert (await catalog.call("listShops", {})).content["path"] == "/shops"
    async with open_catalog([f"{url}?"]) as catalog:
        assert len(catalog) == 3


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ("base=http://localhost", "there is no option 'base'"),
        ("v=s3cr3t", "there is no option 'v'"),
        ("base_url", "'base_url' has no value"),
        ("name=a&name=b", "'name' stands there twice"),
        ("timeout=soon", "timeout must be a number of seconds, not 'soon'"),
        ("timeout=0", "timeout must be"),
        ("credential=s3cr3t", "credential must be name:value"),
    ],
)
@pytest.mark.parametrize("where", ["https://example.org/openapi.json", ""])
def test_an_option_that_is_none_is_an_error_that_names_those_there_are(
    tmp_path: Path, where: str, options: str, said: str
) -> None:
    document = where or str(written(tmp_path / "pets.json", PETS))
    with pytest.raises(CatalogError, match=said) as error:
        sources_of(f"{document}?{options}")
    assert "s3cr3t" not in str(error.value)
    if "no option" in said:
        assert all(
            key in error.value.hint for key in ("base_url", "allow", "include", "credential")
        )


def test_only_openapi_documents_take_options(tmp_path: Path) -> None:
    with pytest.raises(CatalogError, match="is no OpenAPI document"):
        sources_of(f"{written(tmp_path / 'list.json', LIST)}?include=f")
    with pytest.raises(CatalogError, match="there is no file"):
        sources_of("missing.json?include=f")


def test_a_file_whose_name_holds_a_question_mark_is_that_file(tmp_path: Path) -> None:
    (source,) = sources_of(str(written(tmp_path / "what?.json", LIST)))
    assert isinstance(source, ListSource)


def test_every_option_is_documented() -> None:
    text = (DOCS / "tools.md").read_text(encoding="utf-8")
    assert all(f"`{key}`" in text and key in FORMS for key in _OPTION_KEYS)
