"""Sets of literal markers, found whole, or in part where the text that has arrived ends."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from itertools import pairwise
from typing import Any

_MANY, _LONG = (
    400,
    64,
)  # more words than this, or longer ones, are compared one by one: no pattern grows with tools
_WORD = ""  # the key under which a node of the trie says that a marker ends here


@lru_cache(256)
def get_marker_set(words: frozenset[str]) -> MarkerSet:
    """The same, made once for each set of words."""
    return MarkerSet(words)


class MarkerSet:
    """Set of literal markers that are matched in a text that is still arriving; the longest match
    wins.

    ``listed``: the markers are compared one by one instead of by a pattern, which costs
    milliseconds to make.
    """

    def __init__(self, words: Iterable[str], *, listed: bool = False) -> None:
        self.words = frozenset(words)
        ordered = sorted(self.words)
        self._longest = max(map(len, ordered))
        self._listed: dict[str, list[str]] = {}
        if listed or len(ordered) > _MANY or self._longest > _LONG:
            for word in sorted(ordered, key=len, reverse=True):
                self._listed.setdefault(word[0], []).append(word)
            return
        self._longer = frozenset(w for w, after in pairwise(ordered) if after.startswith(w))
        trie: dict[str, Any] = {}
        for word in ordered:
            node = trie
            for char in word:
                node = node.setdefault(char, {})
            node[_WORD] = True
        self._growing = re.compile(_compile_branches(trie, partial=True))
        self._whole = re.compile(_compile_branches(trie, partial=False))

    def begins(self, char: str) -> bool:
        """Return True if one of the markers begins with this character."""
        return char in self._listed if self._listed else any(word[0] == char for word in self.words)

    def match(self, text: str, at: int, ended: bool) -> str | None:
        """The marker at ``text[at:]``; "" where one may still begin there once more has arrived;
        None where none.
        """
        if self._listed:
            return self._match_listed(text, at, ended)
        found = (self._whole if ended else self._growing).match(text, at)
        return None if found is None else self._said(text, found, ended)

    def _said(self, text: str, found: re.Match[str], ended: bool) -> str:
        word = found[0]
        if (
            not ended
            and found.end() == len(text)
            and (word not in self.words or word in self._longer)
        ):
            return ""
        return word

    def _match_listed(self, text: str, at: int, ended: bool) -> str | None:
        here = self._listed.get(text[at : at + 1], [])
        left = len(text) - at
        if not ended and left < self._longest:
            rest = text[at:]
            if any(len(word) > left and word.startswith(rest) for word in here):
                return ""
        return next((word for word in here if text.startswith(word, at)), None)

    def search(self, text: str, at: int, ended: bool) -> tuple[int, str]:
        """Return the position of the first marker, and the marker. If there is none, return the
        position up to which none can begin, and "".
        """
        if not self._listed:
            found = (self._whole if ended else self._growing).search(text, at)
            return (
                (len(text), "")
                if found is None
                else (found.start(), self._said(text, found, ended))
            )
        for place in range(at, len(text)):
            word = self._match_listed(text, place, ended)
            if word is not None:
                return place, word
        return len(text), ""


def _compile_branches(node: dict[str, Any], partial: bool) -> str:
    parts = [
        re.escape(char) + _compile_tail(child, partial)
        for char, child in node.items()
        if char != _WORD
    ]
    return "(?:" + "|".join(parts) + ")" if parts else "(?!)"


def _compile_tail(node: dict[str, Any], partial: bool) -> str:
    rest = [
        re.escape(char) + _compile_tail(child, partial)
        for char, child in node.items()
        if char != _WORD
    ]
    if not rest:
        return ""
    if partial:
        rest.append(r"\Z")
    if _WORD in node:
        rest.append("")
    return rest[0] if len(rest) == 1 else "(?:" + "|".join(rest) + ")"
