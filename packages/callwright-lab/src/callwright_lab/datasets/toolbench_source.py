"""ToolBench / RapidAPI tool documents: for planning and checking. Nobody here can run them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from callwright.jsontext import JsonError, parse
from callwright.nouns.errors import CatalogError
from callwright.nouns.types import Tool
from callwright.tools.lists.source import ListSource
from callwright.tools.lists.tool_documents import DocumentFormat
from callwright_lab.datasets.toolbench_tools import is_toolbench, tool_from_toolbench


class ToolBenchSource(ListSource):
    """Tool documents, ``{"tool_name", "tool_description", "api_list": […]}``, as ToolBench
    publishes them.
    """

    def __init__(
        self, *documents: Mapping[str, Any], name: str = "toolbench", problems: tuple[str, ...] = ()
    ) -> None:
        tools: list[Tool] = []
        left_out = list(problems)
        for document in documents:
            _read(document, tools, left_out)
        super().__init__(tools, name=name, problems=left_out)

    @classmethod
    def folder(cls, path: Path) -> ToolBenchSource:
        """Every document in a folder and below it (ToolBench keeps one folder a category)."""
        documents: list[Mapping[str, Any]] = []
        problems: list[str] = []
        for file in sorted(path.rglob("*.json")):
            try:
                document = parse(file.read_bytes())
            except (JsonError, OSError) as error:
                problems.append(f"{file.name}: {error}")
                continue
            if is_document(document):
                documents.append(document)
            else:
                problems.append(f"{file.name} is no ToolBench document")
        return cls(*documents, name=path.name, problems=tuple(problems))


def is_document(raw: Any) -> bool:
    """Return True if this is a ToolBench tool document."""
    return isinstance(raw, Mapping) and isinstance(raw.get("api_list"), list) and "tool_name" in raw


def _read(document: Mapping[str, Any], tools: list[Tool], problems: list[str]) -> None:
    owner = str(document.get("tool_name") or document.get("title") or "")
    about = str(document.get("tool_description") or "")
    for place, api in enumerate(document.get("api_list") or []):
        try:
            if not isinstance(api, Mapping):
                raise CatalogError(f"an API is an object, not {api!r}"[:100])
            tools.append(tool_from_toolbench(api, tool_name=owner, description=about))
        except CatalogError as error:
            problems.append(f"{owner}, api {place}: {error.message}")


def _read_document(document: Mapping[str, Any], name: str) -> ToolBenchSource:
    return ToolBenchSource(document, name=name)


FORMAT = DocumentFormat(
    is_toolbench, tool_from_toolbench, is_document, _read_document, ToolBenchSource.folder
)
"""What ``callwright.tool_documents`` registers."""
