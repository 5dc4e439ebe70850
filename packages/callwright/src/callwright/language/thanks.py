"""Messages that only thank or greet: they ask for nothing, in any language with a list of such words."""

from __future__ import annotations

import re
import unicodedata
from functools import cache

from callwright.language.pack import PACKS
from callwright.language.phrases import find_phrases
from callwright.language.vocabulary import Vocabulary

_LONGEST = 120  # characters: what is longer says more than thanks
_BESIDE = {"thanks": "beside", "greetings": "beside_greetings"}


def is_only_thanks(text: str) -> bool:
    """Return True if a text holds a word of thanks and no word that could say something else, but
    for whole remarks and wishes: "have a nice day".
    """
    if len(text) > _LONGEST or re.search(r"[\d?？؟]", text):
        return False
    folded = _fold(text.replace("’", "'"))
    return any(_holds_alone(folded, code, "thanks") for code in PACKS)


def is_only_greeting(text: str) -> bool:
    """Return True if a text holds a word of greeting and no word that could say something else, asking
    how somebody is among them.
    """
    if len(text) > _LONGEST or re.search(r"\d", text):
        return False
    folded = _fold(text)
    return any(_holds_alone(folded, code, "greetings") for code in PACKS)


def _holds_alone(folded: str, code: str, kind: str) -> bool:
    telling, beside, remarks = _read_words(code, kind)
    for remark in find_phrases(folded, remarks, code):
        folded = folded.replace(remark, " ")
    said = re.findall(r"\w+", folded)
    found = [part for word in said for part in _split_word(word, telling | beside)]
    return all(found) and any(part in telling for part in found)


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
def _read_words(code: str, kind: str) -> tuple[frozenset[str], ...]:
    """The words that tell of thanks or of a greeting, those that may stand beside them, and whole
    remarks that may.
    """
    vocabulary, names = Vocabulary(code), (kind, _BESIDE[kind], "remarks")
    entries = (f"thanks.{name}" for name in names)
    words = (vocabulary.words(one) if vocabulary.has(one) else () for one in entries)
    return tuple(frozenset(map(_fold, found)) for found in words)


def _fold(text: str) -> str:
    """The text in small letters, without marks over them."""
    split = unicodedata.normalize("NFKD", text.casefold())
    return "".join(sign for sign in split if unicodedata.category(sign) != "Mn")
