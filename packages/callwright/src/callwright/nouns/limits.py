"""Every budget of a run in one object, and the one counter that spends it."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import Field, dataclass, field, fields
from typing import Any

from callwright.nouns.errors import ConfigError
from callwright.nouns.types import Usage

_MOST = (
    2**53 - 1
)  # what JSON's readers agree on (RFC 8259, section 6): a journal keeps the limits of its run


def _make_limit_field(default: Any, about: str, least: float = 0) -> Any:
    return field(default=default, metadata={"about": about, "least": least})


@dataclass(frozen=True, slots=True)
class Limits:
    """Hard limits of one run. Raises ConfigError for a value that limits nothing or everything by
    mistake: of another type, below its least (see :data:`LIMITS`), not finite.

    ``repairs`` is the paper's B (RETO, Algorithm 1): tier-2 questions, repeated executions and
    steps of recovery, over the whole run.
    """

    repairs: int = _make_limit_field(5, "the repair budget B, over the whole run")
    model_calls: int = _make_limit_field(24, "questions to the model, over the run")
    tokens: int = _make_limit_field(60_000, "tokens of prompts and replies, over the run")
    seconds: float = _make_limit_field(900.0, "seconds of the whole run")
    tool_calls: int = _make_limit_field(40, "calls of tools, over the run")
    tool_seconds: float = _make_limit_field(30.0, "seconds of one call", 0.001)
    concurrency: int = _make_limit_field(8, "calls in flight at a time", 1)
    result_chars: int = _make_limit_field(
        6_000, "characters of earlier results shown to the model, all together"
    )
    result_bytes: int = _make_limit_field(2_000_000, "bytes of one result that is kept at all", 1)
    reply_tokens: int = _make_limit_field(512, "tokens of one reply", 1)
    program_seconds: float = _make_limit_field(
        2.0, "seconds that one program of the model computes", 0.001
    )
    program_bytes: int = _make_limit_field(
        64 << 20, "bytes of memory of the model's programs", 1 << 20
    )
    program_chars: int = _make_limit_field(
        20_000, "characters that one program of the model prints", 1
    )
    turns: int = _make_limit_field(12, "turns of strategies that grow their plan turn by turn", 1)

    def __post_init__(self) -> None:
        for name, limit in LIMITS.items():
            wrong = limit.wrong(getattr(self, name))
            if wrong:
                raise ConfigError(
                    f"the limit {name} {wrong}",
                    hint=f"{name}: {limit.about}; usually {limit.default}",
                )


@dataclass(frozen=True, slots=True)
class Limit:
    """One field of :class:`Limits`, for those who read it from a user."""

    name: str
    kind: type[int] | type[float]
    default: float
    least: float
    about: str

    def wrong(self, value: object) -> str:
        """Return the reason why a value cannot be this limit, as the end of a sentence; "" if it
        can.
        """
        if isinstance(value, bool) or not isinstance(
            value, int if self.kind is int else int | float
        ):
            return f"takes {'a whole number' if self.kind is int else 'a number'}, not {value!r}"
        if not self.least <= value <= _MOST:
            return f"is {value}, and must be {self.least:g} or more" + (
                "" if value < self.least else ", and finite"
            )
        return ""


def _as_limit(told: Field[Any]) -> Limit:
    default: Any = told.default
    return Limit(told.name, type(default), default, told.metadata["least"], told.metadata["about"])


LIMITS: Mapping[str, Limit] = {told.name: _as_limit(told) for told in fields(Limits)}


@dataclass(slots=True)
class Budget:
    """Amounts that one run has spent of its Limits. Not thread-safe: one event loop owns it."""

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

    def charge(self, usage: Usage, calls: int = 1) -> None:
        """Count model calls and their tokens."""
        self.model_calls += calls
        self.usage = self.usage + usage
