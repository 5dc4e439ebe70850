"""What is said of a judge: repeats, swapped places, agreement with gold."""

from __future__ import annotations

from callwright_lab.benchmarks.judge.check import (
    Agreement,
    measure_gold_agreement,
    measure_repeat_agreement,
    measure_swap_agreement,
    measure_winner_agreement,
    render_check_table,
)


def test_repeats_are_pairs_of_repetitions_that_say_the_same() -> None:
    found = measure_repeat_agreement(
        {"a": {0: "Pass", 1: "Pass", 2: "Fail"}, "b": {0: "Fail", 1: "", 2: "Fail"}}
    )
    assert (found.agree, found.total) == (2, 4)


def test_a_judge_who_always_takes_the_first_keeps_no_winner_when_places_change() -> None:
    assert measure_swap_agreement({"a": "win", "b": "win"}, {"a": "lose", "b": "lose"}).agree == 0
    assert measure_swap_agreement(
        {"a": "win", "b": "lose", "c": "win"}, {"a": "win", "b": "lose"}
    ) == Agreement(2, 2, 1.0)


def test_agreement_with_gold_counts_unsure_as_not_right() -> None:
    said = {"a": {0: "Pass"}, "b": {0: "Unsure"}, "c": {0: "Pass"}, "d": {0: ""}}
    assert measure_gold_agreement(said, {"a": True, "b": False, "c": False, "d": True}).agree == 2
    assert measure_gold_agreement(said, {"a": True, "b": False, "c": False, "d": True}).total == 3


def test_a_win_agrees_with_gold_where_gold_calls_one_right_and_the_other_wrong() -> None:
    gold = {"a": True, "b": False, "c": True}
    said = {
        "a | b": {0: "win", 1: "lose", 2: "win"},
        "b | c": {0: "win"},
        "a | c": {0: "win"},
        "b | a": {0: ""},
    }
    found = measure_winner_agreement(said, gold)
    assert (found.agree, found.total) == (1, 2)
    tie = measure_winner_agreement({"a | b": {0: "win", 1: "lose"}}, gold)
    assert (tie.agree, tie.total) == (0, 1)


def test_the_table_has_a_line_for_each_judge_and_measure_and_leaves_out_what_was_not_asked() -> (
    None
):
    def row(
        measure: str, item: str, run: int, verdict: str, more: str = "", asked: int = 1
    ) -> dict[str, object]:
        head = {"judge": "m", "config": "c", "measure": measure, "item": item}
        return {**head, "run": run, "verdict": verdict, "more": more, "asked": asked}

    rows = [
        row("pr", "a", 0, "Pass"),
        row("pr", "a", 1, "Pass"),
        row("pr", "b", 0, "Unsolved", asked=0),
        row("wr", "a | b", 0, "win"),
        row("wr", "a | b", 1, "lose", "swapped"),
    ]
    lines = render_check_table(rows, {"a": True}).splitlines()
    assert len(lines) == 4
    assert "1/1 = 100 %" in lines[2]
    assert "Pass 2" in lines[2]
    assert "0/1 = 0 %" in lines[3]


def test_nothing_to_compare_is_a_dash() -> None:
    assert str(Agreement(0, 0)) == "–"
