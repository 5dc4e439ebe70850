"""Languages as data: words, expressions, numbers, dates and units, each with its source."""

from callwright.language.frozen import FEATURES_V1
from callwright.language.vocabulary import Vocabulary

ENGLISH = Vocabulary("en")

__all__ = ["ENGLISH", "FEATURES_V1", "Vocabulary"]
