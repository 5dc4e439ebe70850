from __future__ import annotations

import json
import subprocess
import sys
import types
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from callwright.catalog import open_catalog
from callwright.catalog.functions import FunctionSource
from callwright.catalog.lists import ListSource
from callwright.catalog.mcp import MCPSource
from callwright.catalog.openapi import OpenAPISource
from callwright.catalog.sources import FORMS, SourceSpec, sources_of
from callwright.catalog.toolbench import ToolBenchSource
from callwright.errors import CatalogError
from callwright.types import JsonObject, Tool, ToolOutput

OPENAPI = {
    "openapi": "3.0.3",
    "info": {"title": "T", "version": "1"},
    "servers": [{"url": "https://example.org"}],
    "paths": {"/a": {"get": {"operationId": "get_a", "responses": {"200": {"description": "ok"}}}}},
}
LIST = [{"type": "function", "function": {"name": "f", "parameters": {"type": "object", "properties": {}}}}]


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
        ("a.json", {"tool_name": "T", "api_list": [{"name": "A", "required_parameters": []}]}, ToolBenchSource),
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


async def test_attributes_of_files_and_modules_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    code = "def f() -> int:\n    return 1\ndef g() -> int:\n    return 2\nTOOLS = [f]\nBOTH = (f, g)\n"
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


@pytest.mark.parametrize(
    "spec", ["no such thing", "nosuchmodule_", "nosuch.module:attr", "missing.json", "missing.py:f", "a/b"]
)
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
    code = "import sys, callwright.catalog; print([m for m in ('mcp', 'pydantic', 'yaml') if m in sys.modules])"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "[]"
