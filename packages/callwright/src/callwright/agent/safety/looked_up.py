"""Finds the arguments of writes that are values of an offered read: identifiers that nobody knows
without having looked them up.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from types import MappingProxyType

from callwright.nouns.types import Tool

_NONE: Mapping[str, Mapping[str, str]] = MappingProxyType({})


def find_looked_up(tools: Sequence[Tool]) -> Mapping[str, Mapping[str, str]]:
    """Name of a write -> its required arguments that a read among ``tools`` returns -> that read.

    Only tools whose effects are declared count, and only what a schema, a name or a description
    ties together (:class:`~callwright.dataflow.prerequisites.Prerequisites`).
    """
    declared = tuple(tool for tool in tools if tool.effects.declared)
    writes = any(tool.effects.may_write for tool in declared)
    reads = any(tool.effects.read_only for tool in declared)
    return _find_links(_Tools(declared)) if writes and reads else _NONE


class _Tools:
    """Tools as a key: equal where their definitions are."""

    def __init__(self, tools: tuple[Tool, ...]) -> None:
        self.tools = tools
        self._key = tuple((tool.name, tool.digest) for tool in tools)

    def __hash__(self) -> int:
        return hash(self._key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Tools) and other._key == self._key


@lru_cache(maxsize=256)
def _find_links(offered: _Tools) -> Mapping[str, Mapping[str, str]]:
    from callwright.dataflow.prerequisites import Prerequisites

    prerequisites = Prerequisites.among(offered.tools, documented=True)
    found: dict[str, Mapping[str, str]] = {}
    for tool in offered.tools:
        if not tool.effects.may_write:
            continue
        links = {
            need.field.path[0]: providers[0].producer
            for need in prerequisites.needs(tool)
            if (providers := prerequisites.providers(need))
        }
        if links:
            found[tool.name] = links
    return found
