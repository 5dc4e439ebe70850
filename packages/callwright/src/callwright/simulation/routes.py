"""Requests that a tool server answers beside its own, registered as entry points.

An entry point in the group ``callwright.simulation_routes`` holds a :class:`Route`. A virtual tool
server of others can so be replaced by ``callwright simulate`` without changing its clients.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from callwright.nouns.plugins import load_plugins
from callwright.nouns.types import Json, Tool, ToolCall, ToolOutput

GROUP = "callwright.simulation_routes"

Answer: TypeAlias = Callable[[Tool, ToolCall], Awaitable[ToolOutput]]
"""Carries a call out, or makes its reply up; does not raise for the world."""
Respond: TypeAlias = Callable[[Json, Mapping[str, Tool], Answer], Awaitable[tuple[int, Json, str]]]
"""The body of a request, the tools by name and what answers calls -> status, body, and where the
reply comes from (``ToolOutput.simulated``).
"""


@dataclass(frozen=True, slots=True)
class Route:
    """One request: ``POST path`` with a JSON body. ``title`` says whose it is, for people."""

    path: str
    title: str
    respond: Respond


def registered_routes() -> Mapping[str, Route]:
    """The routes of all installed packages, by path."""
    return {route.path: route for route in load_plugins(GROUP)}
