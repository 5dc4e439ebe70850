"""Other lookups for what one lookup did not find: a small model takes a code for a name, and a
customer for a part.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from callwright.nouns.types import Json, Tool, ToolCall, ToolResult
from callwright.schema.compiled import compiled_for

_MOST = 2  # lookups of a name


def list_other_lookups(results: Iterable[ToolResult], others: Sequence[Tool]) -> list[ToolCall]:
    """Return the calls of other reads with a text for which these results found nothing.

    A read is meant by the schema of the one argument that it requires: a pattern or a format that
    takes the text and is that of no other read; else the same name as in the call that found
    nothing, of two reads at the most.
    """
    reads = [tool for tool in others if tool.effects.read_only and len(tool.required) == 1]
    made: list[ToolCall] = []
    for result in results:
        texts = [(k, v) for k, v in result.arguments.items() if isinstance(v, str) and v.strip()]
        if len(texts) != 1:
            continue
        key, text = texts[0]
        fitting = [tool for tool in reads if _has_form_of(tool, text)]
        if not fitting:
            named = [tool for tool in reads if tool.required[0] == key and _takes(tool, text)]
            fitting = named if len(named) <= _MOST else []
        elif len(fitting) > 1:
            fitting = []
        made += [ToolCall("", tool.name, {tool.required[0]: text}) for tool in fitting]
    return made


def _has_form_of(tool: Tool, text: str) -> bool:
    """Return True if a read requires a text of a form that this one has."""
    part = tool.properties.get(tool.required[0])
    has_form = isinstance(part, dict) and ("pattern" in part or "format" in part)
    return has_form and _takes(tool, text)


def _takes(tool: Tool, value: Json) -> bool:
    node = compiled_for(tool).root.property(tool.required[0])
    return node is not None and node.resolved().accepts(value)
