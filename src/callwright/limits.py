"""Every budget of a run in one object, and the one counter that spends it."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

from callwright.types import Usage


@dataclass(frozen=True, slots=True)
class Limits:
    """Hard limits of one run.

    ``repairs`` is the paper's B (RETO, Algorithm 1): tier-2 questions, repeated executions and steps of recovery,
    over the whole run.
    """

    repairs: int = 5
    model_calls: int = 24
    tokens: int = 60_000  # prompt + completion, over the run
    seconds: float = 900.0
    tool_calls: int = 40
    tool_seconds: float = 30.0  # one call
    concurrency: int = 8  # calls in flight
    result_chars: int = 6_000  # of earlier results shown to the model, all together
    result_bytes: int = 2_000_000  # of one result kept at all
    reply_tokens: int = 512  # one reply
    turns: int = 12  # of strategies that grow their plan turn by turn


@dataclass(slots=True)
class Budget:
    """What one run has spent of its Limits. Not thread-safe: one event loop owns it."""

    limits: Limits
    clock: Callable[[], float] = time.monotonic
    repairs: int = 0
    model_calls: int = 0
    tool_calls: int = 0
    usage: Usage = field(default_factory=Usage)
    started: float = field(init=False)

    def __post_init__(self) -> None:
        self.started = self.clock()

    @property
    def seconds(self) -> float:
        return self.clock() - self.started

    @property
    def seconds_left(self) -> float:
        return max(0.0, self.limits.seconds - self.seconds)

    def spend_repair(self) -> bool:
        """Take one from the repair budget B; False when it is empty (then nothing is taken)."""
        if self.repairs >= self.limits.repairs:
            return False
        self.repairs += 1
        return True

    def spend_tool_call(self) -> bool:
        if self.tool_calls >= self.limits.tool_calls:
            return False
        self.tool_calls += 1
        return True

    def exhausted(self) -> str:
        """The name of the first limit that forbids another model call, or ""."""
        if self.model_calls >= self.limits.model_calls:
            return "model_calls"
        if self.usage.total >= self.limits.tokens:
            return "tokens"
        if self.seconds_left <= 0:
            return "seconds"
        return ""

    def charge(self, usage: Usage) -> None:
        """Count one model call and its tokens."""
        self.model_calls += 1
        self.usage = self.usage + usage
