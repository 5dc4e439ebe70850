"""Finds the arguments of writes that are values of an offered read: identifiers that nobody knows
without having looked them up.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from types import MappingProxyType
from typing import TYPE_CHECKING

from callwright.nouns.types import Tool

if TYPE_CHECKING:
    from callwright.dataflow.lookups import Lookups

NO_LOOKUPS: Lookups = MappingProxyType({})


def find_looked_up(tools: Sequence[Tool], *, undeclared: bool = False) -> Lookups:
    """Name of a write -> its arguments that reads among ``tools`` return -> those reads, best first.

    Only tools whose effects are declared count, unless ``undeclared``: then every tool may write,
    and one whose name says so may read. Only what a schema, a name or a description ties together
    (:mod:`callwright.dataflow.lookups`).
    """
    counted = tuple(tool for tool in tools if undeclared or tool.effects.declared)
    writes = any(tool.effects.may_write for tool in counted)
    reads = any(tool.effects.read_only or not tool.effects.declared for tool in counted)
    return _find_links(_Tools(counted)) if writes and reads else NO_LOOKUPS


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
def _find_links(counted: _Tools) -> Lookups:
    from callwright.dataflow.lookups import find_lookups

    writes = {tool.name for tool in counted.tools if tool.effects.may_write}
    found = find_lookups(counted.tools)
    return {name: givers for name, givers in found.items() if name in writes}
