"""The clauses of a request that forbid something, in any language with an expression for it."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import NamedTuple

from callwright.language.detect import language_of
from callwright.language.pack import PACKS, Pack

_PACKS = {code: Pack(code) for code in PACKS}
_SIGNS = re.compile(r"[,;:!?،؛؟、，。；：！？\n]+|\.(?=\s|$)")
_QUOTED = re.compile(
    r"«[^»]{0,300}»|“[^”]{0,300}”|„[^“”]{0,300}[“”]|「[^」]{0,300}」|\"[^\"]{0,300}\""
    r"|(?<!\w)['‘][^'’]{0,300}['’](?!\w)"  # with a bound: an opening sign may have no end
)


class Clauses(NamedTuple):
    """The clauses of a text: those that forbid something or leave it out, and all others."""

    forbidden: tuple[str, ...]
    others: tuple[str, ...]


def split_clauses(text: str) -> Clauses:
    """The clauses of a text, without what it quotes; one of no known language is read in all of
    them.
    """
    text = _QUOTED.sub(" ", text)
    code = language_of(text)
    packs = [_PACKS[code]] if code in _PACKS else [*_PACKS.values()]
    for one in packs:
        text = one.without("requests.granting", text)
    parts = [part for part in _SIGNS.split(text) if part.strip()]
    for one in (one for one in packs if one.vocabulary.has("requests.turning")):
        turning = one.vocabulary.pattern("requests.turning")
        parts = [piece for part in parts for piece in _split_before(turning, part)]
    forbidden = [part for part in parts if any(_forbids(one, part) for one in packs)]
    return Clauses(tuple(forbidden), tuple(part for part in parts if part not in forbidden))


def remove_forbidding(text: str) -> str:
    """The text without the clauses that forbid something; as it is where it has no others."""
    clauses = split_clauses(text)
    for clause in clauses.forbidden if clauses.others else ():
        text = text.replace(clause, " ")
    return text.strip()


def _forbids(language: Pack, clause: str) -> bool:
    return language.says("requests.forbidding", clause) is True


def _split_before(turning: re.Pattern[str], text: str) -> list[str]:
    starts = [0, *(m.start() for m in turning.finditer(text) if m.start()), len(text)]
    return [text[a:b] for a, b in pairwise(starts) if text[a:b].strip()]
