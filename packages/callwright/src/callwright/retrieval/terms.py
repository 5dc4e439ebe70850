"""Text -> the terms that lexical search counts: identifiers split, lower case, without stop words,
stemmed.

Stemming is Snowball's English stemmer (Porter 2), by PyStemmer; it leaves other languages' words
nearly as they are.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from callwright.language import FEATURES_V1
from callwright.nouns.errors import MissingExtra

if TYPE_CHECKING:
    from Stemmer import Stemmer

# camelCase, snake_case and digits part words; any letters of any script make one
_WORD = FEATURES_V1.pattern("terms.word")

STOP = FEATURES_V1.words("terms.stop")
"""Words that say nothing of what is asked for: English function words, and those that requests are
made with.
"""


@cache
def _open_stemmer() -> Stemmer:
    try:
        from Stemmer import Stemmer
    except ImportError:
        raise MissingExtra("lexical retrieval", "retrieval") from None
    return Stemmer("english")


def humanize_name(name: str) -> str:
    """A tool's name as words, the way one would say it: what an encoder reads best."""
    return " ".join(word.lower() for word in _WORD.findall(name))


def extract_terms(text: str) -> list[str]:
    """The terms of a text, in order. Raises MissingExtra without the extra ``retrieval``."""
    stemmed: list[str] = _open_stemmer().stemWords(
        [low for word in _WORD.findall(text) if (low := word.lower()) not in STOP]
    )
    return stemmed


def query_terms(text: str) -> list[str]:
    """The terms of a query, each once: a word that a long request repeats is not wanted more for
    that.
    """
    return list(dict.fromkeys(extract_terms(text)))
