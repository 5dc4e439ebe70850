"""Any strategy whose failed calls are reflected on before they are repaired (Tool-MVR, 3.3, at run
time).

The rest is the strategy's own, and so is the budget: a reflection takes the place of a plain repair
question and costs what that costs. The name says it (``layered+reflect``), so a resume and a
benchmark's rows know it by it.
"""

from __future__ import annotations

from collections.abc import Mapping

from callwright.agent.execution.job import Job
from callwright.agent.handling import Repairing
from callwright.agent.safety.freeze import Level
from callwright.agent.strategies.strategy import Strategy

REFLECT: Mapping[str, Repairing] = {"reflect": "reflect", "reflect-after": "reflect-after"}
"""What may follow a strategy's name behind a plus."""


class Reflecting:
    """``strategy``, its calls repaired by reflection: in place of the plain repair, or where that
    had not helped.
    """

    def __init__(self, strategy: Strategy, how: Repairing = "reflect") -> None:
        self.strategy, self._how = strategy, how
        self.name = f"{strategy.name}+{how}"
        self.freezes: tuple[Level, ...] = getattr(strategy, "freezes", ())
        self.planner: str | None = getattr(strategy, "planner", None)

    async def run(self, job: Job) -> None:
        job.executor.repair_by(self._how)
        await self.strategy.run(job)


def wrap_with_repair(strategy: Strategy, how: Repairing) -> Strategy:
    """The strategy, its calls repaired in this way; plainly is as it is. One that reflects already
    reflects so.
    """
    if how == "plain":
        return strategy
    return Reflecting(strategy.strategy if isinstance(strategy, Reflecting) else strategy, how)
