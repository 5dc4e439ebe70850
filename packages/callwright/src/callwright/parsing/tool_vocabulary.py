"""The tools that a reply may call: which names count as offered, and what their parameters are."""

from __future__ import annotations

import difflib
import re
from collections.abc import Collection, Iterable
from copy import copy
from functools import cached_property

from callwright.jsontext import JsonError, LenientResult, parse, parse_lenient
from callwright.language.tokens import squash_name
from callwright.nouns.types import Json, JsonObject, Tool
from callwright.parsing.marker_set import MarkerSet

FINISH = "Finish"  # the name by which models say that they are done (RETO A.6)
MAX_NAME = 128
NAME = re.compile(r"[\w.\-:/]*")
_EVEN = re.compile(rf"[^\W\d][\w.\-:/]{{0,{MAX_NAME - 1}}}")
_MEND_CHARS = 65_536  # of one reply: repair is not linear
# likeness (difflib) from which a name is taken for a misspelt one; the refiner decides what to make of it
_CLOSE = 0.82
_BEGINNINGS = frozenset(["", "<", "[", "{", "`"])
_NULL = re.compile(r"(?<!\w)null(?!\w)")


class ToolVocabulary:
    """``unknown``: a call without tags counts although nobody offered its name (it does where no
    tools are given).
    """

    def __init__(self, tools: Iterable[Tool] = (), *, unknown: bool = False) -> None:
        self._given = tools if isinstance(tools, tuple) else tuple(tools)
        self.unknown = unknown or not self._given
        self._known: dict[str, str] = {}
        self._left = _MEND_CHARS

    def again(self) -> ToolVocabulary:
        """The same tools for another reply: what was made of their names is shared, the budget for
        repairing is new.
        """
        for made_once in ("longest", "scripts", "odd", "_plain"):
            getattr(self, made_once)
        made = copy(self)
        made._left = _MEND_CHARS
        return made

    @cached_property
    def tools(self) -> dict[str, Tool]:
        """By name. Like what follows, made when a reply first needs it: most replies need no more
        than a tag.
        """
        return {tool.name: tool for tool in self._given}

    @cached_property
    def longest(self) -> int:
        """Return the maximum number of characters in a name."""
        return max([MAX_NAME, *map(len, self.tools)])

    @cached_property
    def scripts(self) -> MarkerSet | None:
        """Each offered name and the bracket of its call, but for names that begin as another
        family's call does.
        """
        named = [f"{name}(" for name in self.tools if name[:1] not in _BEGINNINGS]
        return MarkerSet(named, listed=True) if named else None

    @cached_property
    def odd(self) -> MarkerSet | None:
        """The offered names that ``NAME`` does not take: with spaces, brackets, …"""
        named = [name for name in self.tools if name.strip() and not _EVEN.fullmatch(name)]
        return MarkerSet(named, listed=True) if named else None

    @cached_property
    def bracketed(self) -> bool:
        """Return True if an offered name may contain a marker."""
        return any("[" in tool.name or "<" in tool.name for tool in self._given)

    @cached_property
    def _plain(self) -> dict[str, str]:
        return {squash_name(name): name for name in self.tools}

    def means(self, name: str) -> str:
        """The offered name that this name is or resembles (case, separators, prefix, typo); ""
        where none.
        """
        if name in self.tools:
            return name
        if not name or len(name) > MAX_NAME:
            return ""
        if name not in self._known:
            if len(self._known) > 256:
                self._known.clear()
            self._known[name] = self._resembled(name)
        return self._known[name]

    def _resembled(self, name: str) -> str:
        plain = squash_name(name)
        if plain in self._plain:
            return self._plain[plain]
        last = squash_name(re.split(r"[./:]|__", name)[-1])
        if last in self._plain:
            return self._plain[last]
        ends = [
            full
            for p, full in self._plain.items()
            if len(plain) > 3 and (p.endswith(plain) or plain.endswith(p))
        ]
        if len(ends) == 1:
            return ends[0]
        near = difflib.get_close_matches(plain, self._plain, 1, _CLOSE) if len(plain) > 2 else []
        return self._plain[near[0]] if near else ""

    def calls(self, name: str) -> bool:
        """Return True if a call of this name counts when only its shape says that it is a call."""
        if self.unknown:
            return (0 < len(name) <= MAX_NAME and "\n" not in name) or name in self.tools
        return self.offers(name)

    def offers(self, name: str) -> bool:
        """Return True if this name is one that a reply was offered, at least nearly."""
        return name == FINISH or bool(self.means(name))

    def schema(self, name: str) -> JsonObject:
        """The declared parameters of the tool that is meant; {} where there is none."""
        meant = self.means(name)
        return self.tools[meant].properties if meant else {}

    def names_null(self, name: str, key: str) -> bool:
        """Return True if a parameter is optional and its description says what null means for it. A text
        between tags has no quotes that would tell the word from JSON's null.
        """
        tool = self.tools.get(self.means(name))
        part = tool.properties.get(key) if tool is not None else None
        if tool is None or not isinstance(part, dict) or key in tool.required:
            return False
        return _NULL.search(str(part.get("description") or "")) is not None

    def read(self, text: str) -> LenientResult:
        """A JSON value, repaired if need be and if the reply's budget for repairing allows. Raises
        JsonError.
        """
        try:
            return LenientResult(parse(text))
        except JsonError as exc:
            if len(text) > self._left:
                raise JsonError(
                    f"{exc.reason}; too much to repair in one reply", exc.position
                ) from None
        self._left -= len(text)
        return parse_lenient(text)

    def strict(self, text: str) -> Json:
        return parse(text)


def named_tool(name: str, tools: Collection[str]) -> str:
    """The name that a header or a member says: as it stands where it is offered, else without what
    models put around names, spaces and the namespace ``functions.``.
    """
    stripped = name if name in tools else name.strip()
    return stripped if stripped in tools else stripped.removeprefix("functions.").strip()
