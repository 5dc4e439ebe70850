"""Languages as data: words, expressions, numbers, dates and units, each with its source."""

from callwright.language.vocabulary import Vocabulary

ENGLISH = Vocabulary("en")
FEATURES_V1 = Vocabulary("features_v1")

__all__ = ["ENGLISH", "FEATURES_V1", "Vocabulary"]
