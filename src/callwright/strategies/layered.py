"""RETO, section 3.3: tools run layer by layer; the model sees the current layer's tools and earlier results only."""

from __future__ import annotations

from dataclasses import replace

from callwright.plan import Slot
from callwright.strategies.job import Job


class Layered:
    """Plans once, then asks one question per layer. Out-of-turn calls are impossible: other tools are not in view."""

    name = "layered"

    async def run(self, job: Job) -> None:
        job.plan = job.planner.plan(job.query, job.tools)
        job.plan.require_sound(t.name for t in job.tools)
        job.record_plan()
        total = len(job.plan.layers)
        finished: set[str] = set()
        index = 0
        while ready := job.plan.ready(finished):
            index += 1
            finished |= {slot.id for slot in ready}
            await self._layer(job, ready, index, total, last=len(finished) == len(job.plan.slots))
        if late := self._late(job):
            await self._layer(job, late, index + 1, index + 1, last=True)

    def _late(self, job: Job) -> tuple[Slot, ...]:
        """Slots whose call lacked a value that results since then may hold: the order was wrong about them.

        They are offered once more, together, after the last layer. Costs a question only where a call was put off.
        """
        executor = job.executor
        succeeded = {r.tool for r in executor.results if r.ok}
        waiting = {
            name
            for name, seen in executor.postponed.items()
            if name not in succeeded and len(executor.results) > seen
        }
        return tuple(slot for slot in job.plan.slots if slot.tool in waiting)

    async def _layer(self, job: Job, ready: tuple[Slot, ...], index: int, total: int, last: bool) -> None:
        job.trace.add("layer", index=index, total=total, slots=[s.id for s in ready])
        by_name = {t.name: t for t in job.tools}
        tools = tuple(by_name[name] for name in dict.fromkeys(slot.tool for slot in ready))
        slot_of = {slot.tool: slot.id for slot in reversed(ready)}
        bound = await job.bind(tools, "layer", index, total, finish=False)
        job.executor.skip(replace(s, slot=slot_of.get(s.tool, "")) for s in bound.skips)
        calls = [replace(call, slot=slot_of.get(call.tool, "")) for call in bound.calls]
        await job.executor.settle(calls, slot_of, patient=not last)
