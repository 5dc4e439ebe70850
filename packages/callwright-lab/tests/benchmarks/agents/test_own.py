"""Our own agent on the jobs of the bench."""

from __future__ import annotations

import asyncio

import pytest

from callwright.agent.bind import View, build_bind_request
from callwright.testing.model import ScriptedModel
from callwright_lab.benchmarks.agents.judge import judge_job
from callwright_lab.benchmarks.agents.own import STRATEGIES, build_expert, run_own_agent
from callwright_lab.benchmarks.agents.task_set import OFFICE, SETS, load_tools
from callwright_lab.benchmarks.agents.tasks import load_tasks

TASKS = {task.id: task for task in load_tasks()}
ALL = tuple(task for task_set in SETS.values() for task in load_tasks(task_set))
KINDS = ("ask", "missing", "pending", "again")
STEP = build_bind_request(
    View("", tuple(load_tools(OFFICE).values()), (), may_finish=True), "schema", "react"
)


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("task", ["en-write-1", "es-read-1", "zh-chain-2", "en-history-3"])
def test_an_expert_s_calls_are_carried_out_in_the_world(task: str, strategy: str) -> None:
    found = TASKS[task]
    world, messages = found.open_world()
    run = run_own_agent(found, world, messages, build_expert(found, world), strategy, 60.0)
    assert run.ended.error == ""
    assert run.steps > 0
    assert run.usage.prompt_tokens > 0
    score = judge_job(found, world.log, run.ended.answer)
    assert score.is_success, score.reasons


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize(
    "task", [task.id for task in ALL if task.half == "dev" and task.kind in KINDS]
)
def test_a_model_that_is_right_loses_no_job(task: str, strategy: str) -> None:
    """Tasks of kinds that were lost: asking, waiting for a job, reading again after a write."""
    found = next(one for one in ALL if one.id == task)
    world, messages = found.open_world()
    run = run_own_agent(found, world, messages, build_expert(found, world), strategy, 60.0)
    score = judge_job(found, world.log, run.ended.answer)
    assert score.is_success, score.reasons
    assert len(world.log) >= len(found.gold) or found.kind == "pending"


def test_a_call_that_did_not_reach_the_world_is_made_again() -> None:
    found = TASKS["de-two-2"]
    world, _ = found.open_world()
    model = build_expert(found, world)
    reply = asyncio.run(model.complete(STEP))
    assert asyncio.run(model.complete(STEP)).text == reply.text
    world.call(found.gold[0].tool, found.gold[0].arguments)
    assert asyncio.run(model.complete(STEP)).text != reply.text


def test_a_careless_model_does_its_known_harm() -> None:
    found = TASKS["zh-impossible-1"]
    world, messages = found.open_world()
    model = build_expert(found, world, "careless")
    run = run_own_agent(found, world, messages, model, "react", 60.0)
    score = judge_job(found, world.log, run.ended.answer)
    assert (score.unasked, score.is_success) == (1, False)


def test_a_model_that_fails_is_the_error_of_the_run() -> None:
    found = TASKS["en-write-1"]
    world, messages = found.open_world()
    run = run_own_agent(found, world, messages, ScriptedModel([]), "react", 60.0)
    assert run.ended.answer == ""
    assert run.ended.error
    assert world.log == []
