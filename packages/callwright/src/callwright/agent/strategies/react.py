"""ReAct (Yao et al., 2022): all tools in view, one step at a time, until the model says that it is
done.
"""

from __future__ import annotations

from callwright.agent.step import BindStep, StepContext, Steps
from callwright.agent.strategies.job import Stepwise
from callwright.nouns.plan import Plan

_FRUITLESS = 3  # turns in a row that lead to no new result: the model is going round in circles


class ReAct(Stepwise):
    """Grows the plan slot by slot. Each turn is one question; the results of a turn are seen by the
    next.
    """

    name = "react"

    def steps(self, context: StepContext) -> Steps[None]:
        context.plan = Plan()
        fruitless = 0
        for turn in range(1, context.limits.turns + 1):
            step = BindStep("react", turn, context.limits.turns, may_finish=True)
            bound = yield from context.bind(context.tools, step)
            if not bound.calls:
                context.trace.add(
                    "note",
                    text="the model finished" if bound.finished else "the model made no call",
                )
                break
            results = yield from context.step(
                bound.calls[0], len(context.plan.slots) + 1, {t.name for t in context.tools}
            )
            fruitless = 0 if results else fruitless + 1
            if fruitless >= _FRUITLESS:
                context.trace.add(
                    "note", text=f"stopped: {fruitless} turns in a row brought nothing new"
                )
                break
        context.record_plan()
