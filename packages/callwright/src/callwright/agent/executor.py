"""The middle of a run: which calls go on their way together, and what came of them, kept in call
order.

Calls that are ready together run together, in one TaskGroup; each goes its own way
(:mod:`agent.call_runner`). The steps of a plan run as a stream, each as soon as its inputs exist
(:mod:`agent.stream`). Of the one and the other alike, what they change for the run is merged when
all have come together, in their order and not in that of time.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Collection, Container, Coroutine, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

from callwright.agent.call_runner import CallRunner, Repairing, RunServices
from callwright.agent.invoke import Caller
from callwright.agent.journal.facts import RecordedFacts
from callwright.agent.journal.ledger import Ledger
from callwright.agent.questions import Questions
from callwright.agent.safety.consent import Consent
from callwright.agent.safety.freeze import Freeze
from callwright.agent.stream import Late, Step, Stream
from callwright.nouns.errors import CallwrightError
from callwright.nouns.limits import Budget
from callwright.nouns.trace import Trace
from callwright.nouns.types import (
    Assumption,
    CheckedCall,
    Skip,
    Tool,
    ToolCall,
    ToolResult,
    canonical,
    members,
)
from callwright.repair.gate import Gate, Refusal
from callwright.repair.outcome import is_in_doubt
from callwright.repair.provenance.invention import Invention
from callwright.repair.provenance.sources import ProvenanceIndex
from callwright.tools.evidence import Known


@dataclass(frozen=True, slots=True)
class Mark:
    """All that a run holds at one point of a branch, as :meth:`Executor.mark` saw it."""

    came: tuple[ToolResult, ...]
    stale: frozenset[str]
    made_good: frozenset[str]
    outlived: frozenset[str]
    refusals: tuple[Refusal, ...]
    skips: tuple[Skip, ...]
    postponed: dict[str, int]
    held: dict[str, tuple[CheckedCall, ...]]
    sources: ProvenanceIndex
    gate: Gate
    seen: dict[bytes, str]
    unmended: frozenset[str]


class Executor:
    """Executes calls for one run and keeps what came of them, in call order."""

    def __init__(
        self,
        *,
        caller: Caller,
        gate: Gate,
        sources: ProvenanceIndex,
        questions: Questions,
        budget: Budget,
        trace: Trace,
        ledger: Ledger | None = None,
        consent: Consent | None = None,
        freeze: Freeze | None = None,
        sandbox: bool = False,
    ) -> None:
        self.came: list[ToolResult] = []  # every result, stale ones too
        self.stale: set[str] = set()  # ids of those that no longer count
        self.made_good: set[str] = (
            set()
        )  # tools of whose calls another gave what they should have given
        self.refusals: list[
            Refusal
        ] = []  # calls that the gate refused for good, whatever a later result may hold
        self.skips: list[Skip] = []
        self.postponed: dict[
            str, int
        ] = {}  # tool -> results there were when its call lacked a value
        self.held: dict[str, list[CheckedCall]] = {}  # calls that wait for a value from somewhere
        self._assumed: dict[
            str, tuple[Invention, ...]
        ] = {}  # result -> values of its call that the model made up
        self._beside: dict[
            str, Container[str]
        ] = {}  # held call -> ids of the calls that were written with it
        self._outlived: set[str] = set()  # ids of writes that rested on what no longer counts
        self._denied: list[
            tuple[tuple[str, str], Skip]
        ] = []  # in whatever branch: what was not done stays undone
        self._in_doubt: dict[
            str, ToolResult
        ] = {}  # in whatever branch: what may have been done stays so
        self._gate = gate
        self._trace = trace
        names = tuple(tool.name for tool in gate.tools)
        given = (ledger or Ledger(), names, consent or Consent())
        self.freeze = freeze or Freeze()  # what the run's plan allows, where it is frozen
        self.freeze.filling.know(gate.tools)
        self._shared = RunServices(
            caller, sources, questions, budget, trace, *given, freeze=self.freeze, sandbox=sandbox
        )
        self._numbered = 0
        self._places = asyncio.Semaphore(budget.limits.concurrency)

    @property
    def results(self) -> list[ToolResult]:
        """Those that count."""
        return [result for result in self.came if result.id not in self.stale]

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
            for r in self.came
            if r.id in self._outlived
        ]

    @property
    def doubted(self) -> list[str]:
        """Ids of the writes that are in doubt, in call order."""
        return [*self._in_doubt]

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
            for r in self._in_doubt.values()
        ]

    @property
    def denied(self) -> list[Skip]:
        """Calls that were not given leave and were not made after all, each once."""
        made = {(r.tool, canonical(r.arguments)) for r in self.came if r.ok}
        return [skip for call, skip in dict(self._denied).items() if call not in made]

    @property
    def assumed(self) -> tuple[Assumption, ...]:
        """The made-up values of the calls whose results count, in call order."""
        return tuple(
            Assumption(result.tool, one.key, one.value, result.id)
            for result in self.results
            for one in self._assumed.get(result.id, ())
        )

    @property
    def missing(self) -> tuple[Skip, ...]:
        """The skips an answer should know of: calls that were refused and that no later call made
        good; where nothing was found at all, every skip.
        """
        found = self.succeeded
        good = found | self.made_good
        missing = (s for s in self.skips if not found or (s.refused and s.tool not in good))
        return (*missing, *self.outdated, *self.in_doubt)

    @property
    def sources(self) -> ProvenanceIndex:
        """Where the values of calls may come from."""
        return self._shared.sources

    @property
    def repairs(self) -> dict[str, int]:
        """Edits made without the model (tier1), questions about calls (tier2), repeated executions
        (repeat), and steps taken where all that did not help (recovery).
        """
        return self._shared.repairs

    def without_repair(self) -> None:
        """Mend no call of this run (RETO, section 3.4): what a schema refuses is left out, what
        fails has failed.
        """
        self._shared.mends = False

    def as_written(self, *, unchecked: bool = False) -> None:
        """Make the calls of this run as the model writes them: one that is not offered, or that its
        schema refuses, gives a failed result like a tool's own; nothing is mended or repeated, and
        the same call may be made again. ``unchecked``: the schema refuses nothing, as in ToolLLM's
        own code; the tool itself may.
        """
        self._shared.mends, self._shared.as_written, self._shared.unchecked = False, True, unchecked

    def trust_values(self) -> None:
        """Take the values of this run's calls for those of whoever wrote its plan: none is called
        made up.
        """
        self._shared.trusted = True

    def repair_by(self, how: Repairing) -> None:
        """How a model is asked to mend the calls of this run."""
        self._shared.repairing = how

    def mark(self) -> Mark:
        """Where the run is now, for :meth:`rewind`."""
        shared = self._shared
        return Mark(
            came=tuple(self.came),
            stale=frozenset(self.stale),
            made_good=frozenset(self.made_good),
            outlived=frozenset(self._outlived),
            refusals=tuple(self.refusals),
            skips=tuple(self.skips),
            postponed=dict(self.postponed),
            held={name: tuple(calls) for name, calls in self.held.items()},
            sources=self.sources.copy(),
            gate=self._gate,
            seen=dict(shared.seen),
            unmended=frozenset(shared.unmended),
        )

    def rewind(self, mark: Mark) -> None:
        """Go on from a mark: what came after it is not known to the run any more, and stays spent
        and recorded.

        Calls keep their numbers, budgets their losses, the trace its events; the world stays as the
        calls left it.
        """
        shared = self._shared
        self.came, self.refusals, self.skips = [*mark.came], [*mark.refusals], [*mark.skips]
        self.stale, self.made_good, self._outlived = (
            {*mark.stale},
            {*mark.made_good},
            {*mark.outlived},
        )
        self.postponed = dict(mark.postponed)
        self.held = {name: [*calls] for name, calls in mark.held.items()}
        self._gate = mark.gate
        shared.sources, shared.seen, shared.unmended = (
            mark.sources.copy(),
            dict(mark.seen),
            set(mark.unmended),
        )

    def begin_with(self, facts: RecordedFacts, *, in_view: bool = True) -> None:
        """Begin with the facts that earlier segments of the run recorded: writes in doubt stay in
        doubt, and ids go on. ``in_view``: the results are there to be seen and cited, as if they had
        just come; not so where a plan is frozen, which no result may have a part in.
        """
        self._numbered = facts.numbered
        self._in_doubt.update({result.id: result for result in facts.doubtful})
        self._shared.in_doubt.update(facts.blocked)
        self._outlived |= facts.stale_writes
        for result in facts.doubtful:
            said = f"{result.id} {result.tool} {canonical(result.arguments)}"
            self._trace.note(f"in doubt since before: {said}")
        if in_view:
            self.bring_in(facts.results)
            self.skip(facts.skips)

    def bring_in(self, results: Iterable[ToolResult]) -> None:
        """Have results of earlier segments count, each once: what was asked and what came of it."""
        known = {result.id for result in self.came}
        for result in results:
            if result.id in known:
                continue
            call = {"id": result.id, "tool": result.tool, "arguments": result.arguments}
            self._trace.add("call.raw", **call, slot="", by="model")
            told = {"judged": False, "earlier": result.id, "recorded": True}
            self._trace.add("result", **members(result), **told)
            self.came.append(result)
            self.sources.add_result(result)

    def skip(self, skips: Iterable[Skip]) -> None:
        """Record tools that were offered and not called."""
        for skip in skips:
            self.skips.append(skip)
            self._trace.add("skip", tool=skip.tool, reason=skip.reason, slot=skip.slot)

    def deny(self, call: ToolCall, reason: str) -> None:
        """Record a call that may not be made in this run."""
        skip = Skip(call.tool, reason, call.slot, refused=True)
        self.skip([skip])
        self._denied.append(((call.tool, canonical(call.arguments)), skip))

    def postpone(self, tool: str) -> None:
        """Note that a call of this tool lacks a value that later results may hold."""
        self.postponed[tool] = len(self.came)

    def forget_postponed(self, tools: Iterable[str]) -> None:
        """Note that these tools are offered again."""
        for tool in tools:
            self.postponed.pop(tool, None)

    def admit(self, tools: Iterable[Tool]) -> None:
        """More tools that calls of this run may name from now on."""
        for tool in tools:
            self._gate = self._gate.with_tool(tool)
        self.freeze.filling.know(self._gate.tools)
        self._shared.names = tuple(tool.name for tool in self._gate.tools)

    def granted(self) -> bool:
        """One step of recovery, from the run's budget B."""
        granted = self._shared.spend("", "repairs", "recovery", self._shared.budget.spend_repair)
        self.repairs["recovery"] += granted
        return granted

    def supersede(
        self, stale: Collection[str], by: str, reason: str, written: Collection[str] = ()
    ) -> None:
        """Results that no longer count: not shown, not cited, no source of a value; their calls may
        be made anew.

        ``by`` is the result that says better; ``written`` are writes that rested on the old ones
        and have happened.
        """
        self._trace.add(
            "stale", results=sorted(stale), by=by, reason=reason, written=sorted(written)
        )
        self.stale |= {*stale}
        self._outlived |= {*written}
        self._shared.sources = self.sources.without(stale)
        self.reopen(stale)

    def reopen(self, calls: Container[str]) -> None:
        """The same calls may be made once more."""
        seen = self._shared.seen
        self._shared.seen = {key: id_ for key, id_ in seen.items() if id_ not in calls}

    async def settle(
        self,
        calls: Sequence[ToolCall],
        allowed: Iterable[str],
        *,
        patient: Container[str] = (),
        by: str = "model",
        beside: Iterable[str] = (),
    ) -> list[ToolResult]:
        """Execute calls that may run at the same time; tools outside ``allowed`` are refused by
        construction.

        A call of a ``patient`` tool with a number or date from nowhere is held instead of executed:
        a later result may give it. ``by``: who wrote the calls, ``model``, or ``analogy``,
        ``retry`` or ``substitute``; what the gate refuses of those is dropped, and a retry may be a
        call that was made before. Tools whose call was held or refused for a made-up value are in
        ``postponed``. ``beside``: ids of earlier calls that were written together with these, as
        those of one program are.
        """
        if self.freeze.on:
            refused = self.freeze.refused(calls, planned=False)
            self.skip(refused)
            calls = (
                []
                if self.freeze.arguments
                else [c for c in calls if c.tool in self.freeze.tools([c.tool])]
            )
        gate = self._gate.only(frozenset(allowed))
        numbered = [self._number(call) for call in calls]
        together = frozenset([*(call.id for call in numbered), *beside])
        courses = [
            CallRunner(call.id, call.tool, call.slot, self._shared, gate, by=by, beside=together)
            for call in numbered
        ]
        ways = [
            course.settle(call, call.tool in patient)
            for call, course in zip(numbered, courses, strict=True)
        ]
        return await self._together(courses, ways)

    async def release(self, tools: Iterable[str]) -> list[ToolResult]:
        """Execute the held calls of these tools after all: nothing that came since gave their
        value.
        """
        calls = [call for tool in tools for call in self.held.pop(tool, ())]
        courses = [
            CallRunner(
                call.id,
                call.tool.name,
                call.slot,
                self._shared,
                self._gate,
                beside=self._beside.get(call.id, ()),
            )
            for call in calls
        ]
        return await self._together(
            courses, [course.once(call) for call, course in zip(calls, courses, strict=True)]
        )

    async def _together(
        self, courses: Sequence[CallRunner], ways: Sequence[Coroutine[None, None, None]]
    ) -> list[ToolResult]:
        """Run calls at the same time, then keep what came of them, in the given order."""

        async def one(way: Coroutine[None, None, None]) -> None:
            async with self._places:
                await way

        async with self._group() as group:
            for way in ways:
                group.create_task(one(way))
        results = self._merged(courses)
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
            self._gate,
            self._places,
            self.results,
            freeze=self.freeze,
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
        """What came of one step of a stream."""
        self._merged(step.courses)
        self.skip(step.skips)
        if blocked_by:
            why = f"not called: it needs what {blocked_by} should have given"
            self.skip([Skip(step.slot.tool, why, step.slot.id, refused=True)])
        if step.stands_in is not None:
            failed, result = step.stands_in
            self.made_good.add(failed.call.tool)
            if failed.call.id in {r.id for r in self.results}:
                self.supersede([failed.call.id], result.id, f"made good by {result.tool}")

    @asynccontextmanager
    async def _group(self) -> AsyncIterator[asyncio.TaskGroup]:
        """A TaskGroup whose calls share their deadlines. One dead endpoint is one error, however
        many asked it.
        """
        failed: BaseException | None = None
        try:
            async with asyncio.TaskGroup() as group:
                yield group
        except* CallwrightError as errors:
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

    def _merged(self, courses: Sequence[CallRunner]) -> list[ToolResult]:
        """What calls that have come together changed for the run; their results, in the given
        order.
        """
        results = [course.result for course in courses if course.result is not None]
        for course in courses:
            self._merge(course)
        self._replace_earlier(courses)
        self.came += results
        for result in results:
            if result.ok:
                self.sources.add_result(result)
        self._note_writes(results)
        return results

    def _replace_earlier(self, courses: Sequence[CallRunner]) -> None:
        """Each result of an earlier segment counts once: a call that stands for it takes its place."""
        earlier = {one.id for c in courses if c.result is not None for one in c.earlier}
        if earlier:
            self.came = [result for result in self.came if result.id not in earlier]
            self._shared.sources = self.sources.without(earlier)
            for id_ in earlier:
                self._in_doubt.pop(id_, None)
            held = self._shared.in_doubt
            self._shared.in_doubt = {tool: id_ for tool, id_ in held.items() if id_ not in earlier}

    def _note_writes(self, results: Sequence[ToolResult]) -> None:
        """After a write the same reads may say something else; after one in doubt its tool is not
        called again.
        """
        tools = {tool.name: tool for tool in self._gate.tools}
        wrote = False
        for result in results:
            tool = tools.get(result.tool)
            if tool is None or not tool.effects.may_write:
                continue
            doubtful = is_in_doubt(result, tool) and not self._shared.sandbox
            wrote = wrote or result.ok or doubtful
            if doubtful:
                self._in_doubt[result.id] = result
                if not tool.effects.idempotent:
                    self._shared.in_doubt.setdefault(result.tool, result.id)
        if wrote:
            self.reopen(
                {r.id for r in self.came if r.tool in tools and tools[r.tool].effects.read_only}
            )

    def _merge(self, course: CallRunner) -> None:
        """What one call changed for the run."""
        self.skips += course.skips
        if course.lacks:
            self.postpone(course.tool)
        elif course.refusal is not None and course.by == "model":
            self.refusals.append(course.refusal)
        if course.denied is not None:
            call, skip = course.denied
            self._denied.append(((call.tool.name, canonical(call.arguments)), skip))
        if course.held is not None:
            self.held.setdefault(course.tool, []).append(course.held)
            self._beside[course.held.id] = course.beside
        if course.unmended:
            self._shared.unmended.add(course.unmended)
        if course.assumed and course.result is not None:
            self._assumed[course.result.id] = course.assumed
        if course.taught is not None:
            self._gate = self._gate.with_tool(course.taught)

    def _number(self, call: ToolCall) -> ToolCall:
        self._numbered += 1
        return ToolCall(f"r{self._numbered}", call.tool, call.arguments, call.slot)
