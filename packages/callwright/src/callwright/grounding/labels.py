"""The names that a record goes by: what a statement may call it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from callwright.grounding.fields import names_a_unit
from callwright.grounding.quantity import Moment, find_moments
from callwright.language import ENGLISH
from callwright.language.tokens import key_tokens, split_tokens

_URL = re.compile(r"https?://|^www\.|^[\w.+-]+@[\w-]+\.\w+$")
_ARTICLES = ENGLISH.words("statements.articles")


def record_labels(value: dict[str, Any], limit: int = 24) -> Iterator[tuple[str, str]]:
    """The names a record goes by, with their keys: its short texts, its dates, the numbers of its
    identifiers.
    """
    for key, item in list(value.items())[:limit]:
        if isinstance(item, str):
            if not names_a_unit(key):
                yield from ((key, label) for label in text_labels(item))
        elif isinstance(item, int) and not isinstance(item, bool):
            if key_tokens(key)[-1:] in (["id"], ["year"], ["number"], ["asn"]):
                yield key, f"#{item}"
        elif isinstance(item, list):
            for member in item[:6]:
                if isinstance(member, str):
                    yield from ((key, label) for label in text_labels(member))


def text_labels(text: str) -> Iterator[str]:
    if not text or len(text) > 80 or _URL.search(text):
        return
    if text[0].isdigit():
        found = find_moments(text)
        if found and found[0].month is not None:
            yield from moment_labels(found[0])
            return
    if any(c.isalpha() for c in text):
        words = split_tokens(text)
        if words and words[0] in _ARTICLES and len(words) > 1:
            words = words[1:]
        if words and len(words) <= 10:
            yield " ".join(words)


def moment_labels(m: Moment) -> Iterator[str]:
    """The names of a day, as labels: statements may give it with or without the year."""
    if m.month is not None:
        yield f"@{m.month}-{m.day or 0}"
