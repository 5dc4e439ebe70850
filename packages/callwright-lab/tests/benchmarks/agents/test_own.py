"""Our own agent on the jobs of the bench."""

from __future__ import annotations

import pytest

from callwright.testing.model import ScriptedModel
from callwright_lab.benchmarks.agents.judge import judge_job
from callwright_lab.benchmarks.agents.own import STRATEGIES, build_expert, run_own_agent
from callwright_lab.benchmarks.agents.tasks import load_tasks

TASKS = {task.id: task for task in load_tasks()}


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("task", ["en-write-1", "es-read-1", "zh-chain-2", "en-history-3"])
def test_an_expert_s_calls_are_carried_out_in_the_world(task: str, strategy: str) -> None:
    found = TASKS[task]
    world, messages = found.open_world()
    run = run_own_agent(found, world, messages, build_expert(found), strategy, 60.0)
    assert run.ended.error == ""
    assert run.steps > 0
    assert run.usage.prompt_tokens > 0
    score = judge_job(found, world.log, run.ended.answer)
    assert score.is_success, score.reasons


def test_a_model_that_fails_is_the_error_of_the_run() -> None:
    found = TASKS["en-write-1"]
    world, messages = found.open_world()
    run = run_own_agent(found, world, messages, ScriptedModel([]), "react", 60.0)
    assert run.ended.answer == ""
    assert run.ended.error
    assert world.log == []
