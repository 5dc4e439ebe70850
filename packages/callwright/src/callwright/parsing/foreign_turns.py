"""Turns of others that a model writes into its own reply: what a tool returned, or the user's next
words.

Nobody returned or said that. It begins a line, with the token by which a chat template begins it or
with ReAct's label.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache

from callwright.parsing.formats import react
from callwright.parsing.template_tokens import load_template_tokens


def has_foreign_turn(text: str) -> bool:
    """Return True if a line of a text begins a turn of somebody else. The end of the model's own
    turn may stand before it.
    """
    return _build_pattern().search(text) is not None


@cache
def _build_pattern() -> re.Pattern[str]:
    tokens = load_template_tokens()
    begins = _join_words(tokens.result | tokens.other_turn)
    return re.compile(
        rf"(?:\A|\n)[ \t>*#]*+(?:(?:{_join_words(tokens.words)})[ \t]*)*?(?:{begins}|{react.RESULT})"
    )


def _join_words(words: Iterable[str]) -> str:
    """An expression for any of these words."""
    return "|".join(re.escape(word) for word in sorted(words, key=len, reverse=True))
