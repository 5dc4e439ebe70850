"""Tables of errors recognised and corrected."""

from __future__ import annotations

from typing import Any

from callwright_lab.benchmarks.recovery.report import recovery_report, render_judged_table
from callwright_lab.recovery import format_share


def row(task: str, strategy: str, corrected: bool, **more: Any) -> dict[str, Any]:
    facts = {
        "met": True,
        "recognised": True,
        "corrected": corrected,
        "told": False,
        "mendable": True,
    }
    head = {
        "task": task,
        "strategy": strategy,
        "model": "m",
        "config": "c",
        "kind": "misnamed",
        "half": "dev",
    }
    costs = {"model_calls": 3, "prompt_tokens": 100, "completion_tokens": 10, "calls": 2}
    return {**head, **facts, **costs, "success": corrected, **more}


def test_rates_stand_with_their_intervals_and_by_kind() -> None:
    said = recovery_report(
        [row("a", "react", False), row("b", "react", True), row("c", "react", False, met=False)]
    )
    of_met, of_all = "1/2 = 50 % (9 – 91)", "1/3 = 33 % (6 – 79)"
    assert f"| react | 2/3 | 2/2 = 100 % (34 – 100) | {of_met} | {of_all} | 0/2 |" in said
    assert "| corrected, by kind | misnamed |" in said


def test_an_error_that_no_call_can_correct_is_no_failure_to_correct_it() -> None:
    said = recovery_report([row("a", "react", True), row("b", "react", False, mendable=False)])
    once = "1/1 = 100 % (21 – 100)"
    assert f"| react | 2/2 | 2/2 = 100 % (34 – 100) | {once} | {once} | 0/2 |" in said


def test_two_strategies_are_compared_on_the_errors_that_both_met_and_on_all() -> None:
    rows = [row("a", "layered", True), row("b", "layered", True), row("c", "layered", True)]
    rows += [row("a", "react", False), row("b", "react", True), row("c", "react", False, met=False)]
    said = recovery_report(rows)
    assert "| layered against react | ECR of met | 2 | +50.0 " in said
    assert "| 2.00 | 1 and 0, p = 1 |" in said
    assert "| layered against react | ECR of all | 3 | +66.7 " in said
    assert "| 3.00 | 2 and 0, p = 0.5 |" in said
    assert "| layered against react | task right | 3 | +66.7 " in said


def test_every_strategy_is_held_against_react_as_published_and_ours() -> None:
    names = ("react-no-repair", "react", "layered", "dfsdt")
    said = recovery_report(row(task, name, name == "layered") for task in "ab" for name in names)
    pairs = [
        line.split(" | ")[0][2:] for line in said.splitlines() if " | task right | 2 |" in line
    ]
    assert sorted(pairs) == [
        "dfsdt against react",
        "dfsdt against react-no-repair",
        "layered against react",
        "layered against react-no-repair",
        "react against react-no-repair",
    ]


def test_where_no_baseline_was_run_each_two_are_compared() -> None:
    said = recovery_report(row("a", name, True) for name in ("layered", "dag", "dfsdt"))
    assert said.count("| ECR of met | 1 |") == 3


def test_nothing_run_is_said() -> None:
    assert recovery_report([]) == "No finished runs yet."
    assert format_share(0, 0) == "–"


def judged(task: str, verdict: str, more: str, run: int = 0, **rest: Any) -> dict[str, Any]:
    head = {
        "judge": "gpt",
        "config": "j",
        "system": "react, m",
        "part": "misnamed",
        "item": f"{task} react m c",
    }
    return {**head, "run": run, "verdict": verdict, "more": more, **rest}


def test_judged_rates_have_names_of_their_own_and_count_only_what_could_be_read() -> None:
    said = render_judged_table(
        [judged("a", "Pass", "Pass"), judged("b", "Pass", "Fail"), judged("c", "", "")]
    )
    assert (
        "| gpt (j) | react, m | 100.0 (2) | 100.0 (2) | 50.0 (2) | 50.0 (2) | – | – | – | 1 |"
        in said
    )


def test_a_judges_rates_stand_beside_its_agreement_with_code_and_with_itself() -> None:
    runs = [row("a", "react", True), row("b", "react", False, recognised=False)]
    rows = [
        judged(task, "Pass", more, run)
        for run, more in enumerate(("Pass", "Fail"))
        for task in "ab"
    ]
    rows += [judged("a", "Pass", "Pass", 2), judged("b", "Pass", "Fail", 2)]
    said = render_judged_table(rows, runs)
    assert "| 1/2 = 50 % (9–91), κ 0.00 | 2/2 = 100 % (34–100), κ 1.00 | 2/6 = 33 %" in said


def test_a_run_that_was_judged_anew_counts_once() -> None:
    said = render_judged_table(
        [judged("a", "Fail", "Fail", content="old"), judged("a", "Pass", "Pass", content="new")]
    )
    assert "| gpt (j) | react, m | 100.0 (1) |" in said


def test_several_systems_of_one_judge_are_also_told_together() -> None:
    said = render_judged_table(
        [
            judged("a", "Pass", "Pass"),
            judged("a", "Fail", "Fail", system="dag, m", item="a dag m c"),
        ]
    )
    assert "| gpt (j) | all of them | 50.0 (2) |" in said
