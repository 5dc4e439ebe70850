"""The table of a data set."""

from __future__ import annotations

from callwright_lab.verify.dataset.account import Defect
from callwright_lab.verify.dataset.report import build_class_grid, build_quality_grid
from callwright_lab.verify.dataset.rules import Judged, measure_rates

FOUND = measure_rates(
    [Judged("a", (Defect("no_answer", ""), Defect("contradiction", ""))), Judged("b", ())]
)


def test_shares_stand_under_the_papers_columns() -> None:
    head, _, line = build_quality_grid("mine", FOUND).markdown().splitlines()
    criteria = (
        "Specificity | Coherence | Solvability | Request | Alignment | Sufficiency | Minimality |"
        " Calls"
    )
    assert head == f"| data | rows | {criteria} |"
    assert line.startswith("| mine | 2 | 100.0%")
    assert "| 50.0% | 100.0% | 50.0% |" in line


def test_a_class_says_what_it_counts_as_and_why() -> None:
    table = build_class_grid(FOUND).markdown()
    assert "| no_answer | 1 | 50.0% | sufficiency | defect | 50 of 50 |" in table
    assert "| contradiction | 1 | 50.0% | sufficiency | suspicion | never read |" in table
