"""The arithmetic of the bound, and that a cut keeps what it promises on fresh draws."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright.nouns.errors import ConfigError
from callwright.repair.by_model.harm_score import HarmScore
from callwright_lab.benchmarks.harm_bound.calibration import (
    Outcome,
    check_count,
    choose_cut,
    compute_upper_bound,
    count_allowed,
    count_needed,
)

SCORE = HarmScore(-3.0, {"surprise": 1.0})


def tail(harms: int, calls: int, share: float) -> float:
    """The chance of at most so many harms, term by term."""
    return sum(
        math.comb(calls, k) * share**k * (1 - share) ** (calls - k) for k in range(harms + 1)
    )


@given(st.integers(1, 400), st.data())
def test_the_upper_bound_is_where_the_binomial_tail_is_five_percent(
    calls: int, data: st.DataObject
) -> None:
    harms = data.draw(st.integers(0, min(calls - 1, 8)))
    upper = compute_upper_bound(harms, calls)
    assert tail(harms, calls, upper) == pytest.approx(0.05, rel=1e-6)
    assert harms / calls < upper < compute_upper_bound(harms + 1, calls) <= 1


def test_the_upper_bound_covers_the_true_share_at_least_as_often_as_it_says() -> None:
    for share in (0.0005, 0.002, 0.01):
        chances = [tail(k, 1500, share) - (tail(k - 1, 1500, share) if k else 0) for k in range(60)]
        covered = sum(
            chance for k, chance in enumerate(chances) if compute_upper_bound(k, 1500) >= share
        )
        assert covered >= 0.95 - 1e-9


def test_a_limit_of_two_in_a_thousand_needs_1497_right_replies() -> None:
    assert count_needed() == 1497
    assert (count_allowed(1496), count_allowed(1497)) == (-1, 0)
    assert compute_upper_bound(0, 1497) <= 0.002 < compute_upper_bound(0, 1496)
    assert (count_allowed(2369), count_allowed(2373)) == (0, 1)
    with pytest.raises(ConfigError, match=r"1,496 right replies are too few: .* needs 1,497"):
        check_count(1496)


def make_outcomes(rng: np.random.Generator, calls: int, share: float) -> list[Outcome]:
    """Right replies of which a share would be harmed, with scores in steps: many are equal."""
    harmed = rng.random(calls) < share
    scores = np.round(rng.exponential(2.0, calls), 1)
    return [
        Outcome(True, not harm, {"surprise": float(value)})
        for harm, value in zip(harmed, scores, strict=True)
    ]


def true_harm(threshold: float, share: float) -> float:
    """The chance that a right reply is harmed below a cut, for :func:`make_outcomes`."""
    most = (math.log(threshold / (1 - threshold)) + 3.0) if threshold < 1 else math.inf
    # rounded to tenths: a value below the cut is at most the tenth before it, and all that round to it
    edge = math.ceil(round(most * 10, 6)) / 10 - 0.05 if most < math.inf else math.inf
    return share * (1 - math.exp(-max(edge, 0.0) / 2.0))


def test_planted_harm_stays_below_the_limit_on_fresh_draws_as_often_as_promised() -> None:
    rng = np.random.default_rng(7)
    cuts = [choose_cut(SCORE, make_outcomes(rng, 2000, 0.05)) for _ in range(300)]
    broken = sum(true_harm(cut.threshold, 0.05) > 0.002 for cut in cuts)
    assert broken <= 0.05 * len(cuts)
    assert any(true_harm(cut.threshold, 0.05) > 0 for cut in cuts)  # not by refusing everything
    assert all(cut.upper <= 0.002 for cut in cuts)
    # Conformal risk control bounds the mean.
    assert np.mean([true_harm(cut.threshold, 0.05) for cut in cuts]) <= 0.002


def test_the_planted_harm_is_what_fresh_draws_show() -> None:
    rng = np.random.default_rng(8)
    fresh = make_outcomes(rng, 100_000, 0.05)
    for threshold in (SCORE.rate({"surprise": 0.3}), SCORE.rate({"surprise": 2.0}), 1.0):
        harms = sum(
            one.is_harm and one.features is not None and SCORE.rate(one.features) < threshold
            for one in fresh
        )
        assert harms / len(fresh) == pytest.approx(true_harm(threshold, 0.05), abs=0.001)


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 5)), max_size=40), st.floats(0.001, 0.01))
def test_a_higher_limit_never_lowers_the_cut(rows: list[tuple[bool, int]], more: float) -> None:
    outcomes = [Outcome(True, not harm, {"surprise": float(s)}) for harm, s in rows]
    outcomes += [Outcome(True, True)] * 3000
    low, high = choose_cut(SCORE, outcomes, 0.002), choose_cut(SCORE, outcomes, 0.002 + more)
    assert low.threshold <= high.threshold
    assert low.harms <= high.harms
    assert low.harms <= count_allowed(len(outcomes), 0.002)
    assert low.upper <= 0.002


def test_a_cut_counts_what_it_helps() -> None:
    right = [Outcome(True, True)] * 1499 + [Outcome(True, False, {"surprise": 2.0})]
    wrong = [Outcome(False, True, {"surprise": 1.0}), Outcome(False, True, {"surprise": 3.0})]
    cut = choose_cut(SCORE, [*right, *wrong, Outcome(False, False, {"surprise": 0.0})], source="s")
    assert (cut.calls, cut.harms, cut.helps, cut.wrong, cut.source) == (1500, 0, 1, 3, "s")
    assert cut.threshold == SCORE.rate({"surprise": 2.0})


def test_nothing_harmful_lets_everything_pass() -> None:
    assert choose_cut(SCORE, [Outcome(True, True)] * 1500).threshold == 1.0
