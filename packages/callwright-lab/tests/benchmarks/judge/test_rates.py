"""Rates of verdicts, by the papers' formulas."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright_lab.benchmarks.judge.rates import (
    SCORES,
    Wins,
    count_wins,
    decide_outcome,
    error_correction,
    error_recognition,
    pass_rate,
    take_majority,
)

SAID = st.sampled_from(["Pass", "Unsure", "Fail"])


def test_pass_counts_one_unsure_a_half_and_fail_nothing() -> None:
    rate = pass_rate({"a": {0: "Pass"}, "b": {0: "Unsure"}, "c": {0: "Fail"}})
    assert rate is not None
    assert (rate.mean, rate.deviation, rate.items) == (0.5, 0.0, 3)


def test_the_mean_and_deviation_are_of_the_runs() -> None:
    said = {
        "a": {0: "Solved", 1: "Solved", 2: "Unsolved"},
        "b": {0: "Solved", 1: "Unsure", 2: "Unsolved"},
    }
    rate = pass_rate(said)
    assert rate is not None
    assert rate.mean == pytest.approx((1 + 0.75 + 0) / 3)
    assert rate.deviation == pytest.approx(0.4249, abs=1e-4)  # numpy.std([1, .75, 0])
    assert str(rate) == "58.3±42.5"


def test_a_reply_that_could_not_be_read_is_counted_apart_and_never_a_failure() -> None:
    rate = pass_rate({"a": {0: "Pass", 1: ""}, "b": {0: "", 1: ""}})
    assert rate is not None
    assert (rate.mean, rate.items, rate.unread) == (1.0, 1, 3)
    assert pass_rate({"b": {0: ""}}) is None


@given(
    st.dictionaries(
        st.text(max_size=3), st.fixed_dictionaries({0: SAID, 1: SAID, 2: SAID}), min_size=1
    )
)
def test_a_rate_lies_between_its_worst_and_best_verdict(said: dict[str, dict[int, str]]) -> None:
    rate = pass_rate(said)
    assert rate is not None
    scores = [SCORES[v] for runs in said.values() for v in runs.values()]
    assert min(scores) - 1e-9 <= rate.mean <= max(scores) + 1e-9
    assert (rate.runs, rate.unread) == (3, 0)


def test_the_most_frequent_verdict_counts_and_a_draw_is_unsure() -> None:
    assert take_majority(["Pass", "Fail", "Pass"]) == "Pass"
    assert take_majority(["Solved", "Unsolved"]) == "Unsure"
    assert take_majority(["Pass", "Unsure", "Fail"]) == "Unsure"
    assert take_majority(["", ""]) == ""


def test_comparisons_count_by_majority_and_draws_are_ties() -> None:
    assert decide_outcome(["win", "win", "lose"]) == "win"
    assert decide_outcome(["win", "lose"]) == decide_outcome(["tie"]) == "tie"
    assert count_wins(
        {"a": {0: "win"}, "b": {0: "lose", 1: "win"}, "c": {0: "lose"}, "d": {0: ""}}
    ) == Wins(1, 1, 1)


def test_ties_are_half_a_win_for_retos_figure_and_none_for_tool_mvrs() -> None:
    counts = Wins(74, 88, 1)  # RETO, Table 4, I1-Inst.
    assert counts.with_ties == pytest.approx(74.5 / 163)
    assert counts.strict == pytest.approx(74 / 163)


def test_a_correction_counts_only_with_its_recognition() -> None:
    pairs = [("Pass", "Pass"), ("Pass", "Fail"), ("Fail", "Pass"), ("Fail", "Fail")]
    assert error_recognition(pairs) == 0.5
    assert error_correction(pairs) == 0.25
