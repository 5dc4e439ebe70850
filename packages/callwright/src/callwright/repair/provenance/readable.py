"""Tells the language of what was said, and what of it can be read: number words, words for one."""

from __future__ import annotations

import re
from collections.abc import Sequence

from callwright.dataflow.flow import STOP
from callwright.language.detect import DETECTION, is_foreign, language_of, list_likeliest
from callwright.language.number_words import NUMBER_PACKS
from callwright.language.pack import pack
from callwright.language.tokens import fold_text, split_identifier
from callwright.nouns.thresholds import threshold
from callwright.nouns.types import Tool

_WORD = re.compile(r"[^\W\d_]+")
# the share of English function words in an English sentence, at least
_READABLE = threshold("callwright.repair", "provenance.function_words")
_ALONE = re.compile(r"(?<![\w-])[^\W\d_]+(?![\w-])")


def reads_english(said: Sequence[str]) -> bool:
    """Return True if what was said is surely English, the language of most schemas."""
    known = list_languages(said)
    if known:
        return known == {"en"}
    whole = " ".join(said)
    words = _WORD.findall(whole.lower())
    read = sum(w in STOP for w in words)
    return bool(words) and not is_foreign(whole) and read >= _READABLE * len(words)


def can_read_numbers(said: Sequence[str], tool: Tool | None = None) -> bool:
    """Return True if every number word of what was said would be understood: each text is in a
    language whose number words are known, as far as its language can be told. A short text may tell
    none; then it counts that it uses a word of the tool's own, as only its language would.
    """
    known = list_languages(said)
    if known:
        return known <= {*NUMBER_PACKS}
    whole = " ".join(said)
    words = _WORD.findall(whole.lower())
    if not words:
        return True
    if is_foreign(whole):
        return False
    own = _list_words(tool) if tool is not None else frozenset()
    return sum(w in STOP for w in words) >= _READABLE * len(words) or not own.isdisjoint(words)


def speaks_of_one(said: Sequence[str]) -> bool:
    """Return True if the user may have spoken of one thing, or a language's words for that are not
    known. In some languages a noun alone means one; they have no such words here.
    """
    codes = {language_of(text) for text in said} - {""}
    if not codes:
        codes = {"en"} if reads_english(said) else {*list_likeliest(" ".join(said))}
    words = [found for code in codes if (found := _list_one_words(code))]
    if not words or len(words) < len(codes):
        return True
    used = {fold_text(word) for text in said for word in _ALONE.findall(text)}
    return any(fold_text(word) in used for group in words for word in group)


def _list_one_words(code: str) -> frozenset[str]:
    language = pack(code)
    if language is not None:
        return language.one_words
    entry = f"one_words.{code}"
    return DETECTION.words(entry) if DETECTION.has(entry) else frozenset()


def _list_words(tool: Tool) -> frozenset[str]:
    """The words of a tool's name and description, and of the names of its parameters."""
    named = (word for name in (tool.name, *tool.properties) for word in split_identifier(name))
    return frozenset((*named, *_WORD.findall(tool.description.lower())))


def list_languages(said: Sequence[str]) -> set[str]:
    """The languages of texts, and of all together, as far as they can be told."""
    return {language_of(text) for text in (*said, " ".join(said))} - {""}
