"""One step function for every driver: what to do next, decided from facts, without I/O.

A policy is a generator over a :class:`StepContext`: it yields an :data:`Action` and is sent the
:data:`Event` that came of it (``event = yield action``), until there is nothing more to call. Who
carries the actions out differs, what decides does not: the agent's executor asks its model and
calls its tools (:mod:`callwright.agent.execution.perform`); the proxy asks the upstream, hands the
calls to its client, and folds the results from the client's next request.

What the policy knows is in the context's facts (:class:`~callwright.agent.run_facts.RunFacts`), so
a generator may be dropped after any action and begun again over facts folded from elsewhere.
"""

from __future__ import annotations

from collections.abc import (
    Callable,
    Collection,
    Container,
    Generator,
    Iterable,
    Mapping,
    Sequence,
)
from dataclasses import dataclass, field, replace
from datetime import date
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeAlias, TypeVar

from callwright.agent.bind import Bound, View, build_bind_request, read_reply
from callwright.agent.render import choose_listed_tools, render_signature
from callwright.agent.run_facts import RunFacts
from callwright.agent.safety.held_call import HeldCall
from callwright.agent.safety.repeats import asks_for_nothing
from callwright.agent.today import render_today
from callwright.grounding.answer.summary import render_growing_results
from callwright.nouns.limits import Limits
from callwright.nouns.plan import Plan, Slot
from callwright.nouns.protocols import ChatRequest, Planner, ReplyMode
from callwright.nouns.trace import Trace
from callwright.nouns.types import (
    Message,
    Reply,
    Tool,
    ToolCall,
    ToolResult,
    to_canonical_json,
)
from callwright.prompts.run_prompt import RunPrompt
from callwright.tools.evidence import Known

if TYPE_CHECKING:
    from callwright.agent.execution.stream import Stream

T = TypeVar("T")


class NamedWish(NamedTuple):
    """A part of the request that the model stated as a call of a tool."""

    tool: str
    text: str


class Ask(NamedTuple):
    """A question to the model. ``calls``: the reply may end after so many; None: whenever it
    ends. ``actor``: who asks, "" for the policy itself, else the id of a call. ``tools``: a driver
    that words its questions itself asks which of these to call, in the place of ``request``.
    """

    request: ChatRequest
    calls: int | None = 1
    actor: str = ""
    tools: tuple[Tool, ...] = ()


class Execute(NamedTuple):
    """Calls that may run at the same time; tools outside ``allowed`` are refused. A call of a tool
    of ``may_defer`` waits where a value of it stands nowhere. ``by`` and ``beside`` as in
    :meth:`Executor.execute <callwright.agent.execution.executor.Executor.execute>`.
    """

    calls: tuple[ToolCall, ...]
    allowed: frozenset[str]
    may_defer: frozenset[str] = frozenset()
    by: str = "model"
    beside: tuple[str, ...] = ()


class Release(NamedTuple):
    """Calls of these tools that waited for a value go as they are."""

    tools: tuple[str, ...]


class MakePlan(NamedTuple):
    """A plan to be made, and to be recorded before anything rests on it."""

    make: Callable[[], Plan]


class RunSlots(NamedTuple):
    """Slots of the plan to be carried out, each as soon as those have finished that it waits for;
    ``done`` had before.
    """

    slots: tuple[Slot, ...]
    done: frozenset[str] = frozenset()


class RunBeside(NamedTuple):
    """A part of a policy beside which slots are carried out: those that its ``steps`` let go with
    :class:`Dispatch`, each as soon as those have finished that it waits for. It is over when all
    have come. ``done`` as in :class:`RunSlots`.
    """

    steps: Generator[Any, Any, Any]
    done: frozenset[str] = frozenset()


class Write(NamedTuple):
    """A question whose reply is read while the model writes it. ``read`` is given what stands there
    so far, each time that one of ``ends`` has come, and may let slots go: it yields nothing but
    :class:`Dispatch`. Only inside :class:`RunBeside`.
    """

    request: ChatRequest
    read: Callable[[str], Generator[Any, Any, None]]
    ends: tuple[str, ...]


