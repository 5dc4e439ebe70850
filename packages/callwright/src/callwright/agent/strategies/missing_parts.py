"""The end of every run: the Finish question, and what its reply names as missing.

The model's own list (``missing`` of its reply) is passed on as it was written, in whatever
language. Where a tool that is offered may still get one of its parts, one more question over these
tools is asked, with the list as what is open. If a call of it succeeds, the Finish question is
asked once more. What this one names is fetched too, where it is something else: the code that was
missing leads to the record that is. All of it counts as any question does, and happens at most twice
a run. Reading tools are offered; what may write only where the request asks for it, and where it has
not written yet. Its clearance decides as ever. A frozen plan holds.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from callwright.agent.leading.jobs import look_after_job
from callwright.agent.questions import LimitReached
from callwright.agent.safety.policy import find_asked
from callwright.agent.step import BindStep, StepContext, Steps, converse, execute
from callwright.nouns.plan import Slot
from callwright.nouns.types import Answer, Tool, ToolCall

if TYPE_CHECKING:
    from callwright.agent.execution.job import Job

_OFFERED = 12  # tools at most: those of the plan first
_QUESTIONS = 2  # the one for the missing parts, and the answer's
_FETCHES = 2


def close_run(job: Job) -> Steps[Answer]:
    """The answer of a run. Raises LimitReached where a limit forbids even the first question."""
    if not job.as_written:
        yield from look_after_job(job, job.tools)
    written = yield from converse(job.finish())
    asked: list[Sequence[str]] = []
    while len(asked) < _FETCHES:
        is_open = written.missing or written.undone
        if not is_open or job.as_written or job.questions.calls_left < _QUESTIONS:
            break
        points = written.missing or (job.query,)
        names = () if written.missing else _list_safe(written.undone, job)
        if points in asked or (written.undone and not (names or written.missing)):
            break
        asked.append(points)
        try:
            if not (yield from fetch_missing(job, points, names)):
                break
            written = yield from converse(job.finish())
        except LimitReached:
            job.trace.add("note", text="a limit was reached: the answer stays as it was")
            break
    return written.answer


def _list_safe(names: Sequence[str], job: Job) -> tuple[str, ...]:
    """The tools of these that destroy nothing: what was not done may just not be wanted."""
    safe = {tool.name for tool in job.tools if not tool.effects.destructive}
    return tuple(name for name in names if name in safe)


def fetch_missing(
    context: StepContext, missing: Sequence[str], names: Container[str] = ()
) -> Steps[bool]:
    """One question for what the model says is missing, and its calls. Returns True if one of them
    succeeded; nothing is asked where no tool could get it. ``names``: only these tools.
    """
    tools = list_fetching_tools(context) if context.facts.handling.may_fetch else ()
    tools = tuple(tool for tool in tools if not names or tool.name in names)
    if not tools:
        return False
    context.trace.add("note", text=f"missing, as the answer says: {'; '.join(missing)}")
    index = len(context.plan.layers) + 1
    asked = context.facts.led or context
    bound = yield from asked.bind(tools, BindStep("layer", index, index, open_points=missing))
    calls = _place_calls(context, bound.calls)
    writers = {tool.name for tool in tools if tool.effects.declares_write}
    results = yield from execute(calls, (tool.name for tool in tools), may_defer=writers)
    return any(result.ok for result in results)


def list_fetching_tools(context: StepContext) -> tuple[Tool, ...]:
    """The tools that may be asked for what is missing, those of the plan first: what reads; of what
    may write, what the request asks for or, where it cannot be read, what is planned. What is known
    to write and has written, or may have, is left out.
    """
    facts = context.facts
    if facts.freeze.arguments:
        return ()
    planned = {slot.tool for slot in context.plan.slots}
    earlier = [message.content for message in context.conversation]
    asked = find_asked(context.query, earlier, context.tools)
    written = facts.succeeded | {result.tool for result in facts.state.lasting.doubts.values()}
    found = []
    for tool in context.tools:
        wished = asked[tool.name]
        if tool.compensates and tool.name not in planned:
            continue
        if tool.effects.may_write and not (tool.name in planned if wished is None else wished):
            continue
        if tool.effects.declares_write and tool.name in written:
            continue
        found.append(tool)
    allowed = facts.freeze.tools({tool.name for tool in found})
    offered = (tool for tool in found if tool.name in allowed)
    return tuple(sorted(offered, key=lambda tool: tool.name not in planned)[:_OFFERED])


def _place_calls(context: StepContext, calls: Sequence[ToolCall]) -> list[ToolCall]:
    """The calls with their slots: that of their tool in the plan, or one that the plan lacked."""
    slots = {slot.tool: slot.id for slot in reversed(context.plan.slots)}
    known = {tool.name for tool in context.tools}
    missed = dict.fromkeys(c.tool for c in calls if c.tool not in slots and c.tool in known)
    new = {
        name: Slot(f"{name}@{number}", name)
        for number, name in enumerate(missed, len(context.plan.slots) + 1)
    }
    if new:
        context.plan = context.plan.grown(*new.values())
        context.record_plan()
    slots |= {name: slot.id for name, slot in new.items()}
    return [replace(call, slot=slots.get(call.tool, "")) for call in calls]
