"""A sweep's page: every finding once, categories and reasons counted, what judges said, the cost,
what is left.
"""

from __future__ import annotations

from callwright.nouns.types import Usage
from callwright.viewer import Bars, Lines, Table, render_report_page
from callwright_lab.verify.budget import Budget, Cost
from callwright_lab.verify.reporting.page import Stage, build_histogram, build_sweep_report
from callwright_lab.verify.sweep import Finding, Sweep

COST = Cost(2, 1, Usage(30, 4), 1.5)
FINDINGS = (
    Finding(True, "alive", "answers", {"votes": {"a": "valid", "b": "valid"}}, "one", "1", COST),
    Finding(
        False,
        "dead: auth",
        "403",
        {"votes": {"a": "valid", "b": "invalid"}, "why": ["auth", "auth"]},
        "two",
        "2",
    ),
    Finding(False, "dead: auth", "401", {"why": ["auth", "key"]}, "three", "3", COST),
)
MADE = Sweep(FINDINGS, ("four",), "the budget of 5 calls is spent", 1, COST)
STAGE = Stage(
    "Tools",
    lambda one: [Lines("said", one.why)],
    lambda one: one.found.get("why", ()),
    votes=lambda one: one.found.get("votes", {}),
    budget=Budget(calls=5, minutes=2),
)


def test_the_head_says_what_was_kept_spent_and_left() -> None:
    report = build_sweep_report(MADE, STAGE)
    assert report.facts["kept"] == "1 of 3 (33.3%)"
    assert report.facts["calls of tools"] == "4; now 2 of 5 allowed"
    assert report.facts["model calls"] == "2; now 1"
    assert report.facts["tokens in / out"] == "60 / 8"
    assert report.facts["minutes allowed"] == "2"
    assert report.note.startswith("1 rows are left to judge: the budget of 5 calls is spent.")


def test_categories_and_reasons_are_counted_by_rows_and_lead_to_one() -> None:
    categories, reasons = build_sweep_report(MADE, STAGE).parts[:2]
    assert isinstance(categories, Bars)
    assert isinstance(reasons, Bars)
    assert [(bar.name, bar.count, bar.item) for bar in categories.bars] == [
        ("kept: alive", 1, 0),
        ("dropped: dead: auth", 2, 1),
    ]
    assert [(bar.name, bar.count) for bar in reasons.bars] == [("auth", 2), ("key", 1)]
    assert reasons.total == 3


def test_judges_are_told_by_their_votes_and_their_agreement() -> None:
    votes, agreed = (
        part for part in build_sweep_report(MADE, STAGE).parts if isinstance(part, Table)
    )
    assert (list(votes.heads), list(votes.rows)) == (
        ["judge", "invalid", "valid"],
        [["a", "0", "2"], ["b", "1", "1"]],
    )
    assert agreed.rows[0][:2] == ["a and b", "50.0%"]
    assert "pairwise agreement 0.50" in agreed.note
    alone = Stage("Tools", STAGE.evidence, STAGE.reasons, votes=lambda _: {"a": "valid"})
    assert sum(isinstance(part, Table) for part in build_sweep_report(MADE, alone).parts) == 1, (
        "one judge agrees with nobody"
    )


def test_every_finding_is_an_item_with_its_evidence_and_cost() -> None:
    items = build_sweep_report(MADE, STAGE).items
    assert [(item.name, item.kept, item.category, item.why) for item in items] == [
        ("one", True, "alive", "answers"),
        ("two", False, "dead: auth", "403"),
        ("three", False, "dead: auth", "401"),
    ]
    assert [len(item.evidence) for item in items] == [2, 1, 2]
    assert "seconds of models" in render_report_page(build_sweep_report(MADE, STAGE))
    assert build_sweep_report(Sweep(()), STAGE).facts["kept"] == "0 of 0"


def test_a_histogram_counts_every_score_and_marks_what_is_kept() -> None:
    made = build_histogram("Quality", [8, 8, 3, 0], 8)
    assert {bar.name: (bar.count, bar.state) for bar in made.bars if bar.count} == {
        "3": (1, "failed"),
        "8": (2, "ok"),
        "none": (1, "idle"),
    }
    assert len(made.bars) == 11
    assert made.total == 4
