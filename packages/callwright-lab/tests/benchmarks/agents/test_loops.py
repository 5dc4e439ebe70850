"""The driver of the loops: its protocol, and the official client's loop on a scripted upstream."""

from __future__ import annotations

import json
from typing import Any

import pytest

from callwright_lab.benchmarks.agents import loops
from callwright_lab.benchmarks.agents.frameworks import REQUIREMENTS
from callwright_lab.benchmarks.agents.tasks import Task, load_tasks
from callwright_lab.benchmarks.agents.upstream import ScriptedUpstream, serve_upstream

TASKS = {task.id: task for task in load_tasks()}


def build_job(task: Task, url: str, turns: int = 12) -> dict[str, Any]:
    world, messages = task.open_world()
    tools = [
        {"name": t.name, "description": t.description, "parameters": t.input_schema}
        for t in world.tools.values()
    ]
    job = {"base_url": url, "key": "none", "model": "scripted", "messages": messages}
    return {**job, "tools": tools, "reminder": task.reminder, "turns": turns}


def run(loop: loops.Loop, task: Task, turns: int = 12) -> tuple[str, list[str]]:
    upstream = ScriptedUpstream("right")
    world, _ = task.open_world()
    with serve_upstream(upstream) as url:
        upstream.begin(task)
        answer = loop(build_job(task, url, turns), lambda name, given: world.call(name, given).text)
    return answer, [called.tool for called in world.log]


@pytest.mark.parametrize("loop", [loops.run_openai, loops.run_openai_stream])
@pytest.mark.parametrize("task", ["zh-chain-2", "ar-history-2", "es-reminder-1", "en-two-1"])
def test_the_official_client_s_loop_does_what_the_model_says(loop: loops.Loop, task: str) -> None:
    answer, tools = run(loop, TASKS[task])
    assert answer == TASKS[task].answer
    assert tools == [call.tool for call in TASKS[task].gold]


def test_a_loop_that_comes_to_no_end_is_ended() -> None:
    with pytest.raises(loops.TurnLimit):
        run(loops.run_openai, TASKS["en-pending-1"], turns=2)


def test_every_loop_has_its_requirements() -> None:
    assert set(loops.LOOPS) == set(REQUIREMENTS)


def serve(loop: loops.Loop, *lines: dict[str, Any]) -> list[dict[str, Any]]:
    waiting, written = [json.dumps(line) for line in lines] + [""], []
    loops.serve(loop, lambda: waiting.pop(0), written.append)
    return [json.loads(line) for line in written]


def test_calls_go_out_and_results_come_in() -> None:
    said = serve(lambda job, call: call("add", {"n": job["n"]}) + "!", {"n": 1}, {"result": "two"})
    assert said == [{"call": "add", "arguments": {"n": 1}}, {"answer": "two!", "error": ""}]


def test_what_a_loop_raises_is_the_error_of_its_job_alone() -> None:
    def fail(job: dict[str, Any], call: loops.Call) -> str:
        if job["fails"]:
            raise ValueError("no such tool")
        return "fine"

    said = serve(fail, {"fails": True}, {"fails": False})
    assert said == [
        {"answer": "", "error": "ValueError: no such tool"},
        {"answer": "fine", "error": ""},
    ]
