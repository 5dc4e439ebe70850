"""Texts and names parted into words, and spellings made alike: the same for every language."""

from __future__ import annotations

import re
import unicodedata

_TOKEN = re.compile(r"[^\W_]+")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_NOT_ALNUM = re.compile(r"[\W_]+")


def fold_text(text: str) -> str:
    """The text without case and accents."""
    if text.isascii():
        return text.lower()
    decomposed = unicodedata.normalize("NFKD", text)
    marks = {ord(c): None for c in set(decomposed) if unicodedata.combining(c)}
    return (decomposed.translate(marks) if marks else decomposed).casefold()


def squash_text(text: str) -> str:
    """Letters and digits only, folded."""
    return _NOT_ALNUM.sub("", fold_text(text))


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
