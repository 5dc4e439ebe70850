"""Strategies that begin in the middle: after an error that was put in."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from callwright.nouns.trajectory import Step
from callwright.nouns.types import ToolCall
from callwright.planning import open_planner
from callwright.testing import ScriptedModel
from callwright_lab.benchmarks.comparison.comparison import Bench, run_task
from callwright_lab.benchmarks.recovery.continuation import ErrorCases, trim_trajectory
from tests.benchmarks.recovery.test_cases import CASE
from tests.benchmarks.rounds import programs
from tests.benchmarks.trajectory_case import run, step

RIGHT = {
    "thought": "the parameter is city",
    "action": {"tool": "weather", "arguments": {"city": "Oslo"}},
}
FINISHED = {"thought": "", "action": {"tool": "finish", "reason": "done"}}
ANSWER = {"statements": [{"text": "It rains.", "results": ["r1"]}], "missing": []}
LAYER = {"useful": ["weather"], "calls": [{"tool": "weather", "arguments": {"city": "Oslo"}}]}


async def row_of(
    script: Any, strategy: str = "react", entry: Any = "result", model: Any = None
) -> Any:
    asked = ScriptedModel(script)
    bench = Bench(ErrorCases((CASE,), entry, model), asked, planner=open_planner("all-in-one"))
    return await run_task(bench, CASE, strategy), asked


async def test_the_history_and_the_error_are_what_the_run_begins_with() -> None:
    row, model = await row_of({"bind": [RIGHT, FINISHED], "answer": ANSWER})
    shown = model.requests[0].messages[-1].content
    assert (
        shown.index("h1: weather")
        < shown.index("h9: weather")
        < shown.index("unknown parameter town")
    )
    assert (row["met"], row["recognised"], row["corrected"], row["success"]) == (
        True,
        True,
        True,
        True,
    )
    assert (row["part"], row["strategy"], row["tools"][-1]) == ("I3", "react", "weather")


async def test_layered_goes_on_from_the_error_too() -> None:
    row, _ = await row_of(
        {"bind": LAYER, "answer": ANSWER, "*": {"needed": ["weather"]}}, "layered"
    )
    assert row["corrected"]


@pytest.mark.parametrize("strategy", ["layered", "layered-no-sketch", "layered+reflect"])
async def test_layered_goes_on_from_a_call_of_a_tool_that_does_not_exist(strategy: str) -> None:
    wrong = replace(CASE.wrong, calls=(replace(CASE.call, tool="wether"),))
    wrong = replace(
        wrong, results=tuple(replace(result, tool="wether") for result in wrong.results)
    )
    case = replace(CASE, wrong=wrong)
    script = {"bind": [LAYER, LAYER, FINISHED], "answer": ANSWER, "*": {"needed": ["weather"]}}
    bench = Bench(ErrorCases((case,)), ScriptedModel(script), planner=open_planner("all-in-one"))
    row = await run_task(bench, case, strategy)
    assert row["corrected"]


PROGRAMMERS = ["code", "toolmvr", "code+reflect", "toolmvr-no-repair", "toolmvr-no-gate"]


@pytest.mark.parametrize("entry", ["result", "call"])
@pytest.mark.parametrize("strategy", PROGRAMMERS)
async def test_programs_go_on_from_the_error_which_they_are_shown_as_a_round(
    strategy: str, entry: Any
) -> None:
    row, model = await row_of(programs([RIGHT["action"]], "It rains."), strategy, entry)
    assert (row["recognised"], row["corrected"]) == (True, True)
    first = next(request for request in model.requests if request.purpose == "code").messages
    assert [message.role for message in first][-2:] == ["assistant", "user"]
    assert "unknown parameter town" in first[-1].content or (
        entry == "call" and "city" in first[-1].content
    )


async def test_who_gives_up_at_once_tried_nothing_and_told_it() -> None:
    row, _ = await row_of(
        {"bind": FINISHED, "answer": {"statements": [], "missing": ["the weather"]}}
    )
    assert (row["recognised"], row["corrected"], row["told"]) == (False, False, True)


async def test_an_answer_that_goes_on_as_if_nothing_had_happened_recognised_nothing() -> None:
    sunny = {"statements": [{"text": "It is sunny.", "results": ["h1"]}], "missing": []}
    row, _ = await row_of({"bind": FINISHED, "*": sunny})
    assert (row["recognised"], row["corrected"]) == (False, False)
    assert row["told"]  # what failed is named in every answer, whatever the model noticed


async def test_as_a_call_the_error_meets_the_gate_and_the_repair_first() -> None:
    script = {"repair": {"city": "Oslo"}, "bind": FINISHED, "answer": ANSWER}
    row, model = await row_of(script, entry="call")
    assert "repair" in {request.purpose for request in model.requests}
    assert (row["corrected"], row["repairs"]["tier2"]) == (True, 1)


@pytest.mark.parametrize("strategy", ["react-no-repair", "dfsdt-no-repair", "layered-no-repair"])
async def test_as_a_call_the_error_is_repaired_by_nobody_where_the_strategy_has_no_repair(
    strategy: str,
) -> None:
    row, model = await row_of({"bind": [FINISHED, FINISHED], "*": ANSWER}, strategy, entry="call")
    assert "repair" not in {request.purpose for request in model.requests}
    assert not row["corrected"]


@pytest.mark.parametrize("strategy", ["react+reflect", "layered+reflect"])
async def test_as_a_call_the_error_is_reflected_on_where_the_strategy_reflects(
    strategy: str,
) -> None:
    repaired = [{"name": "weather", "arguments": {"city": "Oslo"}}]
    reflection = {
        "analysis": "town is no parameter",
        "strategy": "city it is",
        "tool_calls": repaired,
    }
    script = {
        "reflect": reflection,
        "bind": FINISHED if "react" in strategy else LAYER,
        "*": ANSWER,
    }
    row, model = await row_of(script, strategy, entry="call")
    assert "reflect" in {request.purpose for request in model.requests}
    assert (row["strategy"], row["corrected"]) == (strategy, True)


async def test_what_is_not_on_record_is_made_up_only_where_a_model_is_given() -> None:
    rome = {"thought": "", "action": {"tool": "weather", "arguments": {"city": "Oslo, Norway"}}}
    row, _ = await row_of({"bind": [rome, FINISHED], "repair": "no", "*": ANSWER})
    assert row["tools"] == ["weather", "weather!", "weather!"]
    made_up = ScriptedModel({"simulate": {"error": "", "response": {"sky": "rain"}}})
    row, _ = await row_of({"bind": [rome, FINISHED], "*": ANSWER}, model=made_up)
    assert row["corrected"]


def test_the_digest_is_of_the_cases_how_they_enter_and_who_answers() -> None:
    digests = {ErrorCases((CASE,), "result").digest, ErrorCases((CASE,), "call").digest}
    digests |= {ErrorCases((CASE,), "result", ScriptedModel([])).digest, ErrorCases(()).digest}
    assert len(digests) == 4


def test_a_judge_reads_what_followed_and_not_the_error_twice() -> None:
    wrong = step("r1", {"town": "Oslo"}, error="unknown parameter town")
    right = step("r2", {"city": "Oslo"}, {"sky": "rain"})
    assert trim_trajectory(CASE, run("It rains.", wrong, right), "call").steps == (right,)
    assert trim_trajectory(CASE, run("It rains.", wrong, right), "result").steps == (wrong, right)


@pytest.mark.parametrize("name", ["dfsdt", "compiler"])
async def test_other_strategies_can_be_entered_as_well(name: str, tmp_path: Path) -> None:
    del tmp_path
    plan = {"steps": [{"id": 1, "tool": "weather", "arguments": {"city": "Oslo"}}]}
    script = {"bind": [RIGHT, FINISHED], "answer": ANSWER, "*": plan}
    row, _ = await row_of(script, name)
    assert row["strategy"] == name
    assert row["met"]


def test_a_case_with_no_call_before_it_has_no_history() -> None:
    assert replace(CASE, before=()).row["before"] == []
    assert Step("", (ToolCall("x", "y", {}),)).results == ()
