"""Finds the origin of each value of a call: the request, a whole field of a result, a piece of text
in a result.

A value that stands in no request but in a tool's result may have been put there by somebody else
(indirect prompt injection). An approval request shows it (:mod:`agent.safety.consent`); late-bound
values are judged by it (:mod:`agent.safety.filling`).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from callwright.language.tokens import fold_text, squash_text
from callwright.nouns.types import Json, JsonObject, to_canonical_json
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
    """Index of the values that results hold and the request does not, so far. For the values of one
    call.
    """

    def __init__(self, sources: ProvenanceIndex) -> None:
        self._sources = sources
        self._said = ProvenanceIndex(sources.query)
        self._tools = {result.id: result.tool for result in sources.results}

    def is_in_request(self, value: Json) -> bool:
        """Return True if the request holds a value."""
        return self._said.holds(value)

    def of(self, value: Json) -> Origin | None:
        """The first result that gave a value, or something that stands in it; None for what the
        request says, and for what nothing says.
        """
        if self.is_in_request(value):
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
                and _is_within(value, seen, squashed)
            ):
                found[leaf.result] = self._origin(leaf)
        return [*found.values()]

    def _origin(self, leaf: Leaf, part: bool = False, field: bool = False) -> Origin:
        return Origin(leaf.result, self._tools.get(leaf.result, "a tool"), part, field)

    @cached_property
    def _leaves(self) -> list[tuple[Leaf, str, str]]:
        return [
            (leaf, fold_text(_get_text(leaf)), squash_text(_get_text(leaf)))
            for leaf in self._sources.leaves
        ]

    @cached_property
    def _words(self) -> dict[str, Leaf]:
        """Words that name something -> who said them first."""
        found: dict[str, Leaf] = {}
        for leaf, text, _ in self._leaves:
            for word in _list_naming_words(text):
                found.setdefault(word, leaf)
        return found

    @staticmethod
    def _equal(value: Json, leaf: Leaf, squashed: str) -> bool:
        if not isinstance(value, str):
            return leaf.value in (value, to_canonical_json(value))
        wanted = squash_text(value)
        return wanted == squashed != "" or (not wanted and leaf.value == value)

    def _whole(self, value: Json) -> Leaf | None:
        """Return the leaf that holds a value, alone or within a text, ignoring case, accents and
        punctuation.
        """
        for leaf, seen, squashed in self._leaves:
            if self._equal(value, leaf, squashed) or (
                isinstance(value, str) and _is_within(value, seen, squashed)
            ):
                return leaf
        return None

    def _part(self, value: str) -> Leaf | None:
        for word in _list_naming_words(fold_text(value)):
            if word in self._words and not self._said.holds(word):
                return self._words[word]
        text = fold_text(value)
        for leaf, seen, squashed in self._leaves:
            telling = len(squashed) >= _TELLING and not (
                seen.isalpha() and _get_text(leaf).islower()
            )  # "open", "yes"
            if (
                telling
                and seen in text
                and _has_whole_word(seen, text)
                and not self._said.holds(_get_text(leaf))
            ):
                return leaf
        return None


def iter_leaves(value: Json, path: str = "") -> Iterator[tuple[str, Json]]:
    """Every number and text in a JSON value with its JSON Pointer (RFC 6901)."""
    if isinstance(value, dict | list):
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield from iter_leaves(
                inner, f"{path}/{str(key).replace('~', '~0').replace('/', '~1')}"
            )
    elif value is not None and not isinstance(value, bool):
        yield path, value


def find_addresses(text: str) -> list[str]:
    """Return the addresses in a text to which something can be sent or from which it can be
    fetched: mail, links and hosts, account numbers.
    """
    found = (one.rstrip(".:!?") for one in _ADDRESS.findall(text))
    return [one for one in found if not _FILE.search(one) or "@" in one or "/" in one]


def is_same_value(value: Json, other: Json) -> bool:
    """Return True if two values say the same, in any spelling and type."""
    return squash_text(to_canonical_json(value)) == squash_text(to_canonical_json(other))


def list_unstated(arguments: JsonObject, said: Mapping[str, Json]) -> Collection[str]:
    """The arguments that nobody said so before."""
    return [
        key
        for key, value in arguments.items()
        if key not in said or not is_same_value(value, said[key])
    ]


def _is_within(value: str, seen: str, squashed: str) -> bool:
    wanted = squash_text(value)
    if len(wanted) >= _TELLING and wanted in squashed:
        return True
    text = fold_text(value)
    return len(value) > 1 and text in seen and _has_whole_word(text, seen)


def _list_naming_words(text: str) -> list[str]:
    """The words that name something: they hold a digit or the marks of an address."""
    words = (word.strip(".:!?") for word in _WORD.findall(text) if _NAMES.search(word))
    return [word for word in words if len(squash_text(word)) >= _TELLING]


def _has_whole_word(text: str, whole: str) -> bool:
    return re.search(rf"(?<![^\W_]){re.escape(text)}(?![^\W_])", whole) is not None


def _get_text(leaf: Leaf) -> str:
    return leaf.value if isinstance(leaf.value, str) else to_canonical_json(leaf.value)
