"""The command: building, the digest, reports and bad input."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from callwright.planning import open_planner
from callwright.testing import ScriptedModel
from callwright.tools.catalog import Catalog, open_catalog
from callwright.tools.overlay import Overlay, OverlayChange, ToolOverlay, documented
from callwright_lab.benchmarks.comparison.comparison import Bench, run_missing
from callwright_lab.benchmarks.comparison.rows import read_rows
from callwright_lab.benchmarks.judge.rows import Judge, judge_missing
from callwright_lab.benchmarks.recovery.bench import get_judged_path
from callwright_lab.benchmarks.recovery.cases import read_cases, write_cases
from callwright_lab.benchmarks.recovery.continuation import ErrorCases
from callwright_lab.benchmarks.recovery.refinetoolbench import build_case_items, main
from tests.benchmarks.answering import an_agent_and_a_judge, answering
from tests.benchmarks.recovery.test_cases import CASE, published
from tests.benchmarks.recovery.test_continuation import ANSWER, FINISHED, RIGHT

BOTH = {"content": "", "error_recognition": "Pass", "error_correction": "Pass"}


async def test_runs_are_judged_and_reported_beside_the_objective_rates(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cases, out = ErrorCases((CASE,)), tmp_path / "rows.jsonl"
    model = ScriptedModel({"bind": [RIGHT, FINISHED], "answer": ANSWER})
    bench = Bench(
        cases, model, ("react",), planner=open_planner("all-in-one"), traces=tmp_path / "traces"
    )
    assert await run_missing(bench, cases.tasks, out) == 0
    judge = ScriptedModel({"judge": BOTH})
    items = build_case_items(cases, read_rows(out), tmp_path)
    assert await judge_missing(Judge(judge), items, get_judged_path(out), runs=1) == 0
    shown = judge.requests[0].messages[-1].content
    assert shown.index("unknown parameter town") < shown.index('{"sky":"rain"}')
    assert main(["--report", "--out", str(out)]) == 0
    assert (
        "| react | 1/1 | 1/1 = 100 % (21 – 100) | 1/1 = 100 % (21 – 100) |"
        in capsys.readouterr().out
    )


def test_the_digest_of_cases_is_printed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_cases(tmp_path / "cases.jsonl", [CASE])
    assert main(["--digest", "--cases", str(tmp_path / "cases.jsonl")]) == 0
    assert capsys.readouterr().out == f"{ErrorCases((CASE,)).digest}  1 tasks\n"


@pytest.mark.parametrize(
    ("part", "said"), [("i4", "there is no part 'I4'"), ("I1, i2", "holds no case of I1, I2")]
)
def test_a_part_that_is_not_there_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], part: str, said: str
) -> None:
    write_cases(tmp_path / "cases.jsonl", [replace(CASE, part="I3")])
    assert main(["--digest", "--cases", str(tmp_path / "cases.jsonl"), "--part", part]) == 1
    assert said in capsys.readouterr().err
    assert main(["--digest", "--cases", str(tmp_path / "cases.jsonl"), "--part", "i1, i3"]) == 0


CATALOGUE = """
from callwright import Effects, tool

READ = Effects(read_only=True)


@tool(effects=READ)
def weather_for_sky(city: str) -> dict:
    \"\"\"Weather of a city, like "Oslo".\"\"\"
    if city != "Oslo":
        raise ValueError(f"no such city: {city}")
    return {"sky": "rain"}


@tool(effects=READ)
def weather_of_old(city: str) -> dict:
    \"\"\"Weather of a city, like "Oslo", of old.\"\"\"
    raise ConnectionError("503 Service Unavailable")
