"""Gold must score full marks: every task's gold calls, replayed through the real catalogue, and its gold answer."""

from __future__ import annotations

from pathlib import Path

import pytest

from callwright.benchmarks.desk import Desk, DeskTask, load_desk
from callwright.benchmarks.desk_score import CallSeen, Snapshot, score
from callwright.catalog import open_catalog

for library in ("airportsdata", "astral", "currency_converter", "holidays", "pint", "mcp_server_git", "mcp"):
    pytest.importorskip(library, reason="needs the extras desk and mcp")

DESK = load_desk()
TASKS = pytest.mark.parametrize("task", DESK.tasks, ids=lambda task: task.id)


async def replay(desk: Desk, task: DeskTask, folder: Path) -> tuple[list[CallSeen], Snapshot, Snapshot]:
    home = desk.fresh(folder / "desk")
    before = desk.snapshot(home)
    async with open_catalog(desk.sources(task), include=task.tools) as catalog:
        assert {tool.name for tool in catalog} == set(task.tools)
        seen = []
        for call in task.gold_calls:
            output = await catalog.call(call["tool"], call["arguments"])
            assert (output.failure is not None) == call.get("fails", False), output
            seen.append(CallSeen(call["tool"], output.failure is None))
    return seen, before, desk.snapshot(home)


@TASKS
async def test_gold_scores_full_marks_and_nothing_less_does(task: DeskTask, tmp_path: Path) -> None:
    calls, before, after = await replay(DESK, task, tmp_path)
    assert score(task.expect, task.gold_answer, calls, before, after).reasons == ()
    assert not score(task.expect, "", calls, before, after).success
    assert not score(task.expect, "The answer is 42, as always.", calls, before, after).success
    if task.expect.must:
        assert not score(task.expect, task.gold_answer, [], before, after).success
    if task.expect.change:
        assert not score(task.expect, task.gold_answer, calls, before, before).success


@TASKS
def test_a_task_shows_at_most_ten_tools_and_all_it_needs(task: DeskTask) -> None:
    assert len(task.tools) <= 10
    assert {call["tool"] for call in task.gold_calls} <= set(task.tools)
    assert len(task.gold_calls) <= 6


@TASKS
def test_an_answer_to_another_question_is_no_answer(task: DeskTask) -> None:
    if task.expect.limitation or task.kind == "unsolvable":
        return  # an honest limitation fits every task that cannot be done
    others = [t for t in DESK.tasks if t.kind == "unsolvable" and t.id != "fare"]
    for other in others:
        desk: Snapshot = {}
        reasons = score(task.expect, other.gold_answer, [CallSeen(n, True) for n in task.tools], desk, desk).reasons
        assert reasons, other.id
