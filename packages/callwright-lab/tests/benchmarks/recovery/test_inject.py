"""Errors put into verified trajectories, and which of them are kept."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from callwright.nouns.trajectory import Trajectory
from callwright.nouns.types import Tool, ToolCall, ToolOutput, ToolResult
from callwright.testing import ScriptedModel
from callwright_lab.benchmarks.recovery.cases import ErrorCase
from callwright_lab.benchmarks.recovery.inject import (
    OF_PART,
    Dropped,
    classify_part,
    inject_error,
    is_solvable,
    observe_case,
)
from callwright_lab.benchmarks.recovery.world import World, build_simulated_world
from tests.benchmarks.recovery.test_cases import CASE
from tests.benchmarks.trajectory_case import WEATHER, step

NEWS = Tool("get_news", "News of a city.", {**WEATHER.input_schema})
RIGHT = step("r2", {"city": "Oslo"}, {"sky": "rain"})
SINGLE = Trajectory("t1", "What is the weather in Oslo?", (WEATHER, NEWS), (RIGHT,), "It rains.")
SEVERAL = replace(SINGLE, steps=(step("r1", {"city": "Rome"}, {"sky": "sun"}), RIGHT))


def world(run: Trajectory = SINGLE, *, live: bool = False) -> World:
    """The weather as recorded; the news of any city; whatever else fails."""
    recorded = build_simulated_world(run.tools, run.steps)

    async def call(tool: Tool, arguments: dict[str, Any]) -> ToolOutput:
        if tool.name == "get_news" and "city" in arguments:
            return ToolOutput({"headline": "nothing new"})
        return await recorded.call(tool, arguments)

    return World(run.tools, call, live)


def test_the_part_is_by_how_many_calls_and_whether_the_tools_are_alive() -> None:
    assert classify_part(SINGLE, world(live=True)) == "I1"
    assert classify_part(SINGLE, world()) == "I2"
    assert classify_part(SEVERAL, world(live=True)) == "I3"
    assert (
        classify_part(SINGLE, replace(world(live=True), simulated=frozenset({"weather"}))) == "I2"
    )
    assert (
        classify_part(SINGLE, replace(world(live=True), simulated=frozenset({"get_news"}))) == "I1"
    )


@pytest.mark.parametrize("kind", ["name", "parameter"])
async def test_an_api_level_error_comes_with_the_feedback_it_brings(kind: str) -> None:
    case = await inject_error(SINGLE, world(), kind)
    assert isinstance(case, ErrorCase)
    assert (case.part, case.kind, case.by) == ("I2", kind, "rule")
    assert case.wrong.results[0].failure is not None
    assert (case.call.tool, case.call.arguments) != ("weather", {"city": "Oslo"})
    assert (case.gold.tool, case.gold.arguments, case.gold.content) == (
        "weather",
        {"city": "Oslo"},
        {"sky": "rain"},
    )


async def test_a_wrong_selection_may_succeed_and_shows_by_what_it_brings() -> None:
    cases = [
        await inject_error(SEVERAL, world(SEVERAL), "selection", seed=seed) for seed in range(4)
    ]
    assert all(
        isinstance(case, ErrorCase) and case.call.tool == "get_news" and case.wrong.ok
        for case in cases
    )
    befores = {len(case.before) for case in cases if isinstance(case, ErrorCase)}
    assert befores <= {0, 1}


async def test_the_step_is_drawn_and_drawn_alike_each_time() -> None:
    first = [
        await inject_error(SEVERAL, world(SEVERAL), "selection", seed=seed) for seed in range(8)
    ]
    again = [
        await inject_error(SEVERAL, world(SEVERAL), "selection", seed=seed) for seed in range(8)
    ]
    assert first == again
    assert {len(case.before) for case in first if isinstance(case, ErrorCase)} == {0, 1}


async def test_a_model_may_write_the_error_and_its_thought() -> None:
    said = {
        "thought": "The city goes in as town.",
        "tool": "weather",
        "arguments": {"town": "Oslo"},
    }
    model = ScriptedModel({"inject": said})
    case = await inject_error(SINGLE, world(), "name", model=model)
    assert isinstance(case, ErrorCase)
    assert (case.by, case.wrong.thought) == ("scripted", "The city goes in as town.")
    assert 'weather({"city":"Oslo"})' in model.requests[0].messages[-1].content


@pytest.mark.parametrize(
    "said", ["no idea", {"tool": "weather", "arguments": {"city": "Oslo"}}, {"tool": "weather"}]
)
async def test_a_model_that_writes_the_right_call_or_none_makes_no_case(said: Any) -> None:
    made = await inject_error(SINGLE, world(), "name", model=ScriptedModel({"inject": said}))
    assert made == Dropped("t1-name-0", "name", "the model wrote no wrong call")


@pytest.mark.parametrize(
    ("kind", "tool", "arguments"),
    [
        ("name", "weather", {"city": "Bergen"}),
        ("name", "get_news", {"city": "Oslo"}),
        ("parameter", "get_news", {"city": "Oslo"}),
        ("selection", "weather", {"city": "Bergen"}),
        ("selection", "wether", {"city": "Oslo"}),
        ("content", "get_news", {"city": "Oslo"}),
    ],
)
async def test_a_model_that_writes_an_error_of_another_kind_makes_no_case(
    kind: str, tool: str, arguments: Any
) -> None:
    model = ScriptedModel({"inject": {"thought": "", "tool": tool, "arguments": arguments}})
    made = await inject_error(SEVERAL, world(SEVERAL), kind, seed=1, model=model)
    assert isinstance(made, Dropped)
    assert made.reason == "the model wrote an error of another kind"


async def test_an_error_that_nothing_shows_is_no_case() -> None:
    harmless = replace(
        CASE, part="I1", before=(), wrong=replace(CASE.wrong, results=()), tools=(WEATHER, NEWS)
    )
    harmless = replace(
        harmless,
        wrong=replace(harmless.wrong, calls=(ToolCall("h9", "get_news", {"city": "Oslo"}),)),
    )
    made = await observe_case(harmless, world())
    assert isinstance(made, Dropped)
    assert made.reason == "nothing that came back shows the error"


async def test_a_right_call_that_brings_nothing_here_is_no_case() -> None:
    made = await observe_case(
        replace(CASE, gold=replace(CASE.gold, arguments={"city": "Atlantis"})), world()
    )
    assert isinstance(made, Dropped)
    assert made.reason == "the right call brings nothing here"


def test_what_is_right_must_be_knowable_from_what_the_agent_sees() -> None:
    assert is_solvable(CASE)
    secret = replace(CASE, gold=replace(CASE.gold, arguments={"city": "Bergen"}))
    assert not is_solvable(secret)
    told = ToolResult("h9", "weather", {}, None, CASE.wrong.results[0].failure)
    hinted = replace(told, failure=replace(told.failure, message="did you mean Bergen?"))  # type: ignore[type-var]
    assert is_solvable(replace(secret, wrong=replace(secret.wrong, results=(hinted,))))
    assert not is_solvable(replace(CASE, gold=replace(CASE.gold, tool="nowhere")))


def test_every_kind_of_every_part_has_rules() -> None:
    from callwright_lab.benchmarks.recovery.inject import RULES
    from callwright_lab.training.refiner.corruption import KINDS

    assert {kind for kinds in OF_PART.values() for kind in kinds} == {*RULES}
    assert {rule for rules in RULES.values() for rule in rules} <= {*KINDS}
