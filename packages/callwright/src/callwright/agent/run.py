"""A finished run: its answer, what it rests on and what it cost."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Generic, Literal, TypeVar

from callwright.nouns.plan import Plan
from callwright.nouns.trace import Event
from callwright.nouns.types import Answer, Assumption, Skip, ToolResult, Usage, to_json
from callwright.tools.python.conversion import dump_value
from callwright.viewer.card import render_card

T = TypeVar("T")
Status = Literal["answered", "partial", "abstained"]


@dataclass(frozen=True, slots=True)
class Cost:
    """Cost of a run. ``steps`` counts as the papers do: one per model call, repairs and Finish
    included.
    """

    model_calls: int = 0
    usage: Usage = field(default_factory=Usage)
    seconds: float = 0.0
    calls: int = 0
    repairs: dict[str, int] = field(default_factory=dict)

    @property
    def steps(self) -> int:
        return self.model_calls


@dataclass(frozen=True, slots=True)
class Run:
    """One finished run. ``events`` is its whole trace."""

    query: str
    strategy: str
    status: Status
    answer: Answer
    plan: Plan
    results: tuple[ToolResult, ...]
    skips: tuple[Skip, ...]
    cost: Cost
    events: tuple[Event, ...] = field(default=(), repr=False)
    limit: str = ""
    id: str = ""  # in the journal
    stale: tuple[str, ...] = ()  # ids of results that no longer counted when the answer was given
    in_doubt: tuple[str, ...] = ()  # ids of writes that failed and may have happened all the same
    assumed: tuple[
        Assumption, ...
    ] = ()  # values on which the answer rests and which the model made up

    def _repr_html_(self) -> str:
        """The run as notebooks show it."""
        return render_card(self.status, self.answer, self.results, self.cost.repairs)

    def to_dict(self) -> dict[str, Any]:
        """The run as JSON, without its trace."""
        outcome = (
            "query",
            "strategy",
            "status",
            "answer",
            "plan",
            "results",
            "skips",
            "cost",
            "limit",
        )
        shown = (*outcome, "stale", "in_doubt", "assumed")
        return {name: to_json(getattr(self, name)) for name in shown}


@dataclass(frozen=True, slots=True)
class TypedRun(Run, Generic[T]):
    """A run that was asked for an output of a type. ``output`` is None where ``lacking`` names the
    fields that no result gives a value for, or what else is wrong with them.
    """

    output: T | None = None
    lacking: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """The run as JSON, without its trace."""
        output = {"output": dump_value(self.output), "lacking": list(self.lacking)}
        return {**Run.to_dict(self), **output}
