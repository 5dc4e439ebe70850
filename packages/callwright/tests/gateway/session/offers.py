"""Catalogues for tests, as servers list them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from callwright.gateway.session.catalog import GatewayCatalog, build_catalog, read_listing
from callwright.gateway.session.policy import ServerPolicy
from callwright.nouns.types import Edit, ToolCall
from callwright.repair.gate import Refusal
from callwright.tools.declared_effects import DeclaredEffects

CITY: dict[str, Any] = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
    "required": ["city"],
}


def tool(name: str, schema: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    """A tool as ``tools/list`` has it."""
    return {"name": name, "inputSchema": schema or CITY, **more}


def policy(
    name: str = "weather", effects: dict[str, str] | None = None, **more: Any
) -> ServerPolicy:
    rules = [f"{pattern}={kind}" for pattern, kind in (effects or {}).items()]
    return ServerPolicy(
        name=name, prefix=more.pop("prefix", name), effects=DeclaredEffects.parse(rules), **more
    )


def catalog(*tools: dict[str, Any], **more: Any) -> GatewayCatalog:
    """The catalogue of one server, ``weather``, with these tools."""
    return build_catalog([read_listing(policy(**more), list(tools) or [tool("forecast")])])


def refuse_with(edits: Sequence[Edit]) -> Refusal:
    """The verdict on a call of which this was changed."""
    return Refusal(ToolCall("1", "weather__forecast", {}), None, {}, (), tuple(edits))
