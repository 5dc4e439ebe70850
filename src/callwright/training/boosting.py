"""LightGBM, which grows the trees that are shipped as arrays (:mod:`callwright.trees`). Extra: ``train``."""

from __future__ import annotations

from typing import Any

import numpy as np

from callwright.errors import MissingExtra
from callwright.trees import Forest


def lightgbm(what: str) -> Any:
    """The library. Raises MissingExtra that says ``what`` it is needed for."""
    try:
        import lightgbm
    except ImportError:
        raise MissingExtra(what, "train") from None
    return lightgbm


def export(booster: Any) -> Forest:
    """The trees of a lightgbm booster as arrays. Exact: same comparisons, same leaf values."""
    nodes: list[tuple[int, float, int, int, float]] = []
    roots = [_add(tree["tree_structure"], nodes) for tree in booster.dump_model()["tree_info"]]
    feature, threshold, left, right, value = (np.array(column) for column in zip(*nodes, strict=True))
    arrays = {"feature": feature, "threshold": threshold, "left": left, "right": right, "value": value}
    return Forest.from_arrays({**arrays, "root": np.array(roots)})


def _add(tree: Any, nodes: list[tuple[int, float, int, int, float]]) -> int:
    """Append one subtree to the table and give the place of its root."""
    place = len(nodes)
    if "leaf_value" in tree:
        nodes.append((0, 0.0, place, place, float(tree["leaf_value"])))
        return place
    nodes.append((0, 0.0, 0, 0, 0.0))
    left, right = _add(tree["left_child"], nodes), _add(tree["right_child"], nodes)
    nodes[place] = (int(tree["split_feature"]), float(tree["threshold"]), left, right, 0.0)
    return place
