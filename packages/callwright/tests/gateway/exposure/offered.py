"""Tools as the gateway offers them."""

from __future__ import annotations

from collections.abc import Iterable

from callwright.gateway.session.catalog import (
    GatewayCatalog,
    GatewayTool,
    build_catalog,
    read_listing,
)
from callwright.gateway.session.policy import ServerPolicy


def make_offer(server: str, name: str, text: str, *, pinned: bool = False) -> GatewayTool:
    """One tool of one server."""
    return next(iter(make_catalog([(server, name, text)], pinned=[name] if pinned else [])))


def make_catalog(
    tools: Iterable[tuple[str, str, str]], pinned: Iterable[str] = ()
) -> GatewayCatalog:
    """A catalogue of (server, tool, description)."""
    by_server: dict[str, list[dict[str, object]]] = {}
    for server, name, text in tools:
        definition = {"name": name, "description": text, "inputSchema": {"type": "object"}}
        by_server.setdefault(server, []).append(definition)
    return build_catalog(
        [
            read_listing(ServerPolicy(name=one, prefix=one, pinned=tuple(pinned)), definitions)
            for one, definitions in by_server.items()
        ]
    )
