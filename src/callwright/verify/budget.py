"""What a sweep may spend, what it has spent, and who counts it: calls of tools, questions to models, minutes."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from callwright.errors import ConfigError
from callwright.protocols import Capabilities, ChatModel, ChatRequest, Watcher
from callwright.types import Reply, Usage


@dataclass(frozen=True, slots=True)
class Budget:
    """The most that one sweep may spend; None sets no limit. Raises ConfigError for a limit below 0."""

    calls: int | None = None
    model_calls: int | None = None
    minutes: float | None = None

    def __post_init__(self) -> None:
        for name in ("calls", "model_calls", "minutes"):
            value = getattr(self, name)
            if value is not None and not (math.isfinite(value) and value >= 0):
                raise ConfigError(f"the budget of {name.replace('_', ' ')} is {value}, and must be 0 or more")


@dataclass(frozen=True, slots=True)
class Cost:
    """What was spent: real calls of tools, questions to models and their tokens, seconds of work."""

    calls: int = 0
    model_calls: int = 0
    usage: Usage = field(default_factory=Usage)
    seconds: float = 0.0

    def __add__(self, other: Cost) -> Cost:
        return Cost(
            self.calls + other.calls,
            self.model_calls + other.model_calls,
            self.usage + other.usage,
            self.seconds + other.seconds,
        )

    def __str__(self) -> str:
        return f"{self.calls} calls, {self.model_calls} model calls, {self.usage.total:,} tokens"


class BudgetSpent(Exception):
    """A row needs more than is left: it is left as it was, and the sweep ends in good order."""


class Account:
    """The budget of one sweep and what is left of it. One event loop owns it."""

    def __init__(self, budget: Budget, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._budget, self._clock = budget, clock
        self._began = clock()
        self._calls = self._model_calls = 0

    def take_call(self) -> None:
        """One call of a tool. Raises BudgetSpent."""
        self.require_time()
        if self._budget.calls is not None and self._calls >= self._budget.calls:
            raise BudgetSpent(f"the budget of {self._budget.calls} calls is spent")
        self._calls += 1

    def take_model_call(self) -> None:
        """One question to a model. Raises BudgetSpent."""
        self.require_model_call()
        self._model_calls += 1

    def require_model_call(self) -> None:
        """Raises BudgetSpent where no further question may be asked."""
        self.require_time()
        if self._budget.model_calls is not None and self._model_calls >= self._budget.model_calls:
            raise BudgetSpent(f"the budget of {self._budget.model_calls} model calls is spent")

    def require_time(self) -> None:
        """Raises BudgetSpent when the minutes are over."""
        minutes = self._budget.minutes
        if minutes is not None and self._clock() - self._began >= 60 * minutes:
            raise BudgetSpent(f"the budget of {minutes:g} minutes is spent")


class Meter:
    """What one row costs, charged to the account before it is spent."""

    def __init__(self, account: Account | None = None) -> None:
        self._account = account or Account(Budget())
        self.cost = Cost()

    def call(self) -> None:
        """Count one real call of a tool, before it is made. Raises BudgetSpent."""
        self._account.take_call()
        self.cost = replace(self.cost, calls=self.cost.calls + 1)

    def metered(self, model: ChatModel) -> ChatModel:
        """The model, each question to it counted here. Asking raises BudgetSpent where none is left."""
        return _Metered(model, self)

    def model_call(self) -> None:
        """Count one question to a model, before it is asked. Raises BudgetSpent."""
        self._account.take_model_call()
        self.cost = replace(self.cost, model_calls=self.cost.model_calls + 1)

    def may_ask(self) -> None:
        """Raises BudgetSpent where no further question may be asked."""
        self._account.require_model_call()

    def used(self, reply: Reply) -> None:
        """Count a reply's tokens and time."""
        self.cost = self.cost + Cost(usage=reply.usage, seconds=reply.seconds)


class _Metered:
    """A model that counts. Closing it leaves the model open, which belongs to somebody else."""

    def __init__(self, model: ChatModel, meter: Meter) -> None:
        self._model, self._meter = model, meter

    @property
    def name(self) -> str:
        return self._model.name

    async def capabilities(self) -> Capabilities:
        self._meter.may_ask()  # finding out may be a question, too
        return await self._model.capabilities()

    async def complete(self, request: ChatRequest, watch: Watcher | None = None) -> Reply:
        self._meter.model_call()
        reply = await self._model.complete(request, watch)
        self._meter.used(reply)
        return reply

    async def aclose(self) -> None:
        """Nothing is held."""
