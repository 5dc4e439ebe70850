"""Runs on a desk that is not as documented: what became of the error is in their rows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from callwright.planning import open_planner
from callwright.testing import ScriptedModel
from callwright_lab.benchmarks.comparison.comparison import Bench, run_task
from callwright_lab.benchmarks.desk.tasks import DeskTask
from callwright_lab.benchmarks.recovery.desk import FaultyTasks
from tests.benchmarks.desk.test_bench import player

FINISHED = {"thought": "", "action": {"tool": "finish", "reason": "done"}}


def task_of(faulty: FaultyTasks, name: str) -> DeskTask:
    return next(task for task in faulty.tasks if task.id == name)


async def row_of(
    faulty: FaultyTasks, task: DeskTask, script: Any, traces: Path | None = None
) -> dict[str, Any]:
    bench = Bench(faulty, ScriptedModel(script), planner=open_planner("all-in-one"), traces=traces)
    return await run_task(bench, task, "react")


@pytest.mark.parametrize(
    "name",
    [
        *(
            "liam-meals",
            "nairobi-toronto-miles",
            "beatrice-lopez",
            "pounds-to-kilos",
            "lissabon",
            "kenji-city",
        ),
        *("zurich-metres+error_200", "may-in-norway+renamed", "distance-by-code+hint_400"),
    ],
)
async def test_who_does_as_the_server_says_recognised_and_corrected_it(
    faulty: FaultyTasks, name: str
) -> None:
    task = task_of(faulty, name)
    row = await row_of(faulty, task, player(task))
    assert (row["met"], row["recognised"], row["corrected"], row["reasons"]) == (
        True,
        True,
        True,
        [],
    )


async def test_who_goes_round_the_fault_never_met_it(faulty: FaultyTasks) -> None:
    script = {"bind": FINISHED, "*": {"statements": [], "missing": ["all"]}}
    row = await row_of(faulty, task_of(faulty, "drone-case+misnamed"), script)
    assert (row["met"], row["recognised"], row["corrected"]) == (False, False, False)


async def test_who_stops_after_the_error_and_invents_recognised_nothing(
    faulty: FaultyTasks,
) -> None:
    task = task_of(faulty, "zurich-metres+error_200")
    wrong = next(call for call in task.gold_calls if call.get("fails"))
    call = {"thought": "", "action": {"tool": wrong["tool"], "arguments": wrong["arguments"]}}
    script = {"bind": [call, FINISHED], "repair": "no", "*": {"statements": [], "missing": []}}
    row = await row_of(faulty, task, script)
    assert (row["met"], row["corrected"], row["mendable"]) == (True, False, True)


async def test_an_error_that_no_call_repairs_is_told_apart(faulty: FaultyTasks) -> None:
    task = task_of(faulty, "kenji-offline")
    assert faulty.gold[task.id] == ()
    row = await row_of(faulty, task, player(task))
    assert (row["met"], row["corrected"], row["mendable"], row["told"]) == (
        True,
        False,
        False,
        True,
    )
