"""Limits and counts the spending of a sweep: tool calls, model requests, minutes."""

from __future__ import annotations

import math
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from callwright.nouns.errors import ConfigError, Failure
from callwright.nouns.protocols import MAY_REPEAT, Capabilities, ChatModel, ChatRequest, Watcher
from callwright.nouns.redaction import redact_secrets
from callwright.nouns.types import (
    Json,
    JsonObject,
    Reply,
    Tool,
    ToolCall,
    ToolOutput,
    Usage,
    to_canonical_json,
    to_json,
)
from callwright_lab.verify.memory import InDoubt, Memory, RowMemory, make_question_key


@dataclass(frozen=True, slots=True)
class Budget:
    """The most that one sweep may spend; None sets no limit. Raises ConfigError for a limit below
    0.
    """

    calls: int | None = None
    model_calls: int | None = None
    minutes: float | None = None

    def __post_init__(self) -> None:
        for name in ("calls", "model_calls", "minutes"):
            value = getattr(self, name)
            if value is not None and not (math.isfinite(value) and value >= 0):
                raise ConfigError(
                    f"the budget of {name.replace('_', ' ')} is {value}, and must be 0 or more"
                )


@dataclass(frozen=True, slots=True)
class Cost:
    """Cost of work: real tool calls, model requests and their tokens, seconds. ``repeats`` of the
    calls were repeated requests, after a 503 for example.
    """

    calls: int = 0
    model_calls: int = 0
    usage: Usage = field(default_factory=Usage)
    seconds: float = 0.0
    repeats: int = 0

    def __add__(self, other: Cost) -> Cost:
        return Cost(
            self.calls + other.calls,
            self.model_calls + other.model_calls,
            self.usage + other.usage,
            self.seconds + other.seconds,
            self.repeats + other.repeats,
        )

    def __str__(self) -> str:
        again = f" ({self.repeats} of them requests that were sent again)" if self.repeats else ""
        return (
            f"{self.calls} calls{again}, {self.model_calls} model calls, {self.usage.total:,}"
            " tokens"
        )


