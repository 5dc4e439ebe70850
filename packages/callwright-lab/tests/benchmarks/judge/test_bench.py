"""The command that says how far a judge can be believed."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from callwright import Orchestrator
from callwright.agent.options import Persistence
from callwright.nouns.errors import ConfigError
from callwright.nouns.trace import JsonlSink
from callwright.nouns.types import READ
from callwright.testing import FakeTool, ScriptedModel, fake_source
from callwright_lab.benchmarks.comparison.rows import append_row, read_rows
from callwright_lab.benchmarks.judge.bench import build_items, main, read_runs
from tests.benchmarks.answering import an_agent_and_a_judge, answering
from tests.benchmarks.trajectory_case import run

CALLED = {"thought": "", "action": {"tool": "weather", "arguments": {}}}
FINISHED = {"thought": "", "action": {"tool": "finish", "reason": "done"}}


async def rows_with_traces(folder: Path, successes: list[bool]) -> Path:
    for number, success in enumerate(successes):
        trace = folder / "traces" / f"t{number}.jsonl"
        with JsonlSink(trace) as sink:
            model = ScriptedModel(
                {"bind": [FINISHED], "answer": {"statements": [], "missing": ["all"]}}
            )
            source = fake_source(FakeTool("weather", output="rain"))
            await Orchestrator(
                [source], model=model, strategy="react", persistence=Persistence(sinks=[sink])
            ).run(f"Question {number}?")
        row = {
            "task": f"t{number}",
            "strategy": "react",
            "model": "m",
            "config": "c",
            "half": "dev",
        }
        append_row(folder / "results.jsonl", {**row, "success": success, "trace": str(trace)})
    append_row(
        folder / "results.jsonl",
        {"task": "x", "strategy": "react", "model": "m", "config": "c", "error": "no"},
    )
    return folder / "results.jsonl"


async def test_runs_are_read_with_what_the_code_says_of_them(tmp_path: Path) -> None:
    runs, gold = read_runs(await rows_with_traces(tmp_path, [True, False, False]))
    assert sorted(gold.values()) == [False, False, True]
    assert {run.query for run in runs.values()} == {f"Question {n}?" for n in range(3)}


async def test_a_sample_has_right_and_wrong_runs_alike(tmp_path: Path) -> None:
    rows = await rows_with_traces(tmp_path, [True, True, False, False, False, False])
    assert sorted(read_runs(rows, sample=4)[1].values()) == [False, False, True, True]
    assert sorted(read_runs(rows, sample=5)[1].values()).count(True) == 2


async def test_traces_are_found_beside_rows_that_were_moved(tmp_path: Path) -> None:
    await rows_with_traces(tmp_path / "old", [True])
    (tmp_path / "old").rename(tmp_path / "new")
    assert len(read_runs(tmp_path / "new" / "results.jsonl")[0]) == 1


def test_rows_without_a_run_are_an_error_that_says_what_is_wanted(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no run with a trace"):
        read_runs(tmp_path / "none.jsonl")


def test_two_runs_of_one_request_are_a_comparison_and_others_are_not() -> None:
    runs = {"t react m c": run("a"), "t layered m c": run("b")}
    items = build_items(runs, ["pr", "wr"])
    assert [(item.measure, item.key) for item in items] == [
        ("pr", "t react m c"),
        ("pr", "t layered m c"),
        ("wr", "t react m c | t layered m c"),
    ]


async def test_the_report_needs_no_judge(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = await rows_with_traces(tmp_path, [True, False])
    judged = {
        "judge": "m",
        "config": "c",
        "measure": "pr",
        "run": 0,
        "more": "",
        "asked": 1,
        "verdict": "Pass",
    }
    for number in range(2):
        append_row(tmp_path / "judged.jsonl", {**judged, "item": f"t{number} react m c"})
    assert main(["--desk", str(rows), "--out", str(tmp_path / "judged.jsonl"), "--report"]) == 0
    said = capsys.readouterr().out
    assert "2 runs, 1 of them right by code." in said
    assert "1/2 = 50 %" in said


def test_bad_input_is_said_and_nothing_is_judged(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--desk", str(tmp_path / "none.jsonl"), "--report"]) == 1
    assert "no run with a trace" in capsys.readouterr().err


async def test_the_whole_command_judges_over_http_and_goes_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = await rows_with_traces(tmp_path, [True, False])
    with answering(an_agent_and_a_judge) as url:
        command = [
            "--desk",
            str(rows),
            "--out",
            str(tmp_path / "judged.jsonl"),
            "--model",
            f"{url}#m",
            "--runs",
            "2",
        ]
        for measures in ("pr", "pr,sopr"):
            assert await asyncio.to_thread(main, [*command, "--measures", measures]) == 0
    assert len(read_rows(tmp_path / "judged.jsonl")) == 8
    said = capsys.readouterr().out
    assert "| 2/2 = 100 % (34–100)" in said  # alike in both runs
    assert "1/2 = 50 %" in said  # of what was right by code


async def test_pass_and_win_rates_of_one_command_are_those_of_the_same_command_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for strategy, answer in (("react", "It rains."), ("layered", "It snows.")):
        trace = tmp_path / "traces" / f"{strategy}.jsonl"
        with JsonlSink(trace) as sink:
            script = {
                "bind": [CALLED, FINISHED],
                "*": {"statements": [{"text": answer, "results": ["r1"]}]},
            }
            source = fake_source(FakeTool("weather", output="rain", effects=READ))
            made = Orchestrator(
                [source],
                model=ScriptedModel(script),
                strategy="react",
                persistence=Persistence(sinks=[sink]),
            )
            await made.run("The weather?")
        row = {
            "task": "t",
            "strategy": strategy,
            "model": "m",
            "config": "c",
            "half": "dev",
            "success": True,
        }
        append_row(tmp_path / "results.jsonl", {**row, "trace": str(trace)})

    def one_solves(asked: str) -> object:
        return {"content": "", "answer_status": "Solved" if "snows" in asked else "Unsolved"}

    with answering(one_solves) as url:
        command = [
            "--desk",
            str(tmp_path / "results.jsonl"),
            "--out",
            str(tmp_path / "judged.jsonl"),
        ]
        command += ["--model", f"{url}#m", "--runs", "2", "--measures", "sowr,sopr"]
        first, second = [
            (await asyncio.to_thread(main, command), capsys.readouterr().out) for _ in range(2)
        ]
    assert first == second
    rows = read_rows(tmp_path / "judged.jsonl")
    assert [row["measure"] for row in rows] == ["sopr"] * 4 + ["sowr"] * 2
    assert not any(row["asked"] for row in rows[4:]), "the one that solves wins without a question"


def test_an_unknown_measure_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asyncio.run(rows_with_traces(tmp_path, [True]))
    out = ["--out", str(tmp_path / "j.jsonl"), "--measures", "wins"]
    assert main(["--desk", str(tmp_path / "results.jsonl"), *out]) == 1
    assert "there is no measure 'wins'" in capsys.readouterr().err
