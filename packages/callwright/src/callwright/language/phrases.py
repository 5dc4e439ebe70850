"""Phrases of a language in a text: as words of their own, where the language parts words."""

from __future__ import annotations

import re
from collections.abc import Iterable

WITHOUT_SPACES = frozenset({"zh"})
"""The codes of languages that write words without spaces between them."""


def find_phrases(folded: str, phrases: Iterable[str], code: str) -> list[str]:
    """Return the phrases that a text says, each as often as it does; of two that overlap the longer
    one. Text and phrases are folded alike.
    """
    longest = sorted(map(re.escape, phrases), key=len, reverse=True)
    edges = ("", "") if code in WITHOUT_SPACES else (r"(?<!\w)", r"(?!\w)")
    return re.findall(f"{edges[0]}(?:{'|'.join(longest)}){edges[1]}", folded) if longest else []
