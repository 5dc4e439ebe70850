"""Endings that are wrong."""

from __future__ import annotations

from random import Random

from callwright_lab.benchmarks.planted.endings import ENDINGS
from callwright_lab.benchmarks.planted.texts import ADMISSIONS, QUESTIONS, UNHEARD
from callwright_lab.transcripts import Transcript
from tests.training.toolmvr_case import bought

ROW = Transcript(bought())


def test_answers_are_replaced_or_said_more_than_is_known() -> None:
    for kind, texts in (("asks_back", QUESTIONS), ("admitted_failure", ADMISSIONS)):
        made = ENDINGS[kind](ROW, Random(0), [])  # type: ignore[index]
        assert made is not None
        assert made[0].trajectory.answer in texts
    made = ENDINGS["unsupported"](ROW, Random(0), [])
    assert made is not None
    assert made[0].trajectory.answer == f"7.50 {made[1]}"
    assert made[1] in UNHEARD


def test_results_all_fail_and_the_answer_stays() -> None:
    made = ENDINGS["failure_as_success"](ROW, Random(0), [])
    assert made is not None
    assert made[0].trajectory.answer == ROW.trajectory.answer
    assert {str(r.content) for r in made[0].trajectory.results}.isdisjoint(
        {str(r.content) for r in bought().results}
    )


def test_a_number_of_the_answer_that_a_result_holds_is_changed() -> None:
    row = Transcript(bought())
    said = ENDINGS["contradiction"](row, Random(0), [])
    assert said is None, "7.50 does not stand in the results so"
