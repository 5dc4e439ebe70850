"""A data set by Table 1's criteria."""

from __future__ import annotations

from typing import get_args

from callwright_lab.verify.dataset.account import Defect, DefectKind
from callwright_lab.verify.dataset.rules import (
    CALLS,
    CRITERIA,
    KINDS,
    QUERY,
    Judged,
    find_defects,
    measure_rates,
)
from tests.verify.rows import FOUND, GOOD, row, step


def test_a_row_that_is_right_has_no_finding() -> None:
    assert find_defects(row(step("find_flight", GOOD, FOUND))) == ()


def test_every_class_speaks_against_one_criterion() -> None:
    assert set(CRITERIA) == set(get_args(DefectKind)) == set(KINDS)
    assert set(CRITERIA.values()) == {*QUERY, *CALLS}


def test_shares_count_rows_and_only_what_is_a_defect() -> None:
    rows = [
        Judged("a", (Defect("no_answer", ""), Defect("no_answer", ""))),
        Judged("b", (Defect("broken_request", ""),)),
        Judged("c", (Defect("placeholder", ""),)),  # read once: a suspicion
        Judged("d", ()),
    ]
    found = measure_rates(rows)
    assert (found.rows, found.query, found.calls) == (4, 0.75, 0.75)
    assert (
        found.quality["sufficiency"],
        found.quality["coherence"],
        found.quality["specificity"],
    ) == (0.75, 0.75, 1)
    assert (found.kinds["no_answer"], found.kinds["placeholder"], found.kinds["repeated_call"]) == (
        1,
        1,
        0,
    )
    assert rows[2].against("specificity", suspicions=True)


def test_a_set_without_rows_has_nothing_against_it() -> None:
    assert measure_rates([]).query == 1.0


def test_findings_stand_in_the_order_of_the_rounds_and_the_answers_last() -> None:
    found = find_defects(
        row(
            step("fly", {}, FOUND),
            step("find_flight", {"city": "Bari"}, FOUND, "c2"),
            answer="I'm sorry, no.",
        )
    )
    assert [d.step for d in found if d.step >= 0] == sorted(d.step for d in found if d.step >= 0)
    assert (found[0].kind, found[-1].kind) == ("unknown_tool", "admitted_failure")
