"""Chooses the cut of a harm score so that the harm is bounded, with a stated confidence.

A *harm* is a right reply that a change makes wrong. The share of right replies that are harmed never
falls as the cut rises, so the cut is chosen from above (Bates et al., "Distribution-Free,
Risk-Controlling Prediction Sets", 2021): the highest cut at which the one-sided Clopper-Pearson
bound of that share is at most the limit. For right replies drawn like those of the calibration, and
with probability ``confidence`` over the calibration's draw, the harm of the cut is at most
``limit``. Its expectation is bounded as well: the cut is no higher than that of Angelopoulos et al.,
"Conformal Risk Control" (ICLR 2024, arXiv:2208.02814), where (harms + 1) / (calls + 1) is at most
the limit. Neither says anything about a single reply, or about calls of another kind.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from callwright.nouns.errors import ConfigError, MissingExtra
from callwright.repair.by_model.harm_bound import Cut
from callwright.repair.by_model.harm_score import Features, HarmScore

LIMIT, CONFIDENCE = 0.002, 0.95


@dataclass(frozen=True, slots=True)
class Outcome:
    """One reply before and after a proposed change. ``features`` are None where nothing would be
    sent: the model changes nothing, or a limit holds the change back.
    """

    was_right: bool
    is_right: bool
    features: Features | None = field(default=None)

    @property
    def is_harm(self) -> bool:
        return self.features is not None and self.was_right and not self.is_right

    @property
    def is_help(self) -> bool:
        return self.features is not None and not self.was_right and self.is_right


def compute_upper_bound(harms: int, calls: int, confidence: float = CONFIDENCE) -> float:
    """Return the one-sided upper bound of Clopper and Pearson (1934). Raises MissingExtra."""
    try:
        from scipy.stats import beta
    except ImportError:
        raise MissingExtra("calibrating a harm bound", "train", "callwright-lab") from None
    return 1.0 if harms >= calls else float(beta.ppf(confidence, harms + 1, calls - harms))


def is_bounded(harms: int, calls: int, limit: float, confidence: float = CONFIDENCE) -> bool:
    """Return True if that upper bound is at most ``limit``: so few harms would be seen in at most
    ``1 - confidence`` of samples at the limit.
    """
    ways = (
        math.lgamma(calls + 1) - math.lgamma(k + 1) - math.lgamma(calls - k + 1)
        for k in range(harms + 1)
    )
    seen = (
        math.exp(way + k * math.log(limit) + (calls - k) * math.log1p(-limit))
        for k, way in enumerate(ways)
    )
    return harms < calls and sum(seen) <= 1 - confidence


def count_needed(limit: float = LIMIT, confidence: float = CONFIDENCE) -> int:
    """Return how many right replies a calibration needs if none of them is harmed."""
    return math.ceil(math.log(1 - confidence) / math.log(1 - limit))


def count_allowed(calls: int, limit: float = LIMIT, confidence: float = CONFIDENCE) -> int:
    """Return how many harms leave the bound at most at the limit; -1 where not even none does."""
    harms = -1
    while harms < calls and is_bounded(harms + 1, calls, limit, confidence):
        harms += 1
    return harms


def check_count(calls: int, limit: float = LIMIT, confidence: float = CONFIDENCE) -> int:
    """Return how many harms so many right replies allow. Raises ConfigError where they are too few
    for any statement.
    """
    allowed = count_allowed(calls, limit, confidence)
    if allowed < 0:
        raise ConfigError(
            f"{calls:,} right replies are too few: a harm of at most {limit:.2%} with"
            f" {confidence:.0%} confidence needs {count_needed(limit, confidence):,}, and none of"
            " them harmed",
            hint="give more data sets, as with --bfcl, or rows of your own with --right",
        )
    return allowed


def choose_cut(
    score: HarmScore,
    outcomes: Sequence[Outcome],
    limit: float = LIMIT,
    confidence: float = CONFIDENCE,
    source: str = "",
) -> Cut:
    """Return the highest cut whose harm is bounded. Raises ConfigError for too few right replies."""
    right = [one for one in outcomes if one.was_right]
    allowed = check_count(len(right), limit, confidence)
    harmful = sorted(_rate(score, one) for one in right if one.is_harm)
    cut = harmful[allowed] if len(harmful) > allowed else 1.0
    harms = sum(rate < cut for rate in harmful)
    helps = sum(one.is_help and _rate(score, one) < cut for one in outcomes)
    upper = compute_upper_bound(harms, len(right), confidence)
    wrong = len(outcomes) - len(right)
    return Cut(score, cut, len(right), harms, upper, helps, wrong, source)


def _rate(score: HarmScore, outcome: Outcome) -> float:
    assert outcome.features is not None
    return score.rate(outcome.features)
