"""A plan carried out as a stream: each step on its way the moment its inputs exist
(:mod:`agent.execution.schedule`).

A step sees the request, what the run knew before, and what the steps upstream of it returned:
nothing of the steps beside it, however fast they were. So what it does depends on its inputs alone,
a resume replays it in any order, and what one branch returned cannot reach another. Its arguments
are those of the plan, references resolved; where the plan leaves them open, or a reference means
nothing, the model fills them from what the step sees (unless they are frozen). A call that fails is
repaired on its way as every call is (:mod:`agent.execution.call_runner`); where that does not help
a tool that gives the same may stand in; and what failed then stops what is downstream of it,
nothing else.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from callwright.agent.bind import Bound
from callwright.agent.execution.call_runner import CallRunner
from callwright.agent.execution.call_task import CallTask
from callwright.agent.execution.references import resolve_references
from callwright.agent.execution.run_services import RunServices
from callwright.agent.execution.schedule import Schedule
from callwright.agent.gaps import NOTE
from callwright.agent.origins import Failed, build_failed_call, build_refused_call
from callwright.agent.questions import LimitReached
from callwright.agent.substitutes import find_substitutes
from callwright.nouns.plan import Plan, Slot
from callwright.nouns.types import Json, JsonObject, Skip, ToolCall, ToolResult, to_canonical_json
from callwright.repair.gate import Gate
from callwright.repair.provenance.sources import ProvenanceIndex
from callwright.repair.provenance.upstream import Upstream
from callwright.tools.evidence import Known

FAR = 1_000  # the second call of a step is numbered so far behind its first: numbers must not depend on who was faster


class Late(Protocol):
    """Fills the arguments of a step when it is its turn: slot, what it sees, who asks, what the
    plan lacked.
    """

    async def __call__(
        self, slot: Slot, results: Sequence[ToolResult], actor: str, why: str
    ) -> Bound: ...


@dataclass(slots=True)
class Step:
    """One slot on its way, and what came of it. ``reply``: which one wrote it, where a plan was
    asked for again while its steps were on their way.
    """

    slot: Slot
    number: int
    reply: int = 0
    upstream: int = 0  # the steps before it, one bit each
    runners: list[CallRunner] = field(default_factory=list)
    taken: Sequence[Json] = ()  # values that references put into its arguments
    results: list[ToolResult] = field(
        default_factory=list
    )  # of its calls, or of the very same call of another step
    good: list[ToolResult] = field(default_factory=list)
    skips: list[Skip] = field(default_factory=list)
    # the failed call, and what was got in its place
    stands_in: tuple[Failed, ToolResult] | None = None
    declined: bool = False  # the model saw no use for it
    limit: str = ""

    @property
    def id(self) -> str:
        return f"r{self.number}"

    def count(self) -> list[ToolResult]:
        """Its results that count, from here on in ``good``."""
        self.good = [result for result in self.results if result.ok]
        return self.good

    @property
    def lacks(self) -> bool:
        """Return True if its call lacked a value and produced no result."""
        return not self.results and any(one.outcome.lacks for one in self.runners)

    def left_out(self, reason: str) -> None:
        self.skips.append(Skip(self.slot.tool, reason, self.slot.id, refused=True))


class _Beside(Container[str]):
    """The calls that an equal write may stand beside: those of its own reply, ``own``, and where that
    is one call alone, those of other steps that are, ``of`` the same plan. A reply that holds the
    calls of several steps, as each of these replies may, has each of them made once.
    """

    def __init__(self, own: Collection[str], of: Mapping[str, Collection[str]]) -> None:
        self._own, self._of = own, of

    def __contains__(self, id_: object) -> bool:
        is_alone = len(self._own) == 1 and len(self._of.get(str(id_), ())) == 1
        return id_ in self._own or is_alone


class Stream:
    """Steps of one plan on their way. Made by :meth:`Executor.stream`, which merges what came of
    them at its end.
    """

    def __init__(
        self,
        shared: RunServices,
        gate: Gate,
        places: asyncio.Semaphore,
        before: Sequence[ToolResult],
        *,
        late: Late | None,
        known: Known,
        numbered: int,
    ) -> None:
        self.steps: dict[str, Step] = {}
        self._shared = shared
        self._gate = gate
        self._tools = {tool.name: tool for tool in gate.tools}
        self._places = places
        self._before = [*before]
        self._freeze = shared.safety.freeze
        self._late = late
        self._known = known
        self._numbered = numbered
        self._order: list[Step] = []
        # the calls that have ended, or will, each with its step
        self._owners: dict[str, tuple[Step, asyncio.Event]] = {}
        # reply -> call -> the calls that were written with it
        self._replies: dict[int, dict[str, set[str]]] = {}
        self._given: dict[str, list[Json]] = {}
        for result in before:
            if result.ok and result.slot:
                self._given.setdefault(result.slot, []).append(result.content)

    def begin(self, group: asyncio.TaskGroup, done: Iterable[str]) -> None:
        self.schedule = Schedule(group, self._work, done)
        for id_ in self.schedule.done:  # also of one that returned nothing: a reference names it
            self._given.setdefault(id_, [])

    def add(self, *slots: Slot, reply: int = 0) -> None:
        """More steps. What a step waits for has been added before, comes with it, or had finished
        before.
        """
        for slot in slots:
            self.steps[slot.id] = step = Step(slot, self._numbered + len(self.steps) + 1, reply)
            self._order.append(step)
        for slot in slots:
            self.schedule.add(slot)

    @property
    def limit(self) -> str:
        """The limit of the run that kept the first of its steps from being filled, or ""."""
        return next((step.limit for step in self._order if step.limit), "")

    @property
    def blocked(self) -> dict[str, str]:
        """The steps that never started, and the first in plan order of the failed steps that they
        rest on.
        """
        plan, found = Plan(tuple(step.slot for step in self._order)), dict[str, str]()
        for failed in (
            step.slot.id for step in self._order if step.slot.id in self.schedule.failed
        ):
            for behind in plan.behind([failed]):
                found.setdefault(behind, failed)
        return found

    async def _work(self, slot: Slot) -> bool:
        step = self.steps[slot.id]
        for before in slot.after:
            if before in self.steps:
                other = self.steps[before]
                step.upstream |= other.upstream | 1 << (other.number - self._numbered - 1)
        try:
            await self._carry_out(step)
        except LimitReached as reached:
            step.limit = reached.limit
            step.left_out(f"the run's limit of {reached.limit} was reached")
        self._given[slot.id] = [result.content for result in step.count()]
        if any(self._tools[result.tool].effects.may_write for result in step.results):
            self._shared.ledger.commit()  # what was written is known to have been, whatever ends the process now
        return bool(step.good) or step.declined

    async def _carry_out(self, step: Step) -> None:
        slot, why = step.slot, "the plan leaves its arguments open"
        said: JsonObject = {}
        may_ask = self._late is not None and not self._freeze.arguments
        if slot.arguments is not None:
            resolved = resolve_references(slot.arguments, self._given, self._tools[slot.tool])
            step.taken, said, why = resolved.taken, resolved.said, "; ".join(resolved.missing)
            if not why:
                call = ToolCall("", slot.tool, resolved.arguments, slot.id)
                await self._make(step, [call], planned=True, may_defer=may_ask, said=said)
                if not (step.lacks and may_ask):
                    return await self._rescue(step)
                why = step.runners[-1].outcome.skips[-1].reason
        if not may_ask:
            return step.left_out(why)
        await self._fill(step, why, said)

    async def _fill(self, step: Step, why: str, said: JsonObject) -> None:
        """Have the model write the call, from what the step sees. A frozen plan's own arguments
        stay as they are.
        """
        assert self._late is not None
        slot, writes = step.slot, self._tools[step.slot.tool].effects.may_write
        frozen = said if self._freeze.on else {}
        told = f"{why}; it says {to_canonical_json(said)}" if said else why
        bound = await self._late(slot, self._seen(step), step.id, told)
        calls = [
            _add_arguments(call, frozen, slot.id) for call in bound.calls if call.tool == slot.tool
        ]
        if calls:
            if (
                self._freeze.on and slot.arguments is not None
            ):  # one call is planned: the first that may be made
                for call in calls:
                    await self._make(step, [call], planned=False, may_defer=False, said=frozen)
                    if step.results:
                        break
            else:
                await self._make(step, calls, planned=False, may_defer=writes)
            return await self._rescue(step)
        step.declined = not bound.wanted and not bound.malformed and slot.arguments is None
        reason = bound.malformed or next(
            (s.reason for s in bound.skips if s.tool == slot.tool), why
        )
        step.skips.append(Skip(slot.tool, reason, slot.id, refused=not step.declined))

    async def _make(
        self,
        step: Step,
        calls: Sequence[ToolCall],
        *,
        planned: bool,
        may_defer: bool,
        by: str = "model",
        said: JsonObject | None = None,
    ) -> None:
        """Put calls on their way and keep what comes of them. Together where there are several.
        ``said``: the arguments that are the plan's own.
        """
        if refused := self._freeze.refused(calls, planned=planned):
            step.skips += refused
            return
        sources = self._sources(step)
        runners, together = [], set[str]()
        replies = self._replies.setdefault(step.reply, {})
        for call in calls:
            numbered = ToolCall(self._next_id(step), call.tool, call.arguments, call.slot)
            together.add(numbered.id)
            replies[numbered.id] = together
            task = CallTask(
                numbered.id,
                call.tool,
                call.slot,
                by=by,
                own=sources,
                is_planned=planned,
                stated=said or {},
                beside=_Beside(together, replies),
            )
            runner = CallRunner(task, self._shared, self._gate)
            step.runners.append(runner)
            runners.append((runner, numbered))
        if len(runners) == 1:
            await self._go(*runners[0], may_defer)
        else:
            async with asyncio.TaskGroup() as group:
                for runner, call in runners:
                    group.create_task(self._go(runner, call, may_defer))
        for outcome in (runner.outcome for runner, _ in runners):
            if outcome.result is not None:
                step.results.append(outcome.result)
            elif outcome.same and by != "substitute":
                step.results += await self._of_other(step, outcome.same)

    async def _go(self, runner: CallRunner, call: ToolCall, may_defer: bool) -> None:
        async with self._places:
            await runner.run(call, may_defer)
        self._owners[call.id][1].set()

    def _next_id(self, step: Step) -> str:
        id_ = f"r{step.number + FAR * len(step.runners)}"
        self._owners[id_] = step, asyncio.Event()
        return id_

    async def _of_other(self, step: Step, same: str) -> list[ToolResult]:
        """Return the results of the same call that was made before, or is being made. That call is
        waited for, and not its step: two steps may each have made a call of the other.
        """
        if same not in self._owners:
            return [result for result in self._before if result.id == same]
        owner, ended = self._owners[same]
        await ended.wait()
        made = (one.outcome.result for one in owner.runners if one.id == same and owner is not step)
        return [result for result in made if result is not None]

    async def _rescue(self, step: Step) -> None:
        """A step whose calls all failed: the call of a tool that gives the same, where none needs
        to be asked.
        """
        if step.count():
            return
        failed = self._failed(step)
        if failed is None:
            return
        tools = [tool for name, tool in self._tools.items() if name in self._freeze.tools([name])]
        found = find_substitutes(
            failed, tools, frozenset({failed.call.tool}), self._sources(step), self._known
        )
        direct = next((s for s in found if s.call is not None and s.tool.effects.read_only), None)
        if direct is None or direct.call is None or not self._granted(step):
            return
        told = {
            "tool": failed.call.tool,
            "failed": failed.call.id,
            "message": failed.message[:NOTE],
        }
        self._shared.trace.add("recovery", step="substitute", **told, offered=[direct.tool.name])
        call = replace(direct.call, slot=step.slot.id)
        await self._make(step, [call], planned=False, may_defer=False, by="substitute")
        if step.count():
            step.stands_in = (failed, step.good[0])

    def _failed(self, step: Step) -> Failed | None:
        if step.results:
            result = step.results[-1]
            return build_failed_call(result, self._tools[result.tool])
        refusal = next(
            (one.outcome.refusal for one in step.runners if one.outcome.refusal is not None), None
        )
        return build_refused_call(refusal) if refusal is not None else None

    def _granted(self, step: Step) -> bool:
        budget = self._shared.budget
        granted = self._shared.spend(step.id, "repairs", "recovery", budget.spend_repair)
        self._shared.repairs["recovery"] += granted
        return granted

    def _seen(self, step: Step) -> list[ToolResult]:
        """The results that a step may know, in plan order."""
        return [*self._before, *self._upstream(step)]

    def _sources(self, step: Step) -> ProvenanceIndex:
        return Upstream(self._shared.index.sources, lambda: self._upstream(step), step.taken)

    def _upstream(self, step: Step) -> list[ToolResult]:
        return [result for other in self._ahead(step) for result in other.good]

    def _ahead(self, step: Step) -> list[Step]:
        found, bits = [], step.upstream
        while bits:
            low = bits & -bits
            found.append(self._order[low.bit_length() - 1])
            bits ^= low
        return found


def _add_arguments(call: ToolCall, said: JsonObject, slot: str) -> ToolCall:
    """A call of a slot, with arguments that somebody else has said."""
    arguments = call.arguments
    if said and isinstance(arguments, dict):
        arguments = {**arguments, **said}
    return replace(call, arguments=arguments, slot=slot)