class Dispatch(NamedTuple):
    """Lets slots go: they are recorded for ``actor``, then they are on their way.
    ``noted["steps"]`` are these slots, ``noted["reply"]`` is the number of the reply that wrote
    them, all else is for the policy itself. Only inside :class:`RunBeside`.
    """

    actor: str
    noted: Mapping[str, Any]


class Recall(NamedTuple):
    """The next that an earlier process had recorded for ``actor`` is let go again. Only inside
    :class:`RunBeside`.
    """

    actor: str


class Replied(NamedTuple):
    """The model's reply to a question."""

    reply: Reply


class Returned(NamedTuple):
    """The results of calls, in call order: those that were not made have no result. ``held``: calls
    that a rule speaks against; ``left``: those whose results come later.
    """

    results: list[ToolResult]
    held: Sequence[HeldCall] = ()
    left: Sequence[ToolCall] = ()


class Planned(NamedTuple):
    """The plan, as it was made now or before a crash. ``turn``: its number in the journal."""

    plan: Plan
    turn: int = 0


class Ran(NamedTuple):
    """Slots that were carried out, as far as they could be. ``value``: what the part of the policy
    beside them returned.
    """

    stream: Stream
    value: Any = None


class Dispatched(NamedTuple):
    """The record of what was let go; None where an earlier process had recorded no more.
    ``is_last``: nothing that the policy did later is on record.
    """

    noted: Mapping[str, Any] | None
    is_last: bool = False


Action: TypeAlias = (
    Ask | Execute | Release | MakePlan | RunSlots | RunBeside | Write | Dispatch | Recall
)
Event: TypeAlias = Replied | Returned | Planned | Ran | Dispatched
Steps: TypeAlias = Generator[Action, Any, T]
"""A policy at work: it is sent the :data:`Event` that belongs to the action it yielded. What the
driver raises for an action (:class:`~callwright.agent.questions.LimitReached`) is raised there.
"""


class ToolSearch(Protocol):
    """The tools of the whole catalogue, where a run is shown a few of them."""

    def find(self, wanted: str, without: Container[str], most: int) -> tuple[Tool, ...]: ...


@dataclass(frozen=True, slots=True)
class BindStep:
    """One question of what to call, the ``index`` th of ``total``. ``open_points``: what the model
    is told is still missing. ``may_give_up``: it may also go back; ``tried`` are the steps that
    were taken from this point before. ``enabled``: the tools whose needed values are known by now,
    and were not before. ``callable``: the tools that may be called before any result
    is there; empty: all. ``thoughts``: the model's own before a call, by the id of its result.
    """

    prompt: str
    index: int = 1
    total: int = 1
    may_finish: bool = False
    open_points: Sequence[str] = ()
    may_give_up: bool = False
    tried: Sequence[str] = ()
    enabled: Sequence[str] = ()
    callable: Collection[str] = ()
    thoughts: Sequence[tuple[str, str]] = ()


