"""Our own runs, read from their traces as trajectories."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from callwright import Orchestrator
from callwright.agent.options import Persistence
from callwright.nouns.errors import Failure
from callwright.nouns.protocols import Capabilities
from callwright.nouns.trace import JsonlSink, read_jsonl
from callwright.planning import open_planner
from callwright.testing import FakeTool, ScriptedModel, fake_source
from callwright.testing.tools import in_order
from callwright_lab.transcripts.run_trajectory import build_trajectory
from tests.agent.strategies.test_ablations import (
    FREE_PROGRAMS,
    PROGRAMS,
    airport,
    in_text,
    population,
    rounds,
    run,
)

FINISHED = {"thought": "", "action": {"tool": "finish", "reason": "done"}}
SAID = {"statements": [{"text": "It rains.", "results": ["r1"]}], "missing": []}


def call(city: str, thought: str = "next") -> dict[str, object]:
    return {"thought": thought, "action": {"tool": "weather", "arguments": {"city": city}}}


async def test_a_run_is_read_with_its_thoughts_calls_results_and_answer(tmp_path: Path) -> None:
    tool = FakeTool("weather", {"city": {"type": "string"}}, output={"sky": "rain"})
    model = ScriptedModel({"bind": [call("Oslo", "I look"), FINISHED], "answer": SAID})
    sink = JsonlSink(tmp_path / "run.jsonl")
    await Orchestrator(
        [fake_source(tool)],
        model=model,
        strategy="react",
        planner=open_planner("all-in-one"),
        persistence=Persistence(sinks=[sink]),
    ).run("Weather in Oslo?")
    sink.close()
    read = build_trajectory(read_jsonl(tmp_path / "run.jsonl"), "t1")
    assert (read.id, read.query, [t.name for t in read.tools]) == (
        "t1",
        "Weather in Oslo?",
        ["weather"],
    )
    (step,) = read.steps
    assert (step.thought, step.calls[0].arguments, step.results[0].content) == (
        "I look",
        {"city": "Oslo"},
        {"sky": "rain"},
    )
    assert step.ok
    assert "rain" in (read.answer or "").lower()
    assert not read.given_up


async def test_a_repaired_call_is_two_rounds_the_failed_one_first() -> None:
    outputs = in_order(
        Failure("tool_error", "city must be a code such as OSL", status=400), {"sky": "rain"}
    )
    tool = FakeTool("weather", {"city": {"type": "string"}}, output=outputs)
    model = ScriptedModel(
        {"bind": [call("Oslo"), FINISHED], "repair": {"city": "OSLO"}, "answer": SAID}
    )
    run = await Orchestrator([fake_source(tool)], model=model, strategy="react").run(
        "Weather in Oslo, OSLO?"
    )
    steps = build_trajectory(run.events).steps
    assert [step.ok for step in steps] == [False, True]
    assert [step.calls[0].id for step in steps] == ["r1", "r1.2"]
    assert [step.calls[0].arguments for step in steps] == [{"city": "Oslo"}, {"city": "OSLO"}]


async def test_a_refused_call_is_a_round_that_says_why() -> None:
    tool = FakeTool("weather", {"city": {"type": "string"}}, output={"sky": "rain"})
    wrong = {"thought": "", "action": {"tool": "weather", "arguments": {}}}
    model = ScriptedModel(
        {
            "bind": [wrong, FINISHED],
            "repair": "no",
            "answer": {"statements": [], "missing": ["all"]},
        }
    )
    run = await Orchestrator([fake_source(tool)], model=model, strategy="react").run("Weather?")
    read = build_trajectory(run.events)
    assert read.given_up
    assert read.steps[0].results == ()
    assert read.steps[0].shown.startswith("refused before it left: ")


async def test_an_agent_that_gives_up_with_results_in_hand_gave_up() -> None:
    tool = FakeTool("weather", {"city": {"type": "string"}}, output={"sky": "rain"})
    looked = "<thought>I look.</thought><execute>print(weather(city='Oslo'))</execute>"
    model = ScriptedModel(
        [looked, "<thought>No.</thought><given_up>Rain is no answer.</given_up>"],
        capabilities=Capabilities(),
    )
    run = await Orchestrator([fake_source(tool)], model=model, strategy="code").run(
        "Who sings in Oslo?"
    )
    assert run.status == "partial"
    assert build_trajectory(run.events).given_up


async def test_the_thoughts_of_the_python_call_agent_are_read_in_either_form() -> None:
    tool = FakeTool("weather", {"city": {"type": "string"}}, output={"sky": "rain"})
    for schema in (True, False):
        end: Any = "<thought>Done.</thought><final_answer>It rains.</final_answer>"
        ask: Any = "<thought>I look</thought><execute>print(weather(city='Oslo'))</execute>"
        if schema:
            called = {"function": "weather", "arguments": {"city": "Oslo"}}
            ask, end = (
                {"thought": "I look", "calls": [called]},
                {"thought": "", "final_answer": "It rains."},
            )
        model = ScriptedModel({"code": [ask, end]}, capabilities=Capabilities(json_schema=schema))
        run = await Orchestrator([fake_source(tool)], model=model, strategy="code").run(
            "Weather in Oslo?"
        )
        assert [step.thought for step in build_trajectory(run.events).steps] == ["I look"]


@pytest.mark.parametrize("strategy", [*PROGRAMS, *FREE_PROGRAMS])
async def test_a_program_that_writes_no_answer_is_one_that_gave_up(strategy: str) -> None:
    silent = in_text(rounds(*["print(population(iata='OSL'))"] * 9))
    done = await run(strategy, silent, airport(), population())
    assert done.status == "abstained"
    assert build_trajectory(done.events).given_up
