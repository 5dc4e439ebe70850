"""Equal calls: those of one tool whose arguments say the same, in whatever form they are."""

from __future__ import annotations

from typing import TypeAlias

from callwright.jsontext import JsonError, parse
from callwright.nouns.types import Json, ToolCall, ToolResult, to_canonical_json

CallKey: TypeAlias = tuple[str, str]


def make_call_key(call: ToolCall | ToolResult) -> CallKey:
    """A key that is the same for calls that say the same."""
    arguments: Json = call.arguments
    if isinstance(arguments, str):
        try:
            arguments = parse(arguments)
        except JsonError:
            return call.tool, arguments
    return call.tool, to_canonical_json(arguments)
