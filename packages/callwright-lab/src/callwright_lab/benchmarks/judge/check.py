"""Measures the reliability of a judge: repeatability, sensitivity to the order of two answers, and
agreement with gold. Pure: rows of verdicts in, a table out. A judge's figures are shown with these,
never without.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from callwright.nouns.types import JsonObject
from callwright_lab.benchmarks.comparison.paired import wilson_interval
from callwright_lab.benchmarks.comparison.report import render_table
from callwright_lab.benchmarks.judge.rates import SCORES, decide_outcome, take_majority
from callwright_lab.verify.committee import compute_cohen_kappa

MEASURES = {
    "sopr": "SoPR (ToolEval's questions)",
    "pr": "PR (Tool-MVR, Table 5)",
    "sowr": "SoWR (ToolEval's question)",
    "wr": "WR (Tool-MVR, Table 6)",
    "recovery": "ERR and ECR (Tool-MVR, Table 7)",
}


@dataclass(frozen=True, slots=True)
class Agreement:
    """Number of items that agree out of a total, and Cohen's kappa where it is defined."""

    agree: int
    total: int
    kappa: float | None = None

    def __str__(self) -> str:
        if not self.total:
            return "–"
        share = wilson_interval(self.agree, self.total)
        beyond = "" if self.kappa is None else f", κ {self.kappa:.2f}"
        span = f"{100 * share.low:.0f}–{100 * share.high:.0f}"
        return f"{self.agree}/{self.total} = {100 * share.value:.0f} % ({span}){beyond}"


def measure_repeat_agreement(said: Mapping[str, Mapping[int, str]]) -> Agreement:
    """The share of pairs of repetitions of one item that say the same. Those decided without a
    question count too: leave them out beforehand where they would flatter.
    """
    pairs = [
        (a, b)
        for runs in said.values()
        for a, b in combinations(list(filter(None, runs.values())), 2)
    ]
    return Agreement(sum(a == b for a, b in pairs), len(pairs), compute_cohen_kappa(pairs))


def measure_swap_agreement(straight: Mapping[str, str], swapped: Mapping[str, str]) -> Agreement:
    """The share of comparisons that keep their winner when the two change places."""
    pairs = [
        (straight[key], swapped[key]) for key in straight if straight[key] and swapped.get(key)
    ]
    return Agreement(sum(a == b for a, b in pairs), len(pairs), compute_cohen_kappa(pairs))


def measure_gold_agreement(
    said: Mapping[str, Mapping[int, str]], gold: Mapping[str, bool]
) -> Agreement:
    """Majority of the judge against a scorer that knows: Pass and Solved are right, the rest is
    not.
    """
    pairs = []
    for key, runs in said.items():
        value = take_majority(runs.values())
        if value and key in gold:
            pairs.append(
                ("right" if SCORES[value] == 1 else "wrong", "right" if gold[key] else "wrong")
            )
    return Agreement(sum(a == b for a, b in pairs), len(pairs), compute_cohen_kappa(pairs))


def measure_winner_agreement(
    said: Mapping[str, Mapping[int, str]], gold: Mapping[str, bool]
) -> Agreement:
    """Comparisons ``one | other`` against a scorer that knows, where it calls one right and the other wrong: does the
    right one win by the majority of the repetitions? A tie is no agreement."""
    pairs = []
    for key, runs in said.items():
        known = [gold[part] for part in key.split(" | ") if part in gold]
        value = decide_outcome(runs.values())
        if value and len(known) == 2 and known[0] != known[1]:
            pairs.append((value, "win" if known[0] else "lose"))
    return Agreement(sum(a == b for a, b in pairs), len(pairs), compute_cohen_kappa(pairs))


def render_check_table(rows: Sequence[JsonObject], gold: Mapping[str, bool]) -> str:
    """One line a judge, way of asking and measure: repeat agreement, position swap, agreement with
    gold.
    """
    lines = [
        [
            "judge",
            "measure",
            "repeats alike",
            "keeps its winner swapped",
            "agrees with gold",
            "says",
            "unread",
        ]
    ]
    groups: dict[tuple[str, str, str], list[JsonObject]] = {}
    for row in rows:
        groups.setdefault((row["judge"], row["config"], row["measure"]), []).append(row)
    for (judge, config, measure), found in sorted(groups.items()):
        asked = [row for row in found if row["asked"]]
        counts = Counter(row["verdict"] for row in asked)
        said = ", ".join(f"{value} {n}" for value, n in sorted(counts.items()) if value)
        paired = measure in ("sowr", "wr")
        lines.append(
            [
                f"{judge} ({config})",
                MEASURES.get(measure, measure),
                str(measure_repeat_agreement(_group_by_item(row for row in asked if not paired))),
                str(
                    measure_swap_agreement(
                        _select_by_order(asked, ""), _select_by_order(asked, "swapped")
                    )
                )
                if paired
                else "–",
                str(
                    (measure_winner_agreement if paired else measure_gold_agreement)(
                        _group_by_item(asked), gold
                    )
                ),
                said or "–",
                str(counts[""]),
            ]
        )
    return render_table(lines)


def _group_by_item(rows: Iterable[JsonObject]) -> dict[str, dict[int, str]]:
    found: dict[str, dict[int, str]] = {}
    for row in rows:
        found.setdefault(row["item"], {})[row["run"]] = row["verdict"]
    return found


def _select_by_order(rows: Sequence[JsonObject], place: str) -> dict[str, str]:
    """Comparison -> verdict of those that were shown in this order (the first repetition in it)."""
    found: dict[str, str] = {}
    for row in sorted(rows, key=lambda row: row["run"]):
        if row["more"] == place:
            found.setdefault(row["item"], row["verdict"])
    return found