_REPEATS = "repeats"  # of a request, in the note of what came of it


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

    def give_back_call(self) -> None:
        """A call that was taken was not made after all."""
        self._calls -= 1

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
    """Meter of one row's cost, which is charged to the account before it is spent. Answers from
    ``memory`` count as the row's ``cost``, but not as ``spent`` now. ``shared`` holds the answers
    that all rows share.
    """

    def __init__(
        self,
        account: Account | None = None,
        memory: Memory | None = None,
        shared: RowMemory | None = None,
    ) -> None:
        self._account = account or Account(Budget())
        self.memory, self._shared = memory or Memory(), shared or RowMemory()
        self.cost = self.spent = Cost()
        self._refused: BudgetSpent | None = None

    def call(self, *, known: bool = False) -> None:
        """Count one real call of a tool, before it is made, or one that is ``known``. Raises
        BudgetSpent.
        """
        if not known:
            self._account.take_call()
        self._add(Cost(calls=1), known)

    def no_call(self) -> None:
        """The call that was counted was not made: nothing has left."""
        self._account.give_back_call()
        self._add(Cost(calls=-1), False)

    @contextmanager
    def _repeated(self) -> Iterator[list[Cost]]:
        """Inside the block every request that is sent once more counts as a call, and where nothing
        is left for one, none is sent. Yields what was counted.
        """
        counted: list[Cost] = []

        def may_repeat() -> bool:
            try:
                self._account.take_call()
            except BudgetSpent as spent:
                self._refused = spent
                return False
            counted.append(Cost(calls=1, repeats=1))
            self._add(counted[-1], False)
            return True

        before = MAY_REPEAT.set(may_repeat)
        try:
            yield counted
        finally:
            MAY_REPEAT.reset(before)

    def settled(self) -> None:
        """Raises BudgetSpent where a call of this row would have been repeated, had there been
        something left.
        """
        if self._refused is not None:
            raise self._refused

    def knows_call(self, tool: str, arguments: JsonObject) -> bool:
        """Return True if the result of this call is on record. Raises InDoubt if an earlier process
        ended during the call and it may not be made twice.
        """
        try:
            return self.memory.knows(_make_call_key(tool, arguments))
        except InDoubt:
            said = (
                f"in doubt: {tool}({to_canonical_json(arguments)}) was under way when an earlier process"
                " ended"
            )
            raise InDoubt(
                f"{said}, and may have been done; it is not made again, unless with --fresh"
            ) from None

    async def made(
        self, tool: Tool, arguments: JsonObject, make: Callable[[], Awaitable[Json]]
    ) -> Json:
        """Return the result of a call, from the record (:meth:`knows_call`) or by making it. A call
        that may not be made twice is recorded before it is made. The call itself is counted by
        :meth:`call`, its repetitions here.

        Raises BudgetSpent if the call needed a repetition and no budget was left: its result is
        then incomplete. The same holds for all later results of this row (:meth:`settled`).
        """
        asked = _make_call_key(tool.name, arguments)
        if self.memory.knows(asked):
            told = self.memory.recall(asked)
            again = told.get(_REPEATS, 0) if isinstance(told, dict) else 0
            self._add(Cost(calls=again, repeats=again), known=True)
            return (
                {k: v for k, v in told.items() if k != _REPEATS} if isinstance(told, dict) else told
            )
        if not may_repeat_call(tool):
            self.memory.begin(asked)
        with self._repeated() as repeated:
            told = await make()
        self.settled()
        self.memory.tell(
            asked,
            {**told, _REPEATS: len(repeated)} if repeated and isinstance(told, dict) else told,
        )
        return told

    async def called(
        self,
        tool: Tool,
        arguments: JsonObject,
        caller: Callable[[str, JsonObject], Awaitable[ToolOutput]],
        secrets: Sequence[str] = (),
    ) -> ToolOutput:
        """Return a tool's output, recorded or called as in :meth:`made`. ``secrets`` are not
        recorded.
        """
        output: ToolOutput | None = None

        async def make() -> Json:
            nonlocal output
            output = await caller(tool.name, arguments)
            return redact_secrets(to_json(output), secrets)

        told = await self.made(tool, arguments, make)
        return output or _parse_output(told)

    async def told_alike(self, asked: str, ask: Callable[[], Awaitable[ToolOutput]]) -> ToolOutput:
        """Return an answer that all rows of a sweep share. The first row asks for it."""

        async def ask_for_all() -> Json:
            return to_json(await ask())

        return _parse_output(await self._shared.answer_once(asked, ask_for_all))

    def metered(self, model: ChatModel) -> ChatModel:
        """The model, each question to it counted here. Asking raises BudgetSpent where none is
        left.
        """
        return _Metered(model, self)

    def model_call(self, *, known: bool = False) -> None:
        """Count one question to a model, before it is asked, or one that is ``known``. Raises
        BudgetSpent.
        """
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
        memory, asked = self._meter.memory, make_question_key("model", self.name, to_json(request))
        known = memory.knows(asked)
        self._meter.model_call(known=known)
        reply = (
            _parse_reply(memory.recall(asked))
            if known
            else await self._model.complete(request, watch)
        )
        self._meter.used(reply, known=known)
        if not known:
            memory.tell(asked, to_json(reply))
        return reply

    async def aclose(self) -> None:
        """Nothing is held."""


def may_repeat_call(tool: Tool) -> bool:
    """Return True if a call with an unknown outcome may be made again. A sweep sends no idempotency
    keys with calls, so tools that recognise them are no exception.
    """
    return tool.effects.read_only or tool.effects.idempotent


def _make_call_key(tool: str, arguments: JsonObject) -> str:
    return make_question_key("call", tool, arguments)


def _parse_reply(told: JsonObject) -> Reply:
    calls = tuple(ToolCall(**call) for call in told["tool_calls"])
    return Reply(**{**told, "tool_calls": calls, "usage": Usage(**told["usage"])})


def _parse_output(told: JsonObject) -> ToolOutput:
    failure = told["failure"]
    return ToolOutput(**{**told, "failure": failure and Failure(**failure)})
