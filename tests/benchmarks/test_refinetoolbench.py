"""The command: building, the digest, reports and bad input."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.benchmarks.answering import an_agent_and_a_judge, answering
from tests.benchmarks.test_recovery_cases import CASE, published
from tests.benchmarks.test_recovery_continue import ANSWER, FINISHED, RIGHT

from callwright.benchmarks.comparison import Bench, run_missing
from callwright.benchmarks.judge_rows import Judge, judge_missing
from callwright.benchmarks.recovery import judged_rows
from callwright.benchmarks.recovery_cases import write_cases
from callwright.benchmarks.recovery_continue import ErrorCases
from callwright.benchmarks.refinetoolbench import case_items, main
from callwright.benchmarks.rows import read_rows
from callwright.planning import open_planner
from callwright.testing import ScriptedModel

BOTH = {"content": "", "error_recognition": "Pass", "error_correction": "Pass"}


async def test_runs_are_judged_and_reported_beside_the_objective_rates(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cases, out = ErrorCases((CASE,)), tmp_path / "rows.jsonl"
    model = ScriptedModel({"bind": [RIGHT, FINISHED], "answer": ANSWER})
    bench = Bench(cases, model, ("react",), planner=open_planner("all-in-one"), traces=tmp_path / "traces")
    assert await run_missing(bench, cases.tasks, out) == 0
    judge = ScriptedModel({"judge": BOTH})
    items = case_items(cases, read_rows(out), tmp_path)
    assert await judge_missing(Judge(judge), items, judged_rows(out), runs=1) == 0
    shown = judge.requests[0].messages[-1].content
    assert shown.index("unknown parameter town") < shown.index('{"sky":"rain"}')
    assert main(["--report", "--out", str(out)]) == 0
    assert "| react | 1/1 | 1/1 = 100 % (21 – 100) | 1/1 = 100 % (21 – 100) |" in capsys.readouterr().out


def test_the_digest_of_cases_is_printed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_cases(tmp_path / "cases.jsonl", [CASE])
    assert main(["--digest", "--cases", str(tmp_path / "cases.jsonl")]) == 0
    assert capsys.readouterr().out == f"{ErrorCases((CASE,)).digest}  1 tasks\n"


def test_building_where_nothing_can_come_says_why(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    built = ["--build", str(tmp_path / "cases.jsonl"), "--from", str(published(tmp_path))]
    assert main(built) == 1
    said = capsys.readouterr()
    assert "the right call brings nothing here" in said.out
    assert "no error case came of" in said.err
    assert not (tmp_path / "cases.jsonl").exists()


def test_the_published_table_stands_apart(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--published"]) == 0
    said = capsys.readouterr().out
    assert said.startswith("As published. Tool-MVR, Table 4")
    assert "| Tool-MVR (Q) | 63.7 |" in said


def test_the_whole_command_builds_runs_and_judges_over_http(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cases, out = str(tmp_path / "cases.jsonl"), str(tmp_path / "rows.jsonl")
    with answering(an_agent_and_a_judge) as url:
        model = f"{url}#m"
        assert main(["--build", cases, "--from", str(published(tmp_path)), "--simulator", model]) == 0
        fixed = ["--cases", cases, "--out", out]
        ran = ["--strategies", "react", "--model", model, "--simulator", model, "--mode", "constrained"]
        assert main([*fixed, *ran]) == 0
        assert main([*fixed, "--judge", model, "--simulator", model]) == 0
        assert main([*fixed, "--judge", model, "--simulator", model]) == 0
    said = capsys.readouterr().out
    assert "2 cases of 2 attempts." in said
    assert "| react | 2/2 | 0/2 = 0 %" in said
    assert " | react, m | 100.0 (1) | 100.0 (1) | 100.0 (2) | 0.0 (1) | 0.0 (1) | 0.0 (2) | 0/2 = 0 %" in said
    assert "κ 0.00 | 2/2 = 100 % (34–100) | – | 0 |" in said, "beside its agreement with code"
    assert len(read_rows(judged_rows(Path(out)))) == 2
