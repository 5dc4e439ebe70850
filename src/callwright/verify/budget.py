"""What a sweep may spend, what it has spent, and who counts it: calls of tools, questions to models, minutes."""

from __future__ import annotations

import math
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field

from callwright.errors import ConfigError, Failure
from callwright.protocols import Capabilities, ChatModel, ChatRequest, Watcher
from callwright.redaction import redacted
from callwright.types import JsonObject, Reply, ToolCall, ToolOutput, Usage, to_json
from callwright.verify.memory import Memory, question


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
    """What one row costs, charged to the account before it is spent. What ``memory`` knows is not asked again: it
    counts as the row's ``cost``, and not as ``spent`` now."""

    def __init__(self, account: Account | None = None, memory: Memory | None = None) -> None:
        self._account = account or Account(Budget())
        self.memory = memory or Memory()
        self.cost = self.spent = Cost()

    def call(self, *, known: bool = False) -> None:
        """Count one real call of a tool, before it is made, or one that is ``known``. Raises BudgetSpent."""
        if not known:
            self._account.take_call()
        self._add(Cost(calls=1), known)

    def knows_call(self, tool: str, arguments: JsonObject) -> bool:
        """Whether the result of this call is on record."""
        return self.memory.knows(question("call", tool, arguments))

    async def called(
        self,
        tool: str,
        arguments: JsonObject,
        caller: Callable[[str, JsonObject], Awaitable[ToolOutput]],
        secrets: Sequence[str] = (),
    ) -> ToolOutput:
        """What a tool says, asked of ``caller`` where that is not on record; it is counted apart (:meth:`call`).
        ``secrets`` are not put on record. For calls that may be repeated: one that was under way is made again."""
        asked = question("call", tool, arguments)
        if self.memory.knows(asked):
            return _output(self.memory.recall(asked))
        output = await caller(tool, arguments)
        self.memory.tell(asked, redacted(to_json(output), secrets))
        return output

    def metered(self, model: ChatModel) -> ChatModel:
        """The model, each question to it counted here. Asking raises BudgetSpent where none is left."""
        return _Metered(model, self)

    def model_call(self, *, known: bool = False) -> None:
        """Count one question to a model, before it is asked, or one that is ``known``. Raises BudgetSpent."""
        if not known:
            self._account.take_model_call()
        self._add(Cost(model_calls=1), known)

    def may_ask(self) -> None:
        """Raises BudgetSpent where no further question may be asked."""
        self._account.require_model_call()

    def used(self, reply: Reply, *, known: bool = False) -> None:
        """Count a reply's tokens and time."""
        self._add(Cost(usage=reply.usage, seconds=reply.seconds), known)

    def _add(self, cost: Cost, known: bool) -> None:
        self.cost = self.cost + cost
        self.spent = self.spent if known else self.spent + cost


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
        memory, asked = self._meter.memory, question("model", self.name, to_json(request))
        known = memory.knows(asked)
        self._meter.model_call(known=known)
        reply = _reply(memory.recall(asked)) if known else await self._model.complete(request, watch)
        self._meter.used(reply, known=known)
        if not known:
            memory.tell(asked, to_json(reply))
        return reply

    async def aclose(self) -> None:
        """Nothing is held."""


def _reply(told: JsonObject) -> Reply:
    calls = tuple(ToolCall(**call) for call in told["tool_calls"])
    return Reply(**{**told, "tool_calls": calls, "usage": Usage(**told["usage"])})


def _output(told: JsonObject) -> ToolOutput:
    failure = told["failure"]
    return ToolOutput(**{**told, "failure": failure and Failure(**failure)})
