"""ReAct (Yao et al., 2022): all tools in view, one step at a time, until the model says that it is
done.

Beyond the paper: where it ends with a call that failed for good, and the run was shown a few tools
of a catalogue that has others, it goes on with these (:mod:`agent.strategies.revision`).
"""

from __future__ import annotations

from collections.abc import Sequence

from callwright.agent.bind import Bound
from callwright.agent.step import BindStep, StepContext, Steps
from callwright.agent.strategies.revision import Revision, list_lost_calls
from callwright.agent.strategies.strategy import Stepwise
from callwright.nouns.plan import Plan
from callwright.nouns.types import ToolResult

_FRUITLESS = 3  # turns in a row that lead to no new result: the model is going round in circles


class ReAct(Stepwise):
    """Grows the plan slot by slot. Each turn is one question; the thoughts and results of earlier
    turns are seen by the next.
    """

    name = "react"

    def steps(self, context: StepContext) -> Steps[None]:
        context.plan = Plan()
        if context.asks_for_nothing:
            return
        revision = Revision(context)
        fruitless = 0
        thoughts: list[tuple[str, str]] = []
        for turn in range(1, context.limits.turns + 1):
            points = [gap.note for gap in revision.gaps]
            step = BindStep(
                "react",
                turn,
                context.limits.turns,
                may_finish=True,
                open_points=points,
                thoughts=thoughts,
            )
            bound = yield from context.bind(context.tools, step)
            results = yield from _make_call(context, bound)
            thoughts += [(result.id, bound.thought) for result in results if bound.thought]
            fruitless = 0 if results else fruitless + 1
            if why := _find_reason_to_stop(bound, fruitless):
                context.trace.add("note", text=why)
                if not revision.begin(list_lost_calls(context), needs_new=True):
                    break
                fruitless = 0
        context.record_plan()


def _make_call(context: StepContext, bound: Bound) -> Steps[Sequence[ToolResult]]:
    """Make the first call of a turn. Returns what it brought; nothing where it was not made."""
    if not bound.calls:
        return ()
    names = {tool.name for tool in context.tools}
    return (yield from context.step(bound.calls[0], len(context.plan.slots) + 1, names))


def _find_reason_to_stop(bound: Bound, fruitless: int) -> str:
    if not bound.calls:
        return "the model finished" if bound.finished else "the model made no call"
    return (
        f"stopped: {fruitless} turns in a row brought nothing new"
        if fruitless >= _FRUITLESS
        else ""
    )
