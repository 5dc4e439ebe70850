"""Somebody else's data set, judged by rule: Table 1's criteria, each with the classes of defect
that speak to it.

The criteria are those of "Quality Matters: Evaluating Synthetic Data for Tool-Using LLMs" (Iskander
et al., EMNLP 2024), which Tool-MVR's Table 1 follows: of a request, specificity, coherence and
solvability; of the calls, parameter alignment, sufficiency and minimality. There annotators or a
model judge; here deterministic rules find what a record itself shows, so that a row without a
finding is not thereby good: rates are lower bounds. How often a class is right was read by hand
(:mod:`callwright_lab.verify.dataset.precision`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

from callwright_lab.transcripts import Transcript
from callwright_lab.verify.dataset.account import Account, Defect, DefectKind
from callwright_lab.verify.dataset.calls import CALL_RULES
from callwright_lab.verify.dataset.ending import ENDING_RULES
from callwright_lab.verify.dataset.precision import is_defect
from callwright_lab.verify.dataset.request import REQUEST_RULES

Criterion = Literal[
    "specificity", "coherence", "solvability", "alignment", "sufficiency", "minimality"
]
QUERY: tuple[Criterion, ...] = ("specificity", "coherence", "solvability")
CALLS: tuple[Criterion, ...] = ("alignment", "sufficiency", "minimality")

CRITERIA: Mapping[DefectKind, Criterion] = {
    "unnamed_value": "specificity",
    "placeholder": "specificity",
    "asks_back": "specificity",
    "broken_request": "coherence",
    "impossible_date": "coherence",
    "repeated_request": "coherence",
    "tool_not_offered": "solvability",
    "given_up": "sufficiency",
    "unknown_tool": "alignment",
    "missing_input": "alignment",
    "unknown_argument": "alignment",
    "wrong_value": "alignment",
    "identifier_from_nowhere": "alignment",
    "day_from_nowhere": "alignment",
    "value_from_nowhere": "alignment",
    "dangling_reference": "alignment",
    "no_call": "sufficiency",
    "no_answer": "sufficiency",
    "admitted_failure": "sufficiency",
    "failure_as_success": "sufficiency",
    "unsupported": "sufficiency",
    "contradiction": "sufficiency",
    "repeated_call": "minimality",
    "unused_result": "minimality",
    "trial_and_error": "minimality",
}
"""What each class of defect speaks against."""

Rule: TypeAlias = Callable[[Account], Iterator[Defect]]
RULES: tuple[Rule, ...] = (*REQUEST_RULES, *CALL_RULES, *ENDING_RULES)
KINDS: tuple[DefectKind, ...] = get_args(DefectKind)


def find_defects(transcript: Transcript) -> tuple[Defect, ...]:
    """Everything the rules find in one row, in the order of its rounds; defects and suspicions
    alike.
    """
    account = Account(transcript)
    found = [defect for rule in RULES for defect in rule(account)]
    return tuple(
        sorted(found, key=lambda d: len(transcript.trajectory.steps) if d.step < 0 else d.step)
    )


@dataclass(frozen=True, slots=True)
class Judged:
    """One row and what was found in it."""

    id: str
    found: tuple[Defect, ...]

    def against(self, criterion: Criterion, *, suspicions: bool = False) -> bool:
        """Return True if a defect (or with ``suspicions`` also a suspicion) contradicts the
        criterion.
        """
        return any(
            CRITERIA[d.kind] == criterion for d in self.found if suspicions or is_defect(d.kind)
        )


@dataclass(frozen=True, slots=True)
class Rates:
    """Shares of rows, between 0 and 1. ``quality``: without a defect of the criterion; ``query``
    and ``calls``: without one of their three; ``kinds``: rows with at least one finding of the
    class.
    """

    rows: int
    quality: Mapping[Criterion, float]
    query: float
    calls: float
    kinds: Mapping[DefectKind, int]


def measure_rates(judged: Iterable[Judged]) -> Rates:
    """Table 1's columns over rows. A data set without rows has shares of 1."""
    rows = tuple(judged)
    counted = Counter(kind for row in rows for kind in {d.kind for d in row.found})
    kinds = {kind: counted[kind] for kind in KINDS}
    return Rates(
        len(rows),
        {c: _measure_share(rows, (c,)) for c in (*QUERY, *CALLS)},
        _measure_share(rows, QUERY),
        _measure_share(rows, CALLS),
        kinds,
    )


def _measure_share(rows: Sequence[Judged], criteria: Sequence[Criterion]) -> float:
    if not rows:
        return 1.0
    return sum(not any(row.against(c) for c in criteria) for row in rows) / len(rows)
