"""The ablations of RETO, section 4.2.4 (Figure 5): the layered strategy without its sketch, and without its repair;
and one of what goes beyond the paper.

Each takes one thing away and leaves the rest as it is: executor, prompts, limits, the second pass, the answer.
"""

from __future__ import annotations

from callwright.execution.freeze import Level
from callwright.plan import Plan
from callwright.strategies.job import Job
from callwright.strategies.layered import Layered
from callwright.strategies.recovery import Recovery

_STEPS = 5  # the paper's L (A.1): the layers that a sketch has at most


class WithoutSketch(Layered):
    """The paper's "w/o Execution Sketch": it "exposes all tools rather than layer-constrained subsets".

    All tools that are offered are in view at every step: no choice among them, no plan, no order. The paper does not
    say how often the model is then asked. Asked once, it could never use one result for the next call, and losing
    would prove nothing; so it is asked again, with the results so far, until a step brings none, five times at most:
    as often as with the deepest sketch.
    """

    name = "layered-no-sketch"
    freezes: tuple[Level, ...] = ()  # there is no plan

    async def run(self, job: Job) -> None:
        job.plan = Plan.from_layers([[tool.name for tool in job.tools]])
        job.record_plan()
        recovery, finished = Recovery(job, self._recover - {"replan"}, self._layer), {s.id for s in job.plan.slots}
        index, before = 0, -1
        while index < _STEPS and len(job.executor.came) > before:
            before = len(job.executor.came)
            index += 1
            await self._layer(job, job.plan.slots, index, _STEPS)
            await recovery.after((index, _STEPS), finished)
        await self._end(job, index, recovery, finished)


class WithoutRecovery(Layered):
    """Nothing is gone round where repair fails: the paper as it is, without what we do beyond it (A.2)."""

    name = "layered-no-recovery"

    def __init__(self, choose_above: int = 3) -> None:
        """``choose_above``: as for :class:`Layered`."""
        super().__init__(choose_above, recover=())


class WithoutRepair(WithoutRecovery):
    """The paper's "w/o Repair": it "removes the Reflect-and-Repair module".

    No deterministic edit, no question about a call, no repeated execution: what the schema refuses is left out, what
    fails has failed, and what we do beyond the paper where repair fails is left out too. The gate still drops keys
    that a tool does not know (Eq. 11 does it, not the repair).
    """

    name = "layered-no-repair"

    async def run(self, job: Job) -> None:
        job.executor.without_repair()
        await super().run(job)