@dataclass(slots=True)
class StepContext:
    """All that a policy decides from. ``plan`` is set by the policy as it makes or grows it.

    ``mode`` is how replies are constrained. ``reserve``: where more tools may be found; None: all
    there are, are in ``tools``. ``known``: how often tools work. ``today``: the day, where the
    model is told of it. ``answer``: the model's own, where the policy has it write one;
    ``given_up``: why the model said that it cannot be done, "" where it wrote no answer at all.
    """

    query: str
    tools: tuple[Tool, ...]
    planner: Planner
    facts: RunFacts
    mode: ReplyMode
    limits: Limits = field(default_factory=Limits)
    trace: Trace = field(default_factory=Trace)
    conversation: tuple[Message, ...] = ()
    plan: Plan = field(default_factory=Plan)
    reserve: ToolSearch | None = None
    known: Known = field(default_factory=dict)
    today: date | None = None
    answer: str | None = None
    given_up: str | None = None

    @property
    def as_written(self) -> bool:
        """True if what the model writes is called and answered so: nothing is repaired or taken
        back.
        """
        return self.facts.handling.as_written

    @property
    def asks_for_nothing(self) -> bool:
        """True if the user only greets or thanks: nothing is called for it."""
        return asks_for_nothing(self.query, self.conversation) and not self.as_written

    @property
    def free_arguments(self) -> bool:
        """True if replies that are held to a schema may hold any arguments."""
        return self.facts.handling.unchecked

    @property
    def asked(self) -> str:
        """The request as a model that writes calls is shown it: with the day, where it is told of
        it.
        """
        return self.query if self.today is None else f"{self.query}\n({render_today(self.today)})"

    def list_open_wishes(self, serving: Sequence[ToolResult]) -> tuple[str, ...]:  # noqa: ARG002
        """The wishes that the model stated, more than it made calls, and that name no value of
        these calls.
        """
        return ()

    def list_unserved(self, tools: Sequence[Tool]) -> tuple[NamedWish, ...]:  # noqa: ARG002
        """The wishes that the model stated as calls of these tools and that had none."""
        return ()

    def ask_letter(self, request: ChatRequest) -> Steps[Reply]:
        """One question that is answered with one letter and stands alone."""
        return (yield from ask(request, None))

    def open_prompt(self, results: Sequence[ToolResult] | None = None) -> RunPrompt:
        """Return what all questions of this run share at this point. ``results``: what is shown,
        all by default. The tools are those offered when it is opened first, as far as they are few;
        a model that is given tools itself is not told of them twice.
        """
        if self.facts.listed is None:
            few = choose_listed_tools(self.tools, self.facts.profile)
            self.facts.listed = () if self.mode == "native" else few
        shown = self._shown() if results is None else results
        return RunPrompt(
            self.asked,
            tuple(render_signature(tool, self.facts.profile) for tool in self.facts.listed),
            render_growing_results(self.query, shown, self.limits.result_chars),
            self.conversation,
        )

    @property
    def shared_prompt(self) -> RunPrompt | None:
        """The same where a question has shared it; None where each question stands alone."""
        return None if self.facts.listed is None else self.open_prompt()

    def admit(self, tools: Iterable[Tool]) -> None:
        """More tools that this run may call from now on."""
        new = tuple(t for t in tools if t.name not in {known.name for known in self.tools})
        self.tools = (*self.tools, *new)
        self.facts.admit(new)

    def bind(
        self,
        tools: tuple[Tool, ...],
        step: BindStep,
        results: Sequence[ToolResult] | None = None,
        actor: str = "",
    ) -> Steps[Bound]:
        """Ask the model once what to call of ``tools`` now. ``results``: what it is shown, all by
        default; ``actor``: who asks, the policy by default.
        """
        view = self._view(tools, step, results)
        shared = self.open_prompt(results) if step.prompt in ("first", "layer") else None
        request = build_bind_request(
            view, self.mode, step.prompt, shared, step.callable, step.thoughts
        )
        reply = yield from ask(request, 1 if step.may_finish else None, actor)
        bound = read_reply(view, self.mode, reply)
        if not bound.calls:
            self.facts.take_reason(bound.reason)
        if bound.malformed:
            self.trace.add("note", text=f"the reply could not be read: {bound.malformed}")
        return bound

    def _view(
        self, tools: tuple[Tool, ...], step: BindStep, results: Sequence[ToolResult] | None
    ) -> View:
        names = {tool.name for tool in tools}
        return View(
            query=self.asked,
            tools=tools,
            results=self._shown() if results is None else tuple(results),
            refused=tuple(s for s in self.facts.skips if s.refused and s.tool in names),
            index=step.index,
            total=step.total,
            conversation=self.conversation,
            open_points=tuple(step.open_points),
            may_finish=step.may_finish,
            may_give_up=step.may_give_up,
            free_arguments=self.free_arguments,
            tried=tuple(step.tried),
            profile=self.facts.profile.keep_limits(self.limits),
        )

    def _shown(self) -> tuple[ToolResult, ...]:
        """The results that a question shows: of earlier turns too, for the request may speak of
        them.
        """
        return (*self.facts.state.earlier, *self.facts.results)

    def make_plan(self, tools: Sequence[Tool], *, fixed: bool = True) -> Steps[None]:
        """Set the plan: what the planner says of these tools. Not ``fixed``: another one follows,
        which is frozen.
        """
        yield from self._set_plan(lambda: self.planner.plan(self.query, tools), tools, fixed)

    def adopt(self, plan: Plan) -> Steps[None]:
        """Set the plan: this one."""
        yield from self._set_plan(lambda: plan, self.tools)

    def revise(self, finished: Container[str], fresh: Callable[[], Plan]) -> Steps[None]:
        """The next revision: finished slots stay, ``fresh`` makes the rest. A slot that finished
        before one that it was to wait for waits for that no longer: it may come again, behind it.
        """
        slots = self.plan.slots
        done = frozenset(slot.id for slot in slots if slot.id in finished)
        kept = (replace(s, after=s.after & done) if s.id in done else s for s in slots)
        plan = replace(self.plan, slots=tuple(kept))
        yield from self._set_plan(lambda: plan.revised(finished, fresh()), self.tools)

    def _set_plan(
        self, make: Callable[[], Plan], tools: Sequence[Tool], fixed: bool = True
    ) -> Steps[None]:
        planned: Planned = yield MakePlan(make)
        self.plan = planned.plan
        self.plan.require_sound(t.name for t in tools)
        if fixed:
            self.facts.freeze.fix(self.plan)
        self.record_plan(actor="", turn=planned.turn)

    def step(
        self, call: ToolCall, number: int, allowed: Collection[str], *, beside: Iterable[str] = ()
    ) -> Steps[list[ToolResult]]:
        """One call behind all others: the plan grows by its slot, unless its tool is none of those
        ``allowed``. ``beside``: ids of earlier calls of the same program. Returns what it brought;
        of calls as written, what no earlier call had brought in the same words.
        """
        slot = Slot(step_id(call, number), call.tool, frozenset(s.id for s in self.plan.slots[-1:]))
        if call.tool in allowed:
            self.plan = self.plan.grown(slot)
        known = self._known_results()
        results = yield from execute([replace(call, slot=slot.id)], allowed, beside=beside)
        return [result for result in results if _make_result_key(result) not in known]

    def _known_results(self) -> Collection[str]:
        if not self.as_written:
            return ()
        return {_make_result_key(result) for result in self.facts.all_results}

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


