"""The tools of OpenAI's Responses API, as chat completions have them: functions, one list, no
groups.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from callwright.nouns.types import Json, JsonObject
from callwright.proxy.session.custom_tools import TEXT_INPUT


@dataclass(frozen=True, slots=True)
class Names:
    """Original names of the functions of the flat list. ``free``: tools that take text as it is
    instead of JSON; ``grouped``: name in the list -> namespace and the name in it.
    """

    free: frozenset[str] = frozenset()
    grouped: Mapping[str, tuple[str, str]] = field(default_factory=dict)


def flatten_tools(tools: Json) -> list[Json]:
    """The functions that a ``tools`` list holds. Tools that a vendor's own server runs
    (``web_search``, …) are left out; a namespace (how Codex offers the tools of an MCP server) is
    taken apart into its functions.
    """
    return [
        _convert_function(join_namespace(space, str(tool.get("name"))), tool)
        for space, tool in _iter_functions(tools)
    ]


def build_names(tools: Json) -> Names:
    """Return the client's own names for the functions of :func:`flatten_tools`."""
    found = [
        (join_namespace(space, str(tool.get("name"))), space, tool)
        for space, tool in _iter_functions(tools)
    ]
    free = frozenset(name for name, _, tool in found if tool["type"] == "custom")
    return Names(
        free, {name: (space, str(tool.get("name"))) for name, space, tool in found if space}
    )


def join_namespace(space: Json, name: str) -> str:
    """The name of a function in the flat list; ``space`` is its namespace, if it is in one."""
    if not isinstance(space, str) or not space:
        return name
    return f"{space}{name}" if space.endswith("_") else f"{space}__{name}"


def _iter_functions(tools: Json, space: str = "") -> Iterator[tuple[str, Mapping[str, Any]]]:
    for tool in tools if isinstance(tools, list) else ():
        kind = tool.get("type") if isinstance(tool, Mapping) else None
        if kind in ("function", "custom"):
            yield space, tool
        elif kind == "namespace" and not space:
            yield from _iter_functions(tool.get("tools"), str(tool.get("name") or ""))


def _convert_function(name: str, tool: Mapping[str, Any]) -> JsonObject:
    about = str(tool.get("description") or "")
    if tool["type"] == "custom":
        form = tool.get("format")
        if isinstance(form, Mapping) and form.get("definition"):
            about += (
                f"\nThe input follows this {form.get('syntax', '')} grammar:\n{form['definition']}"
            )
        return {
            "type": "function",
            "function": {"name": name, "description": about, "parameters": TEXT_INPUT},
        }
    function = {"name": name, "description": about, "parameters": tool.get("parameters") or {}}
    if tool.get("strict") is not None:
        function["strict"] = tool["strict"]
    if isinstance(
        tool.get("annotations"), Mapping
    ):  # what a tool may do: MCP's hints, for clients that know them
        function["annotations"] = tool["annotations"]
    return {"type": "function", "function": function}
