"""The bench runs real tools and the real orchestrator; only the model is scripted."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from callwright.benchmarks.desk import Bench, main, missing, read_rows, run_missing
from callwright.benchmarks.desk_tasks import DeskTask, load_desk
from callwright.errors import ConfigError, ModelError
from callwright.planning import open_planner
from callwright.protocols import ChatRequest
from callwright.testing import ScriptedModel

for library in ("airportsdata", "astral", "currency_converter", "holidays", "pint"):
    pytest.importorskip(library, reason="needs the extra desk")

DESK = load_desk()
DRONE, TAXI = DESK.choose("all", ["drone-case", "taxi"])


def player(task: DeskTask) -> Any:
    """Plays a task's gold: its calls wherever their tools are in view, then its answer."""
    calls = list(task.gold_calls)

    def line(request: ChatRequest) -> Any:
        assert request.schema is not None
        known = request.schema.get("properties") or request.schema["anyOf"][0]["properties"]
        if "statements" in known:
            cited = known["statements"]["items"]["properties"]["results"]["items"]["enum"]
            return {"statements": [{"text": task.gold_answer, "results": cited[:1]}], "missing": []}
        if "action" in known:
            action = calls.pop(0) if calls else {"tool": "finish", "reason": "done"}
            return {"thought": "next", "action": {k: v for k, v in action.items() if k != "fails"}}
        if "needed" in known:
            return {"needed": known["needed"]["items"]["enum"]}
        names = known["useful"]["items"]["enum"]
        return {"useful": names[:1], "calls": [call for call in task.gold_calls if call["tool"] in names]}

    return line


def bench(script: Any, **rest: Any) -> Bench:
    planner = open_planner("all-in-one")
    return Bench(DESK, ScriptedModel(script), planner=planner, **rest)


async def test_both_strategies_are_run_scored_and_written_with_their_cost(tmp_path: Path) -> None:
    results = tmp_path / "runs" / "rows.jsonl"
    seen = []
    left = await run_missing(
        bench(player(DRONE), traces=tmp_path / "traces"),
        [DRONE],
        results,
        on_row=lambda row, n: seen.append((row["task"], n)),
    )
    rows = read_rows(results)
    assert left == 0
    assert seen == [("drone-case", 1), ("drone-case", 0)]
    assert [row["strategy"] for row in rows] == ["layered", "react"]
    for row in rows:
        assert row["success"], row["reasons"]
        assert row["tools"] == ["convert_units"]
        assert row["calls"] == 1
        assert row["model_calls"] == row["steps"] >= 2
        assert row["prompt_tokens"] > 0 < row["completion_tokens"]
        assert {"tier1", "tier2"} <= set(row["repairs"])
        assert Path(row["trace"]).exists()  # noqa: ASYNC240


async def test_a_done_row_is_never_run_again(tmp_path: Path) -> None:
    results = tmp_path / "rows.jsonl"
    await run_missing(bench(player(DRONE), strategies=("layered",)), [DRONE], results)
    silent = bench([], strategies=("layered",))  # would raise ModelError if asked
    assert await run_missing(silent, [DRONE], results) == 0
    assert len(read_rows(results)) == 1
    assert missing(replace(silent, label="another"), [DRONE], read_rows(results)) == [(DRONE, "layered")]


async def test_a_wrong_answer_is_a_row_with_its_reasons(tmp_path: Path) -> None:
    results = tmp_path / "rows.jsonl"
    wrong = replace(DRONE, gold_calls=(), gold_answer="It is 12 pounds.")
    await run_missing(bench(player(wrong), strategies=("layered",)), [DRONE], results)
    (row,) = read_rows(results)
    assert not row["success"]
    assert any("convert_units" in reason for reason in row["reasons"])


async def test_what_a_task_changes_is_scored_and_gone_for_the_next(tmp_path: Path) -> None:
    results = tmp_path / "rows.jsonl"
    script = player(TAXI)
    await run_missing(bench(script, strategies=("layered", "react")), [TAXI], results)
    assert [row["reasons"] for row in read_rows(results)] == [[], []]


async def test_a_task_that_asks_to_destroy_something_may(tmp_path: Path) -> None:
    results = tmp_path / "rows.jsonl"
    (deletes,) = DESK.choose("all", ["delete-flight"])
    await run_missing(bench(player(deletes), strategies=("layered", "react")), [deletes], results)
    assert [row["reasons"] for row in read_rows(results)] == [[], []]


async def test_a_model_that_cannot_be_asked_leaves_an_error_that_is_tried_again(tmp_path: Path) -> None:
    results = tmp_path / "rows.jsonl"

    def broken(request: ChatRequest) -> Any:
        return ModelError("nobody is there")

    dead = bench(broken, strategies=("layered",))
    await run_missing(dead, [DRONE], results)
    (row,) = read_rows(results)
    assert "nobody is there" in row["error"]
    assert missing(dead, [DRONE], [row]) == [(DRONE, "layered")]


async def test_the_time_limit_starts_no_further_run(tmp_path: Path) -> None:
    results = tmp_path / "rows.jsonl"
    assert await run_missing(bench(player(DRONE)), [DRONE], results, limit_seconds=1e-9) == 2
    assert read_rows(results) == []


async def test_a_half_written_line_is_dropped_and_run_again(tmp_path: Path) -> None:
    results = tmp_path / "rows.jsonl"
    one = bench(player(DRONE), strategies=("layered",))
    await run_missing(one, [DRONE], results)
    whole = results.read_bytes()
    results.write_bytes(whole + whole[: len(whole) // 2])
    assert len(read_rows(results)) == 1
    await run_missing(replace(one, label="second"), [DRONE], results)
    assert len(read_rows(results)) == 2


def test_a_line_that_is_no_row_is_named(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text('{"task": 1}\nnonsense\n{"task": 2}\n')
    with pytest.raises(ConfigError, match="line 2"):
        read_rows(path)


def test_strategies_take_turns_in_who_begins() -> None:
    order = missing(bench([]), [DRONE, TAXI], [])
    assert [name for _, name in order] == ["layered", "react", "react", "layered"]


def test_the_command_prints_digest_and_report(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--digest"]) == 0
    assert capsys.readouterr().out == f"{DESK.digest}  {len(DESK.tasks)} tasks\n"
    assert main(["--report", "--out", str(tmp_path / "none.jsonl")]) == 0
    assert "No finished runs" in capsys.readouterr().out
