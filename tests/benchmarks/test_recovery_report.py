"""Tables of errors recognised and corrected."""

from __future__ import annotations

from typing import Any

from callwright.benchmarks.recovery_report import judged_table, recovery_report, share


def row(task: str, strategy: str, corrected: bool, **more: Any) -> dict[str, Any]:
    facts = {"met": True, "recognised": True, "corrected": corrected, "told": False, "mendable": True}
    head = {"task": task, "strategy": strategy, "model": "m", "config": "c", "kind": "misnamed", "half": "dev"}
    costs = {"model_calls": 3, "prompt_tokens": 100, "completion_tokens": 10, "calls": 2}
    return {**head, **facts, **costs, "success": corrected, **more}


def test_rates_stand_with_their_intervals_and_by_kind() -> None:
    said = recovery_report([row("a", "react", False), row("b", "react", True), row("c", "react", False, met=False)])
    assert "| react | 2/3 | 2/2 = 100 % (34 – 100) | 1/2 = 50 % (9 – 91) | 0/2 |" in said
    assert "| corrected, by kind | misnamed |" in said


def test_an_error_that_no_call_can_correct_is_no_failure_to_correct_it() -> None:
    said = recovery_report([row("a", "react", True), row("b", "react", False, mendable=False)])
    assert "| react | 2/2 | 2/2 = 100 % (34 – 100) | 1/1 = 100 % (21 – 100) | 0/2 |" in said


def test_two_strategies_are_compared_on_the_errors_that_both_met() -> None:
    rows = [row("a", "layered", True), row("b", "layered", True), row("c", "layered", True)]
    rows += [row("a", "react", False), row("b", "react", True), row("c", "react", False, met=False)]
    said = recovery_report(rows)
    assert "| layered against react | 2 | +50.0 " in said
    assert "| 2.00 | 1 and 0, p = 1 |" in said


def test_nothing_run_is_said() -> None:
    assert recovery_report([]) == "No finished runs yet."
    assert share(0, 0) == "–"


def test_judged_rates_have_names_of_their_own_and_count_only_what_could_be_read() -> None:
    head = {"judge": "gpt", "system": "react, m", "part": "misnamed"}
    rows = [{**head, "verdict": "Pass", "more": "Pass"}, {**head, "verdict": "Pass", "more": "Fail"}]
    said = judged_table([*rows, {**head, "verdict": "", "more": ""}])
    assert "| gpt | react, m | 100.0 (2) | 100.0 (2) | 50.0 (2) | 50.0 (2) | 1 |" in said
