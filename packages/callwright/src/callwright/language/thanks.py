"""Messages that only thank: they ask for nothing, in any language with a list of such words."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from functools import cache

from callwright.language.pack import PACKS
from callwright.language.vocabulary import Vocabulary

_LONGEST = 120  # characters: what is longer says more than thanks


def is_only_thanks(text: str) -> bool:
    """Return True if a text holds a word of thanks and no word that could say something else."""
    if len(text) > _LONGEST or re.search(r"[\d?？؟]", text):
        return False
    said = re.findall(r"\w+", _fold(text))
    return any(_holds_thanks_alone(said, code) for code in PACKS)


def _holds_thanks_alone(said: Iterable[str], code: str) -> bool:
    thanks, beside = _read_words(code)
    found = [part for word in said for part in _split_word(word, thanks | beside)]
    return all(found) and any(part in thanks for part in found)


def _split_word(word: str, known: frozenset[str]) -> list[str]:
    """The known words that a word consists of, the longest first; "" for what is not known. A script
    without spaces writes several as one.
    """
    if word in known or word.isascii():
        return [word if word in known else ""]
    parts, at = [], 0
    while at < len(word):
        size = next((n for n in range(len(word) - at, 0, -1) if word[at : at + n] in known), 0)
        if not size:
            return [""]
        parts.append(word[at : at + size])
        at += size
    return parts


@cache
def _read_words(code: str) -> tuple[frozenset[str], frozenset[str]]:
    vocabulary = Vocabulary(code)
    if not vocabulary.has("thanks.thanks"):
        return frozenset(), frozenset()
    thanks, beside = vocabulary.words("thanks.thanks"), vocabulary.words("thanks.beside")
    return frozenset(map(_fold, thanks)), frozenset(map(_fold, beside))


def _fold(text: str) -> str:
    """The text in small letters, without marks over them."""
    split = unicodedata.normalize("NFKD", text.casefold())
    return "".join(sign for sign in split if unicodedata.category(sign) != "Mn")
