"""Tools whose inputs and outputs are documented as texts."""

from __future__ import annotations

from callwright.nouns.types import Tool


def tool(
    name: str, about: str = "", takes: tuple[str, ...] = (), gives: tuple[str, ...] = ()
) -> Tool:
    """It requires all that it takes."""
    text = {"type": "string"}
    return Tool(
        name,
        about,
        {"type": "object", "properties": dict.fromkeys(takes, text), "required": list(takes)},
        {"type": "object", "properties": dict.fromkeys(gives, text)} if gives else None,
    )
