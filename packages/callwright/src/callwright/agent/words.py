"""Words of requests and tools, reduced so that "expense" and "expenses" meet. English, rough, and
fast.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from callwright.language import ENGLISH
from callwright.language.stemming import strip_ending

WORD = re.compile(r"[^\W\d_]{3,}")
FUNCTION_WORDS = ENGLISH.words("requests.function_words")
_ENDINGS: Mapping[str, str] = ENGLISH.table("stemming.rough")
_VERBS = ENGLISH.words("effects.actions")


def extract_stems(text: str) -> frozenset[str]:
    """The stems of all words that carry meaning."""
    return frozenset(
        reduce_word(word) for word in WORD.findall(text.lower()) if word not in FUNCTION_WORDS
    )


def reduce_word(word: str) -> str:
    """A rough stem, the same for "expense" and "expenses", "wipe" and "wiped".

    It misses no form of a short verb, and joins words that have nothing in common (rate, rats);
    ``grounding.words.stem_word``, which checks statements, does neither.
    """
    return strip_ending(word, _ENDINGS)


ACTIONS = frozenset(reduce_word(verb) for verb in _VERBS)
