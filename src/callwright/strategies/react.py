"""ReAct (Yao et al., 2022): all tools in view, one step at a time, until the model says that it is done."""

from __future__ import annotations

from dataclasses import replace

from callwright.plan import Plan, Slot
from callwright.strategies.job import Job
from callwright.types import ToolCall, ToolResult

_FRUITLESS = 3  # turns in a row that lead to no new result: the model is going round in circles


class ReAct:
    """Grows the plan slot by slot. Each turn is one question; the results of a turn are seen by the next."""

    name = "react"

    async def run(self, job: Job) -> None:
        job.plan = Plan()
        fruitless = 0
        for turn in range(1, job.limits.turns + 1):
            bound = await job.bind(job.tools, "react", turn, job.limits.turns, finish=True)
            if not bound.calls:
                job.trace.add("note", text="the model finished" if bound.finished else "the model made no call")
                break
            results = await self._step(job, bound.calls[0])
            fruitless = 0 if results else fruitless + 1
            if fruitless >= _FRUITLESS:
                job.trace.add("note", text=f"stopped: {fruitless} turns in a row brought nothing new")
                break
        job.record_plan()

    async def _step(self, job: Job, call: ToolCall) -> list[ToolResult]:
        names = {t.name for t in job.tools}
        slot = Slot(f"{call.tool}@{len(job.plan.slots) + 1}", call.tool, frozenset(s.id for s in job.plan.slots[-1:]))
        if call.tool in names:
            job.plan = job.plan.grown(slot)
        return await job.executor.settle([replace(call, slot=slot.id)], names)
