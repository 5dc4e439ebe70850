"""The facts of a run: what was asked, which calls were made, what came back, what is open, and what
may not be done again.

A :class:`RunState` is a value. Going back to an earlier point of a run is keeping a reference to
the state of that point. Everything that is computed from facts (where a value stands, the gate over
the tools) is memoised outside, in :mod:`callwright.agent.run_index`.
"""

from __future__ import annotations

from collections.abc import Collection, Container, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from typing import TYPE_CHECKING, NamedTuple

from callwright.nouns.types import CheckedCall, Message, Skip, Tool, ToolCall, ToolResult

if TYPE_CHECKING:
    from callwright.agent.journal.facts import RecordedFacts
    from callwright.repair.gate import Refusal
    from callwright.repair.provenance.invention import Invention


@dataclass(frozen=True, slots=True)
class Asked:
    """The request of a run. ``days`` may be taken for known: today, and days that are named
    relative to it. ``earlier`` are the results of earlier turns, ``unanswered`` the ids of their
    calls that the conversation shows no result of.
    """

    query: str = ""
    conversation: tuple[Message, ...] = ()
    days: tuple[date, ...] = ()
    earlier: tuple[ToolResult, ...] = ()
    unanswered: frozenset[str] = frozenset()


class MadeCall(NamedTuple):
    """A call that was put on its way. ``key`` is the same for equal calls."""

    key: bytes
    id: str


@dataclass(frozen=True, slots=True)
class RepeatedCall:
    """A call that was not made because the very same one had been: that one's id, and the skip."""

    skip: Skip
    same: str


@dataclass(frozen=True, slots=True)
class DeferredCall:
    """A call that waits for a value from somewhere. ``beside``: ids of the calls that were written
    with it.
    """

    call: CheckedCall
    beside: Container[str] = ()


@dataclass(frozen=True, slots=True)
class OpenCalls:
    """The calls that are open. ``lacking``: tool -> results there were when its call lacked a
    value; ``deferred``: tool -> its calls that wait; ``in_flight``: calls that left and returned
    nothing yet.
    """

    lacking: Mapping[str, int] = field(default_factory=dict)
    deferred: Mapping[str, tuple[DeferredCall, ...]] = field(default_factory=dict)
    in_flight: tuple[ToolCall, ...] = ()


@dataclass(frozen=True, slots=True)
class DeniedCall:
    """A call that did not get approval."""

    tool: str
    arguments: str  # in canonical form
    skip: Skip


