"""Boosted trees as plain arrays, and their numpy predictor. No boosting library at inference.

A forest of T trees is one table of nodes. At a node, a row goes left if ``row[feature] <=
threshold``, else right; a leaf points at itself, so all rows can walk all trees in step until the
deepest leaf is reached.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from callwright.nouns.errors import WeightsError
from callwright.nouns.types import JsonObject
from callwright.weights.arrays import Array, read_arrays, write_arrays

_ARRAYS: dict[str, np.dtype[Any]] = {
    "feature": np.dtype(np.int32),  # per node
    "threshold": np.dtype(np.float64),
    "left": np.dtype(np.int32),
    "right": np.dtype(np.int32),
    "value": np.dtype(np.float64),  # 0 but at leaves
    "root": np.dtype(np.int32),  # per tree
}


@dataclass(frozen=True, slots=True)
class Forest:
    """Trees whose leaf values add up to a log-odds."""

    feature: Array
    threshold: Array
    left: Array
    right: Array
    value: Array
    root: Array
    depth: int

    def __call__(self, rows: Array) -> Array:
        """Sum of leaf values of every row: (R, F) -> (R,) of float64."""
        count = len(rows)
        if not count:
            return np.zeros(0)
        table = np.ascontiguousarray(rows, dtype=np.float64)
        flat = table.ravel()
        offset = (np.arange(count, dtype=np.int64) * table.shape[1])[:, None]
        children = np.stack([self.left, self.right], axis=1).ravel()
        node = np.broadcast_to(self.root, (count, len(self.root)))
        for _ in range(self.depth):
            goes_right = flat.take(offset + self.feature.take(node)) > self.threshold.take(node)
            node = children.take(2 * node + goes_right)
        total: Array = self.value.take(node).sum(axis=1)
        return total

    def arrays(self) -> dict[str, Array]:
        """The arrays by name, with the types they are stored in."""
        return {name: getattr(self, name).astype(kind) for name, kind in _ARRAYS.items()}

    @classmethod
    def from_arrays(cls, found: Mapping[str, Array]) -> Forest:
        """Raises WeightsError if an array is missing or points outside the table."""
        if missing := set(_ARRAYS) - set(found):
            raise WeightsError(f"the trees lack {', '.join(sorted(missing))}")
        # pointers as wide as the machine's: numpy would widen them at every step
        wide = {
            name: np.dtype(np.intp) if kind == np.int32 else kind for name, kind in _ARRAYS.items()
        }
        made = {name: np.ascontiguousarray(found[name], dtype=kind) for name, kind in wide.items()}
        count = len(made["feature"])
        if any(len(made[name]) != count for name in _ARRAYS if name != "root"):
            raise WeightsError("the arrays of the trees differ in length")
        pointers = np.concatenate([made["left"], made["right"], made["root"]])
        if count == 0 or pointers.min(initial=0) < 0 or pointers.max(initial=0) >= count:
            raise WeightsError("the trees point outside their table")
        return cls(**made, depth=_measure_depth(made))


def average_forests(forests: Sequence[Forest]) -> Forest:
    """One forest whose log-odds are the mean of those of ``forests``; all must read rows of the
    same columns.
    """
    if len(forests) == 1:
        return forests[0]
    made: dict[str, list[Array]] = {name: [] for name in _ARRAYS}
    start = 0
    for forest in forests:
        for name in _ARRAYS:
            found = getattr(forest, name)
            moved = found + start if name in ("left", "right", "root") else found
            made[name].append(found / len(forests) if name == "value" else moved)
        start += len(forest.feature)
    return Forest.from_arrays({name: np.concatenate(parts) for name, parts in made.items()})


def _measure_depth(arrays: Mapping[str, Array]) -> int:
    """Steps from the roots until every walk stands still; WeightsError if one never does."""
    front = set(arrays["root"].tolist())
    left, right = arrays["left"], arrays["right"]
    for steps in range(64):
        front = {n for i in front for n in (int(left[i]), int(right[i])) if n != i}
        if not front:
            return steps
    raise WeightsError("the trees have a loop")


def write_forest(
    folder: Path,
    name: str,
    forest: Forest,
    about: JsonObject,
    beside: Mapping[str, Array] = MappingProxyType({}),
) -> JsonObject:
    """Store a forest (:func:`~callwright.weights.arrays.write_arrays`). ``beside`` are other arrays
    of the same file, under names of their own.
    """
    return write_arrays(folder, name, {**beside, **forest.arrays()}, about)


def read_forest(path: Path) -> tuple[Forest, JsonObject]:
    """The forest at ``path`` (the ``.npz``) and its card. Raises WeightsError if either is missing
    or changed.
    """
    found, card = read_arrays(path)
    return Forest.from_arrays(found), card
