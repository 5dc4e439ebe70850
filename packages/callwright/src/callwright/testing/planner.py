"""A planner with one answer."""

from __future__ import annotations

from collections.abc import Sequence

from callwright.nouns.plan import Plan
from callwright.nouns.types import Tool


class FixedPlan:
    """Plans the given layers of tool names, less those of tools that are not offered. A
    :class:`Planner`.
    """

    name = "fixed"

    def __init__(self, *layers: Sequence[str]) -> None:
        self._layers = layers

    def plan(self, query: str, tools: Sequence[Tool]) -> Plan:  # noqa: ARG002
        offered = {tool.name for tool in tools}
        return Plan.from_layers(
            [[name for name in layer if name in offered] for layer in self._layers]
        )
