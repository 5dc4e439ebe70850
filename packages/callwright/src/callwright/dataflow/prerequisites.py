"""Prerequisites: which tool has to be called first, so that an identifier another tool requires is
known.

Only inputs that nobody can write down without having looked them up count (identifiers, codes,
coordinates), and only where the request holds no value for them. Whose output feeds them is judged
by :mod:`callwright.dataflow.flow`; a source's identifiers come from the same source, only codes and
coordinates mean the same everywhere.

The relation is never circular, whoever asks and in whatever order. A tool has a *depth*: 0 where
the request gives all that it needs, otherwise one more than the deepest of its needs, a need being
as deep as its nearest provider. Only a tool of a smaller depth is a prerequisite: one that can be
called before, without the tool that it is to feed. So ``get_role`` and ``get_user_role``, which
each return what the other requires, are no prerequisites of each other; ``list_roles``, which
requires nothing, is one of both.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from callwright.dataflow.flow import (
    GENERIC,
    STAGES,
    Field,
    Link,
    Profile,
    find_verb_kind,
    get_profile,
    links_between,
    score_similarity,
)
from callwright.language import ENGLISH
from callwright.nouns.thresholds import threshold
from callwright.nouns.types import Tool

# of a link's score; an identifier of the thing that a search is named after has 0.63
LEAST = threshold("callwright.dataflow", "least")
# score of an output of the very same name, of several words
SAME = threshold("callwright.dataflow", "same")
DEPTH = 4  # prerequisites of prerequisites that are looked at; what is deeper cannot be had

_LOOKED_UP = ENGLISH.pattern("parameters.looked_up")
_EVERYWHERE = ENGLISH.words("parameters.everywhere")
_SAID_OF_ONE = ENGLISH.words("parameters.said_of_one")
_NAMING = frozenset(kind for kind, stage in STAGES.items() if stage <= 1)  # verbs of a read
_READING = frozenset(kind for kind, stage in STAGES.items() if stage <= 2)

_VALUE = re.compile(
    r"\b(?=[\w-]*\d)(?=[\w-]*[A-Za-z])[\w-]{4,}\b"  # letters and digits: X7Q-90, tt0137523
    r"|\b\d{4,}\b|-?\d+\.\d+|https?://\S+|\S+@\S+\.\w+"
    r"|(?<!\w)[\"“‘'`][^\"”’'`\s]{2,60}[\"”’'`](?!\w)"  # quoted, one word
)
_YEAR = re.compile(r"(?:19|20)\d\d")
_LINK = re.compile(r"https?://")
_NUMBER = re.compile(r"[\"“‘'`]?-?\d+(?:\.\d+)?[\"”’'`]?")  # also a quoted one
_MAIL = ENGLISH.words("extraction.mail")
_LINKS = ENGLISH.words("extraction.links")


@dataclass(frozen=True, slots=True)
class Need:
    """A required input of a found tool for which the request holds no value."""

    consumer: Tool
    field: Field

    @property
    def words(self) -> str:
        """Return the search text for a provider: the input's consumer, its name, and the words
        about it.
        """
        return " ".join([self.consumer.name, *self.field.path, *sorted(self.field.about)])


def find_needs(tool: Tool, request: str) -> tuple[Need, ...]:
    """The inputs of a tool that have to be looked up first."""
    open_inputs = [
        f for f in get_profile(tool).inputs if f.required and is_looked_up(f) and not f.enum
    ]
    said = [v for v in _find_identifiers(request) if any(_may_hold(f, v) for f in open_inputs)]
    if not open_inputs or len(said) >= len(open_inputs):
        return ()
    return tuple(Need(tool, f) for f in open_inputs if not _has_stated_value(f, request))


Pool: TypeAlias = Callable[[Need], Iterable[Tool]]
"""The tools that may provide an input. The same for every need of the same name and consumer."""


class Prerequisites:
    """The prerequisites of tools for one request, among the tools that ``pool`` gives for each
    need.

    Never circular: see the module. Tools are known by their names. Nothing is computed before it is
    asked for.
    """

    def __init__(self, pool: Pool, request: str = "", *, documented: bool = False) -> None:
        """``documented``: a tool also provides what its own description says that it returns."""
        self._pool, self._request, self._documented = pool, request, documented
        self._needs: dict[str, tuple[Need, ...]] = {}
        self._links: dict[tuple[str, tuple[str, ...]], list[tuple[Link, Tool]]] = {}
        self._within: dict[tuple[str, int], bool] = {}

    @classmethod
    def among(
        cls, tools: Sequence[Tool], request: str = "", *, documented: bool = False
    ) -> Prerequisites:
        """The prerequisites that hold among these tools."""
        return cls(lambda _: tools, request, documented=documented)

    def needs(self, tool: Tool) -> tuple[Need, ...]:
        """The inputs of a tool that have to be looked up first."""
        if tool.name not in self._needs:
            self._needs[tool.name] = find_needs(tool, self._request)
        return self._needs[tool.name]

    def providers(self, need: Need) -> tuple[Link, ...]:
        """The links from the tools that provide an input and can be called before its consumer;
        best first.

        What is known to write is never taken, and of what nobody said so only tools whose name says
        that they read. What a name or a text provides is no identifier.
        """
        # the depth of a consumer rests on what it requires: an optional input may be as deep as any
        most = self.depth(need.consumer) - 1 if need.field.required else DEPTH
        return tuple(link for link, tool in self._linked(need) if self._is_within(tool, most))

    def of(self, tool: Tool) -> tuple[Link, ...]:
        """A tool's prerequisites: the best provider of each of its needs that has one."""
        return tuple(found[0] for need in self.needs(tool) if (found := self.providers(need)))

    def depth(self, tool: Tool) -> int:
        """Return the minimum number of tools that must be called in sequence before this one.
        ``DEPTH + 1`` if that is impossible or takes more.
        """
        return next(
            (depth for depth in range(DEPTH + 1) if self._is_within(tool, depth)), DEPTH + 1
        )

    def _is_within(self, tool: Tool, depth: int) -> bool:
        """Return True if a tool's depth is at most this number. Each answer rests on those for
        smaller depths alone, so that it does not depend on which tool was asked for first.
        """
        key = (tool.name, depth)
        if depth >= 0 and key not in self._within:
            self._within[key] = all(
                any(self._is_within(other, depth - 1) for _, other in self._linked(need))
                for need in self.needs(tool)
            )
        return depth >= 0 and self._within[key]

    def _linked(self, need: Need) -> list[tuple[Link, Tool]]:
        """All links to an input, best first (ties by name), each with its producer."""
        key = (need.consumer.name, need.field.path)
        if key not in self._links:
            found: list[tuple[Link, Tool]] = []
            for tool in self._pool(need):
                if _may_produce(tool, need):
                    links = [*_iter_links(tool, need)]
                    if self._documented and (told := _find_documented_link(tool, need)):
                        links.append(told)
                    found += [(x, tool) for x in links if _is_usable(x)]
            self._links[key] = sorted(found, key=lambda one: (-one[0].score, one[0].producer))
        return self._links[key]


