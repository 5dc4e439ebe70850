"""The middle of a run: which calls go on their way together, and what came of them, kept in call
order.

Calls that are ready together run together, in one TaskGroup; each goes its own way
(:mod:`agent.execution.call_runner`). The steps of a plan run as a stream, each as soon as its
inputs exist (:mod:`agent.execution.stream`). Of the one and the other alike, what they change for
the run is merged when all have come together, in their order and not in that of time.
"""

from __future__ import annotations

import asyncio
from collections.abc import (
    AsyncIterator,
    Callable,
    Collection,
    Container,
    Coroutine,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from contextlib import asynccontextmanager
from dataclasses import replace

from callwright.agent.execution.call_runner import CallRunner
from callwright.agent.execution.call_task import CallOutcome, CallTask, make_call_key
from callwright.agent.execution.invoke import Caller
from callwright.agent.execution.run_services import RunSafety, RunServices
from callwright.agent.execution.stream import Late, Step, Stream
from callwright.agent.journal.facts import RecordedFacts
from callwright.agent.journal.ledger import Ledger
from callwright.agent.questions import Questions
from callwright.agent.run_facts import RunFacts
from callwright.agent.safety.clear import make_write_key
from callwright.agent.safety.repeats import SeenCalls
from callwright.agent.state import (
    Asked,
    DeferredCall,
    DeniedCall,
    MadeCall,
    RunState,
)
from callwright.nouns.limits import Budget
from callwright.nouns.trace import Trace
from callwright.nouns.types import (
    Skip,
    Tool,
    ToolCall,
    ToolResult,
    to_canonical_json,
)
from callwright.prompts.run_prompt import RunPrompt
from callwright.repair.gate import Gate
from callwright.repair.outcome import is_in_doubt
from callwright.repair.pending import is_pending
from callwright.tools.evidence import Known


class Executor(RunFacts):
    """Executes calls for one run and keeps what came of them, in call order, in :attr:`state`."""

    def __init__(
        self,
        *,
        caller: Caller,
        gate: Gate,
        asked: Asked,
        questions: Questions,
        budget: Budget,
        trace: Trace,
        ledger: Ledger | None = None,
        safety: RunSafety | None = None,
    ) -> None:
        self._safety = safety or RunSafety()
        super().__init__(
            RunState(asked, gate.tools),
            gate=gate,
            trace=trace,
            freeze=self._safety.freeze,
            is_sandbox=self._safety.is_sandbox,
            profile=questions.profile,
        )
        self._shared = RunServices(
            caller,
            self._index,
            questions,
            budget,
            trace,
            ledger or Ledger(),
            self._safety,
            tuple(tool.name for tool in gate.tools),
            self.handling,
        )
        self._numbered = 0
        # what calls that may write came to, and the ids of those that succeeded, by their keys
        self._seen: SeenCalls | None = None
        self._written: dict[str, list[str]] = {}
        self._places = asyncio.Semaphore(budget.limits.concurrency)

    def admit(self, tools: Iterable[Tool]) -> None:
        """More tools that calls of this run may name from now on."""
        super().admit(tools)
        self._shared.names = tuple(tool.name for tool in self.state.tools)

    def share_prompt(self, open_prompt: Callable[[], RunPrompt | None]) -> None:
        """Have questions about calls stand behind what all questions of the run share."""
        self._shared.open_prompt = open_prompt

    @property
    def ledger(self) -> Ledger:
        """The answers from outside that are on record."""
        return self._shared.ledger

    @property
    def repairs(self) -> dict[str, int]:
        """Edits made without the model (tier1), questions about calls (tier2), repeated executions
        (repeat), and steps taken where all that did not help (recovery).
        """
        return self._shared.repairs

    def begin_after(self, numbered: int, written: Iterable[ToolResult]) -> None:
        """Begin behind earlier turns with so many calls. The calls of ``written`` are not made
        again.
        """
        self._numbered = numbered
        tools = self._index.tools
        made = tuple(
            MadeCall(make_call_key(tools[r.tool], r.arguments), r.id)
            for r in written
            if r.tool in tools
        )
        self.state = replace(self.state, made=(*self.state.made, *made))
        self._index.made |= {one.key: one.id for one in made}

    def begin_with(self, facts: RecordedFacts, *, in_view: bool = True) -> None:
        """Begin with the facts that earlier segments of the run recorded: writes in doubt stay in
        doubt, and ids go on. ``in_view``: the results are there to be seen and cited, as if they
        had just come; not so where a plan is frozen, which no result may have a part in.
        """
        self._numbered = max(self._numbered, facts.numbered)
        self.state = self.state.with_facts(facts)
        self._index.take_doubts(self._state)
        for result in facts.doubtful:
            said = f"{result.id} {result.tool} {to_canonical_json(result.arguments)}"
            self._trace.note(f"in doubt since before: {said}")
        if in_view:
            self.bring_in(facts.results)
            self.skip(facts.skips)

    def granted(self) -> bool:
        """One step of recovery, from the run's budget B."""
        granted = self._shared.spend("", "repairs", "recovery", self._shared.budget.spend_repair)
        self.repairs["recovery"] += granted
        return granted

    async def execute(
        self,
        calls: Sequence[ToolCall],
        allowed: Iterable[str],
        *,
        may_defer: Container[str] = (),
        by: str = "model",
        beside: Iterable[str] = (),
    ) -> list[ToolResult]:
        """Execute calls that may run at the same time; tools outside ``allowed`` are refused by
        construction.

        A call of a tool of ``may_defer`` with a number or date from nowhere is held instead of
        executed: a later result may give it. ``by``: who wrote the calls, ``model``, ``retry`` or
        ``substitute`` (journals of earlier versions hold ``analogy`` too). What the gate refuses of
        calls that no model wrote is dropped, and a retry may be a call that was made before. Tools
        whose call was held or refused for a made-up value are in ``lacking``. ``beside``: ids of
        earlier calls that were written together with these, as those of one program are.
        """
        if self.freeze.on:  # what would not be cleared is not repaired first
            self.skip(self.freeze.refused(calls, planned=False))
            calls = [c for c in calls if not self.freeze.why_refused(c.tool, planned=False)]
        gate = self._index.gate.only(frozenset(allowed))
        numbered = [self._number(call) for call in calls]
        together = frozenset([*(call.id for call in numbered), *beside])
        tasks = [
            CallTask(call.id, call.tool, call.slot, by=by, beside=together) for call in numbered
        ]
        runners = [CallRunner(task, self._shared, gate) for task in tasks]
        ways = [
            runner.run(call, call.tool in may_defer)
            for call, runner in zip(numbered, runners, strict=True)
        ]
        return await self._together(runners, ways)

    async def release(self, tools: Iterable[str]) -> list[ToolResult]:
        """Execute the held calls of these tools after all: nothing that came since gave their
        value.
        """
        names = [*dict.fromkeys(tools)]
        deferred = [one for tool in names for one in self.state.open.deferred.get(tool, ())]
        self.state = self.state.without_deferred(names)
        runners, ways = [], []
        for one in deferred:
            call = one.call
            task = CallTask(call.id, call.tool.name, call.slot, beside=one.beside)
            runner = CallRunner(task, self._shared, self._index.gate)
            runners.append(runner)
            ways.append(runner.run_unless_duplicate(call))
        return await self._together(runners, ways)

    async def _together(
        self, runners: Sequence[CallRunner], ways: Sequence[Coroutine[None, None, None]]
    ) -> list[ToolResult]:
        """Run calls at the same time, then keep what came of them, in the given order."""

        async def one(way: Coroutine[None, None, None]) -> None:
            async with self._places:
                await way

        async with self._group() as group:
            for way in ways:
                group.create_task(one(way))
        results = self._merged(runners)
        self._shared.ledger.commit()
        return results

    @asynccontextmanager
    async def stream(
        self, *, done: Iterable[str] = (), late: Late | None = None, known: Known | None = None
    ) -> AsyncIterator[Stream]:
        """Carry out the steps that are added inside, each as soon as what it waits for has come;
        see ``Stream``.

        Ends when all have. ``done`` are slots that had finished before, ``late`` fills arguments
        that the plan leaves open; ``known``: how often tools work. Limits do not end it:
        ``Stream.limit``.
        """
        stream = Stream(
            self._shared,
            self._index.gate,
            self._places,
            self.results,
            late=late,
            known=known or {},
            numbered=self._numbered,
        )
        async with self._group() as group:
            stream.begin(group, done)
            yield stream
        self._numbered += len(stream.steps)
        blocked = stream.blocked
        for step in stream.steps.values():
            self._keep(step, blocked.get(step.slot.id, ""))
        self._shared.ledger.commit()

    def _keep(self, step: Step, blocked_by: str) -> None:
        """Merge the outcome of one step of a stream into the run."""
        self._merged(step.runners)
        self.skip(step.skips)
        if blocked_by:
            why = f"not called: it needs what {blocked_by} should have given"
            self.skip([Skip(step.slot.tool, why, step.slot.id, refused=True)])
        if step.stands_in is not None:
            failed, result = step.stands_in
            self.mark_replaced(failed.call.tool)
            if failed.call.id in {r.id for r in self.results}:
                self.supersede([failed.call.id], result.id, f"made good by {result.tool}")

    @asynccontextmanager
    async def _group(self) -> AsyncIterator[asyncio.TaskGroup]:
        """A TaskGroup whose calls share their deadlines. Its first error is raised as itself: one
        dead endpoint is one error, however many asked it.
        """
        failed: BaseException | None = None
        try:
            async with asyncio.TaskGroup() as group:
                yield group
        except* Exception as errors:
            failed = errors
        finally:
            self._shared.deadlines.clear()
        while isinstance(
            failed, BaseExceptionGroup
        ):  # a step may run several calls in a group of its own
            failed = failed.exceptions[0]
        if (
            failed is not None
        ):  # raised out here: what is raised inside except* may come out as a group again
            raise failed from None

    def _merged(self, runners: Sequence[CallRunner]) -> list[ToolResult]:
        """Merge the changes of completed calls into the run, and return their results in the given
        order.
        """
        results = [r for runner in runners if (r := runner.outcome.result) is not None]
        for runner in runners:
            if not runner.outcome.is_plain:
                self._merge(runner.task, runner.outcome)
        self._new_made += self._made_by(runners)
        self._keep_results(results)
        self._note_writes(results)
        return results

    def _made_by(self, runners: Sequence[CallRunner]) -> Iterator[MadeCall]:
        """The calls that were put on their way, and that no other call has taken the place of."""
        made = self._index.made
        for runner in runners:
            key = runner.outcome.key
            if key and made.get(key) == runner.task.id:
                yield MadeCall(key, runner.task.id)

    def _note_writes(self, results: Sequence[ToolResult]) -> None:
        """After a write the same reads may say something else, and a result that is pending is not
        the last; after a write in doubt its tool is not called again.
        """
        tools = self._index.tools
        wrote = False
        for result in results:
            tool = tools.get(result.tool)
            if tool is None or not tool.effects.may_write:
                continue
            doubtful = is_in_doubt(result, tool) and not self._safety.is_sandbox
            wrote = wrote or result.ok or doubtful
            if doubtful:
                self.state = self.state.with_doubt(result, blocks=not tool.effects.idempotent)
                self._index.take_doubts(self._state)
        self._reopen_unfinished(results)
        if wrote:
            self.reopen(
                {
                    r.id
                    for r in self.all_results
                    if r.tool in tools and tools[r.tool].effects.read_only
                }
            )

    def _reopen_unfinished(self, results: Sequence[ToolResult]) -> None:
        """Have calls made again that are not done: a read whose result is pending, a write that the
        user asks for more often, a call of unknown effects where another one has returned something
        new since (:class:`~callwright.agent.safety.repeats.SeenCalls`).
        """
        tools = self._index.tools
        open_ = {r.id for r in results if r.ok and _is_read(r, tools) and is_pending(r.content)}
        open_ |= self._find_opened([r for r in results if not _is_read(r, tools)])
        if open_:
            self.reopen(open_)

    def _find_opened(self, writes: Sequence[ToolResult]) -> set[str]:
        """Note results of calls that may write; returns the ids of the calls that are open
        again."""
        if self._seen is None:  # what is known of their handling is known by now
            self._seen = SeenCalls(reopens=not self.handling.fills_schema)
        seen, keys = self._seen, set[str]()
        for result in writes:
            tool = self._index.tools.get(result.tool)
            if tool is None:
                continue
            key = make_write_key(tool, result.arguments)
            keys |= {*seen.take(key, result, self._index.tools)}
            if result.ok:
                self._written.setdefault(key, []).append(result.id)
                keys.add(key)
        query, called = self.state.asked.query, {result.tool for result in self.all_results}
        return {
            id_
            for key in keys
            if key not in seen.made or seen.is_asked_again(key, query, called)
            for id_ in self._written.get(key, ())
        }

    def rewind(self, mark: RunState) -> None:
        super().rewind(mark)
        self._seen, self._written = None, {}
        tools = self._index.tools
        self._find_opened([r for r in self.all_results if not _is_read(r, tools)])

    def _merge(self, task: CallTask, outcome: CallOutcome) -> None:
        """Add what one call changed for the run, besides its result."""
        if outcome.result is not None and outcome.earlier:
            self._replace_calls({one.id for one in outcome.earlier})
        state = self.state
        if outcome.skips:
            state = state.with_skips(outcome.skips, outcome.repeats)
        if outcome.lacks:
            state = state.with_lacking(task.tool)
        elif outcome.refusal is not None and task.by == "model":
            state = replace(state, refusals=(*state.refusals, outcome.refusal))
        if outcome.denied is not None:
            call, skip = outcome.denied
            denied = DeniedCall(call.tool.name, to_canonical_json(call.arguments), skip)
            state = state.with_denied(denied)
        if outcome.held is not None:
            self.held.append(outcome.held)
        if outcome.deferred is not None:
            state = state.with_deferred(task.tool, DeferredCall(outcome.deferred, task.beside))
        if outcome.unrepaired:
            state = replace(state, unrepaired=state.unrepaired | {outcome.unrepaired})
            self._index.unrepaired.add(outcome.unrepaired)
        if outcome.assumed and outcome.result is not None:
            state = replace(state, assumed={**state.assumed, outcome.result.id: outcome.assumed})
        self.state = state
        if outcome.taught is not None:
            self._learn_tool(outcome.taught)

    def _replace_calls(self, earlier: Collection[str]) -> None:
        """Each call of an earlier segment counts once: the one that stands for it takes its
        place.
        """
        self.state = self.state.without_calls(earlier)
        self._index.drop_results(earlier)
        self._index.take_doubts(self._state)

    def _number(self, call: ToolCall) -> ToolCall:
        self._numbered += 1
        return ToolCall(f"r{self._numbered}", call.tool, call.arguments, call.slot)


def _is_read(result: ToolResult, tools: Mapping[str, Tool]) -> bool:
    return result.tool in tools and tools[result.tool].effects.read_only
