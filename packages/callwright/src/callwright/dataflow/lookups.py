"""Lookups: which tools give the values of an argument that nobody knows without having looked them
up, for all arguments of the tools of a request.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from types import MappingProxyType
from typing import TypeAlias

from callwright.dataflow.flow import Field, Link, get_profile
from callwright.dataflow.prerequisites import (
    Need,
    Prerequisites,
    is_looked_up,
    is_safe_to_add,
)
from callwright.nouns.types import Tool

Lookups: TypeAlias = Mapping[str, Mapping[str, tuple[str, ...]]]
"""Name of a tool -> its argument -> the tools that give such values, best first."""

_NONE: Mapping[str, tuple[str, ...]] = MappingProxyType({})
_GIVEN_FORMATS = {"email": "email", "idn-email": "email", "uuid": "uuid"}
"""Formats of texts that are looked up -> the word by which a tool says that it returns them."""


def find_lookups(tools: Sequence[Tool]) -> Lookups:
    """The lookups among these tools; arguments without any are left out. Required and optional
    arguments count alike. A giver is known to read, or its name says so. Remembered for the same
    tools.
    """
    return _find_lookups(tuple(tools))


@lru_cache(maxsize=256)
def _find_lookups(tools: tuple[Tool, ...]) -> Lookups:
    prerequisites = Prerequisites.among(tools, documented=True)
    found: dict[str, Mapping[str, tuple[str, ...]]] = {}
    for tool in tools:
        givers = _find_for(tool, tools, prerequisites)
        if givers:
            found[tool.name] = givers
    return found


def _find_for(
    tool: Tool, tools: Sequence[Tool], prerequisites: Prerequisites
) -> Mapping[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for field in get_profile(tool).inputs:
        if len(field.path) != 1 or field.enum:
            continue
        givers = [link.producer for link in _find_providers(tool, field, prerequisites)]
        givers += _find_format_givers(tool, field, tools)
        if givers:
            found[field.path[0]] = tuple(dict.fromkeys(givers))
    return found or _NONE


def _find_providers(tool: Tool, field: Field, prerequisites: Prerequisites) -> Sequence[Link]:
    return prerequisites.providers(Need(tool, field)) if is_looked_up(field) else ()


def _find_format_givers(tool: Tool, field: Field, tools: Sequence[Tool]) -> list[str]:
    """The tools that say, in their results' schema or their description, that they return texts of
    the format that the argument declares.
    """
    part = tool.properties.get(field.path[0])
    declared = part.get("format") if isinstance(part, dict) else None
    word = _GIVEN_FORMATS.get(declared) if isinstance(declared, str) else None
    if word is None:
        return []
    others = (other for other in tools if other.name != tool.name and is_safe_to_add(other))
    return [other.name for other in others if _gives_format(other, word)]


def _gives_format(tool: Tool, word: str) -> bool:
    given = get_profile(tool)
    if given.declares_output:
        return any(word in output.name for output in given.outputs)
    return word in given.about
