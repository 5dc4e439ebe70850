"""Questions for something that is to be told, in any language with a list of question words."""

from __future__ import annotations

import re

from callwright.language.pack import PACKS, Pack
from callwright.language.tokens import (
    fold_text,
    has_question_mark,
    holds_unparted,
    split_tokens,
)

_WORDS = frozenset(fold_text(word) for code in PACKS for word in Pack(code).question_words)
_SENTENCE_END = re.compile(r"[.!?;](?=\s)|[。！？；؟؛](?=.)")
_UNPARTED = tuple(word for word in sorted(_WORDS) if holds_unparted(word))


def asks_to_be_told(text: str) -> bool:
    """Return True if a text is a question that begins with a question word; in a script without
    spaces, one that holds one.
    """
    if not has_question_mark(text):
        return False
    is_first = not _WORDS.isdisjoint(split_tokens(text)[:1])
    return is_first or any(word in text for word in _UNPARTED)


def only_asks_to_be_told(text: str) -> bool:
    """Return True if a text is one such question and no other sentence."""
    whole = text.strip()
    is_one = has_question_mark(whole[-1:]) and _SENTENCE_END.search(whole) is None
    return is_one and asks_to_be_told(whole)
