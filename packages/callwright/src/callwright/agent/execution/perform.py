"""The agent as the driver of a policy: it asks the model, makes the calls, keeps the plan."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

from callwright.agent.bind import Bound
from callwright.agent.execution.stream import Late, Stream
from callwright.agent.step import (
    Action,
    Ask,
    BindStep,
    Dispatch,
    Dispatched,
    Event,
    Execute,
    MakePlan,
    Planned,
    Ran,
    Recall,
    Release,
    Replied,
    Returned,
    RunBeside,
    RunSlots,
    Steps,
    Write,
)
from callwright.nouns.plan import Plan, Slot
from callwright.nouns.types import Reply, ToolResult
from callwright.repair.considered_calls import remove_thoughts, set_thoughts_apart

if TYPE_CHECKING:
    from callwright.agent.execution.job import Job

T = TypeVar("T")


async def perform(steps: Steps[T], job: Job, stream: Stream | None = None) -> T:
    """Carry out the actions of a policy to its end, and return its value. What an action raises is
    raised where it was yielded. ``stream``: the slots that are carried out beside it.
    """
    try:
        action = next(steps)
        while True:
            try:
                event = await _carry_out(action, job, stream)
            except Exception as error:
                action = steps.throw(error)
            else:
                action = steps.send(event)
    except StopIteration as done:
        value: T = done.value
        return value
    finally:
        steps.close()


async def _carry_out(action: Action, job: Job, stream: Stream | None) -> Event:
    match action:
        case Ask():
            return Replied(await _ask(action, job))
        case Execute(calls, allowed, may_defer, by, beside):
            before = len(job.executor.held)
            made = job.executor.execute(calls, allowed, may_defer=may_defer, by=by, beside=beside)
            results = await made
            return Returned(results, job.executor.held[before:])
        case Release(tools):
            return Returned(await job.executor.release(tools))
        case MakePlan():
            return _make_plan(action, job)
        case RunSlots(slots, done):
            late = make_late_question(job)
            async with job.executor.stream(done=done, late=late, known=job.known) as running:
                running.add(*slots)
            return Ran(running)
        case RunBeside(steps, done):
            late = make_late_question(job)
            async with job.executor.stream(done=done, late=late, known=job.known) as running:
                value = await perform(steps, job, running)
            return Ran(running, value)
        case _:
            if stream is None:
                raise TypeError(f"{type(action).__name__} needs slots to be run beside it")
            return await _carry_out_beside(action, job, stream)


async def _ask(action: Ask, job: Job) -> Reply:
    """The reply to a question. Of the answer, what becomes certain is told meanwhile."""
    request, calls, actor, _ = action
    if job.streamed is None or request.purpose != "answer":
        return set_thoughts_apart(await job.questions.ask(request, calls=calls, actor=actor))
    with job.streamed.reading() as take:
        asked = job.questions.ask(request, calls=calls, actor=actor, on_piece=take)
        return set_thoughts_apart(await asked)


async def _carry_out_beside(
    action: Write | Dispatch | Recall, job: Job, stream: Stream
) -> Replied | Dispatched:
    match action:
        case Write():
            return Replied(await _ask_while_reading(action, job, stream))
        case Dispatch():
            return _dispatch_slots(action, job, stream)
        case Recall(actor):
            told = job.ledger.next(actor, "dispatch")
            if told is None:
                return Dispatched(None, is_last=not job.ledger.ahead(""))
            return _let_go(job.trace.add("dispatch", **told).data, stream)


async def _ask_while_reading(action: Write, job: Job, stream: Stream) -> Reply:
    """The reply to a question; what it lets go meanwhile is on its way at once."""
    text, is_over = "", False
    loop = asyncio.get_running_loop()

    def read(so_far: str) -> None:
        if not is_over:  # a piece may still be on its way to this thread
            _carry_out_at_once(action.read(so_far), lambda one: _dispatch_slots(one, job, stream))

    def on_piece(piece: str) -> None:  # in whatever thread the model runs
        nonlocal text
        text += piece
        if any(end in piece for end in action.ends):
            loop.call_soon_threadsafe(read, remove_thoughts(text))

    try:
        reply = await job.questions.ask(action.request, calls=None, on_piece=on_piece)
        return replace(reply, text=remove_thoughts(reply.text))
    finally:
        is_over = True


def _carry_out_at_once(
    steps: Generator[Dispatch, Dispatched, None], carry_out: Callable[[Dispatch], Dispatched]
) -> None:
    """Carry out steps whose actions need not be waited for."""
    try:
        action = next(steps)
        while True:
            action = steps.send(carry_out(action))
    except StopIteration:
        return
    finally:
        steps.close()


def _dispatch_slots(action: Dispatch, job: Job, stream: Stream) -> Dispatched:
    """Record what is let go, then let it go: as it stands on record, so that a resume does the
    same.
    """
    slots = [slot.id for slot in action.noted["steps"]]
    turn = job.ledger.turn(action.actor)
    noted = {"slots": slots, **action.noted, "actor": action.actor, "turn": turn}
    return _let_go(job.trace.add("dispatch", **noted).data, stream)


def _let_go(noted: Mapping[str, Any], stream: Stream) -> Dispatched:
    stream.add(*Plan.from_slots(noted["steps"]).slots, reply=noted.get("reply", 0))
    return Dispatched(noted)


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
