"""The command: our runs and others' answers, judged by a scripted judge; the papers' tables."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from callwright.nouns.errors import ConfigError
from callwright.nouns.limits import Limits
from callwright.nouns.protocols import ChatRequest
from callwright.nouns.trace import read_jsonl
from callwright.planning import open_planner
from callwright.simulation.simulator import PATIENCE
from callwright.testing import ScriptedModel
from callwright_lab.benchmarks.comparison.comparison import Bench, run_missing
from callwright_lab.benchmarks.comparison.rows import read_rows
from callwright_lab.benchmarks.judge.rows import Judge, judge_missing
from callwright_lab.benchmarks.recovery.bench import get_judged_path
from callwright_lab.benchmarks.stabletoolbench.bench import build_judged_items, main, read_our_runs
from callwright_lab.benchmarks.stabletoolbench.tasks import (
    StableToolBench,
    VirtualServer,
    read_answers,
    read_queries,
)
from tests.benchmarks.answering import an_agent_and_a_judge, answering
from tests.benchmarks.rounds import programs
from tests.benchmarks.stabletoolbench.test_tasks import FINISHED, SAID, answers, call, queries
from tests.benchmarks.trajectory_case import run

SNOW = {"simulate": {"error": "", "response": {"sky": "snow"}}}


def judge(request: ChatRequest) -> object:
    """Solves whatever names rain; of two takes the first."""
    shown = request.messages[-1].content
    if "Answer_0" in shown:
        return {"content": "", "index": 0}
    return {"content": "", "answer_status": "Solved" if "rains" in shown else "Unsolved"}


async def ran(folder: Path) -> Path:
    """Both tasks run by react: the first answers, the second gives up."""
    tasks = read_queries(queries(folder / "q", (1, 2)))
    tasks = tuple(task for task in tasks if task.group == "G1_instruction")
    out = folder / "rows.jsonl"
    for task, script in zip(
        tasks,
        (
            {"bind": [call("Oslo"), FINISHED], "*": SAID},
            {"bind": FINISHED, "*": {"statements": [], "missing": ["all"]}},
        ),
        strict=True,
    ):
        tools = StableToolBench(tasks, VirtualServer(None, ScriptedModel(SNOW)))
        model, planner = ScriptedModel(script), open_planner("all-in-one")
        bench = Bench(tools, model, ("react",), planner=planner, traces=folder / "traces")
        assert await run_missing(bench, [task], out) == 0
    return out


async def test_ours_and_others_are_judged_side_by_side(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = await ran(tmp_path)
    theirs = answers(tmp_path / "a", q1=run("I do not know."), q2=run("It rains all day."))
    tasks = [task for task in read_queries(tmp_path / "q") if task.group == "G1_instruction"]
    runs = {**read_our_runs(read_rows(out), tmp_path), "gpt-3.5": read_answers(theirs)}
    model, path = ScriptedModel(judge), get_judged_path(out)
    await judge_missing(Judge(model), build_judged_items(tasks, runs, ["sopr"]), path)
    before = len(model.requests)
    wins = build_judged_items(tasks, runs, ["sowr"], "gpt-3.5", read_rows(path))
    await judge_missing(Judge(model), wins, path)
    assert (
        len(model.requests) == before
    )  # one of each two solves its task: nothing needs to be asked
    command = [
        "--report",
        "--data",
        str(tmp_path / "q"),
        "--out",
        str(out),
        "--answers",
        f"gpt-3.5={theirs}",
    ]
    assert main([*command, "--groups", "G1_instruction"]) == 0
    said = capsys.readouterr().out
    assert "| gpt-3.5 | 50.0±0.0 (2) | 50.0 | 0 |" in said
    assert "| react, scripted | 50.0±0.0 (2) | 50.0 | 0 |" in said
    assert "| react, scripted against gpt-3.5 | 1/1/0 = 50.0 % | 50.0 % | 0 |" in said
    assert "react, scripted, tokens" in said


async def test_rows_of_two_configurations_are_not_mixed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The first task is run again under another configuration, in which nothing is found."""
    out = await ran(tmp_path)
    tasks = [task for task in read_queries(tmp_path / "q") if task.group == "G1_instruction"]
    nothing = ScriptedModel({"bind": FINISHED, "*": {"statements": [], "missing": ["all"]}})
    tools = StableToolBench(tuple(tasks), VirtualServer(None, ScriptedModel(SNOW)))
    bench = Bench(
        tools, nothing, ("react",), planner=open_planner("all-in-one"), traces=tmp_path / "traces"
    )
    assert await run_missing(replace(bench, limits=Limits(model_calls=7)), tasks[:1], out) == 0
    told = [
        "--report",
        "--data",
        str(tmp_path / "q"),
        "--out",
        str(out),
        "--groups",
        "G1_instruction",
    ]
    said = {}
    for wanted in ("", "all"):
        assert main([*told, "--config", wanted]) == 0
        said[wanted] = capsys.readouterr().out
    first, second = dict.fromkeys(row["config"] for row in read_rows(out))
    assert f"react, scripted: rows of configuration {second} only, not of {first}" in said[""]
    assert "| react, scripted, tokens |" not in said[""]
    assert f"| react, scripted, configuration {second}, tokens |" in said["all"]
    assert "| react, scripted, tokens |" in said["all"]


