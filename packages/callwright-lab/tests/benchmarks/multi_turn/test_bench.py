"""The tasks run through the real orchestrator and BFCL's own environments; only the model is
scripted.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from callwright.agent.orchestrator import Cost, Run
from callwright.nouns.errors import ConfigError
from callwright.nouns.plan import Plan
from callwright.nouns.protocols import ChatRequest
from callwright.nouns.types import Answer, ToolCall, to_json
from callwright.planning import open_planner
from callwright.testing import ScriptedModel
from callwright_lab.benchmarks.comparison.comparison import Bench, run_missing
from callwright_lab.benchmarks.comparison.rows import read_rows
from callwright_lab.benchmarks.multi_turn.bench import (
    DRAWN,
    MultiTurn,
    Turn,
    draw_turns,
    list_eligible_turns,
    main,
)
from callwright_lab.benchmarks.multi_turn.worlds import WorldSource
from tests.benchmarks.rounds import programs

NOTHING = Run("", "", "abstained", Answer(""), Plan(), (), (), Cost())
DIGEST = "c93e5e99e0cda056"


@pytest.fixture(scope="module")
def task_set() -> MultiTurn:
    made = MultiTurn()
    try:
        assert made.tasks
    except ConfigError as error:
        pytest.skip(f"needs shared data: BFCL's wheel ({error})")
    return made


def player(calls: list[dict[str, Any]]) -> Any:
    """Makes these calls wherever their tools are in view, one a turn where turns are asked for;
    then answers.
    """
    left = list(calls)

    def line(request: ChatRequest) -> Any:
        assert request.schema is not None
        known = request.schema.get("properties") or request.schema["anyOf"][0]["properties"]
        if "statements" in known:
            cited = known["statements"]["items"]["properties"]["results"]["items"]["enum"]
            return {"statements": [{"text": "Done.", "results": cited[:1]}], "missing": []}
        if request.purpose == "repair":
            return {}  # gold needs none
        if "action" in known:
            return {
                "thought": "",
                "action": left.pop(0) if left else {"tool": "finish", "reason": "done"},
            }
        if "needed" in known:
            return {"needed": sorted({call["tool"] for call in calls})}
        names = known["useful"]["items"]["enum"]
        return {"useful": names, "calls": [call for call in calls if call["tool"] in names]}

    return line


FUEL = ToolCall("", "displayCarStatus", {"option": "fuel"})
LOOKED_UP = {"base_85.1": FUEL}
"""What gold knows without having looked it up: how much fits into the tank. A write is not made
with such a value, so it is looked up first.
"""


def played(task: Turn) -> list[dict[str, Any]]:
    first = [LOOKED_UP[task.id]] if task.id in LOOKED_UP else []
    calls = [*first, *task.gold[-1]]
    return [to_json({"tool": call.tool, "arguments": call.arguments}) for call in calls]


async def rows_of(
    task_set: MultiTurn,
    task: Turn,
    calls: list[dict[str, Any]],
    results: Path,
    strategies: Sequence[str],
) -> list[Any]:
    for strategy in strategies:
        model = ScriptedModel(player(calls))
        await run_missing(
            Bench(task_set, model, (strategy,), planner=open_planner("all-in-one")), [task], results
        )
    return read_rows(results)


def test_the_tasks_are_those_that_were_frozen_before_any_run(task_set: MultiTurn) -> None:
    assert task_set.digest == DIGEST
    assert Counter(task.kind for task in task_set.tasks) == DRAWN
    for kind, count in DRAWN.items():
        halves = Counter(task.half for task in task_set.tasks if task.kind == kind)
        assert halves == {"dev": count // 2, "final": count // 2}
    assert len({task.row["id"] for task in task_set.tasks}) == len(task_set.tasks)


def test_the_rule_draws_the_frozen_tasks_whatever_the_order_of_the_file(
    task_set: MultiTurn,
) -> None:
    """A change of the gate may draw others: the frozen ones stay, and this test then says what
    differs.
    """
    assert [(t.id, t.half) for t in draw_turns(list_eligible_turns()[::-1])] == [
        (t.id, t.half) for t in task_set.tasks
    ]


def judged(task_set: MultiTurn, task: Turn, calls: Sequence[ToolCall]) -> Sequence[str]:
    """What the judge says of a run that made these calls."""
    with task_set.stage(task) as stage:
        (source,) = stage.sources
        assert isinstance(source, WorldSource)
        by_name = {tool.name: tool for tool in task.tools}
        for call in calls:
            assert isinstance(call.arguments, dict)
            asyncio.run(source.call(by_name[call.tool], call.arguments))
        return stage.judge(NOTHING)


def test_gold_scores_100_percent_and_without_a_call_that_matters_0(task_set: MultiTurn) -> None:
    for task in task_set.tasks:
        gold = task.gold[-1]
        assert not judged(task_set, task, gold), task.id
        assert judged(task_set, task, gold[:-1]), task.id
        assert judged(task_set, task, ()) == ["nothing was called"]


async def test_a_run_that_plays_gold_wins_every_task(task_set: MultiTurn, tmp_path: Path) -> None:
    for task in task_set.tasks:
        (row,) = await rows_of(
            task_set, task, played(task), tmp_path / f"{task.id}.jsonl", ["react"]
        )
        assert row["reasons"] == [], task.id


async def test_strategies_are_judged_alike_and_begin_in_the_same_world(
    task_set: MultiTurn, tmp_path: Path
) -> None:
    files = [
        task for task in task_set.tasks if task.row["involved_classes"] == ["GorillaFileSystem"]
    ]
    assert files
    for task in files:
        rows = await rows_of(
            task_set, task, played(task), tmp_path / f"{task.id}.jsonl", ["layered", "react"]
        )
        assert [row["reasons"] for row in rows] == [[], []], task.id
        wrong = await rows_of(
            task_set, task, [], tmp_path / f"{task.id}.wrong.jsonl", ["layered", "react"]
        )
        assert not any(row["success"] for row in wrong), task.id


@pytest.mark.parametrize("strategy", ["code", "toolmvr", "react+reflect"])
async def test_gold_as_programs_wins_too(
    task_set: MultiTurn, strategy: str, tmp_path: Path
) -> None:
    task = next(
        task for task in task_set.tasks if task.row["involved_classes"] == ["GorillaFileSystem"]
    )
    model = ScriptedModel(programs(played(task), "Done.", player(played(task))))
    bench = Bench(task_set, model, (strategy,), planner=open_planner("all-in-one"), mode="schema")
    await run_missing(bench, [task], tmp_path / "rows.jsonl")
    (row,) = read_rows(tmp_path / "rows.jsonl")
    assert (row["strategy"], row["reasons"]) == (strategy, [])


def test_what_was_said_before_stands_in_the_conversation_and_its_replies_count(
    task_set: MultiTurn,
) -> None:
    task = next(t for t in task_set.tasks if t.number == 2)
    with task_set.stage(task) as stage:
        assert [m.role for m in stage.conversation] == ["user", "assistant"] * 2
        assert stage.conversation[0].content == task.row["question"][0][0]["content"]
        for call in task.gold[0]:
            assert f"{call.tool}(" in stage.conversation[1].content


def test_the_command_prints_the_digest(
    task_set: MultiTurn, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--digest"]) == 0
    assert capsys.readouterr().out == f"{DIGEST}  {len(task_set.tasks)} tasks\n"
