"""RETO, section 3.3: tools run layer by layer; the model sees the current layer's tools and earlier results only.

Beyond the paper: where more than a few tools are offered, the model first chooses among their names, so that layers
are not filled with what the request does not need (A.2 names retrieval as the next step). And a tool whose call
lacked a value (the model wanted it and could not call it, or made the value up) is carried over once into the next
layer, so that a wrong order costs a layer and not the tool.
"""

from __future__ import annotations

from dataclasses import replace

from callwright.execution.gaps import Gap, gaps
from callwright.execution.select import mentioned, selected, selection
from callwright.plan import Slot
from callwright.planning.closure import with_producers
from callwright.planning.schema_order import claims
from callwright.strategies.job import Job
from callwright.types import Skip, Tool


class Layered:
    """Plans once, then asks one question per layer. Out-of-turn calls are impossible: other tools are not in view."""

    name = "layered"

    def __init__(self, choose_above: int = 3) -> None:
        """``choose_above``: with more tools than this, the model is asked first which of them are needed."""
        self._choose_above = choose_above

    async def run(self, job: Job) -> None:
        tools = await self._chosen(job)
        job.plan = job.planner.plan(job.query, tools)
        job.plan.require_sound(t.name for t in tools)
        job.record_plan()
        total = len(job.plan.layers)
        finished: set[str] = set()
        carried: set[str] = set()
        index = 0
        while slots := (ready := job.plan.ready(finished)) + (late := self._late(job, carried)):
            index += 1
            finished |= {slot.id for slot in ready}
            carried |= {slot.tool for slot in late}
            await self._layer(job, slots, index, max(total, index))
        await self._mend_gaps(job, index)
        good = {r.tool for r in job.executor.results if r.ok}
        await job.executor.release([name for name in job.executor.held if name not in good])

    async def _chosen(self, job: Job) -> tuple[Tool, ...]:
        """What to plan with: what the model chose or the request names, and what feeds it. All, if none is chosen."""
        if len(job.tools) <= self._choose_above:
            return job.tools
        reply = await job.questions.ask(selection(job.query, job.tools, job.questions.mode), calls=None)
        chosen = selected(reply, job.tools)
        if not chosen:
            job.trace.add("note", text="the model chose no tool: all are planned")
            return job.tools
        spoken_of = (tool for tool in mentioned(job.query, job.tools) if tool not in chosen)
        kept = with_producers((*chosen, *spoken_of), job.tools)
        job.executor.skip(Skip(t.name, "not chosen for this request") for t in job.tools if t not in kept)
        return kept

    async def _mend_gaps(self, job: Job, index: int) -> None:
        """Once more through the layers that can close what is open, if anything is (see :mod:`execution.gaps`).

        The tools that feed a failed call, the tool of the call itself and what depends on it; a layer is asked only
        while something is still open or something new was found before it.
        """
        found = _open(job)
        tools = _able(job, found)
        if not tools:
            return
        job.trace.add("note", text="still open: " + "; ".join(gap.note for gap in found))
        for slots in _in_layers(job, tools):
            found = _open(job)
            index += 1
            await self._layer(job, slots, index, index, found)

    def _late(self, job: Job, carried: set[str]) -> tuple[Slot, ...]:
        """Slots whose call lacked a value that results since then may hold; each is offered once more."""
        executor = job.executor
        succeeded = {r.tool for r in executor.results if r.ok}
        waiting = {
            name
            for name, seen in executor.postponed.items()
            if name not in succeeded | carried and len(executor.results) > seen
        }
        return tuple(slot for slot in job.plan.slots if slot.tool in waiting)

    async def _layer(
        self, job: Job, slots: tuple[Slot, ...], index: int, total: int, found: tuple[Gap, ...] = ()
    ) -> None:
        """One question and its calls. ``found``: the gaps that this layer is to close, in the second pass."""
        job.trace.add("layer", index=index, total=total, slots=[s.id for s in slots])
        by_name = {t.name: t for t in job.tools}
        tools = tuple(by_name[name] for name in dict.fromkeys(slot.tool for slot in slots))
        slot_of = {slot.tool: slot.id for slot in reversed(slots)}
        bound = await job.bind(tools, "layer", index, total, finish=False, open_points=[gap.note for gap in found])
        job.executor.skip(replace(s, slot=slot_of.get(s.tool, "")) for s in bound.skips)
        for tool in bound.wanted:
            job.executor.postpone(tool)
        calls = [replace(call, slot=slot_of.get(call.tool, "")) for call in bound.calls]
        await job.executor.settle(calls, slot_of, patient=() if found else slot_of.keys())


def _open(job: Job) -> tuple[Gap, ...]:
    tool = {slot.id: slot.tool for slot in job.plan.slots}
    edges = ((tool[a], tool[b]) for a, b in job.plan.edges)
    good = {r.tool for r in job.executor.results if r.ok}
    waiting = [Gap(f"{name} waits: {_why(job, name)}", name) for name in job.executor.held if name not in good]
    return (*waiting, *gaps(job.query, job.executor.results, job.tools, edges))


def _why(job: Job, name: str) -> str:
    return next(
        (s.reason for s in reversed(job.executor.skips) if s.tool == name and s.refused), "a value is missing"
    )


def _able(job: Job, found: tuple[Gap, ...]) -> frozenset[str]:
    """The tools that may close these gaps, with what was called on their results.

    For a failed or waiting call: the tools that its error names, those that feed it (for a waiting one also those
    that need nothing: they tell the day, the user, the place), then its own; where there are none and nothing was
    found since, nothing could tell the model more than it knew. For anything else the tool itself.
    """
    feeds = claims(job.tools)
    good = {r.tool for r in job.executor.results if r.ok}
    wanted: set[str] = set()
    for gap in found:
        sources = {*gap.named, *(c.producer for c in feeds if c.consumer == gap.tool)}
        if gap.tool in job.executor.held:
            sources |= {t.name for t in job.tools if t.effects.read_only and not t.required} - good
        missed = gap.tool in job.executor.held or any(not r.ok and r.tool == gap.tool for r in job.executor.results)
        since = job.executor.postponed.get(gap.tool, len(job.executor.results)) < len(job.executor.results)
        if sources or since or not missed:
            wanted |= {gap.tool, *(sources if missed else ())}
    called = {r.tool for r in job.executor.results}
    wanted |= {slot.tool for slot in job.plan.slots if slot.tool in called and slot.after & wanted}
    done = {t.name for t in job.tools if t.effects.may_write and t.name in good}  # what is done is not done again
    return frozenset(wanted - done)


def _in_layers(job: Job, names: frozenset[str]) -> list[tuple[Slot, ...]]:
    """The slots of these tools, layer by layer; tools that were not in the plan stand first: they were missed."""
    planned = {slot.tool for slot in job.plan.slots}
    missed = tuple(Slot(name, name) for name in sorted(names - planned))
    rows = [tuple(s for s in layer if s.tool in names) for layer in job.plan.layers]
    return [row for row in (missed, *rows) if row]
