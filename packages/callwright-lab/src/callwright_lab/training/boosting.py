"""LightGBM, which grows the trees that are shipped as arrays (:mod:`callwright.weights.trees`).
Extra: ``train``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from callwright.nouns.errors import MissingExtra
from callwright.weights.arrays import Array
from callwright.weights.trees import Forest


@dataclass(frozen=True, slots=True)
class Growth:
    """Settings for growing trees: leaves per tree, learning rate, minimum rows per leaf, L2 penalty
    of leaves, seed. Those of a run extend them.
    """

    leaves: int = 15
    rate: float = 0.05
    least: int = 30
    ridge: float = 5.0
    seed: int = 1


def build_parameters(settings: Growth, **objective: Any) -> dict[str, Any]:
    """LightGBM's parameters: what all our trees share, and an objective's own, which win. Deterministic; one
    thread.
    """
    return {
        "num_leaves": settings.leaves,
        "learning_rate": settings.rate,
        "min_data_in_leaf": settings.least,
        "lambda_l2": settings.ridge,
        "feature_fraction": 0.5,
        "bagging_fraction": 0.7,
        "bagging_freq": 1,
        "seed": settings.seed,
        "num_threads": 1,
        "deterministic": True,
        "force_row_wise": True,
        "verbose": -1,
        **objective,
    }


def import_lightgbm(what: str) -> Any:
    """The library. Raises MissingExtra that says ``what`` it is needed for."""
    try:
        import lightgbm
    except ImportError:
        raise MissingExtra(what, "train", "callwright-lab") from None
    return lightgbm


def export_forest(booster: Any) -> Forest:
    """The trees of a lightgbm booster as arrays. Exact: same comparisons, same leaf values."""
    nodes: list[tuple[int, float, int, int, float]] = []
    roots = [
        _append_subtree(tree["tree_structure"], nodes) for tree in booster.dump_model()["tree_info"]
    ]
    feature, threshold, left, right, value = (
        np.array(column) for column in zip(*nodes, strict=True)
    )
    arrays = {
        "feature": feature,
        "threshold": threshold,
        "left": left,
        "right": right,
        "value": value,
    }
    return Forest.from_arrays({**arrays, "root": np.array(roots)})


def fit_logistic(x: Array, y: Array, weights: Array) -> tuple[float, float]:
    """Slope and offset of the logistic curve that fits log-odds ``x`` to labels ``y`` best (Platt
    1999).
    """
    slope, offset = 1.0, 0.0
    for _ in range(100):  # Newton's method on two parameters
        p = 1.0 / (1.0 + np.exp(-(slope * x + offset)))
        gradient = np.array([(weights * (p - y) * x).sum(), (weights * (p - y)).sum()])
        curve = weights * p * (1 - p)
        hessian = np.array(
            [[(curve * x * x).sum(), (curve * x).sum()], [(curve * x).sum(), curve.sum()]]
        )
        step = np.linalg.solve(hessian + 1e-9 * np.eye(2), gradient)
        slope, offset = slope - float(step[0]), offset - float(step[1])
        if np.abs(step).max() < 1e-9:
            break
    return slope, offset


def _append_subtree(tree: Any, nodes: list[tuple[int, float, int, int, float]]) -> int:
    """Append one subtree to the table and give the place of its root."""
    place = len(nodes)
    if "leaf_value" in tree:
        nodes.append((0, 0.0, place, place, float(tree["leaf_value"])))
        return place
    nodes.append((0, 0.0, 0, 0, 0.0))
    left, right = (
        _append_subtree(tree["left_child"], nodes),
        _append_subtree(tree["right_child"], nodes),
    )
    nodes[place] = (int(tree["split_feature"]), float(tree["threshold"]), left, right, 0.0)
    return place
