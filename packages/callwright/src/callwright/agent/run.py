"""A finished run: its answer, what it rests on and what it cost."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any, Generic, Literal, TypeVar

from callwright.agent.fold import Called, Returned, Said, Spoke, read_journal
from callwright.nouns.plan import Plan
from callwright.nouns.trace import Event
from callwright.nouns.types import Answer, Assumption, Message, Skip, ToolResult, Usage, to_json
from callwright.tools.python.conversion import dump_value
from callwright.viewer.card import render_card

T = TypeVar("T")
Status = Literal["answered", "partial", "abstained"]
STOPPED = "(This turn ended before its answer.)"


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

    def messages(self) -> tuple[Message, ...]:
        """The messages of this turn, for the ``conversation`` of the next run: the request, the
        calls with their results, and the answer. Secrets are replaced, as in the trace.
        """
        return read_turn(self.events)

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
        shown = ("id", *outcome, "stale", "in_doubt", "assumed")
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


def read_turn(events: Iterable[Event]) -> tuple[Message, ...]:
    """The messages of one turn, from the events of its run. Of a run that ended before its answer
    they tell what was called; none where nothing was.
    """
    own = [replace(e, data=_without_conversation(e)) for e in events]
    asked = [Message("user", e.data["query"]) for e in own if e.kind == "run.start"][:1]
    entries = [entry for entry in read_journal(own) if not isinstance(entry, Spoke)]
    if not any(isinstance(entry, Said) for entry in entries):
        if not any(isinstance(entry, Called) for entry in entries):
            return ()
        entries.append(Said(STOPPED))
    return (*asked, *map(_to_message, entries))


def _without_conversation(event: Event) -> dict[str, Any]:
    if event.kind != "run.start":
        return dict(event.data)
    return {**event.data, "conversation": []}


def _to_message(entry: Said | Called | Returned) -> Message:
    match entry:
        case Said(text):
            return Message("assistant", text)
        case Called(calls):
            return Message("assistant", "", calls)
        case Returned(id_, content, tool):
            return Message("tool", content, tool_call_id=id_, name=tool)
