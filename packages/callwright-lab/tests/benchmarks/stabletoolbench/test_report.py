"""The papers' tables, a column a group."""

from __future__ import annotations

from typing import Any

from callwright_lab.benchmarks.stabletoolbench.report import render_cost_table, render_stable_report


def said(
    measure: str, task: str, run: int, verdict: str, system: str = "react, m", **more: Any
) -> dict[str, Any]:
    head = {
        "judge": "gpt",
        "config": "c",
        "measure": measure,
        "item": f"{system}|{task}",
        "run": run,
    }
    head |= {"asked": 1, "more": ""}
    return {
        **head,
        "verdict": verdict,
        "system": system,
        "group": task.partition("/")[0],
        "solvable": True,
        **more,
    }


def test_a_pass_rate_is_mean_and_deviation_of_the_judged_runs_by_group() -> None:
    rows = [
        said("sopr", "G1/1", run, verdict)
        for run, verdict in enumerate(("Solved", "Solved", "Unsolved"))
    ]
    rows += [said("sopr", "G2/1", 0, "Unsure")]
    text = render_stable_report(rows, [])
    assert "SoPR, %" in text
    assert "| react, m | 66.7±47.1 (1) | 50.0±0.0 (1) | 58.3 | 0 |" in text
    assert "| gpt (c) | SoPR (ToolEval's questions) | 1/3 = 33 %" in text, (
        "beside how often the judge repeats itself"
    )


def test_groups_stand_as_the_papers_print_them() -> None:
    rows = [
        said("sopr", f"{group}/1", 0, "Solved")
        for group in ("G1_category", "G1_instruction", "G1_tool", "X")
    ]
    assert "| system | G1_instruction | G1_tool | G1_category | X |" in render_stable_report(
        rows, []
    )


def test_comparisons_show_win_lose_and_tie() -> None:
    rows = [
        said("sowr", "G1/1", 0, "win"),
        said("sowr", "G1/2", 0, "tie"),
        said("sowr", "G1/3", 0, "lose"),
    ]
    assert "| react, m | 1/1/1 = 50.0 % | 50.0 % | 0 |" in render_stable_report(rows, [])
    rows = [{**row, "measure": "wr"} for row in rows]
    assert "| react, m | 1/1/1 = 33.3 % | 33.3 % | 0 |" in render_stable_report(rows, [])


def test_tasks_that_nobody_filtered_never_stand_under_the_solvable_names() -> None:
    text = render_stable_report([said("sopr", "G1/1", 0, "Solved", solvable=False)], [])
    assert "SoPR, %" not in text
    assert "No SoPR, and no SoWR." in text


def test_every_judge_has_tables_of_its_own() -> None:
    rows = [said("pr", "G1/1", 0, "Pass"), said("pr", "G1/1", 0, "Fail", judge="small")]
    text = render_stable_report(rows, [])
    assert text.index("Judge gpt (c).") < text.index("100.0±0.0") < text.index("Judge small (c).")


def test_costs_are_means_and_what_a_file_does_not_tell_is_a_dash() -> None:
    ours = {
        "system": "react, m",
        "group": "G1",
        "tokens": 1000,
        "steps": 4,
        "calls": 2,
        "answered": True,
    }
    theirs = {
        "system": "gpt-3.5",
        "group": "G2",
        "tokens": None,
        "steps": 6,
        "calls": 3,
        "answered": False,
    }
    text = render_cost_table([ours, {**ours, "tokens": 3000, "answered": False}, theirs])
    assert "| react, m, tokens | 2,000 | – | 2,000 |" in text
    assert "| react, m, answered | 0.50 (2) | – | 0.50 (2) |" in text
    assert "gpt-3.5, tokens" not in text
    assert "| gpt-3.5, calls | – | 3.00 (1) | 3.00 (1) |" in text


def test_nothing_run_is_said() -> None:
    assert render_stable_report([], []) == "No finished runs yet."
