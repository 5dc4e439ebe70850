"""The agent as the driver of a policy: it asks the model, makes the calls, keeps the plan."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeVar

from callwright.agent.bind import Bound
from callwright.agent.execution.stream import Late
from callwright.agent.step import (
    Action,
    Ask,
    BindStep,
    Event,
    Execute,
    MakePlan,
    Planned,
    Ran,
    Release,
    Replied,
    Returned,
    RunSlots,
    Steps,
)
from callwright.nouns.plan import Plan, Slot
from callwright.nouns.types import ToolResult

if TYPE_CHECKING:
    from callwright.agent.strategies.job import Job

T = TypeVar("T")


async def perform(steps: Steps[T], job: Job) -> T:
    """Carry out the actions of a policy to its end, and return its value. What an action raises is
    raised where it was yielded.
    """
    try:
        action = next(steps)
        while True:
            try:
                event = await _carry_out(action, job)
            except Exception as error:
                action = steps.throw(error)
            else:
                action = steps.send(event)
    except StopIteration as done:
        value: T = done.value
        return value
    finally:
        steps.close()


async def _carry_out(action: Action, job: Job) -> Event:
    match action:
        case Ask(request, calls, actor):
            return Replied(await job.questions.ask(request, calls=calls, actor=actor))
        case Execute(calls, allowed, may_defer, by, beside):
            made = job.executor.execute(calls, allowed, may_defer=may_defer, by=by, beside=beside)
            return Returned(await made)
        case Release(tools):
            return Returned(await job.executor.release(tools))
        case MakePlan():
            return _make_plan(action, job)
        case RunSlots(slots, done):
            late = make_late_question(job)
            async with job.executor.stream(done=done, late=late, known=job.known) as stream:
                stream.add(*slots)
            return Ran(stream)


def _make_plan(action: MakePlan, job: Job) -> Planned:
    """The plan as it is made, or as it was made before a crash."""
    if told := job.ledger.next("", "plan"):
        return Planned(Plan.from_slots(told["slots"], told["revision"]), told["turn"])
    return Planned(action.make(), job.ledger.turn(""))


def make_late_question(job: Job) -> Late:
    """One question for the arguments of one step, from what the step sees."""

    async def late(slot: Slot, results: Sequence[ToolResult], actor: str, why: str) -> Bound:
        tool = next(tool for tool in job.tools if tool.name == slot.tool)
        points = [f"{slot.tool}: {why}"] if slot.arguments is not None else []
        step = BindStep("layer", open_points=points)
        return await perform(job.bind((tool,), step, results=results, actor=actor), job)

    return late
