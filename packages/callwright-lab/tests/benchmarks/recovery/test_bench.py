"""The command: rows, tables, and a judge beside them."""

from __future__ import annotations

from pathlib import Path

import pytest

from callwright.testing import ScriptedModel
from callwright_lab.benchmarks.comparison.comparison import Bench, run_task
from callwright_lab.benchmarks.comparison.rows import append_row, read_rows
from callwright_lab.benchmarks.judge.rows import Judge, judge_missing
from callwright_lab.benchmarks.recovery.bench import error_items, get_judged_path, main
from callwright_lab.benchmarks.recovery.desk import FaultyTasks
from tests.benchmarks.desk.test_bench import player
from tests.benchmarks.recovery.test_desk import row_of, task_of
from tests.benchmarks.rounds import programs

BOTH = {"content": "", "error_recognition": "Pass", "error_correction": "Pass"}


async def test_a_judge_is_shown_the_error_apart_from_what_followed(
    faulty: FaultyTasks, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    task = task_of(faulty, "beatrice-lopez")
    append_row(
        tmp_path / "rows.jsonl",
        await row_of(faulty, task, player(task), traces=tmp_path / "traces"),
    )
    items = error_items(faulty, read_rows(tmp_path / "rows.jsonl"), tmp_path)
    model = ScriptedModel({"judge": BOTH})
    assert (
        await judge_missing(Judge(model), items, get_judged_path(tmp_path / "rows.jsonl"), runs=1)
        == 0
    )
    shown = model.requests[0].messages[-1].content
    wrong, _, after = shown.partition("What the agent did afterwards:")
    assert "Did you mean 'Beatriz Lopes'?" in wrong
    assert "Beatriz Lopes" in after
    assert main(["--report", "--out", str(tmp_path / "rows.jsonl")]) == 0
    said = capsys.readouterr().out
    assert "| react | 1/1 | 1/1 = 100 % (21 – 100) |" in said
    assert "By a judge (Tool-MVR, Table 7):" in said
    assert "| hint_400 |" in said


@pytest.mark.parametrize(
    "strategy", ["code", "toolmvr", "code+reflect", "toolmvr-no-repair", "toolmvr-no-gate"]
)
async def test_an_error_is_met_and_repaired_in_programs_too(
    faulty: FaultyTasks, strategy: str
) -> None:
    task = task_of(faulty, "beatrice-lopez")
    model = ScriptedModel(programs(task.gold_calls, task.gold_answer))
    row = await run_task(Bench(faulty, model, mode="schema"), task, strategy)
    assert (row["met"], row["recognised"], row["corrected"], row["reasons"]) == (
        True,
        True,
        True,
        [],
    )


def test_the_digest_of_the_assignment_is_printed_before_any_run(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["--digest", "--set", "written"]) == 0
    assert capsys.readouterr().out == "3b6b24ffd3489c75  22 tasks\n"


def test_a_run_that_never_met_its_error_is_not_judged(faulty: FaultyTasks, tmp_path: Path) -> None:
    row = {
        "task": "drone-case+misnamed",
        "strategy": "react",
        "model": "m",
        "config": "c",
        "met": False,
    }
    assert error_items(faulty, [{**row, "trace": str(tmp_path / "none")}], tmp_path) == []
