"""Text -> the terms that lexical search counts: identifiers split, lower case, without stop words,
stemmed.

Stemming is Snowball's English stemmer (Porter 2), by PyStemmer; it leaves other languages' words
nearly as they are.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

from callwright.nouns.errors import MissingExtra

if TYPE_CHECKING:
    from Stemmer import Stemmer

# camelCase, snake_case and digits part words; any letters of any script make one
_WORD = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+|[^\W\d_]+")

STOP = frozenset(
    """a an the and or but if then than so as of at by for from in into on onto to with within without about between
    over under out up down off again further once i me my mine myself we us our ours ourselves you your yours he him
    his she her hers it its they them their theirs this that these those who whom whose which what when where why how
    all any both each few more most other some such no nor not only own same too very s t d ll m o re ve am is are was
    were be been being have has had having do does did doing will would shall should can could may might must just now
    also there here please need needs want wants like give tell help let know provide additionally moreover
    furthermore thank thanks""".split()
)
"""Words that say nothing of what is asked for: English function words, and those that requests are
made with.
"""


@cache
def _stemmer() -> Stemmer:
    try:
        from Stemmer import Stemmer
    except ImportError:
        raise MissingExtra("lexical retrieval", "retrieval") from None
    return Stemmer("english")


def spoken(name: str) -> str:
    """A tool's name as words, the way one would say it: what an encoder reads best."""
    return " ".join(word.lower() for word in _WORD.findall(name))


def terms(text: str) -> list[str]:
    """The terms of a text, in order. Raises MissingExtra without the extra ``retrieval``."""
    stemmed: list[str] = _stemmer().stemWords(
        [low for word in _WORD.findall(text) if (low := word.lower()) not in STOP]
    )
    return stemmed


def query_terms(text: str) -> list[str]:
    """The terms of a query, each once: a word that a long request repeats is not wanted more for
    that.
    """
    return list(dict.fromkeys(terms(text)))
