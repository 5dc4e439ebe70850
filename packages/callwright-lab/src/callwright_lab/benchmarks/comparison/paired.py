"""Comparing two ways of doing the same tasks: paired differences, their intervals, exact tests.
Pure.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import comb

from callwright_lab.metrics import Interval, paired_bootstrap, wilson_interval

__all__ = [
    "Interval",
    "McNemar",
    "mcnemar_test",
    "mean_interval",
    "paired_bootstrap",
    "paired_change",
    "wilson_interval",
]


@dataclass(frozen=True, slots=True)
class McNemar:
    """Tasks that only the first (``only_a``) or only the second (``only_b``) solved, and the exact
    two-sided p.
    """

    only_a: int
    only_b: int
    p: float


def paired_change(
    a: Sequence[float],
    b: Sequence[float],
    *,
    level: float = 0.95,
    samples: int = 10_000,
    seed: int = 0,
) -> Interval:
    """By which share the mean of a is more (or, negative, less) than that of b, over the same
    tasks.

    The interval is the percentile one of resampled tasks (Efron 1979), both means from the same
    draw. Raises ValueError where the values do not match, or where the mean of b is not positive.
    """
    import numpy as np

    if len(a) != len(b) or not a:
        raise ValueError(f"{len(a)} and {len(b)} values are not pairs")
    first, second = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    if second.min() < 0 or second.mean() <= 0:
        raise ValueError("there is no share of nothing")
    drawn = np.random.default_rng(seed).integers(0, len(first), size=(samples, len(first)))
    below = second[drawn].mean(axis=1)
    shares = first[drawn].mean(axis=1)[below > 0] / below[below > 0] - 1
    low, high = np.quantile(shares, [(1 - level) / 2, (1 + level) / 2])
    return Interval(float(first.mean() / second.mean() - 1), float(low), float(high))


def mean_interval(values: Sequence[float]) -> Interval:
    """A mean over tasks with its bootstrap interval. Raises ValueError without values."""
    return paired_bootstrap(values, [0.0] * len(values))


def mcnemar_test(a: Sequence[bool], b: Sequence[bool]) -> McNemar:
    """McNemar's exact test (McNemar 1947, binomial form) on paired successes."""
    if len(a) != len(b):
        raise ValueError(f"{len(a)} and {len(b)} values are not pairs")
    only_a = sum(x and not y for x, y in zip(a, b, strict=True))
    only_b = sum(y and not x for x, y in zip(a, b, strict=True))
    total, fewer = only_a + only_b, min(only_a, only_b)
    tail = sum(comb(total, k) for k in range(fewer + 1)) / 2**total
    return McNemar(only_a, only_b, min(1.0, 2 * tail))