def _may_produce(tool: Tool, need: Need) -> bool:
    """Return True if a tool may be called for an input of another one."""
    return (
        tool.name != need.consumer.name and is_safe_to_add(tool) and _may_share_source(need, tool)
    )


def _is_usable(link: Link) -> bool:
    return link.score >= LEAST and (link.told or is_looked_up(link.output))


def _iter_links(tool: Tool, need: Need) -> Iterator[Link]:
    """Yield the links by which a tool may provide an input. An output of the same name is one, such
    as ``order_id``, however general its words are.
    """
    given = get_profile(tool)
    if _has_same_requirement(given, need):
        return
    same = next((f for f in given.outputs if f.declared and f.name == need.field.name), None)
    if same is not None and len(same.name) > 1:
        yield Link(tool.name, need.consumer.name, same, need.field, SAME)
    yield from (
        x
        for x in links_between(given, get_profile(need.consumer), required=True)
        if x.input == need.field
    )


def _has_same_requirement(given: Profile, need: Need) -> bool:
    """Return True if a tool requires the very identifier that it should provide: by the same name,
    or as the bare ``id`` of what it is named after. The ``id`` of a tool that lists or searches may
    be that of what holds the listed things, so it is not taken for theirs.
    """
    if len(need.field.name) > 1 and need.field.name in given.echoed:
        return True
    if STAGES.get(given.verb) == 0:
        return False
    consumer = get_profile(need.consumer)
    bare = (
        f for f in given.inputs if f.required and is_looked_up(f) and GENERIC.issuperset(f.name)
    )
    return any(
        score_similarity(replace(f, owner=f.owner | given.subject), need.field, consumer) >= LEAST
        for f in bare
    )


