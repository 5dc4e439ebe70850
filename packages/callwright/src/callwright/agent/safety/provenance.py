"""Where each value of a call comes from: the request, a whole field of a result, a piece of some
text in a result.

A value that stands in no request but in a tool's result may have been put there by somebody else
(indirect prompt injection). Who is asked for leave is shown it (:mod:`agent.safety.consent`); what
is bound late is judged by it (:mod:`agent.safety.filling`).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from callwright.language.tokens import fold, squash
from callwright.nouns.types import Json, JsonObject, canonical
from callwright.repair.provenance.sources import Leaf, ProvenanceIndex

_TELLING = 4  # letters and digits that one would hardly meet twice by chance
_WORD = re.compile(r"[^\s,;()\[\]{}<>\"']+")
_NAMES = re.compile(r"[\d@/_]")  # in words that name: ids, addresses, sums
_ADDRESS = re.compile(
    r"[\w.+\-]+@[\w\-]+(?:\.[\w\-]+)+"  # mail
    r"|(?:\w+://|www\.)[^\s,;()\[\]{}<>\"']+"
    r"|(?<![\w.])(?:[\w\-]+\.)+[A-Za-z]{2,}(?:/[^\s,;()\[\]{}<>\"']*)?(?![\w.]*\w)"  # host names
    r"|(?<!\w)(?=\w*\d\w*\d\w*\d)(?=\w*[A-Za-z])\w{10,}(?!\w)"  # account numbers, tokens
)
_FILE = re.compile(
    r"\.(?:docx?|xlsx?|pptx?|pdf|txt|md|csv|tsv|json|xml|ya?ml|html?|png|jpe?g|gif|svg|zip|gz|py|js|log|eml|ics)\Z",
    re.I,
)  # what looks like a host name and is the name of a file


@dataclass(frozen=True, slots=True)
class Origin:
    """The result that gave a value. ``field``: it is all that stands in a place of the result, not
    a piece of a text; ``part``: only something in the value is from there.
    """

    result: str
    tool: str
    part: bool = False
    field: bool = False

    def __str__(self) -> str:
        return f"{self.result} of {self.tool}{', in part' if self.part else ''}"


class Provenance:
    """What results said and the request did not, as far as it has come. For the values of one
    call.
    """

    def __init__(self, sources: ProvenanceIndex) -> None:
        self._sources = sources
        self._said = ProvenanceIndex(sources.query)
        self._tools = {result.id: result.tool for result in sources.results}

    def said(self, value: Json) -> bool:
        """Whether the request holds a value."""
        return self._said.holds(value)

    def of(self, value: Json) -> Origin | None:
        """The first result that gave a value, or something that stands in it; None for what the
        request says, and for what nothing says.
        """
        if self.said(value):
            return None
        leaf = self._whole(value)
        if leaf is not None:
            return self._origin(leaf)
        part = self._part(value) if isinstance(value, str) else None
        return None if part is None else self._origin(part, part=True)

    def all_of(self, value: Json) -> list[Origin]:
        """Every result that holds the value in one piece, each once, as a field of it where it is
        one.
        """
        found: dict[str, Origin] = {}
        for leaf, seen, squashed in self._leaves:
            if self._equal(value, leaf, squashed):
                found[leaf.result] = self._origin(leaf, field=True)
            elif (
                leaf.result not in found
                and isinstance(value, str)
                and _within(value, seen, squashed)
            ):
                found[leaf.result] = self._origin(leaf)
        return [*found.values()]

    def _origin(self, leaf: Leaf, part: bool = False, field: bool = False) -> Origin:
        return Origin(leaf.result, self._tools.get(leaf.result, "a tool"), part, field)

    @cached_property
    def _leaves(self) -> list[tuple[Leaf, str, str]]:
        return [(leaf, fold(_text(leaf)), squash(_text(leaf))) for leaf in self._sources.leaves]

    @cached_property
    def _words(self) -> dict[str, Leaf]:
        """Words that name something -> who said them first."""
        found: dict[str, Leaf] = {}
        for leaf, text, _ in self._leaves:
            for word in _naming(text):
                found.setdefault(word, leaf)
        return found

    @staticmethod
    def _equal(value: Json, leaf: Leaf, squashed: str) -> bool:
        if not isinstance(value, str):
            return leaf.value in (value, canonical(value))
        wanted = squash(value)
        return wanted == squashed != "" or (not wanted and leaf.value == value)

    def _whole(self, value: Json) -> Leaf | None:
        """Who said a value, or more in which it stands: case, accents and punctuation aside."""
        for leaf, seen, squashed in self._leaves:
            if self._equal(value, leaf, squashed) or (
                isinstance(value, str) and _within(value, seen, squashed)
            ):
                return leaf
        return None

    def _part(self, value: str) -> Leaf | None:
        for word in _naming(fold(value)):
            if word in self._words and not self._said.holds(word):
                return self._words[word]
        text = fold(value)
        for leaf, seen, squashed in self._leaves:
            telling = len(squashed) >= _TELLING and not (
                seen.isalpha() and _text(leaf).islower()
            )  # "open", "yes"
            if (
                telling
                and seen in text
                and _stands(seen, text)
                and not self._said.holds(_text(leaf))
            ):
                return leaf
        return None


def leaves(value: Json, path: str = "") -> Iterator[tuple[str, Json]]:
    """Every number and text in a JSON value with its JSON Pointer (RFC 6901)."""
    if isinstance(value, dict | list):
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield from leaves(inner, f"{path}/{str(key).replace('~', '~0').replace('/', '~1')}")
    elif value is not None and not isinstance(value, bool):
        yield path, value


def addresses(text: str) -> list[str]:
    """What in a text says where something can be sent or fetched: mail, links and hosts, account
    numbers.
    """
    found = (one.rstrip(".:!?") for one in _ADDRESS.findall(text))
    return [one for one in found if not _FILE.search(one) or "@" in one or "/" in one]


def same(value: Json, other: Json) -> bool:
    """Whether two values say the same, in whatever spelling and type."""
    return squash(canonical(value)) == squash(canonical(other))


def unsaid(arguments: JsonObject, said: Mapping[str, Json]) -> Collection[str]:
    """The arguments that nobody said so before."""
    return [
        key for key, value in arguments.items() if key not in said or not same(value, said[key])
    ]


def _within(value: str, seen: str, squashed: str) -> bool:
    wanted = squash(value)
    if len(wanted) >= _TELLING and wanted in squashed:
        return True
    text = fold(value)
    return len(value) > 1 and text in seen and _stands(text, seen)


def _naming(text: str) -> list[str]:
    """The words that name something: they hold a digit or the marks of an address."""
    words = (word.strip(".:!?") for word in _WORD.findall(text) if _NAMES.search(word))
    return [word for word in words if len(squash(word)) >= _TELLING]


def _stands(text: str, whole: str) -> bool:
    return re.search(rf"(?<![^\W_]){re.escape(text)}(?![^\W_])", whole) is not None


def _text(leaf: Leaf) -> str:
    return leaf.value if isinstance(leaf.value, str) else canonical(leaf.value)