"""


async def tools_of(path: Path) -> Catalog:
    async with open_catalog(str(path)) as catalog:
        return catalog


def an_author(asked: str) -> Any:
    if "write the request" in asked:
        return {"query": "Is it raining in Oslo?"}
    return (
        {"calls": [{"city": "Oslo"}]} if "example calls" in asked else an_agent_and_a_judge(asked)
    )


def test_cases_of_a_catalogue_are_built_of_live_and_of_dead_tools_and_run_with_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "tools.py").write_text(CATALOGUE)
    offered = asyncio.run(tools_of(tmp_path / "tools.py"))
    seen = (OverlayChange("city", "examples", ["Oslo"]),)
    said = {
        "weather_for_sky": ToolOverlay(documented(offered["weather_for_sky"]), seen, "alive"),
        "weather_of_old": ToolOverlay(
            documented(offered["weather_of_old"]), (), "dead: unavailable"
        ),
    }
    Overlay(said).write(tmp_path / "o.json")
    cases, out = str(tmp_path / "cases.jsonl"), str(tmp_path / "rows.jsonl")
    tools = ["--tools", str(tmp_path / "tools.py"), "--overlay", str(tmp_path / "o.json")]
    with answering(an_author) as url:
        tools += ["--simulator", f"{url}#m"]
        assert main(["--build", cases, *tools, "--author", f"{url}#m"]) == 0
        ran = ["--strategies", "react", "--model", f"{url}#m", "--mode", "constrained"]
        assert main(["--cases", cases, "--out", out, *tools, *ran]) == 0
    kinds = [(case.part, case.kind, case.query) for case in read_cases(tmp_path / "cases.jsonl")]
    asked = "Is it raining in Oslo?"
    assert kinds == [(part, kind, asked) for part in ("I1", "I2") for kind in ("name", "parameter")]
    assert "4 cases of 4 attempts." in capsys.readouterr().out
    assert {row["part"] for row in read_rows(Path(out))} == {"I1", "I2"}
    assert not any("error" in row for row in read_rows(Path(out)))


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (
            ["--from", "catalogue", "--author", "http://127.0.0.1:9/v1#m"],
            "need its tools, and a model",
        ),
        (["--tools", "mine.py"], "need its tools, and a model that writes the requests"),
        (["--overlay", "o.json"], "--overlay and --sandbox say more of live tools"),
    ],
)
def test_what_a_catalogue_lacks_is_said(
    given: list[str], said: str, tmp_path: Path, capsys: Any
) -> None:
    assert main(["--build", str(tmp_path / "cases.jsonl"), *given]) == 1
    assert said in capsys.readouterr().err


def test_an_overlay_that_fits_no_tool_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "tools.py").write_text(CATALOGUE)
    Overlay({"weather_of_old": ToolOverlay("0" * 16, (), "dead: unavailable")}).write(
        tmp_path / "o.json"
    )
    tools = ["--tools", str(tmp_path / "tools.py"), "--overlay", str(tmp_path / "o.json")]
    with answering(an_author) as url:
        assert main(["--build", str(tmp_path / "cases.jsonl"), *tools, "--author", f"{url}#m"]) == 0
    assert "whose documentation has changed since" in capsys.readouterr().err
    assert {case.part for case in read_cases(tmp_path / "cases.jsonl")} == {"I1"}


def test_a_run_is_answered_by_the_desk_or_by_other_tools(tmp_path: Path, capsys: Any) -> None:
    write_cases(tmp_path / "cases.jsonl", [CASE])
    given = ["--cases", str(tmp_path / "cases.jsonl"), "--live-desk", "--tools", "mine.py"]
    assert main([*given, "--model", "http://127.0.0.1:9/v1#m"]) == 1
    assert "either the desk's tools answer or others" in capsys.readouterr().err


def test_building_where_nothing_can_come_says_why(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
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
        assert (
            main(["--build", cases, "--from", str(published(tmp_path)), "--simulator", model]) == 0
        )
        fixed = ["--cases", cases, "--out", out]
        ran = [
            "--strategies",
            "react",
            "--model",
            model,
            "--simulator",
            model,
            "--mode",
            "constrained",
        ]
        assert main([*fixed, *ran]) == 0
        assert main([*fixed, "--judge", model, "--simulator", model]) == 0
        assert main([*fixed, "--judge", model, "--simulator", model]) == 0
    said = capsys.readouterr().out
    assert "2 cases of 2 attempts." in said
    assert "| react | 2/2 | 0/2 = 0 %" in said
    assert (
        " | react, m | 100.0 (1) | 100.0 (1) | 100.0 (2) | 0.0 (1) | 0.0 (1) | 0.0 (2) | 0/2 = 0 %"
        in said
    )
    assert "κ 0.00 | 2/2 = 100 % (34–100) | – | 0 |" in said, "beside its agreement with code"
    assert len(read_rows(get_judged_path(Path(out)))) == 2
