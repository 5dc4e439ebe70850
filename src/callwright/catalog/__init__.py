"""Where tools come from: Python functions, OpenAPI, MCP servers, ToolBench documents, tool lists."""

from callwright.catalog.catalog import Catalog, open_catalog
from callwright.catalog.functions import FunctionSource, tool
from callwright.catalog.lists import ListSource
from callwright.catalog.schemas import SchemaLimits
from callwright.catalog.sources import SourceSpec

__all__ = ["Catalog", "FunctionSource", "ListSource", "SchemaLimits", "SourceSpec", "open_catalog", "tool"]
