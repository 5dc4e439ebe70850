"""Fits the weights of a harm score: a logistic regression whose weights are not negative."""

from __future__ import annotations

from collections.abc import Sequence

from callwright.nouns.errors import ConfigError, MissingExtra
from callwright.repair.by_model.harm_score import Features, HarmScore
from callwright_lab.benchmarks.harm_bound.calibration import Outcome

LEAST = 10  # of each kind, for a fit
_PENALTY = 1e-3  # on the squares of the weights
_DIGITS = 4


def fit_score(outcomes: Sequence[Outcome], names: Sequence[str]) -> HarmScore:
    """Return the score that tells harms from helps by these features; both count alike. Raises
    ConfigError where there are fewer than :data:`LEAST` of either, MissingExtra.
    """
    harms = [one.features for one in outcomes if one.is_harm and one.features is not None]
    helps = [one.features for one in outcomes if one.is_help and one.features is not None]
    if min(len(harms), len(helps)) < LEAST:
        raise ConfigError(
            f"{len(harms)} harms and {len(helps)} helps are too few to fit a score to",
            hint=f"each needs {LEAST}",
        )
    try:
        import numpy as np
        from scipy.optimize import minimize
    except ImportError:
        raise MissingExtra("fitting a harm score", "train", "callwright-lab") from None
    rows = np.array([_list_values(one, names) for one in (*harms, *helps)])
    signs = np.array([1.0] * len(harms) + [-1.0] * len(helps))
    share = np.array([0.5 / len(harms)] * len(harms) + [0.5 / len(helps)] * len(helps))

    def measure_loss(given: np.ndarray) -> tuple[float, np.ndarray]:
        margin = signs * (rows @ given)
        slope = -share * signs / (1 + np.exp(np.clip(margin, -500, 500)))
        weights = np.concatenate([[0.0], given[1:]])
        loss = share @ np.logaddexp(0, -margin) + _PENALTY * weights @ weights
        return float(loss), rows.T @ slope + 2 * _PENALTY * weights

    bounds = [(None, None), *[(0, None)] * len(names)]
    found = minimize(measure_loss, np.zeros(len(names) + 1), jac=True, bounds=bounds).x
    values = [round(float(value), _DIGITS) for value in found]
    return HarmScore(values[0], dict(zip(names, values[1:], strict=True)))


def _list_values(features: Features, names: Sequence[str]) -> list[float]:
    return [1.0, *(features[name] for name in names)]
