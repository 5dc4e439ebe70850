"""ToolBench / RapidAPI tool documents: for planning and checking. Nobody here can run them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from callwright.catalog.lists import ListSource
from callwright.errors import CatalogError
from callwright.types import Tool
from callwright.wire.toolbench import tool_from_toolbench


class ToolBenchSource(ListSource):
    """One tool document: ``{"tool_name", "tool_description", "api_list": […]}`` as ToolBench publishes them."""

    def __init__(self, document: Mapping[str, Any], *, name: str = "") -> None:
        owner = str(document.get("tool_name") or document.get("title") or name)
        about = str(document.get("tool_description") or "")
        tools: list[Tool] = []
        problems: list[str] = []
        for place, api in enumerate(document.get("api_list") or []):
            try:
                tools.append(tool_from_toolbench(api, tool_name=owner, description=about))
            except CatalogError as error:
                problems.append(f"{owner}, api {place}: {error.message}")
        super().__init__(tools, name=name or owner, problems=problems)
