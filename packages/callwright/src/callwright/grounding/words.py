"""Words as the checker compares them: folded, stemmed, and grouped where a key and a sentence say
the same thing.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from callwright.language import ENGLISH
from callwright.language.pack import Pack

_PACK = Pack("en")
_COMPARED = ENGLISH.pattern("stemming.compared")


@lru_cache(maxsize=20_000)
def stem_word(word: str) -> str:
    """A light English stem: enough to join arrive, arrives, arrival; not a dictionary."""
    if len(word) <= 3 or not word.isascii():
        return word
    return _PACK.stem(word)


# Words that name the same attribute. Keys and statements are both read through it.
_GROUPS: dict[str, frozenset[str]] = {}
for _head, _others in ENGLISH.table("attributes.concepts").items():
    for _word in (_head, *_others.split()):
        _stem = stem_word(_word)
        _GROUPS[_stem] = _GROUPS.get(_stem, frozenset()) | {"=" + _head}

_NOT_ATTRIBUTES = {stem_word(w) for w in ENGLISH.words("fields.not_attributes")}


@lru_cache(maxsize=20_000)
def find_concepts(word: str) -> frozenset[str]:
    """Return the concepts that a word may name: its stem and the attribute concepts it belongs
    to.
    """
    root = stem_word(word)
    if root not in _GROUPS:  # cheaper, warmest
        bare = _COMPARED.sub("", word)
        root = next(
            (
                r
                for r in (stem_word(bare), stem_word(bare + "e"), bare[:-1])
                if bare != word and r in _GROUPS
            ),
            root,
        )
    if root in _NOT_ATTRIBUTES or len(root) < 2:
        return _GROUPS.get(root, frozenset())
    return _GROUPS.get(root, frozenset()) | {root}


def all_concepts(words: Iterable[str]) -> frozenset[str]:
    found: set[str] = set()
    for word in words:
        found |= find_concepts(word)
    return frozenset(found)
