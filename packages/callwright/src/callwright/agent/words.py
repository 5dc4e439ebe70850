"""Words of requests and tools, reduced so that "expense" and "expenses" meet. English, rough, and
fast.
"""

from __future__ import annotations

import re

from callwright.language import ENGLISH

WORD = re.compile(r"[^\W\d_]{3,}")
_SPLIT = re.compile(r"(?<=[a-z])(?=[A-Z])|[_\W\d]+")
FUNCTION_WORDS = ENGLISH.words("requests.function_words")
_VERBS = ENGLISH.words("effects.actions")


def stems(text: str) -> frozenset[str]:
    """The stems of all words that carry meaning."""
    return frozenset(
        stem(word) for word in WORD.findall(text.lower()) if word not in FUNCTION_WORDS
    )


def name_words(name: str) -> list[str]:
    """The words of a tool's name, however they are joined."""
    return [word for word in _SPLIT.split(name) if word]


def stem(word: str) -> str:
    """Rough, and the same for "expense" and "expenses", "delete" and "deleted"."""
    for end in ("ies", "ing", "ed", "es", "s", "e"):
        if word.endswith(end) and len(word) - len(end) >= 3:
            return word[: -len(end)] + ("y" if end == "ies" else "")
    return word


ACTIONS = frozenset(stem(verb) for verb in _VERBS)
