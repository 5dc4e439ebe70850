"""Jobs that go on are read again, a few times at most."""

from __future__ import annotations

from typing import Any

from callwright.agent.leading.jobs import MOST_READS, look_after_job
from callwright.agent.run_facts import RunFacts
from callwright.agent.state import Asked, RunState
from callwright.agent.step import Execute, Returned, StepContext
from callwright.nouns.plan import Plan
from callwright.nouns.types import READ, WRITE, Json, Tool, ToolResult
from callwright.testing import FixedPlan

JOB = {"properties": {"job_id": {"type": "string"}}, "required": ["job_id"]}
TOOLS = (Tool("start_job", effects=WRITE), Tool("get_job", "", JOB, effects=READ))
PENDING: dict[str, Json] = {"job_id": "J-1", "status": "pending"}
DONE: dict[str, Json] = {"job_id": "J-1", "status": "done"}


def begun(*results: ToolResult) -> StepContext:
    facts = RunFacts(RunState(Asked("Start it"), TOOLS))
    facts.take_results(results)
    return StepContext("Start it", TOOLS, FixedPlan([]), facts, "schema")


def read(number: int, content: Json) -> ToolResult:
    return ToolResult(f"r{number}", "get_job", {"job_id": "J-1"}, content)


def play(context: StepContext, *contents: Json) -> list[Execute]:
    """Have the job read, with these results."""
    steps, made = look_after_job(context, TOOLS), list[Execute]()
    event: Any = None
    for number in range(len(contents) + 1):
        try:
            action = steps.send(event)
        except StopIteration:
            break
        assert isinstance(action, Execute)
        made.append(action)
        if number == len(contents):
            break
        result = read(number + 2, contents[number])
        context.facts.take_results([result])
        event = Returned([result])
    return made


def test_a_job_that_goes_on_is_read_until_it_ends() -> None:
    context = begun(ToolResult("r1", "start_job", {}, PENDING))
    made = play(context, PENDING, DONE, DONE)
    assert [one.calls[0].arguments for one in made] == [{"job_id": "J-1"}] * 2


def test_a_job_is_read_a_few_times_at_most_also_over_several_rounds() -> None:
    context = begun(ToolResult("r1", "start_job", {}, PENDING))
    assert len(play(context, *[PENDING] * 9)) == MOST_READS
    assert play(context, PENDING) == []


def test_a_read_of_the_plan_keeps_its_slot() -> None:
    context = begun(ToolResult("r1", "start_job", {}, PENDING))
    context.plan = Plan.from_layers([["start_job"], ["get_job"]])
    (made,) = play(context, DONE)
    assert made.calls[0].slot == context.plan.slots[1].id


def test_what_has_ended_is_not_read() -> None:
    assert play(begun(read(1, DONE)), DONE) == []
    assert play(begun(), DONE) == []
