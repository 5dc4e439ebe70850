"""Comparing two ways of doing the same tasks: paired differences, their intervals, exact tests. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import comb, sqrt

from callwright.metrics import Interval, paired_bootstrap

__all__ = ["Interval", "McNemar", "mcnemar", "paired_bootstrap", "wilson"]

Z95 = 1.959963984540054


@dataclass(frozen=True, slots=True)
class McNemar:
    """Tasks that only the first (``only_a``) or only the second (``only_b``) solved, and the exact two-sided p."""

    only_a: int
    only_b: int
    p: float


def wilson(successes: int, trials: int, z: float = Z95) -> Interval:
    """A proportion with Wilson's score interval (Wilson 1927). Raises ValueError without trials."""
    if trials <= 0 or not 0 <= successes <= trials:
        raise ValueError(f"{successes} successes in {trials} trials is no proportion")
    share = successes / trials
    middle = (share + z * z / (2 * trials)) / (1 + z * z / trials)
    spread = z / (1 + z * z / trials) * sqrt(share * (1 - share) / trials + z * z / (4 * trials * trials))
    return Interval(share, max(0.0, middle - spread), min(1.0, middle + spread))


def mcnemar(a: Sequence[bool], b: Sequence[bool]) -> McNemar:
    """McNemar's exact test (McNemar 1947, binomial form) on paired successes."""
    if len(a) != len(b):
        raise ValueError(f"{len(a)} and {len(b)} values are not pairs")
    only_a = sum(x and not y for x, y in zip(a, b, strict=True))
    only_b = sum(y and not x for x, y in zip(a, b, strict=True))
    total, fewer = only_a + only_b, min(only_a, only_b)
    tail = sum(comb(total, k) for k in range(fewer + 1)) / 2**total
    return McNemar(only_a, only_b, min(1.0, 2 * tail))
