"""RETO, section 3.3: tools run layer by layer; the model sees the current layer's tools and earlier
results only.

Beyond the paper: where more than a few tools are offered, the model first chooses among their
names, so that layers are not filled with what the request does not need (A.2 names retrieval as the
next step). And a tool whose call lacked a value (the model wanted it and could not call it, or made
the value up) is carried over into the next layer as long as new results come, so that a wrong order
costs a layer and not the tool. What repair cannot solve goes to :mod:`agent.strategies.recovery`.
With ``second_pass``, what seems to be left of the request is looked up at the end
(:mod:`agent.strategies.second_pass`).
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from callwright.agent.gaps import Gap
from callwright.agent.safety.freeze import Level
from callwright.agent.strategies.job import BindStep, Job
from callwright.agent.strategies.recovery import WAYS, Recovery
from callwright.agent.strategies.second_pass import close_gaps, narrow_tool
from callwright.agent.strategies.tool_choice import choose_tools
from callwright.nouns.errors import ConfigError
from callwright.nouns.plan import Slot
from callwright.nouns.types import Tool


class Layered:
    """Plans once, then asks one question per layer. Out-of-turn calls are impossible: other tools
    are not in view.
    """

    name = "layered"
    freezes: tuple[Level, ...] = ("plan",)

    def __init__(
        self, choose_above: int = 3, recover: Collection[str] = WAYS, *, second_pass: bool = False
    ) -> None:
        """``choose_above``: with more tools than this, the model is asked first which of them are
        needed.

        ``recover``: what may be tried where repair fails (:data:`agent.strategies.recovery.WAYS`).
        Raises ConfigError for anything else. ``second_pass``: whether reading tools may be called
        for names of the request that no call took. It is off by default: it goes by how the request
        is written and cannot tell a wish from a mention.
        """
        if unknown := {*recover} - {*WAYS}:
            raise ConfigError(
                f"there is no recovery by {', '.join(sorted(unknown))}",
                hint="ways: " + ", ".join(WAYS),
            )
        self._choose_above = choose_above
        self._recover = frozenset(recover)
        self._second_pass = second_pass
        if second_pass and type(self) is Layered:
            self.name = LayeredWithSecondPass.name  # a resume opens the strategy by its name

    async def run(self, job: Job) -> None:
        tools = await choose_tools(job, self._choose_above)
        job.make_plan(tools)
        recovery = Recovery(job, self._recover, self._layer)
        finished: set[str] = set()
        index = 0
        while slots := (ready := job.plan.ready(finished)) + (late := _list_late_slots(job)):
            index += 1
            finished |= {slot.id for slot in ready}
            job.executor.forget_lacking(
                slot.tool for slot in late
            )  # unless it lacks a value now as well
            total = max(len(job.plan.layers), index)
            await self._layer(job, slots, index, total, recovery.reopened(slots), last=False)
            await recovery.after((index, total), finished)
        await self._end(job, index, recovery, finished)

    async def _end(self, job: Job, index: int, recovery: Recovery, finished: set[str]) -> None:
        """The second pass where it is wanted; then what still waits for a value goes as it is,
        unless it is known to write.
        """
        if self._second_pass:
            await close_gaps(job, self._layer, index)
        await recovery.after((index, index), finished, last=True)
        out = job.executor.succeeded | {t.name for t in job.tools if _is_known_writer(t)}
        await job.executor.release([name for name in job.executor.deferred if name not in out])

    async def _layer(
        self,
        job: Job,
        slots: tuple[Slot, ...],
        index: int,
        total: int,
        found: tuple[Gap, ...] = (),
        last: bool | None = None,
    ) -> None:
        """One question and its calls. ``found``: the gaps that this layer is to close.

        ``last``: nothing comes after it that could give a value, so calls with a made-up one do not
        wait for it; by default that is so where it closes gaps. What writes waits even then: a
        made-up value is not written.
        """
        last = bool(found) if last is None else last
        job.trace.add("layer", index=index, total=total, slots=[s.id for s in slots])
        by_name = {t.name: t for t in job.tools}
        tools = tuple(by_name[name] for name in dict.fromkeys(slot.tool for slot in slots))
        slot_of = {slot.tool: slot.id for slot in reversed(slots)}
        shown = tuple(narrow_tool(job, tool) for tool in tools) if found else tools
        step = BindStep("layer", index, total, open_points=[gap.note for gap in found])
        bound = await job.bind(shown, step)
        job.executor.skip(replace(s, slot=slot_of.get(s.tool, "")) for s in bound.skips)
        for tool in bound.wanted:
            job.executor.note_lacking(tool)
        calls = [replace(call, slot=slot_of.get(call.tool, "")) for call in bound.calls]
        may_defer = [name for name in slot_of if not last or _is_known_writer(by_name[name])]
        await job.executor.execute(calls, slot_of, may_defer=may_defer)


class LayeredWithSecondPass(Layered):
    """:class:`Layered` with ``second_pass``, under a name of its own."""

    name = "layered-second-pass"

    def __init__(self, choose_above: int = 3, recover: Collection[str] = WAYS) -> None:
        """As for :class:`Layered`."""
        super().__init__(choose_above, recover, second_pass=True)


def _list_late_slots(job: Job) -> tuple[Slot, ...]:
    """Slots whose call lacked a value that results since then may hold."""
    executor = job.executor
    came = len(executor.all_results)
    waiting = {
        name
        for name, seen in executor.lacking.items()
        if name not in executor.succeeded and came > seen
    }
    return tuple(slot for slot in job.plan.slots if slot.tool in waiting)


def _is_known_writer(tool: Tool) -> bool:
    """Return True if the tool is known to write. A tool without declared effects may only read."""
    return tool.effects.declared and tool.effects.may_write
