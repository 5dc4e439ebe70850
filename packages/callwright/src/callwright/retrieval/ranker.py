"""The learned ranker: boosted trees put the best candidates of a request in order.

The trees were learned by LambdaMART (Burges 2010, "From RankNet to LambdaRank to LambdaMART";
LightGBM's ``lambdarank``) over :mod:`callwright.retrieval.candidates`, and are read here with numpy
alone. ``callwright train ranker`` makes them again; their card says from which data.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from callwright.language.frozen import knows_vocabulary
from callwright.nouns.errors import WeightsError
from callwright.nouns.types import JsonObject
from callwright.retrieval.candidates import DIGEST, Candidates, candidate_features

if TYPE_CHECKING:
    from numpy import ndarray

    from callwright.weights.trees import Forest

    Array = ndarray[Any, Any]

SHIPPED = Path(__file__).parent / "data" / "ranker.npz"


@dataclass(frozen=True)
class Ranker:
    """Trees that judge candidates beside each other, and the card that says what they were trained
    on.
    """

    forest: Forest
    card: JsonObject

    def __call__(self, found: Candidates) -> Array:
        """Return the relevance of each candidate, (C,) in (0, 1); comparable within one request
        only.
        """
        import numpy as np

        judged: Array = 1.0 / (
            1.0 + np.exp(-np.clip(self.forest(candidate_features(found)), -30.0, 30.0))
        )
        return judged


def open_ranker(path: Path = SHIPPED) -> Ranker:
    """The ranker at ``path``. Raises WeightsError if it is missing, changed, or made for other
    features.
    """
    from callwright.weights.trees import read

    forest, card = read(path)
    if card.get("features") != DIGEST or not knows_vocabulary(card):
        raise WeightsError(
            f"the weights {path} were trained on other features than this version computes",
            hint=f"train them again: callwright train ranker --out {path.parent}",
        )
    return Ranker(forest, card)


@cache
def shipped_ranker() -> Ranker:
    """The ranker of the package."""
    return open_ranker()
