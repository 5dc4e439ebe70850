"""The facts of a run without any I/O: its state, the indexes over it, its trace.

Whatever decides what comes next reads these facts and adds to them: the agent's own executor, which
is these facts and the way to the tools, and the proxy, whose facts are folded from a client's
messages.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from callwright.agent.gaps import find_ungrounded
from callwright.agent.handling import CallHandling, Repairing
from callwright.agent.run_index import RunIndex
from callwright.agent.safety.clear import is_unstated
from callwright.agent.safety.freeze import Freeze
from callwright.agent.safety.held_call import ONLY_TOLD, UNSTATED_VALUE, HeldCall
from callwright.agent.state import DeniedCall, MadeCall, RunState
from callwright.dataflow.prerequisites import list_reads
from callwright.nouns.model_profile import SMALL, ModelProfile
from callwright.nouns.trace import Trace
from callwright.nouns.types import (
    Assumption,
    CheckedCall,
    Json,
    Message,
    Skip,
    Tool,
    ToolCall,
    ToolResult,
    get_public_fields,
    iter_scalars,
    to_canonical_json,
)
from callwright.repair.gate import Gate, Refusal
from callwright.repair.provenance.echoes import has_argument
from callwright.repair.provenance.sources import ProvenanceIndex
from callwright.repair.rules.equal_calls import may_be_meant_again

if TYPE_CHECKING:
    from callwright.agent.leading.led_context import LedContext


_ONCE = "it was made once, as {}: ask again for it where it is meant more than once"
_ONE_QUESTION = re.compile(r"(?:[^?？؟!！.。\n]|\.(?=\S)){4,300}[?？؟]")


class RunFacts:
    """The facts of one run, in call order, in :attr:`state`."""

    def __init__(
        self,
        state: RunState,
        *,
        gate: Gate | None = None,
        trace: Trace | None = None,
        freeze: Freeze | None = None,
        is_sandbox: bool = False,
        profile: ModelProfile = SMALL,
    ) -> None:
        """``is_sandbox``: what calls change is thrown away. ``profile``: how much the model is
        shown.
        """
        self._state = state
        # facts that are not in the state yet: results come one by one, and are many
        self._new_results: list[ToolResult] = []
        self._new_made: list[MadeCall] = []
        self._trace = trace or Trace()
        self.freeze = freeze or Freeze()
        self.freeze.filling.know(state.tools)
        self._index = RunIndex(state, gate)
        self.handling = CallHandling()
        # the tools that every question shows in its beginning; None: no question has shared one yet
        self.listed: tuple[Tool, ...] | None = None
        # calls that a rule spoke against, in call order
        self.held: list[HeldCall] = []
        # the conversation before the request as it came, with its calls and results
        self.history: tuple[Message, ...] = ()
        # the turn behind whose conversation every question stands, the answer's too; None: each is
        # one prompt
        self.led: LedContext | None = None
        # the model's own question to the user, in the place of a call
        self.asked_back = ""
        self.is_sandbox = is_sandbox
        self.profile = profile

    def take_reason(self, reason: str) -> None:
        """Note why the model calls nothing, where that is one question to the user."""
        text = reason.strip()
        if _ONE_QUESTION.fullmatch(text):
            self.asked_back = text

    def granted(self) -> bool:
        """One step of recovery, where there is a budget for it: of these facts alone there is
        none.
        """
        return False

    @property
    def state(self) -> RunState:
        """The facts of the run so far."""
        if self._new_results or self._new_made:
            state, self._new_results, results = self._state, [], self._new_results
            self._new_made, made = [], self._new_made
            self._state = replace(
                state, results=(*state.results, *results), made=(*state.made, *made)
            )
        return self._state

    @state.setter
    def state(self, state: RunState) -> None:
        self._state = state

    @property
    def all_results(self) -> tuple[ToolResult, ...]:
        """Every result, stale ones too."""
        return self.state.results

    @property
    def results(self) -> tuple[ToolResult, ...]:
        """Those that count."""
        return self.state.valid_results

    @property
    def skips(self) -> tuple[Skip, ...]:
        return self.state.skips

    def repeated_by(self, skip: Skip) -> str:
        """The id of the call that the skipped one would have repeated, or ""."""
        return next((one.same for one in self.state.repeated if one.skip is skip), "")

    @property
    def refusals(self) -> tuple[Refusal, ...]:
        """Calls that the gate refused for good, whatever a later result may hold."""
        return self.state.refusals

    @property
    def lacking(self) -> Mapping[str, int]:
        """Tool -> results there were when its call lacked a value."""
        return self.state.open.lacking

    @property
    def deferred(self) -> dict[str, tuple[CheckedCall, ...]]:
        """Tool -> its calls that wait for a value from somewhere."""
        deferred = self.state.open.deferred
        return {tool: tuple(one.call for one in calls) for tool, calls in deferred.items()}

    @property
    def succeeded(self) -> set[str]:
        """The tools that gave a result which counts."""
        return {result.tool for result in self.results if result.ok}

    @property
    def outdated(self) -> list[Skip]:
        """Writes that rested on what no longer counts, each once."""
        told = (
            "was done with a value that has since turned out to be another, and is not taken back"
        )
        return [
            Skip(r.tool, f"{r.id} {told}", r.slot, refused=True)
            for r in self.all_results
            if r.id in self.state.stale_writes
        ]

    @property
    def doubted(self) -> list[str]:
        """Ids of the writes that are in doubt, in call order."""
        return [*self.state.lasting.doubts]

    @property
    def in_doubt(self) -> list[Skip]:
        """Writes that failed and may have happened all the same, each once, in call order."""
        told = "failed, and may have been done all the same: find out before it is made again"
        return [
            Skip(
                r.tool,
                f"{r.id} {told} ({r.failure.message if r.failure else ''})",
                r.slot,
                refused=True,
            )
            for r in self.state.lasting.doubts.values()
        ]

    @property
    def denied(self) -> list[Skip]:
        """Calls that were not approved and were not made after all, each once."""
        made = {(r.tool, to_canonical_json(r.arguments)) for r in self.all_results if r.ok}
        last = {(one.tool, one.arguments): one.skip for one in self.state.lasting.denied}
        return [skip for call, skip in last.items() if call not in made]

    @property
    def assumed(self) -> tuple[Assumption, ...]:
        """The made-up values of the calls whose results count, in call order."""
        return tuple(
            Assumption(result.tool, one.key, one.value, result.id)
            for result in self.results
            for one in self.state.assumed.get(result.id, ())
        )

    @property
    def missing(self) -> tuple[Skip, ...]:
        """The skips an answer should know of: calls that were refused and that no later call made
        good; where nothing was found at all, every skip.
        """
        found = self.succeeded
        good = found | self.state.replaced
        missing = (s for s in self.skips if not found or (s.refused and s.tool not in good))
        return (*missing, *self.outdated, *self.in_doubt)

    @property
    def kept_back(self) -> tuple[Skip, ...]:
        """The calls of :attr:`unstated`, those of earlier segments, and the writes that a question
        does not ask for, as an answer tells of them.
        """
        good = self.succeeded | self.state.replaced
        before = (s for s in self.skips if s.refused and is_unstated(s.reason))
        told = [Skip(s.tool, s.reason, refused=True) for s in before if s.tool not in good]
        unasked = (one for one in self.held if one.rule == ONLY_TOLD)
        told += [
            Skip(one.call.tool, one.reason, refused=True) for one in (*self.unstated, *unasked)
        ]
        return tuple(dict.fromkeys(told))

    @property
    def unstated(self) -> tuple[HeldCall, ...]:
        """The calls that were kept back for a value that nothing states, those that wait among
        them, and that no other call made good: none of the same tool was made with what the user
        said for them. Of several that differ in such values only, the last.
        """
        said = ProvenanceIndex("", [Message("user", text) for text in self._index.spoken])
        found: dict[str, HeldCall] = {}
        for one in (*self.held, *self._list_waiting()):
            given = one.call.arguments if isinstance(one.call.arguments, dict) else {}
            stated = {key: value for key, value in given.items() if key not in one.missing}
            values = [v for v in iter_scalars(stated) if v is not None and said.holds(v)]
            if one.is_unstated and not self._is_made_good(one.call.tool, values):
                found[f"{one.call.tool} {to_canonical_json(values)}"] = one
        return tuple(found.values())

    def _list_waiting(self) -> Iterator[HeldCall]:
        """The calls that still wait for a value."""
        for name, calls in self.deferred.items():
            for call in calls:
                found = find_ungrounded(call, self.sources, self._index.spoken)
                if found is not None:
                    raw = ToolCall(call.id, name, call.arguments, call.slot)
                    missing = (found.path.removeprefix("/").partition("/")[0],)
                    yield HeldCall(raw, UNSTATED_VALUE, found.message, missing=missing)

    def _is_made_good(self, tool: str, values: Sequence[Json]) -> bool:
        made = [result.arguments for result in self.results if result.ok and result.tool == tool]
        is_replaced = tool in self.state.replaced
        return is_replaced or any(all(has_argument(a, v) for v in values) for a in made)

    @property
    def not_repeated(self) -> tuple[Skip, ...]:
        """The writes that were not made again after an equal call, and that the request may ask for
        more than once, each once.
        """
        reads = list_reads(self._index.tools.values())
        made = {r.id: ToolCall(r.id, r.tool, r.arguments) for r in self.results}
        told = {}
        for one in self.state.repeated:
            call = made.get(one.same)
            if call is None or call.tool in reads:
                continue
            if may_be_meant_again(call, self.state.asked.query):
                told[one.same] = Skip(call.tool, _ONCE.format(one.same), refused=True)
        return tuple(told.values())

    @property
    def sources(self) -> ProvenanceIndex:
        """Return the index of the values that calls may use."""
        return self._index.sources

    def mark(self) -> RunState:
        """Return the present state of the run, for :meth:`rewind`."""
        return self.state

    def rewind(self, mark: RunState) -> None:
        """Go on from a mark: what came after it is not known to the run any more, and stays spent
        and recorded.

        Calls keep their numbers, budgets their losses, the trace its events; the world stays as the
        calls left it.
        """
        self.state = self.state.rewound_to(mark)
        self._index.rebuild(self.state)

    def bring_in(self, results: Iterable[ToolResult]) -> None:
        """Have results of earlier segments count, each once: what was asked and what came of it."""
        known = {result.id for result in self.all_results}
        new = [result for result in results if result.id not in known]
        for result in new:
            call = {"id": result.id, "tool": result.tool, "arguments": result.arguments}
            self._trace.add("call.raw", **call, slot="", by="model")
            told = {"judged": False, "earlier": result.id, "recorded": True}
            self._trace.add("result", **get_public_fields(result), **told)
        self.take_results(new)

    def take_results(self, results: Sequence[ToolResult]) -> None:
        """Have results count that no call of this run gave, without a record of them."""
        self._keep_results(results)

    def skip(self, skips: Iterable[Skip]) -> None:
        """Record tools that were offered and not called."""
        skips = [*skips]
        self.state = self.state.with_skips(skips)
        for skip in skips:
            self._trace.add("skip", tool=skip.tool, reason=skip.reason, slot=skip.slot)

    def deny(self, call: ToolCall, reason: str) -> None:
        """Record a call that may not be made in this run."""
        skip = Skip(call.tool, reason, call.slot, refused=True)
        self.skip([skip])
        denied = DeniedCall(call.tool, to_canonical_json(call.arguments), skip)
        self.state = self.state.with_denied(denied)

    def note_lacking(self, tool: str) -> None:
        """Note that a call of this tool lacks a value that later results may hold."""
        self.state = self.state.with_lacking(tool)

    def forget_lacking(self, tools: Iterable[str]) -> None:
        """Note that these tools are offered again."""
        self.state = self.state.without_lacking({*tools})

    def mark_replaced(self, tool: str) -> None:
        """Note that another tool gave what the calls of this one should have given."""
        self.state = replace(self.state, replaced=self.state.replaced | {tool})

    def admit(self, tools: Iterable[Tool]) -> None:
        """More tools that calls of this run may name from now on."""
        for tool in tools:
            self._learn_tool(tool)
        self.freeze.filling.know(self.state.tools)

    def supersede(
        self, stale: Collection[str], by: str, reason: str, written: Collection[str] = ()
    ) -> None:
        """Results that no longer count: not shown, not cited, no source of a value; their calls may
        be made again.

        ``by`` is the result that says better; ``written`` are writes that rested on the old ones
        and have happened.
        """
        self._trace.add(
            "stale", results=sorted(stale), by=by, reason=reason, written=sorted(written)
        )
        self.state = self.state.superseded(stale, written)
        self._index.drop_results(stale)
        self._index.reopen_calls(stale)

    def reopen(self, calls: Container[str]) -> None:
        """The same calls may be made once more."""
        self.state = self.state.reopened(calls)
        self._index.reopen_calls(calls)

    def _keep_results(self, results: Sequence[ToolResult]) -> None:
        self._new_results += results
        self._index.add_results(results)

    def _learn_tool(self, tool: Tool) -> None:
        self.state = self.state.with_tool(tool)
        self._index.take_tools(self.state.tools)

    def without_repair(self) -> None:
        """Repair no call of this run (RETO, section 3.4): what a schema refuses is left out, what
        fails has failed.
        """
        self.handling.may_repair = False

    def as_written(self, *, unchecked: bool = False) -> None:
        """Make the calls of this run as the model writes them: one that is not offered, or that its
        schema refuses, gives a failed result like a tool's own; nothing is repaired or repeated,
        and the same call may be made again. ``unchecked``: the schema refuses nothing, as in
        ToolLLM's own code; the tool itself may.
        """
        handling = self.handling
        handling.may_repair, handling.as_written, handling.unchecked = False, True, unchecked

    def judge_readily_made_calls(self) -> None:
        """Hold back calls of this run for values that nothing states, whatever the tool does: their
        replies are held to a schema, and a model calls too readily there.
        """
        self.handling.fills_schema = True

    def trust_values(self) -> None:
        """Take the values of this run's calls for those of whoever wrote its plan: none is called
        made up.
        """
        self.handling.is_trusted = True

    def repair_by(self, how: Repairing) -> None:
        """Set how a model is asked to repair the calls of this run."""
        self.handling.repairing = how
