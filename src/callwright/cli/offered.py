"""``callwright tools SOURCE…``: what the sources offer."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from rich.console import Console
from rich.table import Table

from callwright.catalog import Catalog
from callwright.cli.opened import opened
from callwright.types import Effects, Tool
from callwright.wire.tools import tool_to_openai


def list_tools(sources: Sequence[str], as_json: bool) -> None:
    """Print the tools of all sources: a table, or an OpenAI-style list."""
    asyncio.run(_list(sources, as_json))


async def _list(sources: Sequence[str], as_json: bool) -> None:
    async with opened(sources) as catalog:
        if as_json:
            import orjson

            print(orjson.dumps([tool_to_openai(t) for t in catalog.tools], option=orjson.OPT_INDENT_2).decode())
        else:
            _table(catalog)


def _table(catalog: Catalog) -> None:
    console = Console()
    table = Table("Tool", "Arguments", "Effects", "Source", "Description", show_edge=False)
    for tool in catalog.tools:
        description = " ".join(tool.description.split())
        table.add_row(tool.name, _arguments(tool), effects_text(tool.effects), tool.source, description[:90])
    console.print(table)
    console.print(f"{len(catalog.tools)} tools")
    for problem in catalog.problems[: len(catalog.problems) - len(catalog.unlaid)]:
        console.print(f"not imported: {problem}", style="yellow", markup=False)


def _arguments(tool: Tool) -> str:
    return ", ".join(name if name in tool.required else f"{name}?" for name in tool.properties)


def effects_text(effects: Effects) -> str:
    """``read``, ``write`` or ``destructive``, with what softens or widens it."""
    kind = "read" if effects.read_only else "destructive" if effects.destructive else "write"
    idempotent = " idempotent" if effects.idempotent and not effects.read_only else ""
    return kind + idempotent + (" open-world" if effects.open_world else "")