@dataclass(frozen=True, slots=True)
class Lasting:
    """The facts that hold in every branch of a run. What was not done stays undone, and what may
    have been done stays so. ``doubts``: id -> a write that failed and may have happened, of earlier
    segments too; ``blocked``: tool -> the doubtful write for which it is not called.
    """

    denied: tuple[DeniedCall, ...] = ()
    doubts: Mapping[str, ToolResult] = field(default_factory=dict)
    blocked: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class RunState:
    """All that a run holds at one point.

    ``tools`` may be called, each as it is known by now. ``results`` are all results, in call order;
    those of ``stale`` ids no longer count, and ``stale_writes`` rested on them. ``replaced`` are
    tools of whose calls another gave what they should have given. ``refusals``
    will not be repaired by a later result, ``unrepaired`` were put to the model without success.
    ``assumed``: result -> values of its call that the model made up.
    """

    asked: Asked = field(default_factory=Asked)
    tools: tuple[Tool, ...] = ()
    made: tuple[MadeCall, ...] = ()
    results: tuple[ToolResult, ...] = ()
    stale: frozenset[str] = frozenset()
    stale_writes: frozenset[str] = frozenset()
    replaced: frozenset[str] = frozenset()
    refusals: tuple[Refusal, ...] = ()
    skips: tuple[Skip, ...] = ()
    repeated: tuple[RepeatedCall, ...] = ()
    unrepaired: frozenset[str] = frozenset()
    assumed: Mapping[str, tuple[Invention, ...]] = field(default_factory=dict)
    open: OpenCalls = field(default_factory=OpenCalls)
    lasting: Lasting = field(default_factory=Lasting)

    @property
    def earlier(self) -> tuple[ToolResult, ...]:
        """The results of earlier turns: their values are known, their calls are none of this
        turn's.
        """
        return self.asked.earlier

    @property
    def valid_results(self) -> tuple[ToolResult, ...]:
        """The results that count."""
        if not self.stale:
            return self.results
        return tuple(result for result in self.results if result.id not in self.stale)

    def with_tool(self, tool: Tool) -> RunState:
        """The state with one tool replaced or added."""
        known = {known.name: known for known in self.tools}
        return replace(self, tools=tuple({**known, tool.name: tool}.values()))

    def with_skips(self, skips: Sequence[Skip], same: str = "") -> RunState:
        """The state with calls that were not made; ``same``: the last of them, because this call
        was the very same.
        """
        if not same:
            return replace(self, skips=(*self.skips, *skips))
        repeated = (*self.repeated, RepeatedCall(skips[-1], same))
        return replace(self, skips=(*self.skips, *skips), repeated=repeated)

    def with_denied(self, denied: DeniedCall) -> RunState:
        lasting = replace(self.lasting, denied=(*self.lasting.denied, denied))
        return replace(self, lasting=lasting)

    def with_doubt(self, result: ToolResult, *, blocks: bool = True) -> RunState:
        """The state with a write of which nobody knows whether it happened. ``blocks``: its tool is
        not called for it.
        """
        lasting = self.lasting
        doubts = {**lasting.doubts, result.id: result}
        held = {result.tool: result.id, **lasting.blocked} if blocks else lasting.blocked
        return replace(self, lasting=replace(lasting, doubts=doubts, blocked=held))

    def with_facts(self, facts: RecordedFacts) -> RunState:
        """The state with what earlier segments of the run leave behind, but for their results and
        skips, which come into view one by one.
        """
        doubts = {**self.lasting.doubts, **{result.id: result for result in facts.doubtful}}
        lasting = replace(
            self.lasting, doubts=doubts, blocked={**facts.blocked, **self.lasting.blocked}
        )
        return replace(self, lasting=lasting, stale_writes=self.stale_writes | facts.stale_writes)

    def without_calls(self, ids: Collection[str]) -> RunState:
        """The state without what is known of these calls: others stand for them."""
        lasting = replace(
            self.lasting,
            doubts={id_: r for id_, r in self.lasting.doubts.items() if id_ not in ids},
            blocked={tool: id_ for tool, id_ in self.lasting.blocked.items() if id_ not in ids},
        )
        results = tuple(result for result in self.results if result.id not in ids)
        return replace(self, results=results, lasting=lasting)

    def with_lacking(self, tool: str) -> RunState:
        """The state in which a call of this tool lacks a value that later results may hold."""
        lacking = {**self.open.lacking, tool: len(self.results)}
        return replace(self, open=replace(self.open, lacking=lacking))

    def without_lacking(self, tools: Collection[str]) -> RunState:
        lacking = {tool: n for tool, n in self.open.lacking.items() if tool not in tools}
        return replace(self, open=replace(self.open, lacking=lacking))

    def with_deferred(self, tool: str, call: DeferredCall) -> RunState:
        deferred = {**self.open.deferred, tool: (*self.open.deferred.get(tool, ()), call)}
        return replace(self, open=replace(self.open, deferred=deferred))

    def without_deferred(self, tools: Collection[str]) -> RunState:
        deferred = {tool: c for tool, c in self.open.deferred.items() if tool not in tools}
        return replace(self, open=replace(self.open, deferred=deferred))

    def superseded(self, stale: Collection[str], written: Collection[str]) -> RunState:
        """The state in which results no longer count. ``written``: writes that rested on them."""
        return replace(
            self,
            stale=self.stale.union(stale),
            stale_writes=self.stale_writes.union(written),
        ).reopened(stale)

    def reopened(self, calls: Container[str]) -> RunState:
        """The state in which calls equal to these may be made once more."""
        last = {made.key: made for made in self.made}
        return replace(self, made=tuple(made for made in last.values() if made.id not in calls))

    def rewound_to(self, earlier: RunState) -> RunState:
        """An earlier state, with what holds in every branch as it is now."""
        return replace(earlier, lasting=self.lasting)
