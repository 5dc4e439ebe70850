"""The learned ranker: boosted trees put the best candidates of a request in order.

The trees were learned by LambdaMART (Burges 2010, "From RankNet to LambdaRank to LambdaMART";
LightGBM's ``lambdarank``) over :mod:`callwright.retrieval.candidates`, and are read here with numpy
alone. With them goes a projection of requests' vectors. ``callwright train ranker`` makes both
again; their card says from which data.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from callwright.language.frozen import knows_vocabulary
from callwright.nouns.errors import WeightsError
from callwright.nouns.types import JsonObject
from callwright.retrieval.candidates import DIGEST, Candidates, candidate_features
from callwright.retrieval.projection import Projection, build_identity

if TYPE_CHECKING:
    from numpy import ndarray

    from callwright.weights.trees import Forest

    Array = ndarray[Any, Any]

_PROJECTION = "projection"  # its array in the file of the trees
SHIPPED = Path(__file__).parent / "data" / "ranker.npz"


@dataclass(frozen=True)
class Ranker:
    """Trees that judge candidates beside each other, and the card that says what they were trained
    on.
    """

    forest: Forest
    card: JsonObject
    projection: Projection = field(default_factory=build_identity)

    def __call__(self, found: Candidates) -> Array:
        """Return the relevance of each candidate, (C,) in (0, 1); comparable within one request
        only.
        """
        import numpy as np

        judged: Array = 1.0 / (
            1.0
            + np.exp(-np.clip(self.forest(candidate_features(found, self.projection)), -30.0, 30.0))
        )
        return judged


def open_ranker(path: Path = SHIPPED) -> Ranker:
    """The ranker at ``path``. Raises WeightsError if it is missing, changed, or made for other
    features.
    """
    from callwright.weights.arrays import read_arrays
    from callwright.weights.trees import Forest

    arrays, card = read_arrays(path)
    if card.get("features") != DIGEST or not knows_vocabulary(card):
        raise WeightsError(
            f"the weights {path} were trained on other features than this version computes",
            hint=f"train them again: callwright train ranker --out {path.parent}",
        )
    return Ranker(Forest.from_arrays(arrays), card, _read_projection(arrays, card))


def save_ranker(folder: Path, ranker: Ranker) -> JsonObject:
    """Store a ranker as ``ranker.npz`` and its card beside it; returns the card as it was written."""
    import numpy as np

    from callwright.weights.trees import write_forest

    beside = {_PROJECTION: ranker.projection.matrix.astype(np.float16)}
    return write_forest(folder, SHIPPED.stem, ranker.forest, ranker.card, beside)


def _read_projection(arrays: Mapping[str, Array], card: JsonObject) -> Projection:
    """The projection that is stored beside the trees; without one vectors stay as they are."""
    import numpy as np

    matrix = arrays.get(_PROJECTION)
    if matrix is None:
        return build_identity()
    return Projection(matrix.astype(np.float32), str(card.get("encoder", "")))


@cache
def shipped_ranker() -> Ranker:
    """The ranker of the package."""
    return open_ranker()
