"""``callwright tools SOURCE…``: what the sources offer."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from callwright.cli.opened import open_sources
from callwright.cli.terminal.console import format_count, print_table, shorten_text
from callwright.cli.terminal.jsonl import print_json
from callwright.nouns.control_characters import one_line
from callwright.nouns.errors import CatalogError
from callwright.nouns.types import Effects, Tool
from callwright.tools.catalog import Catalog
from callwright.tools.lists.tools import tool_to_openai


def list_tools(sources: Sequence[str], as_json: bool) -> None:
    """Print the tools of all sources: a table, or an OpenAI-style list."""
    asyncio.run(_print_tools(sources, as_json))


async def _print_tools(sources: Sequence[str], as_json: bool) -> None:
    async with open_sources(sources) as catalog:
        if not catalog.tools:
            said = "; ".join(one_line(problem) for problem in catalog.problems[:3])
            raise CatalogError("the sources offer no tool", hint=said or "do they hold any?")
        if as_json:
            print_json([tool_to_openai(tool) for tool in catalog.tools])
        else:
            _print_tool_table(catalog)


def _print_tool_table(catalog: Catalog) -> None:
    print_table(
        ("Tool", "Arguments", "Effects", "Source", "Description"),
        (
            (
                tool.name,
                _join_arguments(tool),
                render_effects(tool.effects),
                tool.source,
                shorten_text(tool.description),
            )
            for tool in catalog.tools
        ),
    )
    print(format_count(len(catalog.tools), "tool"))
    warned = {*catalog.unopened, *catalog.unlaid}
    for problem in (said for said in catalog.problems if said not in warned):
        print(f"not imported: {one_line(problem)}")


def _join_arguments(tool: Tool) -> str:
    return ", ".join(name if name in tool.required else f"{name}?" for name in tool.properties)


def render_effects(effects: Effects) -> str:
    """``read``, ``write`` or ``destructive``, with what softens or widens it."""
    if effects.read_only:
        kind = "read"
    elif effects.destructive:
        kind = "destructive"
    else:
        kind = "write"
    idempotent = " idempotent" if effects.idempotent and not effects.read_only else ""
    return kind + idempotent + (" open-world" if effects.open_world else "")
