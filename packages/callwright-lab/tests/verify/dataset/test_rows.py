"""The rows of a data set in a sweep."""

from __future__ import annotations

import json
from dataclasses import replace

from callwright.testing import ScriptedModel
from callwright_lab.verify.budget import Meter
from callwright_lab.verify.dataset.rows import DatasetVerifier, make_transcript_key, parse_judged
from callwright_lab.verify.dataset.rules import CALLS, QUERY
from tests.verify.rows import FOUND, GOOD, row, step

GOOD_ROW = row(step("find_flight", GOOD, FOUND))
SUSPECT = row(
    step("find_flight", GOOD, FOUND), step("book", {"flight_id": "your_flight_id"}, {"ok": 1}, "c2")
)
HOLDS = {c: c != "alignment" for c in (*QUERY, *CALLS)}
WANTING = json.dumps({"reason": "r", **HOLDS})


async def test_a_row_with_a_defect_is_dropped_and_one_with_a_suspicion_only_if_strict() -> None:
    bad = row(step("find_flight", GOOD, FOUND), answer=None)
    verifier = DatasetVerifier([GOOD_ROW, bad])
    kept, dropped = [await verifier.judge(r.item, Meter()) for r in verifier.rows()]
    assert (kept.kept, kept.category) == (True, "")
    assert (dropped.kept, dropped.category) == (False, "no_answer")
    assert [d.kind for d in parse_judged(dropped).found] == ["no_answer", "repeated_request"]
    for strict in (False, True):
        found = await DatasetVerifier([SUSPECT], strict=strict).judge((SUSPECT, 0), Meter())
        assert found.kept is not strict


async def test_a_row_that_repeats_another_is_found_once() -> None:
    again = replace(GOOD_ROW, trajectory=replace(GOOD_ROW.trajectory, answer="Yes, BA-7731."))
    verifier = DatasetVerifier([GOOD_ROW, again])
    first, second = [
        parse_judged(await verifier.judge(r.item, Meter())).found for r in verifier.rows()
    ]
    assert [d.kind for d in first] == []
    assert [d.kind for d in second] == ["repeated_request"]


async def test_a_row_that_stands_there_twice_is_found_and_is_another_finding_than_alone() -> None:
    verifier = DatasetVerifier([GOOD_ROW, GOOD_ROW])
    (alone,), (first, second) = DatasetVerifier([GOOD_ROW]).rows(), verifier.rows()
    assert first.key == alone.key != second.key
    found = parse_judged(await verifier.judge(second.item, Meter())).found
    assert [d.kind for d in found] == ["repeated_request"]


async def test_judges_are_heard_beside_the_rules() -> None:
    judges = {name: ScriptedModel([WANTING, WANTING]) for name in ("a", "b")}
    for strict in (False, True):
        found = await DatasetVerifier([GOOD_ROW], judges=judges, strict=strict).judge(
            (GOOD_ROW, 0), Meter()
        )
        assert found.found["wanting"] == ["alignment"]
        assert found.kept is not strict


def test_the_key_changes_with_what_the_record_says() -> None:
    assert make_transcript_key(GOOD_ROW) != make_transcript_key(
        replace(GOOD_ROW, cut=frozenset({0}))
    )
    assert len({r.key for r in DatasetVerifier([GOOD_ROW, SUSPECT]).rows()}) == 2
