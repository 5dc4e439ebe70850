"""Mail addresses, and whether a conversation states them.

An address counts as it was written, as it was spelled out ("ann at corp dot example"), and where a
convention gives it: "first.last@corp.example", or the mere "@corp.example", with a name that was
said. Pieces that stand apart make no address.
"""

from __future__ import annotations

import re
from functools import cache

from callwright.language.pack import PACKS
from callwright.language.tokens import fold_text, holds_unparted
from callwright.language.vocabulary import Vocabulary
from callwright.repair.provenance.sources import ProvenanceIndex

_MAIL = re.compile(r"[^\s@<>,;:]+@[^\s@<>,;:]+\.[A-Za-z]{2,}")
_NAMED = re.compile(rf"[^<>@]*<({_MAIL.pattern})>")  # "Ann <ann@mail.example>"
_SIGNS = re.compile(r"([@.])")


def list_mails(text: str) -> list[str]:
    """The addresses of a text that is nothing but mail addresses, each perhaps behind a name; none
    of any other text.
    """
    found: list[str] = []
    for part in filter(None, map(str.strip, re.split("[,;]", text))):
        named = _NAMED.fullmatch(part)
        found += [named[1]] if named else part.split()
    return found if all(map(_MAIL.fullmatch, found)) else []


def is_stated_mail(mail: str, sources: ProvenanceIndex) -> bool:
    """Return True if an address was written or spelled out, or follows from a convention."""
    return _is_written(mail, sources) or _is_usual(mail, sources)


def _is_written(mail: str, sources: ProvenanceIndex) -> bool:
    """Return True if a text holds an address, with its signs or with words for them."""
    spoken = _list_spoken()
    parts = _SIGNS.split(fold_text(mail))
    written = "".join(spoken.get(part) or re.escape(part) for part in parts)
    first, last = r"(?<![0-9a-z])(?<![0-9a-z][._+-])", r"(?![0-9a-z]|[.-][0-9a-z])"
    return sources.has_match(re.compile(first + written + last))


def _is_usual(mail: str, sources: ProvenanceIndex) -> bool:
    """Return True if a text tells how addresses at this host are made, and the name was said."""
    name, _, host = map(fold_text, mail.rpartition("@"))
    if not sources.holds_words(re.sub(r"[\W_]+", " ", name)):
        return False
    parts = "|".join(map(re.escape, sorted(_list_name_parts(), key=len, reverse=True)))
    local = rf"(?<![\w.+-])(?:(?:{parts})[._+-]?)*"
    return sources.has_match(re.compile(rf"{local}@{re.escape(host)}(?![\w-])"))


@cache
def _list_spoken() -> dict[str, str]:
    """The signs of an address, each with an expression for it and its words in every language."""
    entry, found = "addresses.spoken", {"@": "@", ".": r"\."}
    for language in (one for one in map(Vocabulary, PACKS) if one.has(entry)):
        for word, sign in language.table(entry).items():
            beside = r"\W*" if holds_unparted(word) else r"\W+"
            found[sign] += f"|{beside}{re.escape(fold_text(word))}{beside}"
    return {sign: f"(?:{written})" for sign, written in found.items()}


@cache
def _list_name_parts() -> frozenset[str]:
    entry, known = "addresses.name_parts", map(Vocabulary, PACKS)
    return frozenset(word for one in known if one.has(entry) for word in one.words(entry))
