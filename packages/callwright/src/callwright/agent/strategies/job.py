"""Defines the data that a strategy works with: one run's query, tools, plan and executor. All
strategies share its accounting.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Container, Generator, Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from typing import Any, Protocol

from callwright.agent.bind import Bound, View, build_bind_request, read_reply
from callwright.agent.executor import Executor
from callwright.agent.journal.ledger import Ledger
from callwright.agent.questions import Questions
from callwright.agent.today import render_today
from callwright.grounding import (
    build_abstention,
    build_no_answer,
    check_answer,
    check_written_answer,
    finish,
    finish_without_repair,
)
from callwright.nouns.limits import Limits
from callwright.nouns.plan import Plan, Slot
from callwright.nouns.protocols import ChatRequest, Planner
from callwright.nouns.trace import Trace
from callwright.nouns.types import (
    Answer,
    Message,
    Reply,
    Tool,
    ToolCall,
    ToolResult,
    to_canonical_json,
)
from callwright.tools.evidence import Known


class ToolSearch(Protocol):
    """The tools of the whole catalogue, where a run is shown a few of them."""

    def find(self, wanted: str, without: Container[str], most: int) -> tuple[Tool, ...]: ...


@dataclass(frozen=True, slots=True)
class BindStep:
    """One question of what to call, the ``index`` th of ``total``. ``open_points``: what the model
    is told is still missing. ``may_give_up``: it may also go back; ``tried`` are the steps that
    were taken from this point before.
    """

    prompt: str
    index: int = 1
    total: int = 1
    may_finish: bool = False
    open_points: Sequence[str] = ()
    may_give_up: bool = False
    tried: Sequence[str] = ()


@dataclass(slots=True)
class Job:
    """One run, from a strategy's point of view. ``plan`` is set by the strategy as it makes or
    grows it.
    """

    query: str
    tools: tuple[Tool, ...]
    planner: Planner
    executor: Executor
    questions: Questions
    limits: Limits
    trace: Trace
    conversation: tuple[Message, ...] = ()
    plan: Plan = field(default_factory=Plan)
    # where more tools may be found; None: all there are, are in ``tools``
    reserve: ToolSearch | None = None
    known: Known = field(default_factory=dict)  # how often tools work
    today: date | None = None  # where the model is told of it
    # the model's own, where the strategy has it write one; else it is asked for at the end
    answer: str | None = None
    # why the model said that it cannot be done; "" where it wrote no answer at all
    given_up: str | None = None

    @property
    def ledger(self) -> Ledger:
        """The answers from outside that are on record."""
        return self.executor.ledger

    @property
    def sandbox(self) -> bool:
        """True if what calls change is thrown away: a strategy may try a write and take another
        way.
        """
        return self.executor.is_sandbox

    @property
    def as_written(self) -> bool:
        """True if what the model writes is called and answered so: nothing is repaired or taken
        back.
        """
        return self.executor.handling.as_written

    @property
    def free_arguments(self) -> bool:
        """True if replies that are held to a schema may hold any arguments."""
        return self.executor.handling.unchecked

    @property
    def asked(self) -> str:
        """The request as a model that writes calls is shown it: with the day, where it is told of
        it.
        """
        return self.query if self.today is None else f"{self.query}\n({render_today(self.today)})"

    def take_as_written(self, *, unchecked: bool = False) -> None:
        """Call what the model writes, and answer with what it says (:meth:`Executor.as_written`).
        ``unchecked``: its replies are not held to the documented arguments either.
        """
        self.executor.as_written(unchecked=unchecked)

    async def bind(
        self,
        tools: tuple[Tool, ...],
        step: BindStep,
        results: Sequence[ToolResult] | None = None,
        actor: str = "",
    ) -> Bound:
        """Ask the model once what to call of ``tools`` now. ``results``: what it is shown, all by
        default; ``actor``: who asks, the strategy by default.
        """
        names = {tool.name for tool in tools}
        view = View(
            query=self.asked,
            tools=tools,
            results=tuple(self.executor.results if results is None else results),
            refused=tuple(s for s in self.executor.skips if s.refused and s.tool in names),
            index=step.index,
            total=step.total,
            conversation=self.conversation,
            open_points=tuple(step.open_points),
            may_finish=step.may_finish,
            may_give_up=step.may_give_up,
            free_arguments=self.free_arguments,
            tried=tuple(step.tried),
            result_chars=self.limits.result_chars,
            reply_tokens=self.limits.reply_tokens,
        )
        asked = build_bind_request(view, self.questions.mode, step.prompt)
        calls = 1 if step.may_finish else None
        reply = await self.questions.ask(asked, calls=calls, actor=actor)
        bound = read_reply(view, self.questions.mode, reply)
        if bound.malformed:
            self.trace.add("note", text=f"the reply could not be read: {bound.malformed}")
        return bound

    def admit(self, tools: Iterable[Tool]) -> None:
        """More tools that this run may call from now on."""
        new = tuple(t for t in tools if t.name not in {known.name for known in self.tools})
        self.tools = (*self.tools, *new)
        self.executor.admit(new)

    def make_plan(self, tools: Sequence[Tool], *, fixed: bool = True) -> None:
        """Set the plan: what the planner says of these tools. Not ``fixed``: another one follows,
        which is frozen.
        """
        self._set_plan(lambda: self.planner.plan(self.query, tools), tools, fixed)

    def adopt(self, plan: Plan) -> None:
        """Set the plan: this one."""
        self._set_plan(lambda: plan, self.tools)

    def revise(self, finished: Container[str], fresh: Callable[[], Plan]) -> None:
        """The next revision: finished slots stay, ``fresh`` makes the rest."""
        self._set_plan(lambda: self.plan.revised(finished, fresh()), self.tools)

    def _set_plan(
        self, made: Callable[[], Plan], tools: Sequence[Tool], fixed: bool = True
    ) -> None:
        """The plan as it is made, or as it was made before a crash."""
        if told := self.ledger.next("", "plan"):
            self.plan, turn = Plan.from_slots(told["slots"], told["revision"]), told["turn"]
        else:
            self.plan, turn = made(), self.ledger.turn("")
        self.plan.require_sound(t.name for t in tools)
        if fixed:
            self.executor.freeze.fix(self.plan)
        self.record_plan(actor="", turn=turn)

    async def step(
        self, call: ToolCall, number: int, allowed: Collection[str], *, beside: Iterable[str] = ()
    ) -> list[ToolResult]:
        """One call behind all others: the plan grows by its slot, unless its tool is none of those
        ``allowed``. ``beside``: ids of earlier calls of the same program. Returns what it brought;
        of calls as written, what no earlier call had brought in the same words.
        """
        slot = Slot(step_id(call, number), call.tool, frozenset(s.id for s in self.plan.slots[-1:]))
        if call.tool in allowed:
            self.plan = self.plan.grown(slot)
        known = (
            {_make_result_key(result) for result in self.executor.all_results}
            if self.as_written
            else ()
        )
        results = await self.executor.execute([replace(call, slot=slot.id)], allowed, beside=beside)
        return [result for result in results if _make_result_key(result) not in known]

    def finish(self) -> Generator[ChatRequest, Reply, Answer]:
        """The questions of the Finish step; none where the model wrote its answer already, or gave
        up.
        """
        results, skips = tuple(self.executor.results), self.executor.missing
        if self.given_up is not None:
            why = (
                f"the model gave up: {self.given_up}"
                if self.given_up
                else "the model wrote no answer"
            )
            return (
                build_no_answer(why) if self.as_written else build_abstention(results, skips, why)
            )
        if self.answer is not None and self.as_written:
            return check_written_answer(self.answer, self.query, results)
        if self.answer is not None and self.executor.succeeded:
            return check_answer(self.answer, self.query, results, skips)
        mend = (
            1 if self.questions.calls_left > 1 else 0
        )  # a refused second question must not lose the first answer
        limits, mode = self.limits, self.questions.mode
        if self.as_written:
            return (
                yield from finish_without_repair(
                    self.query, results, mode=mode, char_limit=limits.result_chars
                )
            )
        return (
            yield from finish(
                self.query, results, skips, mode=mode, char_limit=limits.result_chars, mend=mend
            )
        )

    def record_plan(self, **answer: Any) -> None:
        """Write the plan as it now stands into the trace."""
        self.trace.add(
            "plan",
            **answer,
            planner=self.planner.name,
            revision=self.plan.revision,
            slots=self.plan.slots,
            edges=self.plan.edges,
            layers=[[slot.id for slot in layer] for layer in self.plan.layers],
        )


def _make_result_key(result: ToolResult) -> str:
    """Return a key that is the same for equal calls with equal results."""
    said = result.failure.message if result.failure is not None else result.content
    return to_canonical_json([result.tool, result.arguments, result.ok, said])


def step_id(call: ToolCall, number: int) -> str:
    """The slot of a strategy's nth step."""
    return f"{call.tool}@{number}"


class Strategy(Protocol):
    """Protocol of a strategy, which takes a run from query to results. Raises LimitReached when a
    limit ends it.
    """

    @property
    def name(self) -> str: ...

    async def run(self, job: Job) -> None: ...
