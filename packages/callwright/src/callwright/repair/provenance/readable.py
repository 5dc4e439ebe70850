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
_TELLING = 2  # English function words that tell the language where nothing else does
_FEW = 4  # words of a text in which one may tell it
_ALONE = re.compile(r"(?<![\w-])[^\W\d_]+(?![\w-])")


def reads_english(said: Sequence[str]) -> bool:
    """Return True if what was said is surely English, the language of most schemas."""
    known = list_languages(said)
    if known:
        return known == {"en"}
    whole = " ".join(said)
    words = _list_alone(whole)
    return bool(words) and not _is_another(whole) and _looks_english(whole, words)


def can_read_numbers(said: Sequence[str], tool: Tool | None = None) -> bool:
    """Return True if every number word of what was said would be understood: each text is in a
    language whose number words are known, as far as its language can be told. A short text may tell
    none; then it counts that it uses a word of the tool's own, as only its language would.
    """
    known = list_languages(said)
    if known:
        return known <= {*NUMBER_PACKS}
    whole = " ".join(said)
    words = _list_alone(whole)
    if not words:
        return True
    if _is_another(whole):
        return False
    own = _list_words(tool) - STOP if tool is not None else frozenset()
    return _looks_english(whole, words) or not own.isdisjoint(words)


def find_pack_language(text: str) -> str:
    """The code of the language with a pack that a text is surely written in, English also where only
    several of its function words tell it; "" where it is another one or cannot be told.
    """
    code = language_of(text)
    if code:
        return code if pack(code) is not None else ""
    words = _list_alone(text)
    told = _count_english([word for word in words if len(word) > 1])
    is_likely = told >= _TELLING and "en" in list_likeliest(text)
    return "en" if is_likely and _looks_english(text, words) else ""


def _list_alone(text: str) -> list[str]:
    """The words of a text that are no part of a code: the A of "A-100" is none."""
    return _ALONE.findall(text.lower())


def _looks_english(text: str, words: Sequence[str]) -> bool:
    """Return True if enough words are English function words. Where another language has as many, one
    of them tells enough only in a text of a few words that are spelled as English ones are.
    """
    held = _count_english(words)
    is_short = len(words) <= _FEW and text.isascii()
    is_told = held >= _TELLING or is_short or list_likeliest(text) <= {"en"}
    return is_told and held >= _READABLE * len(words)


def _count_english(words: Sequence[str]) -> int:
    """The number of words that only a text in English has: function words and near days."""
    english = pack("en")
    more = {*english.stop_words, *english.near_days} if english is not None else set()
    return sum(word in STOP or word in more for word in words)


def _is_another(text: str) -> bool:
    """Return True if a text is surely, or likelier, in a language whose number words are not known."""
    likeliest = list_likeliest(text)
    return is_foreign(text) or (bool(likeliest) and likeliest.isdisjoint(NUMBER_PACKS))


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