def ask(
    request: ChatRequest,
    calls: int | None = 1,
    actor: str = "",
    tools: tuple[Tool, ...] = (),
) -> Steps[Reply]:
    """One question to the model, and its reply."""
    event: Replied = yield Ask(request, calls, actor, tools)
    return event.reply


def converse(
    dialogue: Generator[ChatRequest, Reply, T], actor: str = "", calls: int | None = 1
) -> Steps[T]:
    """Put a dialogue's questions to the model until it ends, and return its value."""
    try:
        request = next(dialogue)
        while True:
            request = dialogue.send((yield from ask(request, calls, actor)))
    except StopIteration as done:
        value: T = done.value
        return value
    finally:
        dialogue.close()


def execute(
    calls: Iterable[ToolCall],
    allowed: Iterable[str],
    *,
    may_defer: Iterable[str] = (),
    by: str = "model",
    beside: Iterable[str] = (),
) -> Steps[list[ToolResult]]:
    """Have calls made, and return their results in call order."""
    action = Execute(tuple(calls), frozenset(allowed), frozenset(may_defer), by, tuple(beside))
    event: Returned = yield action
    return event.results


def step_id(call: ToolCall, number: int) -> str:
    """The slot of a policy's nth step."""
    return f"{call.tool}@{number}"


def _make_result_key(result: ToolResult) -> str:
    """Return a key that is the same for equal calls with equal results."""
    said = result.failure.message if result.failure is not None else result.content
    return to_canonical_json([result.tool, result.arguments, result.ok, said])
