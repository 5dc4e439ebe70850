"""Tool documents of other packages: which format reads what, and what is read without one."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import pytest

from callwright.nouns.errors import CatalogError
from callwright.nouns.types import Tool
from callwright.tools.lists.source import ListSource
from callwright.tools.lists.tool_documents import (
    GROUP,
    DocumentFormat,
    format_of_document,
    format_of_tool,
    registered_formats,
)
from callwright.tools.lists.tools import tool_from_wire


def _read(raw: Mapping[str, Any]) -> Tool:
    return Tool(raw["werkzeug"], "", {"type": "object", "properties": {}})


def _read_document(raw: Mapping[str, Any], name: str) -> ListSource:
    return ListSource([_read(raw)], name=name)


def _read_folder(folder: Path) -> ListSource:
    return ListSource([], name=folder.name)


GERMAN = DocumentFormat(
    lambda raw: "werkzeug" in raw,
    _read,
    lambda raw: isinstance(raw, Mapping) and "werkzeug" in raw,
    _read_document,
    _read_folder,
)


def test_a_registered_format_reads_what_it_recognises() -> None:
    assert format_of_tool({"werkzeug": "w"}, [GERMAN]) is GERMAN
    assert format_of_tool({"name": "w"}, [GERMAN]) is None
    assert format_of_document({"werkzeug": "w"}, [GERMAN]) is GERMAN
    assert format_of_document([], [GERMAN]) is None
    assert tool_from_wire({"werkzeug": "w"}, formats=[GERMAN]).name == "w"
    assert tool_from_wire({"name": "n", "parameters": {}}, formats=[GERMAN]).name == "n"


@pytest.mark.parametrize("key", ["required_parameters", "optional_parameters"])
def test_parameters_that_nobody_reads_are_no_tool_without_parameters(key: str) -> None:
    raw = {"name": "f", key: [{"name": "a", "type": "STRING"}]}
    with pytest.raises(CatalogError, match=f"'f': its parameters are under '{key}'") as error:
        tool_from_wire(raw, formats=())
    assert str(error.value.hint).endswith("packages/callwright-lab")
    assert tool_from_wire({"name": "f", key: []}, formats=()).properties == {}


def test_the_registered_formats_are_those_of_the_entry_points() -> None:
    assert len(registered_formats()) == len(entry_points(group=GROUP))
