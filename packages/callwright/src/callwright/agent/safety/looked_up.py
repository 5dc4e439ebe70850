"""Finds the arguments of writes that are values of an offered read: identifiers that nobody knows
without having looked them up.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING

from callwright.language.tokens import split_identifier
from callwright.nouns.types import Tool
from callwright.repair.provenance.sources import ProvenanceIndex

if TYPE_CHECKING:
    from callwright.dataflow.lookups import Lookups

NO_LOOKUPS: Lookups = MappingProxyType({})


def find_looked_up(tools: Sequence[Tool], *, undeclared: bool = False) -> Lookups:
    """Name of a write -> its arguments that reads among ``tools`` return -> those reads, best
    first.

    Only tools whose effects are declared count, unless ``undeclared``: then every tool may write,
    and one whose name says so may read. Only what a schema, a name or a description ties together
    (:mod:`callwright.dataflow.lookups`).
    """
    counted = tuple(tool for tool in tools if undeclared or tool.effects.declared)
    writes = any(tool.effects.may_write for tool in counted)
    reads = any(tool.effects.read_only or not tool.effects.declared for tool in counted)
    if not (writes and reads):
        return NO_LOOKUPS
    from callwright.dataflow.lookups import find_lookups

    found = find_lookups(counted)
    written = {tool.name for tool in counted if tool.effects.may_write}
    return {name: givers for name, givers in found.items() if name in written}


def list_returned(tool: Tool, sources: ProvenanceIndex) -> Mapping[str, tuple[str, ...]]:
    """The identifiers and numbers among a tool's arguments that nobody knows without having looked
    them up and whose very names results have -> the tools that returned them. Not codes, which may
    be known: of a country, a currency.
    """
    from callwright.dataflow.flow import get_profile
    from callwright.dataflow.prerequisites import is_looked_up

    named: dict[tuple[str, ...], dict[str, None]] = {}
    tools = {result.id: result.tool for result in sources.results}
    for leaf in sources.leaves:
        if leaf.path and leaf.result in tools:
            name = tuple(split_identifier(leaf.path[-1]))
            named.setdefault(name, {})[tools[leaf.result]] = None
    fields = (field for field in get_profile(tool).inputs if len(field.path) == 1)
    keys = [
        field.path[0]
        for field in fields
        if is_looked_up(field) and not field.enum and field.name[-1:] in (("id",), ("number",))
    ]
    return {key: (*found,) for key in keys if (found := named.get(tuple(split_identifier(key))))}