async def test_two_that_both_solve_are_compared_by_the_judge(tmp_path: Path) -> None:
    out = await ran(tmp_path)
    theirs = read_answers(answers(tmp_path / "a", q1=run("It rains cats.")))
    tasks = [task for task in read_queries(tmp_path / "q") if task.id == "G1_instruction/1"]
    runs = {**read_our_runs(read_rows(out), tmp_path), "gpt-3.5": theirs}
    model, path = ScriptedModel(judge), get_judged_path(out)
    await judge_missing(Judge(model), build_judged_items(tasks, runs, ["sopr"]), path)
    before = len(model.requests)
    await judge_missing(
        Judge(model), build_judged_items(tasks, runs, ["sowr"], "gpt-3.5", read_rows(path)), path
    )
    assert len(model.requests) == before + 3
    assert sorted(row["verdict"] for row in read_rows(path) if row["measure"] == "sowr") in (
        ["lose", "lose", "win"],
        ["lose", "win", "win"],
    )  # the judge takes whoever is shown first, and places take turns


@pytest.mark.parametrize("strategy", ["code", "toolmvr", "react+reflect"])
async def test_any_strategy_stands_in_the_papers_table(strategy: str, tmp_path: Path) -> None:
    task = next(
        task
        for task in read_queries(queries(tmp_path / "q", (1,)))
        if task.group == "G1_instruction"
    )
    made = call("Oslo")["action"]
    steps = iter([call("Oslo"), FINISHED, SAID])
    script = programs([made], "It snows.", lambda _: next(steps))
    tools = StableToolBench((task,), VirtualServer(None, ScriptedModel(SNOW)))
    bench = Bench(
        tools, ScriptedModel(script), (strategy,), planner=open_planner("all-in-one"), mode="schema"
    )
    assert (
        await run_missing(
            replace(bench, traces=tmp_path / "traces"), [task], tmp_path / "rows.jsonl"
        )
        == 0
    )
    (runs,) = read_our_runs(read_rows(tmp_path / "rows.jsonl"), tmp_path).values()
    assert [step.calls[0].arguments for step in runs[task.id].steps] == [made["arguments"]]
    assert not runs[task.id].given_up


def test_a_win_rate_needs_a_reference_that_is_there() -> None:
    with pytest.raises(ConfigError, match="needs the runs of a reference") as refused:
        build_judged_items([], {"react, m": {}, "code, m": {}}, ["wr"], "react")
    assert "'react, m'; 'code, m'" in str(refused.value.hint), "names hold commas"


def test_the_published_tables_stand_apart(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--published"]) == 0
    said = capsys.readouterr().out
    assert "As published. RETO, Table 1: SoPR (%), judged by GPT-4o." in said
    assert "As published. Tool-MVR, Table 2" in said


def test_the_digest_of_a_sample_is_printed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = queries(tmp_path / "q")
    assert main(["--digest", "--data", str(folder), "--per-group", "1"]) == 0
    assert capsys.readouterr().out.endswith("  2 tasks\n")


def test_bad_input_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = queries(tmp_path / "q")
    assert (
        main(
            [
                "--report",
                "--data",
                str(folder),
                "--answers",
                "nothing",
                "--out",
                str(tmp_path / "r"),
            ]
        )
        == 1
    )
    assert "no NAME=PATH" in capsys.readouterr().err


def test_the_whole_command_runs_judges_and_reports_over_http(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data, theirs = (
        queries(tmp_path / "q", (1, 2)),
        answers(tmp_path / "a", q1=run("It rains."), q2=run(None)),
    )
    fixed = [
        "--data",
        str(data),
        "--groups",
        "G1_instruction",
        "--out",
        str(tmp_path / "rows.jsonl"),
    ]
    with answering(an_agent_and_a_judge) as url:
        model = f"{url}#m"
        ran = [
            "--strategy",
            "react",
            "--model",
            model,
            "--simulator",
            model,
            "--mode",
            "constrained",
        ]
        assert main([*fixed, *ran]) == 0
        judged = ["--judge", model, "--measures", "sopr,pr,sowr,wr", "--judge-runs", "2"]
        assert (
            main([*fixed, *judged, "--answers", f"theirs={theirs}", "--reference", "theirs"]) == 0
        )
    said = capsys.readouterr().out
    assert "Nothing is judged yet" in said
    assert "| react, m | 100.0±0.0 (2) | 100.0 | 0 |" in said
    assert "| react, m against theirs | 1/0/1 = 75.0 % | 75.0 % | 0 |" in said
    assert [row["tool"] for row in read_rows(tmp_path / "replies.jsonl")] == ["weather_for_sky"]
    traces = [next(iter(read_jsonl(path))) for path in (tmp_path / "traces").rglob("*.jsonl")]
    assert {event.data["limits"]["tool_seconds"] for event in traces} == {
        PATIENCE
    }  # not cut off while a model writes
