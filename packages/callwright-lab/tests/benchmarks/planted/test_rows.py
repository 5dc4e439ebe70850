"""Rows and their arguments."""

from __future__ import annotations

from dataclasses import replace

from callwright_lab.benchmarks.planted.rows import GONE, change_call, iter_places, replace_members
from callwright_lab.transcripts import Transcript
from tests.training.toolmvr_case import bought

ROW = Transcript(bought())


def test_every_argument_has_its_place_and_none_where_messages_are_cut() -> None:
    assert next(iter(iter_places(ROW))) == (0, 0, "city", "Bari")
    assert {at for at, *_ in iter_places(replace(ROW, cut=frozenset({0})))} == {1}


def test_a_call_is_changed_with_its_result_and_nothing_else() -> None:
    made = change_call(
        ROW, 0, 0, {"city": "Rome", "open_on": GONE, "more": 1}, "find_shops"
    ).trajectory
    assert made.calls[0].arguments == made.results[0].arguments == {"city": "Rome", "more": 1}
    assert made.calls[0].tool == made.results[0].tool == "find_shops"
    assert made.steps[1:] == ROW.trajectory.steps[1:]
    assert replace_members(ROW, answer="no").trajectory.answer == "no"
