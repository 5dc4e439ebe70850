"""Texts and names parted into words, and spellings made alike: the same for every language."""

from __future__ import annotations

import re
import unicodedata

from callwright.nouns.memo import cache_by_text

_TOKEN = re.compile(r"[^\W_]+")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_PART = re.compile(r"\d+|[A-Za-zÀ-ÖØ-öø-ɏ]+|[^\W\d_A-Za-zÀ-ÖØ-öø-ɏ]+")  # Latin, or another script
_SIGNS = {"\u066b": ".", "\u066c": ","}  # of numbers in Arabic script
_QUESTION_MARKS = "?？؟"
UNPARTED = "[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff]"
"""An expression for a Chinese or Japanese sign: words stand there without blanks."""
_UNPARTED = re.compile(UNPARTED)
_NOT_ALNUM = re.compile(r"[\W_]+")


def fold_text(text: str) -> str:
    """The text without case and accents."""
    if text.isascii():
        return text.lower()
    decomposed = unicodedata.normalize("NFKD", text)
    marks = {ord(c): None for c in set(decomposed) if unicodedata.combining(c)}
    return (decomposed.translate(marks) if marks else decomposed).casefold()


def has_question_mark(text: str) -> bool:
    """Return True if a text holds a question mark of a Latin, Chinese or Arabic script."""
    return any(sign in text for sign in _QUESTION_MARKS)


def blank_unparted(text: str) -> str:
    """The text, as long as it was, with blanks in the place of signs of scripts that part no words:
    a code stands right beside them.
    """
    return _UNPARTED.sub(" ", text)


def holds_unparted(text: str) -> bool:
    """Return True if a text holds a sign of a script that parts no words."""
    return _UNPARTED.search(text) is not None


def with_ascii_digits(text: str) -> str:
    """The text, as long as it was, with decimal digits of all scripts as those of ASCII, and the Arabic
    decimal and group signs as point and comma.
    """
    if text.isascii():
        return text
    found = {c for c in text if c in _SIGNS or (c.isdecimal() and not c.isascii())}
    return text.translate({ord(c): _SIGNS.get(c) or str(unicodedata.decimal(c)) for c in found})


def squash_text(text: str) -> str:
    """Letters and digits only, folded."""
    return _NOT_ALNUM.sub("", fold_text(text))


@cache_by_text(most=65_536, longest=128)
def squash_name(name: str) -> str:
    """Letters and digits without case: what is left when separators do not count. Accents stay,
    since two tools may differ in one.
    """
    return _NOT_ALNUM.sub("", name.casefold())


def split_tokens(text: str) -> list[str]:
    """The words of a text in order, folded."""
    return _TOKEN.findall(fold_text(text))


def split_name(name: str) -> list[str]:
    """The words of a name, however they are joined: ``totalPassengers``, ``total_passengers`` and
    ``total-passengers`` have the same, but for their case.
    """
    return _TOKEN.findall(_CAMEL.sub(" ", name))


def key_tokens(key: str) -> list[str]:
    """The words of a key, folded."""
    return split_tokens(_CAMEL.sub(" ", key))


@cache_by_text(most=16_384, longest=128)
def split_identifier(name: str) -> tuple[str, ...]:
    """The words and the figures of a name, lower case: "startDate2" -> ("start", "date", "2").

    In :func:`key_tokens` a figure is part of its word; here "step1" and "step2" share a word and
    differ in a figure. Letters of another script are words of their own, and accents stay.
    """
    return tuple(_PART.findall(_CAMEL.sub(" ", name).lower()))


def stands_apart(text: str, words: str) -> bool:
    """Return True if a text stands in words as it is, no part of a longer word, number or time."""
    if holds_unparted(text):
        return text in words
    return re.search(rf"(?<![\w:.]){re.escape(text)}(?![\w:])", words, re.IGNORECASE) is not None
