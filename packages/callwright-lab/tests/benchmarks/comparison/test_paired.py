from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright_lab.benchmarks.comparison.paired import (
    mcnemar_test,
    mean_interval,
    paired_bootstrap,
    paired_change,
    wilson_interval,
)


def test_wilson_gives_the_published_interval() -> None:
    found = wilson_interval(
        8, 10
    )  # Wilson 1927; the same numbers stand in Brown, Cai and DasGupta 2001
    assert (round(found.value, 4), round(found.low, 4), round(found.high, 4)) == (
        0.8,
        0.4902,
        0.9433,
    )
    assert round(wilson_interval(0, 10).high, 4) == 0.2775
    assert wilson_interval(0, 10).low == 0


@pytest.mark.parametrize(
    ("only_a", "only_b", "p"), [(5, 15, 0.04139), (1, 9, 0.02148), (0, 6, 0.03125), (7, 7, 1.0)]
)
def test_mcnemar_is_the_exact_binomial_test(only_a: int, only_b: int, p: float) -> None:
    first = [True] * only_a + [False] * only_b + [True, False]
    second = [False] * only_a + [True] * only_b + [True, False]
    found = mcnemar_test(first, second)
    assert (found.only_a, found.only_b) == (only_a, only_b)
    assert found.p == pytest.approx(p, abs=1e-5)


def test_no_disagreement_says_nothing() -> None:
    assert mcnemar_test([True, False], [True, False]).p == 1.0


def test_a_constant_difference_has_no_spread() -> None:
    found = paired_bootstrap([3.0, 4.0, 9.0], [1.0, 2.0, 7.0])
    assert (found.value, found.low, found.high) == (2.0, 2.0, 2.0)


def test_the_interval_is_near_the_normal_one_for_many_pairs() -> None:
    apart = [1.0 if n % 4 == 0 else 0.0 for n in range(400)]  # mean 0.25, standard error 0.02165
    found = paired_bootstrap(apart, [0.0] * 400)
    assert found.low == pytest.approx(0.25 - 1.96 * 0.02165, abs=0.004)
    assert found.high == pytest.approx(0.25 + 1.96 * 0.02165, abs=0.004)


def test_the_same_data_gives_the_same_interval() -> None:
    assert paired_bootstrap([1, 2, 5], [0, 2, 1]) == paired_bootstrap([1, 2, 5], [0, 2, 1])


@given(st.lists(st.tuples(st.integers(-50, 50), st.integers(-50, 50)), min_size=1, max_size=30))
def test_swapping_the_two_turns_the_sign(pairs: list[tuple[int, int]]) -> None:
    a, b = [float(x) for x, _ in pairs], [float(y) for _, y in pairs]
    there, back = paired_bootstrap(a, b, samples=200), paired_bootstrap(b, a, samples=200)
    assert there.value == pytest.approx(-back.value)
    assert there.low == pytest.approx(-back.high)
    assert there.low <= there.value + 1e-9 or len(set(zip(a, b, strict=True))) > 1


@pytest.mark.parametrize(("a", "b"), [([], []), ([1.0], [1.0, 2.0])])
def test_what_is_not_paired_is_refused(a: list[float], b: list[float]) -> None:
    with pytest.raises(ValueError, match="not pairs"):
        paired_bootstrap(a, b)


def test_a_proportion_needs_trials() -> None:
    with pytest.raises(ValueError, match="no proportion"):
        wilson_interval(0, 0)
    with pytest.raises(ValueError, match="not pairs"):
        mcnemar_test([True], [])


def test_a_change_is_a_share_of_the_second_mean() -> None:
    found = paired_change([30.0, 60.0], [100.0, 200.0])
    assert (found.value, found.low, found.high) == pytest.approx((-0.7, -0.7, -0.7))


def test_a_change_is_that_of_the_sums_not_the_mean_of_single_changes() -> None:
    found = paired_change([1.0, 300.0], [2.0, 100.0])
    assert found.value == pytest.approx(301 / 102 - 1)
    assert found.low == pytest.approx(-0.5)
    assert found.high == pytest.approx(2.0)


@pytest.mark.parametrize(
    ("a", "b"), [([], []), ([1.0], [1.0, 2.0]), ([1.0], [0.0]), ([1.0, 1.0], [-1.0, 3.0])]
)
def test_a_share_of_nothing_is_refused(a: list[float], b: list[float]) -> None:
    with pytest.raises(ValueError, match=r"not pairs|share of nothing"):
        paired_change(a, b)


def test_a_mean_lies_in_its_interval() -> None:
    found = mean_interval([1.0, 2.0, 9.0])
    assert found.low <= found.value == 4.0 <= found.high
