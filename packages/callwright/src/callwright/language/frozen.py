"""The vocabulary that the trained weights were learned with: words, expressions and verbs as they
were then, in the folder ``features_v1``.

It changes only together with the weights. A card names the vocabulary by its digest; a card that
names none was written when there was only the first.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any, Final

from callwright.language.vocabulary import Vocabulary

FEATURES_V1: Final = Vocabulary("features_v1")
FIRST: Final = "3d025df1b67649ea"  # of the vocabulary whose weights' cards do not name it


@cache
def vocabulary_digest() -> str:
    """The digest of the vocabulary that features are computed with."""
    return FEATURES_V1.digest


def knows_vocabulary(card: Mapping[str, Any]) -> bool:
    """Return True if weights were learned with the vocabulary that features are computed with."""
    return bool(card.get("vocabulary", FIRST) == vocabulary_digest())
