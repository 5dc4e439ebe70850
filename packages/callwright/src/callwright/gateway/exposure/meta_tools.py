"""``search_tools`` and ``call_tool``: how they are described, and how their calls are read. Pure.

Both are described in fixed words; only the sentence that names the servers follows the catalogue.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from callwright.gateway.session.names import CALL_TOOL, SEARCH_TOOLS
from callwright.jsontext import write
from callwright.nouns.types import JsonObject

MOST = 20
"""Tools that one search returns at most."""
_USUAL = 8
_LONGEST_DESCRIPTION = 600
_LONGEST_RESULT = 40_000  # characters: about 10,000 tokens

_SEARCH_TEXT = (
    "Find tools of the connected servers that are not listed here. Describe in plain words what you"
    " want to do; the result holds the best tools with name, description and inputSchema. Then call"
    " one of them with call_tool. Search again with other words before you conclude that no tool"
    " fits."
)
_CALL_TEXT = (
    "Call a tool that search_tools found. Give its exact name and, as arguments, an object that"
    " follows its inputSchema."
)


@dataclass(frozen=True, slots=True)
class Search:
    """A call of ``search_tools``: the words, how many tools, and of which server ("": of all)."""

    query: str
    count: int = _USUAL
    server: str = ""


@dataclass(frozen=True, slots=True)
class Found:
    """A tool that a search found, for :func:`render_found`. ``note`` says what is known against
    it.
    """

    name: str
    definition: JsonObject
    note: str = ""


def describe_meta_tools(announcement: str) -> tuple[JsonObject, JsonObject]:
    """The definitions of both, as ``tools/list`` sends them."""
    search: JsonObject = {
        "name": SEARCH_TOOLS,
        "title": "Search tools",
        "description": f"{_SEARCH_TEXT} {announcement}".strip(),
        "inputSchema": {
            "type": "object",
            "properties": {
                "query": {"type": "string", "description": "what you want to do, in plain words"},
                "count": {
                    "type": "integer",
                    "minimum": 1,
                    "maximum": MOST,
                    "default": _USUAL,
                    "description": "how many tools to return",
                },
                "server": {"type": "string", "description": "only tools of this server"},
            },
            "required": ["query"],
            "additionalProperties": False,
        },
        "annotations": {"readOnlyHint": True, "openWorldHint": False},
    }
    call: JsonObject = {
        "name": CALL_TOOL,
        "title": "Call a tool",
        "description": _CALL_TEXT,
        "inputSchema": {
            "type": "object",
            "properties": {
                "name": {"type": "string", "description": "the tool's exact name"},
                "arguments": {"type": "object", "description": "as its inputSchema says"},
            },
            "required": ["name"],
        },
    }
    return search, call


def read_search(arguments: Mapping[str, Any]) -> Search | str:
    """The search that checked arguments ask for, or a sentence that says what to change."""
    query = arguments.get("query")
    if not isinstance(query, str) or not query.strip():
        return "search_tools needs a query: describe in plain words what you want to do."
    count, server = arguments.get("count"), arguments.get("server")
    is_count = isinstance(count, int) and not isinstance(count, bool)
    return Search(
        query.strip(),
        max(1, min(MOST, int(count))) if is_count and count is not None else _USUAL,
        server.strip() if isinstance(server, str) else "",
    )


def read_call(
    arguments: Mapping[str, Any], get_keys: Callable[[str], Container[str]] = lambda _: ()
) -> tuple[str, Any] | str:
    """The tool and the arguments that ``call_tool`` hands on, or a sentence that says what to
    change. ``get_keys``: the keys that a tool's schema knows.

    Models also write a tool's arguments beside its name, or under another key: they are taken where
    ``arguments`` is absent. The tool's own schema is not checked here.
    """
    name = arguments.get("name")
    if not isinstance(name, str) or not name.strip():
        return "call_tool needs the exact name of a tool; search_tools finds it."
    if name.strip() in (CALL_TOOL, SEARCH_TOOLS):
        return f"{name.strip()} is called by itself, not through call_tool."
    if "arguments" in arguments:
        return name.strip(), arguments["arguments"]
    beside = {key: value for key, value in arguments.items() if key != "name"}
    key, value = next(iter(beside.items()), ("", None))
    is_wrapped = len(beside) == 1 and isinstance(value, dict) and key not in get_keys(name.strip())
    return name.strip(), value if is_wrapped else beside


def render_found(search: Search, found: Sequence[Found], searched: int, hidden: str = "") -> str:
    """The text of a search's result: one JSON object with the tools, best first.

    ``searched``: tools that were looked at. Tools for which there is no room are counted. ``hidden``
    is said where nothing was found.
    """
    if not found:
        where = f" of the server {search.server}" if search.server else ""
        said = f"Nothing{where} fits {search.query!r} among {searched} tools. Use other words."
        return f"{said} {hidden}".strip()
    rows: list[JsonObject] = []
    size = 0
    for one in found:
        row = _render_row(one)
        size += len(write(row))
        if rows and size > _LONGEST_RESULT:
            break
        rows.append(row)
    told: JsonObject = {"tools": rows, "searched": searched}
    if len(rows) < len(found):
        told["left_out"] = len(found) - len(rows)
    return write(told).decode()


def _render_row(one: Found) -> JsonObject:
    said = str(one.definition.get("description") or "")
    if len(said) > _LONGEST_DESCRIPTION:
        said = said[: _LONGEST_DESCRIPTION - 1] + "…"
    row: JsonObject = {"name": one.name, "description": said}
    row["inputSchema"] = one.definition.get("inputSchema", {"type": "object"})
    return {**row, "note": one.note} if one.note else row
