"""Strategies: what every one of them offers, and those that are policies of the step function."""

from __future__ import annotations

from typing import Protocol

from callwright.agent.execution.job import Job
from callwright.agent.execution.perform import perform
from callwright.agent.step import StepContext, Steps


class Strategy(Protocol):
    """Protocol of a strategy, which takes a run from query to results. Raises LimitReached when a
    limit ends it.
    """

    @property
    def name(self) -> str: ...

    async def run(self, job: Job) -> None: ...


class Stepwise:
    """A strategy that is a policy of the step function: the agent carries out its steps."""

    name: str

    def steps(self, context: StepContext) -> Steps[None]:
        raise NotImplementedError

    async def run(self, job: Job) -> None:
        await perform(self.steps(job), job)


class Choosing(Stepwise):
    """A strategy that asks the model first which tools are needed, of more than ``choose_above``."""

    def __init__(self, choose_above: int = 12) -> None:
        self._choose_above = choose_above
