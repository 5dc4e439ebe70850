"""What is a defect and what a suspicion follows from what was read, row by row, and is on
record.
"""

from __future__ import annotations

import json
from collections import Counter

from callwright_lab.verify.dataset.precision import LEAST, READ, Read, is_defect
from callwright_lab.verify.dataset.rules import KINDS
from tests.places import DOCS

RECORD = DOCS / "results" / "dataset_precision.jsonl"
ROWS = [json.loads(line) for line in RECORD.read_text(encoding="utf-8").splitlines()]


def test_the_table_is_the_last_reading_of_fresh_rows() -> None:
    fresh = [r for r in ROWS if r.get("fresh", True)]
    last = {
        kind: max(r["reading"] for r in fresh if r["kind"] == kind)
        for kind in {r["kind"] for r in fresh}
    }
    counts = Counter((r["kind"], r["right"]) for r in fresh if r["reading"] == last[r["kind"]])
    assert {
        kind: Read(counts[kind, True] + counts[kind, False], counts[kind, True]) for kind in last
    } == READ


def test_every_verdict_names_its_row_and_says_why() -> None:
    for r in ROWS:
        assert r["kind"] in KINDS
        assert r["id"]
        assert r["set"]
        assert isinstance(r["right"], bool)
        assert 0 < len(r["why"]) <= 120
    per_class = Counter((r["kind"], r["reading"]) for r in ROWS if "since" not in r)
    assert max(per_class.values()) <= 50


def test_below_four_of_five_or_hardly_read_is_a_suspicion() -> None:
    assert is_defect("no_answer")
    assert is_defect("value_from_nowhere")
    assert not is_defect("unnamed_value")
    assert not is_defect("placeholder")
    assert not is_defect("contradiction")
    assert Read().precision is None
    assert all(
        is_defect(kind) == (r.read >= 3 and (r.precision or 0) >= LEAST) for kind, r in READ.items()
    )
