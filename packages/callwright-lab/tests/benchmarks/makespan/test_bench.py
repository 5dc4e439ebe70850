"""Strategies with the same knowledge, on the real desk: each carries out what the expert says."""

from __future__ import annotations

from pathlib import Path

import pytest

from callwright.nouns.errors import ConfigError
from callwright_lab.benchmarks.comparison.rows import read_rows
from callwright_lab.benchmarks.comparison.task_sets import select_tasks
from callwright_lab.benchmarks.desk.tasks import load_desk
from callwright_lab.benchmarks.makespan.bench import (
    STRATEGIES,
    main,
    measure_run,
    render_report,
    select_playable_tasks,
)

for library in ("airportsdata", "astral", "currency_converter", "holidays", "pint"):
    pytest.importorskip(library, reason="needs the extra desk")

DESK = load_desk()
PACE = (0.0, 0.0, 0.0)


def test_tasks_are_those_of_several_calls_that_succeed() -> None:
    ids = {task.id for task in select_playable_tasks(DESK.tasks)}
    assert {"three-sunsets", "wanjiru-flight", "book-smallest"} <= ids
    assert not {"taxi", "lost-note", "no-such-trip"} & ids


@pytest.mark.parametrize("strategy", [*STRATEGIES, "toolmvr", "toolmvr-no-gate", "code+reflect"])
@pytest.mark.parametrize(
    "name",
    [
        "three-sunsets",
        *(pytest.param(n, marks=pytest.mark.heavy) for n in ("wanjiru-flight", "lisbon-people")),
    ],
)
async def test_every_strategy_solves_what_the_expert_knows(name: str, strategy: str) -> None:
    row = await measure_run(DESK, select_tasks(DESK.tasks, "all", [name])[0], strategy, PACE)
    assert row["reasons"] == []


async def test_a_plan_is_as_fast_as_its_longest_chain_and_a_loop_is_not() -> None:
    task = select_tasks(DESK.tasks, "all", ["three-sunsets"])[0]
    rows = {name: await measure_run(DESK, task, name, (0.0, 0.0, 0.1)) for name in ("dag", "react")}
    assert rows["dag"]["least"] <= rows["dag"]["waited"] < 0.7 * rows["react"]["waited"]


def test_rows_are_run_once_and_reported_on_the_tasks_of_all(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = tmp_path / "rows.jsonl"
    given = [
        "--latency",
        "0",
        "--per-token",
        "0",
        "--delay",
        "0",
        "--out",
        str(rows),
        "--strategies",
        "dag,react",
    ]
    for _ in range(2):
        assert main([*given, "--tasks", "henrik-trip"]) == 0
    assert len(rows.read_text().splitlines()) == 2
    said = capsys.readouterr().out
    assert "1 tasks" in said
    assert "| react | 1 of 1 |" in said


def test_rows_of_another_pace_are_not_mixed_in(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = tmp_path / "rows.jsonl"
    given = [
        "--per-token",
        "0",
        "--delay",
        "0",
        "--out",
        str(rows),
        "--strategies",
        "dag",
        "--tasks",
        "henrik-trip",
    ]
    assert main(["--latency", "0", *given]) == 0
    capsys.readouterr()
    assert main(["--latency", "7", *given, "--report"]) == 0
    assert "No task was run" in capsys.readouterr().out


def test_a_strategy_that_does_not_exist_is_refused_before_anything_runs(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no strategy 'foo'"):
        main(["--strategies", "dag,foo", "--out", str(tmp_path / "rows.jsonl")])
    assert not (tmp_path / "rows.jsonl").exists()


def test_runs_that_took_no_time_to_the_hundredth_have_no_share() -> None:
    row = {
        "task": "a",
        "success": True,
        "model_calls": 2,
        "completion_tokens": 9,
        "seconds": 0.0,
        "waited": 0.0,
    }
    told = render_report([{**row, "strategy": name, "least": 0.0} for name in ("dag", "react")])
    assert "| react | 1 of 1 | 2.00 | 9.00 | 0.00 | 0.00 | – |" in told


def test_without_rows_there_is_no_table() -> None:
    assert render_report([]) == "No task was run by every strategy yet."


def test_runs_of_another_planner_are_not_mixed_in(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = tmp_path / "rows.jsonl"
    given = ["--latency", "0", "--per-token", "0", "--delay", "0", "--out", str(rows)]
    given += ["--strategies", "layered", "--tasks", "henrik-trip"]
    for planner in ("", "none", "none"):
        assert main([*given, *(["--planner", planner] if planner else [])]) == 0
    found = read_rows(rows)
    assert [row.get("planner", "") for row in found] == ["", "none"]
    assert found[0]["config"] != found[1]["config"]
    assert "1 tasks" in capsys.readouterr().out
    with pytest.raises(ConfigError, match="no-such-planner"):
        main([*given, "--planner", "no-such-planner"])
