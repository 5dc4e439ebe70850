"""Verdicts -> rates: Tool-MVR's Eq. (9) to (12), StableToolBench's solvable pass and win rate.
Pure.

A verdict that is "" is none: the item was judged and no reply could be read. It is counted apart,
not as a failure.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, pstdev

SCORES: Mapping[str, float] = {
    "Pass": 1.0,
    "Solved": 1.0,
    "Unsure": 0.5,
    "Fail": 0.0,
    "Unsolved": 0.0,
}


@dataclass(frozen=True, slots=True)
class Rate:
    """A share as the mean of the judged runs, with their deviation (population, as ToolEval's
    numpy.std).

    ``items`` were judged at least once; ``unread``: verdicts that could not be read.
    """

    mean: float
    deviation: float
    runs: int
    items: int
    unread: int = 0

    def __str__(self) -> str:
        return f"{100 * self.mean:.1f}±{100 * self.deviation:.1f}"


@dataclass(frozen=True, slots=True)
class Wins:
    """Comparisons of one candidate with a reference."""

    win: int = 0
    lose: int = 0
    tie: int = 0

    @property
    def total(self) -> int:
        return self.win + self.lose + self.tie

    @property
    def with_ties(self) -> float:
        """(wins + ties / 2) / all: SoWR as RETO computes it. Raises ZeroDivisionError without
        comparisons.
        """
        return (self.win + self.tie / 2) / self.total

    @property
    def strict(self) -> float:
        """Wins / all: Tool-MVR, Eq. (10). Raises ZeroDivisionError without comparisons."""
        return self.win / self.total


def pass_rate(verdicts: Mapping[str, Mapping[int, str]]) -> Rate | None:
    """Eq. (9), and SoPR: item -> run -> verdict. Each run's mean score over its items, then the
    mean of the runs.

    None where nothing was judged. Raises KeyError for a verdict that has no score.
    """
    runs = sorted({run for said in verdicts.values() for run in said})
    per_run = []
    for run in runs:
        scores = [SCORES[said[run]] for said in verdicts.values() if said.get(run)]
        if scores:
            per_run.append(fmean(scores))
    if not per_run:
        return None
    unread = sum(not value for said in verdicts.values() for value in said.values())
    items = sum(any(said.values()) for said in verdicts.values())
    return Rate(fmean(per_run), pstdev(per_run), len(per_run), items, unread)


def take_majority(values: Iterable[str]) -> str:
    """The most frequent verdict, "" among none; of equally frequent ones the one in the middle of
    Solved, Unsure, Unsolved (and Pass, Unsure, Fail), so that nothing is drawn by lot.
    """
    counts = Counter(filter(None, values))
    if not counts:
        return ""
    most = max(counts.values())
    best = sorted((v for v in counts if counts[v] == most), key=lambda v: SCORES.get(v, 0.5))
    if len(best) == 2 and {SCORES.get(v) for v in best} == {0.0, 1.0}:
        return "Unsure"
    return best[len(best) // 2]


def decide_outcome(values: Iterable[str]) -> str:
    """One comparison judged several times: ``win`` or ``lose`` by majority, ``tie`` where they
    balance, else "".
    """
    counts = Counter(filter(None, values))
    if not counts:
        return ""
    if counts["win"] == counts["lose"]:
        return "tie"
    if counts["win"] > counts["lose"]:
        return "win"
    return "lose"


def count_wins(verdicts: Mapping[str, Mapping[int, str]]) -> Wins:
    """Comparison -> run -> win, lose or tie: each comparison by its majority (StableToolBench)."""
    counts = Counter(decide_outcome(said.values()) for said in verdicts.values())
    return Wins(counts["win"], counts["lose"], counts["tie"])


def error_recognition(pairs: Sequence[tuple[str, str]]) -> float:
    """Eq. (11): the share of (recognition, correction) whose first is Pass. Raises
    ZeroDivisionError of none.
    """
    return sum(seen == "Pass" for seen, _ in pairs) / len(pairs)


def error_correction(pairs: Sequence[tuple[str, str]]) -> float:
    """Eq. (12): the share of (recognition, correction) of which both are Pass. ZeroDivisionError of
    none.
    """
    return sum(seen == "Pass" and repaired == "Pass" for seen, repaired in pairs) / len(pairs)
