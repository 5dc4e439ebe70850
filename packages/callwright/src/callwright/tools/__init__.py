"""Opens tool sources: Python functions, OpenAPI, MCP servers, ToolBench documents, tool lists. The
stores of what is known of tools, and of what the user trusts, are here too.

The names below are imported when they are first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from callwright.schema.untrusted import SchemaLimits
    from callwright.tools.catalog import Catalog, open_catalog
    from callwright.tools.evidence import EvidenceStore
    from callwright.tools.lists.source import ListSource
    from callwright.tools.mcp.source import MCPSource
    from callwright.tools.openapi.source import OpenAPIOptions, OpenAPISource
    from callwright.tools.python.functions import FunctionSource, tool
    from callwright.tools.sources import SourceSpec
    from callwright.tools.trust import TrustStore

__all__ = [
    "Catalog",
    "EvidenceStore",
    "FunctionSource",
    "ListSource",
    "MCPSource",
    "OpenAPIOptions",
    "OpenAPISource",
    "SchemaLimits",
    "SourceSpec",
    "TrustStore",
    "open_catalog",
    "tool",
]
_HOMES = {
    "Catalog": "callwright.tools.catalog",
    "EvidenceStore": "callwright.tools.evidence",
    "FunctionSource": "callwright.tools.python.functions",
    "ListSource": "callwright.tools.lists.source",
    "MCPSource": "callwright.tools.mcp.source",
    "OpenAPIOptions": "callwright.tools.openapi.source",
    "OpenAPISource": "callwright.tools.openapi.source",
    "SchemaLimits": "callwright.schema.untrusted",
    "SourceSpec": "callwright.tools.sources",
    "TrustStore": "callwright.tools.trust",
    "open_catalog": "callwright.tools.catalog",
    "tool": "callwright.tools.python.functions",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
