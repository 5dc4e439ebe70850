"""Opens tool sources: Python functions, OpenAPI, MCP servers, ToolBench documents, tool lists.

The names below are imported when they are first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from callwright.schema.untrusted import SchemaLimits
    from callwright.tools.catalog import Catalog, open_catalog
    from callwright.tools.lists.source import ListSource
    from callwright.tools.python.functions import FunctionSource, tool
    from callwright.tools.sources import SourceSpec

__all__ = [
    "Catalog",
    "FunctionSource",
    "ListSource",
    "SchemaLimits",
    "SourceSpec",
    "open_catalog",
    "tool",
]
_HOMES = {
    "Catalog": "callwright.tools.catalog",
    "FunctionSource": "callwright.tools.python.functions",
    "ListSource": "callwright.tools.lists.source",
    "SchemaLimits": "callwright.schema.untrusted",
    "SourceSpec": "callwright.tools.sources",
    "open_catalog": "callwright.tools.catalog",
    "tool": "callwright.tools.python.functions",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