def _find_documented_link(tool: Tool, need: Need) -> Link | None:
    """The link from a tool that is named after the thing whose identifier is needed, and whose
    description speaks of such an identifier: ``find_part``, "returns code, name, price". A list of
    orders has their ids without saying so, as a list of invoices has theirs.
    """
    given, name = get_profile(tool), need.field.name
    if given.declares_output or len(name) < 2 or _has_same_requirement(given, need):
        return None
    entity, kind = frozenset(name[:-1]), name[-1]
    speaks_of_it = entity <= given.subject and kind in given.about
    if not speaks_of_it and not (need.field.identifies and entity == _find_listed_things(given)):
        return None
    output = Field((kind,), name, given.subject, frozenset(), declared=False)
    return Link(tool.name, need.consumer.name, output, need.field, LEAST)


def _find_listed_things(given: Profile) -> frozenset[str]:
    """The things that a tool lists or searches where every word of its name can be a verb, so that
    its subject is empty: ``list_orders``.
    """
    if given.subject or STAGES.get(given.verb) != 0:
        return frozenset()
    return frozenset(word for word in given.called if find_verb_kind(word) not in _NAMING)


def link_prerequisites(
    found: Sequence[Tool], request: str, pool: Pool, most: int
) -> tuple[Link, ...]:
    """Return the links to the tools that the found tools need: at most ``most``, from producers
    that were not found themselves.

    ``pool`` gives the tools that may provide an input. The best found tools come first; a producer
    appears once. The needs of a producer itself are not followed: the request says too little about
    it.
    """
    prerequisites = Prerequisites(pool, request)
    here = {tool.name for tool in found}
    links: list[Link] = []
    for tool in found if most > 0 else ():
        for link in prerequisites.of(tool):
            if link.producer not in here:
                here.add(link.producer)
                links.append(link)
            if len(links) >= most:
                return tuple(links)
    return tuple(links)


def add_producers(chosen: Sequence[Tool], tools: Sequence[Tool]) -> tuple[Tool, ...]:
    """``chosen`` in their order, then what it takes to feed them in the order of ``tools``.

    A required identifier or coordinate that other tools provide gets its likeliest provider, unless
    one of its providers is chosen already; so do the providers' own inputs.
    """
    by_name = {tool.name: tool for tool in (*chosen, *tools)}
    prerequisites = Prerequisites.among([*by_name.values()])
    kept = {tool.name for tool in chosen}
    open_ = [*chosen]
    while open_:
        for need in prerequisites.needs(open_.pop(0)):
            links = prerequisites.providers(need)
            if links and kept.isdisjoint(link.producer for link in links):
                kept.add(links[0].producer)
                open_.append(by_name[links[0].producer])
    given = {tool.name for tool in chosen}
    return (*chosen, *(tool for tool in tools if tool.name in kept - given))


def is_looked_up(field: Field) -> bool:
    """Return True if nobody can write a field down without having looked it up."""
    return bool(_LOOKED_UP.search(field.text) or field.about & _SAID_OF_ONE)


def _may_share_source(need: Need, tool: Tool) -> bool:
    return tool.source == need.consumer.source or not _EVERYWHERE.isdisjoint(need.field.name)


def _find_identifiers(request: str) -> list[str]:
    """Return the possible identifiers in a request; years and dates are none."""
    return [value for value in _VALUE.findall(request) if not _YEAR.match(value)]


def _may_hold(field: Field, value: str) -> bool:
    """Return False for a value that is sure to be something else than the field's: no number where
    its type is one, an address or a URL that neither its name nor its description speaks of, and a
    number with a fraction where an identifier is wanted.
    """
    if field.type in ("integer", "number") and not _NUMBER.fullmatch(value):
        return False
    words = field.about.union(field.name)
    if _LINK.match(value):
        return not words.isdisjoint(_LINKS)
    if "@" in value:
        return not words.isdisjoint(_MAIL)
    return not (field.identifies and "." in value and _NUMBER.fullmatch(value))


def _has_stated_value(field: Field, request: str) -> bool:
    """Return True if the request names the input's last word with a value right after it: "order
    42", "ID: 7".
    """
    named = "|".join(re.escape(word) for word in field.name[-2:])
    said = (
        rf"\b(?:{named})s?\b(?:\s+(?:is|of|number|no\.?))?\s*[:#=]?\s*[\"']?(?!{_YEAR.pattern}\b)\d"
    )
    return bool(named) and bool(re.search(said, request, re.IGNORECASE))


def list_reads(tools: Iterable[Tool]) -> set[str]:
    """The names of the tools that only look something up, as far as that is known."""
    return {tool.name for tool in tools if is_safe_to_add(tool)}


def is_safe_to_add(tool: Tool) -> bool:
    """Return True if a tool is known to read, or if its name says so and nothing else is known."""
    effects = tool.effects
    return effects.read_only or (not effects.declared and find_verb_kind(tool.name) in _READING)
