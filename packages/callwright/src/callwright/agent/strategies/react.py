"""ReAct (Yao et al., 2022): all tools in view, one step at a time, until the model says that it is
done.
"""

from __future__ import annotations

from callwright.agent.strategies.job import BindStep, Job
from callwright.nouns.plan import Plan

_FRUITLESS = 3  # turns in a row that lead to no new result: the model is going round in circles


class ReAct:
    """Grows the plan slot by slot. Each turn is one question; the results of a turn are seen by the
    next.
    """

    name = "react"

    async def run(self, job: Job) -> None:
        job.plan = Plan()
        fruitless = 0
        for turn in range(1, job.limits.turns + 1):
            step = BindStep("react", turn, job.limits.turns, may_finish=True)
            bound = await job.bind(job.tools, step)
            if not bound.calls:
                job.trace.add(
                    "note",
                    text="the model finished" if bound.finished else "the model made no call",
                )
                break
            results = await job.step(
                bound.calls[0], len(job.plan.slots) + 1, {t.name for t in job.tools}
            )
            fruitless = 0 if results else fruitless + 1
            if fruitless >= _FRUITLESS:
                job.trace.add(
                    "note", text=f"stopped: {fruitless} turns in a row brought nothing new"
                )
                break
        job.record_plan()
