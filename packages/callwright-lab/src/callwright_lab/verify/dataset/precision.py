"""Holds the measured precision of each class of defect, and decides which classes count as defects.

The verdicts stand row by row in ``docs/results/dataset_precision.jsonl``: at most 50 rows per
class, or all if there are fewer. Beside them stands what a class found only ``since`` a later day.
If a rule was corrected after a reading, fresh rows were read; if the data hold none, the first
reading counts. A class is a *defect* if at least four of five findings that were read are right.
Otherwise it is a *suspicion*: it is reported, but no row is dropped for it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from callwright_lab.verify.dataset.account import DefectKind

LEAST = 0.8
FEWEST = 3  # readings below which nothing is proved


@dataclass(frozen=True, slots=True)
class Read:
    """Findings of a class that were read by hand, and how many of them were right."""

    read: int = 0
    right: int = 0

    @property
    def precision(self) -> float | None:
        """None where nothing was read."""
        return self.right / self.read if self.read else None


READ: Mapping[DefectKind, Read] = {
    "unnamed_value": Read(10, 6),
    "placeholder": Read(1, 1),
    "asks_back": Read(3, 2),
    "broken_request": Read(18, 18),
    "impossible_date": Read(4, 4),
    "repeated_request": Read(2, 2),
    "tool_not_offered": Read(3, 3),
    "given_up": Read(38, 38),
    "unknown_tool": Read(26, 22),
    "missing_input": Read(9, 3),
    "wrong_value": Read(12, 11),
    "identifier_from_nowhere": Read(18, 17),
    "value_from_nowhere": Read(45, 37),
    "no_answer": Read(50, 50),
    "admitted_failure": Read(26, 23),
    "unsupported": Read(3, 0),
    "repeated_call": Read(59, 57),
    "unused_result": Read(2, 0),
    "trial_and_error": Read(1, 0),
}
"""By class. What is not here was never read: the data sets at hand hold no finding of it."""


def is_defect(kind: DefectKind) -> bool:
    """Return True if findings of the class count as defects."""
    found = READ.get(kind, Read())
    return found.read >= FEWEST and found.right >= LEAST * found.read
