"""The comparison runs the real orchestrator on a small world of its own; only the model is
scripted.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from callwright import Effects, Run, tool
from callwright.agent.catalog_search import Shortlisting
from callwright.agent.strategies import STRATEGIES
from callwright.nouns.errors import ConfigError, ModelError
from callwright.nouns.protocols import ChatRequest
from callwright.nouns.types import Message
from callwright.planning import open_planner
from callwright.planning.layers import LayerPredictor
from callwright.testing import ScriptedModel
from callwright_lab.benchmarks.comparison.comparison import (
    Bench,
    build_parser,
    compare_strategies,
    list_missing_runs,
    open_compared_planner,
    read_shortlist_options,
    run_missing,
    run_task,
)
from callwright_lab.benchmarks.comparison.report import name_system, render_comparison
from callwright_lab.benchmarks.comparison.rows import read_rows
from callwright_lab.benchmarks.comparison.task_sets import Half, Stage, TaskSet


@dataclass(frozen=True)
class Pour:
    """A jug is to hold so many litres in the end."""

    id: str
    litres: int
    half: Half = "dev"
    kind: str = "pouring"

    @property
    def query(self) -> str:
        return f"Pour {self.litres} litres, not 4."


@dataclass(frozen=True)
class Jugs:
    tasks: Sequence[Pour]
    digest: str = "jugs"

    @contextmanager
    def stage(self, task: Pour) -> Iterator[Stage]:
        jug: list[int] = []

        @tool(effects=Effects(destructive=True))
        def pour(litres: int) -> int:
            """Pour water into the jug."""
            jug.append(litres)
            return sum(jug)

        def spill() -> str:
            """Spill the jug."""
            return "wet"

        def judge(run: Run) -> Sequence[str]:
            return [] if sum(jug) == task.litres else [f"the jug holds {sum(jug)}"]

        yield Stage(
            [pour, spill], judge, only=("pour",), conversation=(Message("user", "There is a jug."),)
        )


FIVE, TWO = Pour("five", 5), Pour("two", 2)
JUGS: TaskSet[Pour] = Jugs((FIVE, TWO))


def player(litres: int) -> Any:
    """Pours once, then answers."""
    poured = []

    def line(request: ChatRequest) -> Any:
        if request.purpose == "plan":
            return {
                "steps": [{"step": 1, "tool": "pour", "after": [], "arguments": {"litres": litres}}]
            }
        if request.purpose == "join":
            return {"thought": "", "judgement": "finish"}
        if request.purpose == "code":
            asked = len([message for message in request.messages if message.role == "assistant"])
            if request.schema is None:
                call = f"<execute>print(pour(litres={litres}))</execute>"
                return f"<thought>t</thought>{f'<final_answer>{litres} litres</final_answer>' if asked else call}"
            call = {"function": "pour", "arguments": {"litres": litres}}
            return {
                "thought": "t",
                **({"final_answer": f"{litres} litres"} if asked else {"calls": [call]}),
            }
        assert request.schema is not None
        shown = "".join(message.content for message in request.messages)
        known = request.schema.get("properties") or request.schema["anyOf"][0]["properties"]
        if "statements" in known:
            poured.clear()
            cited = known["statements"]["items"]["properties"]["results"]["items"]["enum"]
            return {
                "statements": [{"text": f"{litres} litres", "results": cited[:1]}],
                "missing": [],
            }
        if "final_answer" in known:
            return {"final_answer": f"{litres} litres"}
        assert "spill" not in shown
        assert "There is a jug." in shown
        call = {"tool": "pour", "arguments": {"litres": litres}}
        if "action" in known:
            action = {"tool": "finish", "reason": "done"} if poured else call
            poured.append(litres)
            return {"thought": "next", "action": action}
        return {"useful": ["pour"], "calls": [{**call, "name": "pour"}]}

    return line


def bench(script: Any, **rest: Any) -> Bench[Pour]:
    return Bench(JUGS, ScriptedModel(script), planner=open_planner("all-in-one"), **rest)


async def test_both_strategies_are_run_judged_and_written_with_their_cost(tmp_path: Path) -> None:
    results = tmp_path / "runs" / "rows.jsonl"
    seen = []
    left = await run_missing(
        bench(player(5), traces=tmp_path / "traces"),
        [FIVE],
        results,
        on_row=lambda row, n: seen.append((row["task"], n)),
    )
    rows = read_rows(results)
    assert left == 0
    assert seen == [("five", 1), ("five", 0)]
    assert [row["strategy"] for row in rows] == ["layered", "react"]
    for row in rows:
        assert row["success"], row["reasons"]
        assert (row["half"], row["kind"]) == ("dev", "pouring")
        assert row["tools"] == ["pour"]
        assert row["calls"] == 1
        assert row["model_calls"] == row["steps"] >= 2
        assert row["prompt_tokens"] > 0 < row["completion_tokens"]
        assert {"tier1", "tier2"} <= set(row["repairs"])
        assert Path(row["trace"]).exists()  # noqa: ASYNC240


@pytest.mark.parametrize("strategy", [name for name in STRATEGIES if name != "given"])
async def test_every_strategy_may_write_for_each_run_has_a_world_of_its_own(strategy: str) -> None:
    row = await run_task(bench(player(5)), FIVE, strategy)
    assert row["success"], row["reasons"]
    assert row["mode"] == "schema"


async def test_dfsdt_is_held_to_its_number_of_model_calls() -> None:
    turns = iter(range(1, 100))

    def never_done(request: ChatRequest) -> Any:
        if request.purpose != "bind":
            return {"statements": [], "missing": ["all of it"]}
        return {"thought": "", "action": {"tool": "pour", "arguments": {"litres": next(turns)}}}

    held = bench(never_done)
    row = await run_task(held, FIVE, "dfsdt")
    assert (row["model_calls"], row["limit"]) == (12, "model_calls")
    assert held.limits_of("layered").model_calls == held.limits.model_calls
    for alike in ("dfsdt-no-repair", "dfsdt-no-gate", "dfsdt+reflect", "dfsdt+reflect-after"):
        assert held.limits_of(alike).model_calls == 12
    assert replace(held, model_calls={"dfsdt": 13}).config != held.config


async def test_the_form_of_the_replies_belongs_to_row_and_configuration() -> None:
    plain, held = bench(["Action: Finish\nAction Input: {}"], mode="text"), bench([], mode="schema")
    assert plain.config != held.config
    row = await run_task(plain, FIVE, "react")
    assert row["mode"] == "text"
    assert list_missing_runs(held, [FIVE], [row]) == list_missing_runs(held, [FIVE], [])


async def test_a_shortlist_belongs_to_row_and_configuration_and_runs_are_shown_it() -> None:
    plain, short = bench(player(5)), bench(player(5), shortlist=Shortlisting(1))
    assert plain.config != short.config != bench(player(5), shortlist=Shortlisting(2)).config
    row = await run_task(short, FIVE, "layered")
    assert row["success"], row["reasons"]
    assert row["shortlist"] == {"size": 1, "trials": "off", "mode": None}
    told = build_parser("jugs", "", Path("none")).parse_args(
        ["--shortlist", "3", "--trials", "read-only"]
    )
    assert read_shortlist_options(told) == Shortlisting(3, "read-only")
    assert read_shortlist_options(build_parser("jugs", "", Path("none")).parse_args([])) is None


def stumbling(litres: int) -> Any:
    """Names the argument wrongly at first, as a repair could repair; then plays on as
    :func:`player` does.
    """
    plain, missed = player(litres), []

    def line(request: ChatRequest) -> Any:
        if request.purpose == "repair":
            return {"litres": litres}
        if request.purpose == "bind" and not missed:
            missed.append(request)
            return {"thought": "", "action": {"tool": "pour", "arguments": {"amount": litres}}}
        return plain(request)

    return line


async def test_a_model_on_its_own_is_asked_about_no_failed_call_and_stands_apart() -> None:
    usual, alone = bench(stumbling(5)), bench(stumbling(5), repairs=0)
    assert usual.config == bench([], repairs=None).config
    assert len({usual.config, alone.config, bench([], repairs=5).config}) == 3
    repaired, unrepaired = [await run_task(one, FIVE, "react") for one in (usual, alone)]
    assert (repaired["repairs"]["tier2"], unrepaired["repairs"]["tier2"]) == (1, 0)
    assert "repair_budget" not in repaired
    assert unrepaired["repair_budget"] == 0
    assert unrepaired["success"], "it poured in its next turn"
    assert list_missing_runs(alone, [FIVE], [repaired]) == list_missing_runs(alone, [FIVE], [])
    told = render_comparison([repaired, unrepaired])
    assert f"schema replies, configuration {usual.config}." in told
    assert f"schema replies, repair budget 0, configuration {alone.config}." in told
    assert name_system(repaired) == "react, scripted"
    assert name_system({**unrepaired, "label": "b"}) == "react, scripted (b, repair budget 0)"


async def test_a_planner_belongs_to_row_and_configuration() -> None:
    usual = bench(player(5))
    edges = replace(usual, planner=open_compared_planner("edges"), planned_by="edges")
    assert edges.config != usual.config
    rows = [await run_task(one, FIVE, "layered") for one in (usual, edges)]
    assert [row.get("planner") for row in rows] == [None, "edges"]
    assert name_system(rows[1]) == "layered, scripted (planner edges)"


@pytest.mark.parametrize(
    ("named", "name"),
    [("", "edges"), ("edges", "edges"), ("none", "all-in-one"), ("schema", "schema")],
)
def test_planners_have_the_names_of_the_tables(named: str, name: str) -> None:
    assert open_compared_planner(named).name == name


def test_the_paper_s_network_is_a_planner_of_every_comparison() -> None:
    assert isinstance(open_compared_planner("network"), LayerPredictor)


def test_a_planner_that_does_not_exist_is_an_error_before_any_run(tmp_path: Path) -> None:
    options = build_parser("jugs", "", tmp_path / "rows.jsonl")
    url = ["--model", "http://127.0.0.1:9/v1#m", "--mode", "plain", "--planner", "wizard"]
    with pytest.raises(ConfigError, match="no planner 'wizard'"):
        compare_strategies(options.parse_args(url), lambda: JUGS)
    assert read_rows(tmp_path / "rows.jsonl") == []


def test_a_budget_is_read_from_the_command(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = build_parser("jugs", "", tmp_path / "rows.jsonl")
    url = ["--model", "http://127.0.0.1:9/v1#m", "--mode", "plain", "--tasks", "five"]
    assert (
        compare_strategies(
            options.parse_args([*url, "--strategies", "react", "--repairs", "2"]), lambda: JUGS
        )
        == 0
    )
    assert [row["repair_budget"] for row in read_rows(tmp_path / "rows.jsonl")] == [2]
    with pytest.raises(ConfigError, match=r"react\+reflect reflects within the repair budget"):
        compare_strategies(
            options.parse_args([*url, "--strategies", "react+reflect", "--repairs", "0"]),
            lambda: JUGS,
        )
    with pytest.raises(ConfigError, match="the limit repairs is -1"):
        compare_strategies(
            options.parse_args([*url, "--strategies", "react", "--repairs", "-1"]), lambda: JUGS
        )


@pytest.mark.parametrize("text", ["dfsdt", "dfsdt=", "dfsdt=0", "dfsdt=x"])
def test_a_limit_that_is_no_number_is_named(text: str, tmp_path: Path) -> None:
    options = build_parser("jugs", "", tmp_path / "rows.jsonl")
    given = ["--max-model-calls", text, "--model", "http://127.0.0.1:9/v1#m", "--mode", "plain"]
    with pytest.raises(ConfigError, match="is no STRATEGY=N"):
        compare_strategies(options.parse_args(given), lambda: JUGS)


@pytest.mark.parametrize("given", [["--strategies", "react,nope"], ["--max-model-calls", "nope=3"]])
def test_a_strategy_that_does_not_exist_is_one_error_and_no_row(
    given: list[str], tmp_path: Path
) -> None:
    options = build_parser("jugs", "", tmp_path / "rows.jsonl")
    with pytest.raises(ConfigError, match="no strategy 'nope'"):
        compare_strategies(
            options.parse_args([*given, "--model", "http://127.0.0.1:9/v1#m"]), lambda: JUGS
        )
    assert not (tmp_path / "rows.jsonl").exists()


def test_a_plan_that_somebody_wrote_is_no_strategy_to_compare(tmp_path: Path) -> None:
    options = build_parser("jugs", "", tmp_path / "rows.jsonl").parse_args(
        ["--strategies", "given"]
    )
    with pytest.raises(ConfigError, match="compared with nothing"):
        compare_strategies(options, lambda: JUGS)


async def test_a_done_row_is_never_run_again(tmp_path: Path) -> None:
    results = tmp_path / "rows.jsonl"
    await run_missing(bench(player(5), strategies=("layered",)), [FIVE], results)
    silent = bench([], strategies=("layered",))  # would raise ModelError if asked
    assert await run_missing(silent, [FIVE], results) == 0
    assert len(read_rows(results)) == 1
    assert list_missing_runs(replace(silent, label="another"), [FIVE], read_rows(results)) == [
        (FIVE, "layered")
    ]


async def test_a_wrong_outcome_is_a_row_with_its_reasons(tmp_path: Path) -> None:
    results = tmp_path / "rows.jsonl"
    await run_missing(bench(player(4), strategies=("layered",)), [FIVE], results)
    (row,) = read_rows(results)
    assert not row["success"]
    assert row["reasons"] == ["the jug holds 4"]


async def test_a_model_that_cannot_be_asked_leaves_an_error_that_is_tried_again(
    tmp_path: Path,
) -> None:
    results = tmp_path / "rows.jsonl"

    def broken(request: ChatRequest) -> Any:
        return ModelError("nobody is there")

    dead = bench(broken, strategies=("layered",))
    await run_missing(dead, [FIVE], results)
    (row,) = read_rows(results)
    assert "nobody is there" in row["error"]
    assert list_missing_runs(dead, [FIVE], [row]) == [(FIVE, "layered")]


async def test_the_time_limit_starts_no_further_run(tmp_path: Path) -> None:
    results = tmp_path / "rows.jsonl"
    assert await run_missing(bench(player(5)), [FIVE], results, limit_seconds=1e-9) == 2
    assert read_rows(results) == []


async def test_a_half_written_line_is_dropped_and_run_again(tmp_path: Path) -> None:
    results = tmp_path / "rows.jsonl"
    one = bench(player(5), strategies=("layered",))
    await run_missing(one, [FIVE], results)
    whole = results.read_bytes()
    results.write_bytes(whole + whole[: len(whole) // 2])
    assert len(read_rows(results)) == 1
    await run_missing(replace(one, label="second"), [FIVE], results)
    assert len(read_rows(results)) == 2


def test_strategies_take_turns_in_who_begins() -> None:
    order = list_missing_runs(bench([]), [FIVE, TWO], [])
    assert [name for _, name in order] == ["layered", "react", "react", "layered"]


def test_the_command_prints_digest_and_report(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = build_parser("jugs", "", tmp_path / "none.jsonl")
    assert compare_strategies(options.parse_args(["--digest"]), lambda: JUGS) == 0
    assert capsys.readouterr().out == "jugs  2 tasks\n"
    assert compare_strategies(options.parse_args(["--report"]), lambda: JUGS) == 0
    assert "No finished runs" in capsys.readouterr().out


def test_several_models_are_run_one_after_another_and_each_row_says_how_large_its_model_is(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    results = tmp_path / "rows.jsonl"
    given = [
        "--model",
        "http://127.0.0.1:9/v1#small-1b,http://127.0.0.1:9/v1#large-7b",
        "--mode",
        "plain",
    ]
    given += ["--strategies", "react", "--tasks", "five", "--plots", str(tmp_path / "plots")]
    assert (
        compare_strategies(build_parser("jugs", "", results).parse_args(given), lambda: JUGS) == 0
    )  # nobody listens there
    rows = read_rows(results)
    assert [(row["model"], row["size"], "error" in row) for row in rows] == [
        ("small-1b", 1, True),
        ("large-7b", 7, True),
    ]
    assert "No finished runs" in capsys.readouterr().out
    assert not (tmp_path / "plots").exists()
