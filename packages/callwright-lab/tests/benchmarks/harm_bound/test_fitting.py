"""The fit of a score: signs, balance, and what it needs."""

from __future__ import annotations

import pytest

from callwright.nouns.errors import ConfigError
from callwright_lab.benchmarks.harm_bound.calibration import Outcome
from callwright_lab.benchmarks.harm_bound.fitting import LEAST, fit_score

NAMES = ("lost", "sound", "added")


def outcomes(harm: bool, count: int, **named: float) -> list[Outcome]:
    features = {**dict.fromkeys(NAMES, 0.0), **named}
    return [Outcome(harm, not harm, features)] * count


def test_what_harms_weighs_and_what_helps_weighs_nothing() -> None:
    made = [
        *outcomes(True, 30, lost=1, sound=1),
        *outcomes(True, 5, sound=1),
        *outcomes(False, 300, added=1),
        *outcomes(False, 20, sound=1),
    ]
    score = fit_score(made, NAMES)
    assert score.weights["lost"] > 1
    assert score.weights["added"] == 0
    assert all(weight >= 0 for weight in score.weights.values())
    assert score.rate({"lost": 1, "sound": 1}) > 0.9
    assert score.rate({"added": 1}) < 0.1


def test_a_fit_is_the_same_however_often_one_side_is_repeated() -> None:
    harms, helps = outcomes(True, 20, lost=1), outcomes(False, 20)
    mixed = [*harms, *outcomes(True, 20), *helps]
    assert fit_score([*mixed, *helps * 3], NAMES).weights == pytest.approx(
        fit_score(mixed, NAMES).weights, abs=0.01
    )


def test_too_few_of_either_are_refused() -> None:
    made = [*outcomes(True, LEAST - 1), *outcomes(False, 50), *[Outcome(True, True)] * 50]
    with pytest.raises(ConfigError, match="9 harms and 50 helps are too few"):
        fit_score(made, NAMES)
