"""The desk's tasks go through the comparison with real tools; only the model is scripted."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from callwright.nouns.protocols import ChatRequest
from callwright.planning import open_planner
from callwright.testing import ScriptedModel, offered_tools
from callwright_lab.benchmarks.comparison.comparison import Bench, run_missing, run_task
from callwright_lab.benchmarks.comparison.rows import read_rows
from callwright_lab.benchmarks.comparison.task_sets import select_tasks
from callwright_lab.benchmarks.desk.bench import main
from callwright_lab.benchmarks.desk.tasks import DeskTask, load_desk
from tests.benchmarks.rounds import programs

for library in ("airportsdata", "astral", "currency_converter", "holidays", "pint"):
    pytest.importorskip(library, reason="needs the extra desk")

DESK = load_desk()
DRONE, TAXI, DELETES = (
    select_tasks(DESK.tasks, "all", [name])[0] for name in ("drone-case", "taxi", "delete-flight")
)


def player(task: DeskTask) -> Any:
    """Plays a task's gold: its calls wherever their tools are in view, then its answer."""
    calls = list(task.gold_calls)

    def line(request: ChatRequest) -> Any:
        if request.schema is None:
            return task.gold_answer
        if request.purpose == "repair":
            return calls.pop(0)["arguments"]
        known = request.schema.get("properties") or request.schema["anyOf"][0]["properties"]
        if "statements" in known:
            cited = known["statements"]["items"]["properties"]["results"]["items"]["enum"]
            return {"statements": [{"text": task.gold_answer, "results": cited[:1]}], "missing": []}
        if "action" in known:
            action = calls.pop(0) if calls else {"tool": "finish", "reason": "done"}
            return {"thought": "next", "action": {k: v for k, v in action.items() if k != "fails"}}
        if "needed" in known:
            return {"needed": known["needed"]["items"]["enum"]}
        names = offered_tools(request)
        made = [call for call in task.gold_calls if call["tool"] in names]
        if "later" in known:
            later = [c["tool"] for c in task.gold_calls if c["tool"] not in names]
            return {"calls": made, "later": later}
        return {"useful": names[:1], "calls": made}

    return line


async def rows_of(
    task: DeskTask, results: Path, strategies: tuple[str, ...] = ("layered", "react")
) -> list[Any]:
    bench = Bench(DESK, ScriptedModel(player(task)), strategies, planner=open_planner("all-in-one"))
    await run_missing(bench, [task], results)
    return read_rows(results)


async def test_gold_is_a_success_whatever_the_strategy(tmp_path: Path) -> None:
    rows = await rows_of(DRONE, tmp_path / "rows.jsonl")
    assert [row["strategy"] for row in rows] == ["layered", "react"]
    assert [row["reasons"] for row in rows] == [[], []]
    assert [row["tools"] for row in rows] == [["convert_units"], ["convert_units"]]


@pytest.mark.parametrize(
    "name",
    [
        "liam-meals",
        "nairobi-toronto-miles",
        "beatrice-lopez",
        "pounds-to-kilos",
        "lissabon",
        "kenji-city",
    ],
)
async def test_a_desk_that_is_not_as_documented_is_mastered_by_what_its_servers_say(
    name: str, tmp_path: Path
) -> None:
    (task,) = select_tasks(DESK.tasks, "dev", [name])
    (row,) = await rows_of(task, tmp_path / "rows.jsonl", ("react",))
    assert row["reasons"] == []


@pytest.mark.parametrize(
    "strategy", ["code", "toolmvr", "code+reflect", "toolmvr-no-repair", "toolmvr-no-gate"]
)
async def test_gold_as_programs_is_a_success_too(strategy: str, tmp_path: Path) -> None:
    model = ScriptedModel(programs(DRONE.gold_calls, DRONE.gold_answer))
    row = await run_task(Bench(DESK, model, mode="schema", traces=tmp_path), DRONE, strategy)
    assert (row["reasons"], row["tools"]) == ([], ["convert_units"])
    asked_in_text = [request.schema is None for request in model.requests]
    assert asked_in_text == [strategy.startswith("toolmvr")] * 2


async def test_a_wrong_answer_is_a_row_with_its_reasons(tmp_path: Path) -> None:
    wrong = replace(DRONE, gold_calls=(), gold_answer="It is 12 pounds.")
    (row,) = await rows_of(wrong, tmp_path / "rows.jsonl", ("layered",))
    assert not row["success"]
    assert any("convert_units" in reason for reason in row["reasons"])


async def test_what_a_task_changes_is_scored_and_gone_for_the_next(tmp_path: Path) -> None:
    rows = await rows_of(TAXI, tmp_path / "rows.jsonl")
    assert [row["reasons"] for row in rows] == [[], []]


async def test_a_task_that_asks_to_destroy_something_may(tmp_path: Path) -> None:
    rows = await rows_of(DELETES, tmp_path / "rows.jsonl")
    assert [row["reasons"] for row in rows] == [[], []]


async def test_what_a_dead_branch_did_is_scored_too() -> None:
    (call,) = DRONE.gold_calls
    steps = [
        {"thought": "", "action": dict(call)},
        {"thought": "", "action": {"tool": "give_up_and_restart", "reason": ""}},
        {"thought": "", "action": {"tool": "finish", "reason": ""}},
    ]
    model = ScriptedModel({"bind": steps, "*": {"statements": [], "missing": ["all"]}})
    row = await run_task(Bench(DESK, model, planner=open_planner("all-in-one")), DRONE, "dfsdt")
    assert (row["calls"], row["tools"]) == (1, [])
    assert not any("never called" in reason for reason in row["reasons"])


def test_the_command_prints_the_digest(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--digest"]) == 0
    assert capsys.readouterr().out == f"{DESK.digest}  {len(DESK.tasks)} tasks\n"
