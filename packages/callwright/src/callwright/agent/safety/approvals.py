"""Matches tools against approvals given beforehand: ``send_mail``, ``send_*``, ``mail:send_mail``,
``mail:send_mail#1a2b3c4d``.

A name alone does not identify a tool: any server may offer a tool of that name. So a name that two
sources offer needs its source. If two sources share a name too, it needs the digest of the
definition.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

from callwright.nouns.control_characters import one_line
from callwright.nouns.errors import ConfigError
from callwright.nouns.types import Tool

if TYPE_CHECKING:
    from callwright.tools.catalog import Catalog

_LEAST_DIGITS = 8  # of a digest that is given
_SHOWN = 10  # candidates in a message


@dataclass(frozen=True, slots=True)
class OfferedTool:
    """A tool as its source offers it: the source's and the tool's own name, the digest of its
    definition. ``place`` differs where two sources have one name.
    """

    source: str
    name: str
    digest: str
    place: int = 0

    @property
    def reference(self) -> str:
        return one_line(f"{self.source}:{self.name}#{self.digest[:_LEAST_DIGITS]}")


def build_offered_tool(tool: Tool) -> OfferedTool:
    """A tool of which nothing is known but itself."""
    return OfferedTool(source_label(tool.source), tool.name, tool.digest)


class OfferedTools(Mapping[str, OfferedTool]):
    """Mapping of the tools that a catalogue's sources offer, by the tools' names in the catalogue.
    Entries are computed on access, since there may be thousands.
    """

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog

    def __getitem__(self, name: str) -> OfferedTool:
        if name not in self._catalog:
            raise KeyError(name)
        source, original, place = self._catalog.offered_by(name)
        return OfferedTool(source_label(source), original.name, original.digest, place)

    def __iter__(self) -> Iterator[str]:
        return (tool.name for tool in self._catalog)

    def __len__(self) -> int:
        return len(self._catalog)


def source_label(source: str) -> str:
    """The name of a source without its kind: ``mail`` of ``mcp mail``."""
    kind, _, name = source.partition(" ")
    return name if kind in ("mcp", "openapi") and name else source


def require_names(option: str, names: Any) -> tuple[str, ...]:
    """The names or patterns of an option. Raises ConfigError for anything but a list of texts: a
    single text would be read letter by letter.
    """
    is_list = isinstance(names, Iterable) and not isinstance(names, str)
    found: tuple[Any, ...] = tuple(names) if is_list else (None,)
    if not all(isinstance(one, str) for one in found):
        raise ConfigError(f"{option} takes a list of texts", hint=f"{option}=['…', '…']")
    return found


def find_approved(patterns: Sequence[str], offers: Mapping[str, OfferedTool]) -> frozenset[str]:
    """The names, as the run knows them, of the tools that need no further approval.

    Raises ConfigError with the candidates where a pattern names a tool that more than one source
    offers. ``*`` alone names all tools and no single one.
    """
    found: set[str] = set()
    for pattern in patterns:
        named = {name for name, offer in offers.items() if is_named(pattern, name, offer)}
        for same in _find_clashes(pattern, named, offers):
            _raise_ambiguous(pattern, same, offers)
        found |= named
    return frozenset(found)


def is_named(pattern: str, name: str, offer: OfferedTool) -> bool:
    """Return True if a pattern names a tool that the run knows by ``name``."""
    left, _, digits = pattern.partition("#")
    source, colon, wanted = left.rpartition(":")
    if digits and (len(digits) < _LEAST_DIGITS or not offer.digest.startswith(digits.lower())):
        return False
    if colon:
        return fnmatchcase(offer.source, source) and fnmatchcase(offer.name, wanted)
    prefixed = f"{re.sub(r'[^0-9A-Za-z_]+', '_', offer.source).strip('_').lower()}_{offer.name}"
    return any(fnmatchcase(said, wanted) for said in (name, offer.name, prefixed))


def _find_clashes(
    pattern: str, named: Collection[str], offers: Mapping[str, OfferedTool]
) -> list[list[str]]:
    """The tools of different sources that a pattern does not tell apart."""
    wanted = pattern.partition("#")[0].rpartition(":")[2]
    if not wanted.strip("*"):
        return []
    groups: dict[str, list[str]] = {}
    for name in sorted(named):  # a plain name means one tool; a pattern means one of each name
        groups.setdefault(offers[name].name if re.search(r"[*?\[]", wanted) else "", []).append(
            name
        )
    return [g for g in groups.values() if len({(offers[n].source, offers[n].place) for n in g}) > 1]


def _raise_ambiguous(pattern: str, names: Sequence[str], offers: Mapping[str, OfferedTool]) -> None:
    listed = [offers[name].reference for name in names][:_SHOWN]
    more = f"\n  … {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    raise ConfigError(
        f"--allow {one_line(pattern)} names tools of more than one source:\n  "
        + "\n  ".join(listed)
        + more,
        hint="say which: --allow SOURCE:TOOL, or SOURCE:TOOL#DIGEST as listed here",
    )
