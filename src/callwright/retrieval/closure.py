"""Prerequisite closure: a found tool whose required input only another tool provides brings that tool along.

Only inputs that nobody can write down without having looked them up count (identifiers, codes, coordinates), and only
where the request holds no value for them. Whose output feeds them is judged by :mod:`callwright.flow`; a source's
identifiers come from the same source, only codes and coordinates mean the same everywhere.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from callwright.flow import Field, Link, links_between, profile, verb
from callwright.types import Tool

LEAST = 0.6  # of a link's score; an identifier of the thing that a search is named after has 0.63
SAME = 0.9  # score of an output of the very same name, of several words

_LOOKED_UP = re.compile(r"(?:^|_|(?<=[a-z]))(?:id|ids|uuid|code|key|token|slug|latitude|longitude)$", re.IGNORECASE)
_EVERYWHERE = frozenset({"code", "latitude", "longitude"})
_SAID_OF_ONE = frozenset({"id", "identifier"})  # "iata: identifier of an airport"
_READING = frozenset({"find", "list", "get", "check", "compute"})

_VALUE = re.compile(
    r"\b(?=[\w-]*\d)(?=[\w-]*[A-Za-z])[\w-]{4,}\b"  # letters and digits: X7Q-90, tt0137523
    r"|\b\d{4,}\b|-?\d+\.\d+|https?://\S+|\S+@\S+\.\w+"
    r"|(?<!\w)[\"“‘'`][^\"”’'`\s]{2,60}[\"”’'`](?!\w)"  # quoted, one word
)
_YEAR = re.compile(r"(?:19|20)\d\d")


@dataclass(frozen=True, slots=True)
class Need:
    """A required input of a found tool for which the request holds no value."""

    consumer: Tool
    field: Field

    @property
    def words(self) -> str:
        """What to look for a provider by: the input's name and what is said of it, and whose input it is."""
        return " ".join([self.consumer.name, *self.field.path, *sorted(self.field.about)])


def needs(tool: Tool, request: str) -> tuple[Need, ...]:
    """The inputs of a tool that have to be looked up first."""
    open_inputs = [f for f in profile(tool).inputs if f.required and _looked_up(f) and not f.enum]
    if not open_inputs or len(_values(request)) >= len(open_inputs):
        return ()
    return tuple(Need(tool, f) for f in open_inputs if not _numbered(f, request))


def producer(need: Need, pool: Iterable[Tool]) -> Link | None:
    """The link from the tool of the pool that provides an input best; None where none does.

    What is known to write is never taken, and of what nobody said so only tools whose name says that they read. What
    a name or a text provides is no identifier.
    """
    found = [
        link
        for tool in pool
        if tool.name != need.consumer.name and _may_be_brought(tool) and _shares(need, tool)
        for link in _links(tool, need)
        if link.score >= LEAST and (link.told or _looked_up(link.output))
    ]
    return max(found, key=lambda link: (link.score, link.producer), default=None)


def _links(tool: Tool, need: Need) -> Iterator[Link]:
    """How a tool may provide an input. An output of the very same name does: ``order_id`` is one, however general
    its words are."""
    given = profile(tool)
    same = next((f for f in given.outputs if f.declared and f.name == need.field.name), None)
    if same is not None and len(same.name) > 1 and same.name not in given.echoed:
        yield Link(tool.name, need.consumer.name, same, need.field, SAME)
    yield from (x for x in links_between(given, profile(need.consumer), required=True) if x.input == need.field)


def brought(
    found: Sequence[Tool], request: str, pool: Callable[[Need], Iterable[Tool]], most: int
) -> tuple[Link, ...]:
    """What the found tools bring along: at most ``most`` links, from producers that were not found themselves.

    ``pool`` gives the tools that may provide an input. The best found tools come first; a producer is brought once.
    What a producer itself needs is not brought: the request speaks too little of it.
    """
    here = {tool.name for tool in found}
    links: list[Link] = []
    for tool in found:
        for need in needs(tool, request):
            if len(links) >= most:
                return tuple(links)
            best = producer(need, pool(need))
            if best is not None and best.producer not in here:
                here.add(best.producer)
                links.append(best)
    return tuple(links)


def _looked_up(field: Field) -> bool:
    return bool(_LOOKED_UP.search(field.text) or field.about & _SAID_OF_ONE)


def _shares(need: Need, tool: Tool) -> bool:
    return tool.source == need.consumer.source or not _EVERYWHERE.isdisjoint(need.field.name)


def _values(request: str) -> list[str]:
    """What could be an identifier in a request; years and dates are none."""
    return [value for value in _VALUE.findall(request) if not _YEAR.match(value)]


def _numbered(field: Field, request: str) -> bool:
    """Whether the request says the input's last word and a value right after it: "order 42", "ID: 7"."""
    named = "|".join(re.escape(word) for word in field.name[-2:])
    said = rf"\b(?:{named})s?\b(?:\s+(?:is|of|number|no\.?))?\s*[:#=]?\s*[\"']?(?!{_YEAR.pattern}\b)\d"
    return bool(named) and bool(re.search(said, request, re.IGNORECASE))


def _may_be_brought(tool: Tool) -> bool:
    effects = tool.effects
    return effects.read_only or (not effects.declared and verb(tool.name) in _READING)
