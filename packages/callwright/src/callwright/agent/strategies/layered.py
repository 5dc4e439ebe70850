"""RETO, section 3.3: tools run layer by layer; the model sees the current layer's tools and earlier
results only.

Beyond the paper: where more than a few tools are offered, the model first chooses among their
names, so that layers are not filled with what the request does not need (A.2 names retrieval as the
next step). And a tool whose call lacked a value (the model wanted it and could not call it, or made
the value up) is carried over into the next layer as long as new results come, so that a wrong order
costs a layer and not the tool. What repair cannot solve goes to :mod:`agent.strategies.recovery`.
What is open after the last layer is put to the model in one more question
(:mod:`agent.strategies.open_points`).
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from callwright.agent.gaps import Gap
from callwright.agent.leading.jobs import look_after_job
from callwright.agent.safety.freeze import Level
from callwright.agent.step import BindStep, Release, StepContext, Steps, execute
from callwright.agent.strategies.first_step import may_call_first, take_first_step
from callwright.agent.strategies.open_points import (
    find_open_points,
    list_open_gaps,
    list_waiting,
    narrow_tool,
)
from callwright.agent.strategies.recovery import WAYS, Recovery
from callwright.agent.strategies.revision import Revision, list_lost_calls
from callwright.agent.strategies.strategy import Stepwise
from callwright.agent.strategies.tool_choice import ALONE, choose_tools
from callwright.nouns.errors import ConfigError
from callwright.nouns.plan import Slot


class Layered(Stepwise):
    """Plans once, then asks one question per layer. Out-of-turn calls are impossible: other tools
    are not in view.
    """

    name = "layered"
    freezes: tuple[Level, ...] = ("plan",)

    def __init__(
        self,
        choose_above: int = 1,
        recover: Collection[str] = WAYS,
        *,
        ask_what_is_open: bool = True,
    ) -> None:
        """``choose_above``: with more tools than this, the model is asked first which of them are
        needed; of few tools in the question that makes the first calls, of many in one of its own.

        ``recover``: what may be tried where repair fails (:data:`agent.strategies.recovery.WAYS`).
        Raises ConfigError for anything else. ``ask_what_is_open``: whether the model is told once,
        after the last layer, what no call has closed yet; where nothing is, it costs nothing.
        """
        if unknown := {*recover} - {*WAYS}:
            raise ConfigError(
                f"there is no recovery by {', '.join(sorted(unknown))}",
                hint="ways: " + ", ".join(WAYS),
            )
        self._choose_above = choose_above
        self._recover = frozenset(recover)
        self._ask_what_is_open = ask_what_is_open

    def steps(self, context: StepContext) -> Steps[None]:
        if context.asks_for_nothing:
            return
        recovery = Recovery(context, self._recover, self._layer)
        revision = Revision(context)
        finished: set[str] = set()
        is_told = not self._ask_what_is_open
        index = yield from self._begin(context, recovery, finished)
        while True:
            ready, late = context.plan.ready(finished), _list_late_slots(context)
            slots, gaps = ready + late, (*recovery.reopened(ready + late), *revision.gaps)
            if is_told and self._ask_what_is_open:
                offered = {slot.tool for slot in slots}
                gaps += tuple(gap for gap in list_open_gaps(context) if gap.tool in offered)
            if not slots and not is_told:
                is_told = True
                slots, gaps = self._take_open_points(context, recovery, finished)
            if not slots:
                if (yield from self._revise(context, revision, finished)):
                    continue
                break
            index += 1
            finished |= {slot.id for slot in ready}
            context.facts.forget_lacking(
                slot.tool for slot in late
            )  # unless it lacks a value now as well
            total = max(len(context.plan.layers), index)
            waiting = list_waiting(context, slots, finished)
            yield from self._layer(context, slots, index, total, gaps, waiting)
            yield from look_after_job(context, context.tools)
            yield from recovery.after((index, total), finished)
        yield from self._end(context, index, recovery, finished)

    def _begin(self, context: StepContext, recovery: Recovery, finished: set[str]) -> Steps[int]:
        """Choose the tools and make the plan. Returns how many layers had their question with
        it."""
        if not may_call_first(context, self._choose_above):
            tools = yield from choose_tools(context, max(self._choose_above, ALONE))
            yield from context.make_plan(tools)
            return 0
        yield from take_first_step(context, finished)
        yield from recovery.after((1, max(len(context.plan.layers), 1)), finished)
        return 1

    def _revise(self, context: StepContext, revision: Revision, finished: set[str]) -> Steps[bool]:
        """Plan what may go round the calls that failed for good. Returns True if there is a
        plan."""
        if "replan" not in self._recover:
            return False
        above = max(self._choose_above, ALONE)
        tools = yield from revision.choose(list_lost_calls(context), above)
        if not tools:
            return False
        yield from context.revise({*finished}, lambda: context.planner.plan(context.query, tools))
        return bool(context.plan.ready(finished))

    def _take_open_points(
        self, context: StepContext, recovery: Recovery, finished: set[str]
    ) -> tuple[tuple[Slot, ...], tuple[Gap, ...]]:
        """The slots of the one question of what is open, and the gaps; none where nothing is to be
        asked. Slots that the plan lacks are added to it.
        """
        found = find_open_points(context, recovery.offered_again)
        if not found.slots:
            return (), ()
        context.trace.add("note", text="still open: " + "; ".join(gap.note for gap in found.gaps))
        if found.missed:
            context.plan = context.plan.grown(*found.missed)
            context.record_plan()
        finished |= {slot.id for slot in found.slots}
        return found.slots, found.gaps

    def _end(
        self, context: StepContext, index: int, recovery: Recovery, finished: set[str]
    ) -> Steps[None]:
        """Release what still waits for a value, unless it is known to write."""
        yield from recovery.after((index, index), finished, last=True)
        out = context.facts.succeeded | {t.name for t in context.tools if t.effects.declares_write}
        yield Release(tuple(name for name in context.facts.deferred if name not in out))

    def _layer(
        self,
        context: StepContext,
        slots: tuple[Slot, ...],
        index: int,
        total: int,
        found: tuple[Gap, ...] = (),
        waiting: Collection[str] | None = None,
    ) -> Steps[None]:
        """One question and its calls. ``found``: the gaps that this layer is to close. ``waiting``:
        the tools whose calls wait where a value of theirs stands nowhere; by default, where nothing
        comes after it that could give one, what writes: a made-up value is not written.
        """
        context.trace.add("layer", index=index, total=total, slots=[s.id for s in slots])
        by_name = {t.name: t for t in context.tools}
        tools = tuple(by_name[name] for name in dict.fromkeys(slot.tool for slot in slots))
        slot_of = {slot.tool: slot.id for slot in reversed(slots)}
        shown = tuple(narrow_tool(context, tool) for tool in tools) if found else tools
        points = tuple(dict.fromkeys(gap.note for gap in found))
        step = BindStep("layer", index, total, open_points=points)
        bound = yield from context.bind(shown, step)
        context.facts.skip(replace(s, slot=slot_of.get(s.tool, "")) for s in bound.skips)
        for tool in bound.wanted:
            context.facts.note_lacking(tool)
        calls = [replace(call, slot=slot_of.get(call.tool, "")) for call in bound.calls]
        writes = [name for name in slot_of if by_name[name].effects.declares_write]
        yield from execute(calls, slot_of, may_defer=writes if waiting is None else waiting)


def _list_late_slots(context: StepContext) -> tuple[Slot, ...]:
    """Slots whose call lacked a value that results since then may hold."""
    facts = context.facts
    came = len(facts.all_results)
    waiting = {
        name for name, seen in facts.lacking.items() if name not in facts.succeeded and came > seen
    }
    return tuple(slot for slot in context.plan.slots if slot.tool in waiting)
