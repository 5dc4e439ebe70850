"""Plan-then-execute (Wei et al., 2025, "Beyond ReAct"): one whole DAG before anything runs, then no
barrier.

Where the plan comes from is what the three strategies here differ in: ``dag`` asks the model for it
(:mod:`planning.dag`), ``edges`` takes the graph of a planner that asks no language model and has
the model write the arguments in one question, ``given`` carries out a plan that somebody wrote. All
then run as a stream (:mod:`agent.execution.stream`): two questions to the model, the answer's
included, where nothing fails and nothing was left open (the paper: 2.29 steps, its Table 4).

What failed and could be neither repaired nor replaced stops what is downstream of it. The remainder
is then planned again, with the results so far in view, as the plan's next revision
(:mod:`agent.strategies.revision`): twice at most.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from callwright.agent.execution.job import Job
from callwright.agent.execution.stream import Step, Stream
from callwright.agent.questions import LimitReached
from callwright.agent.render import render_results, render_signatures
from callwright.agent.safety.freeze import Level
from callwright.agent.step import Ran, RunSlots, Steps, converse
from callwright.agent.strategies.revision import Lost, Revision
from callwright.agent.strategies.strategy import Choosing
from callwright.agent.strategies.tool_choice import choose_tools
from callwright.dataflow.prerequisites import add_producers
from callwright.nouns.errors import ConfigError, PlanError
from callwright.nouns.plan import Plan, Slot
from callwright.nouns.types import Tool, ToolResult
from callwright.planning.dag import Asked, Draft, plan_dialogue
from callwright.planning.notation import read_plan

_REPLANS = 2
_ANEW = (
    "Some steps were carried out already. Their results:\n{results}\n{failed}\nPlan only the steps"
    " that are still needed, the first of them as step 1. Do not repeat a call whose result is"
    " there; take values from these results as they are written. Go round what failed, with another"
    " tool or other values. If nothing more can be found out, plan no steps."
)
_ORDERED = (
    "An order of these tools was found already; what a tool comes after gives it"
    " something:\n{order}\nWrite the steps in this order, with their arguments. Leave out a tool"
    " that the request does not need."
)


class DAG(Choosing):
    """Plans once, runs each step the moment its inputs exist, plans the remainder again where
    something failed.
    """

    name = "dag"
    freezes: tuple[Level, ...] = ("plan", "arguments")

    def steps(self, job: Job) -> Steps[None]:  # type: ignore[override]  # it needs a stream
        yield from self._plan(job)
        ran: set[str] = set()
        revision = Revision(job, _REPLANS)
        while True:
            stream = yield from run_plan(job, ran)
            ran |= stream.steps.keys() - stream.blocked.keys()
            if not (yield from self._planned_anew(job, stream, ran, revision)):
                break

    def _plan(self, job: Job) -> Steps[None]:
        tools = yield from choose_tools(job, self._choose_above)
        plan = yield from request_plan(job, tools, known_before(job))
        if plan is None:
            job.trace.add("note", text="the model wrote no plan: the planner's order is taken")
            yield from job.make_plan(tools)
        else:
            yield from job.adopt(plan)

    def _planned_anew(
        self, job: Job, stream: Stream, ran: set[str], revision: Revision
    ) -> Steps[bool]:
        """Return True if the model made another plan of the remaining work."""
        failed = [stream.steps[i] for i in stream.steps if i in stream.schedule.failed]
        if not stream.blocked and all(_has_no_result(step.results) for step in failed):
            return False
        lost = [_build_lost(step) for step in failed or [*stream.steps.values()][:1]]
        if not revision.begin(lost, sorted(stream.blocked)):
            return False
        said = "\n".join(f"{step.slot.tool} failed." for step in failed)
        results = render_results(job.executor.results, job.limits.result_chars, job.executor.skips)
        fresh = yield from request_plan(
            job, _list_left(job, ran), _ANEW.format(results=results, failed=said), frozenset(ran)
        )
        if fresh is None or not fresh.slots:
            job.trace.add("note", text="nothing is planned in the place of what failed")
            return False
        yield from job.revise(ran, lambda: fresh)
        return True


def _list_left(job: Job, ran: Collection[str]) -> tuple[Tool, ...]:
    """The tools that may stand in another plan of the remaining work: a write that is done does
    not, unless the plan has one more of its tool that was not carried out.
    """
    left = {slot.tool for slot in job.plan.slots if slot.id not in ran}
    done = job.facts.succeeded - left
    return tuple(
        tool for tool in job.tools if tool.name not in done or not (tool.effects.declares_write)
    )


class Edges(DAG):
    """The graph of the run's planner, which needs no language model; the model writes the
    arguments, all at once.

    It is offered the planner's tools, and those that alone provide what these require. Which of
    them are needed the model says, of many tools in a question before, unless a planner is named
    that chooses itself.

    ``planner``: whose graph, where the run names none. It leaves no tool out: the one that does
    (``graph``) goes by words, and of 97 requests in worlds that it had never seen it left out a
    needed tool in 58 (docs/lab.md).
    """

    name = "edges"
    planner = "edges"

    def _plan(self, job: Job) -> Steps[None]:
        chosen = yield from choose_tools(job, self._choose_above)
        yield from job.make_plan(chosen, fixed=False)
        order = job.plan
        planned_for = {slot.tool for slot in order.slots}
        kept = tuple(tool for tool in job.tools if tool.name in planned_for)
        lines = [_describe_slot(slot, order) for layer in order.layers for slot in layer]
        known = _ORDERED.format(order="\n".join(f"{n}. {line}" for n, line in enumerate(lines, 1)))
        known = "\n\n".join(filter(None, (known_before(job), known)))
        offered = add_producers(
            kept, job.tools
        )  # the model may plan without one of them, not with one left out
        filled = (yield from request_plan(job, offered, known)) if kept else None
        if filled is None:
            job.executor.freeze.fix(order)
        else:
            yield from job.adopt(replace(order_plan(filled, order), revision=order.revision + 1))


class Given(DAG):
    """A plan that somebody wrote or edited, in any form that :func:`planning.notation.read_plan`
    reads.
    """

    name = "given"

    def __init__(self, plan: Plan | str | None = None) -> None:
        """``plan``: None to resume a run, whose journal holds it. Raises PlanError in the run if it
        cannot run.
        """
        super().__init__()
        self._given = plan

    def _plan(self, job: Job) -> Steps[None]:
        job.executor.trust_values()
        recorded = job.ledger.facts.plan
        if self._given is None and recorded is None and not job.ledger.ahead(""):
            raise ConfigError("there is no plan to carry out", hint="callwright run … --plan FILE")
        plan = (
            read_plan(self._given, job.tools, is_whole=True)
            if isinstance(self._given, str)
            else self._given or recorded or Plan()
        )
        wrong = plan.problems(tool.name for tool in job.tools)
        if wrong:
            offered = ", ".join(tool.name for tool in job.tools)
            raise PlanError(
                "; ".join(p.message for p in wrong), hint=f"the tools of this run: {offered}"
            )
        yield from job.adopt(plan)


def known_before(job: Job) -> str:
    """Return what a planner is told of the results with which a new segment of a run begins; ""
    where there are none.
    """
    results = job.executor.results
    if job.ledger.segment == 1 or not results:
        return ""
    shown = render_results(results, job.limits.result_chars, job.executor.skips)
    return _ANEW.format(results=shown, failed="")


def request_plan(
    job: Job, tools: Sequence[Tool], known: str = "", finished: frozenset[str] = frozenset()
) -> Steps[Plan | None]:
    """The plan that the model writes, or None where it wrote none. Raises LimitReached."""
    asked = Asked(
        query=job.asked,
        tools=tuple(tools),
        shown=render_signatures(tools, job.facts.profile),
        mode=job.mode,
        known=known,
        conversation=job.conversation,
        finished=finished,
        reply_tokens=job.limits.reply_tokens,
    )
    draft: Draft = yield from converse(plan_dialogue(asked), calls=None)
    if draft.problems:
        job.trace.add(
            "note",
            text="the plan is unsound, its sound part is taken: " + "; ".join(draft.problems),
        )
    return draft.plan


def run_plan(job: Job, done: set[str]) -> Steps[Stream]:
    """Run what of the job's plan is not ``done``. Raises LimitReached when all has come, where a
    limit was hit.
    """
    slots = [slot for slot in job.plan.slots if slot.id not in done]
    job.trace.add("dispatch", slots=[slot.id for slot in slots], revision=job.plan.revision)
    job.ledger.commit()  # the plan cost a question: it is not asked for again
    event: Ran = yield RunSlots(tuple(slots), frozenset(done))
    stream = event.stream
    if stream.limit:
        raise LimitReached(stream.limit)
    return stream


def order_plan(plan: Plan, order: Plan) -> Plan:
    """A plan in which a step without references waits for the tools that come before it in
    ``order``, as far as they stand before it in the plan: where a step says itself what feeds it,
    that counts. No step waits for one that waits for it.
    """
    tool = {slot.id: slot.tool for slot in order.slots}
    before = {slot.tool: {tool[b] for b in slot.after} for slot in order.slots}
    for place, slot in enumerate(plan.slots):
        if slot.after:
            continue
        first = {s.id for s in plan.slots[:place] if s.tool in before.get(slot.tool, ())}
        slot = replace(slot, after=frozenset(first - plan.behind([slot.id])))
        plan = replace(plan, slots=(*plan.slots[:place], slot, *plan.slots[place + 1 :]))
    return plan


def _describe_slot(slot: Slot, plan: Plan) -> str:
    tool = {one.id: one.tool for one in plan.slots}
    after = ", ".join(sorted(tool[b] for b in slot.after))
    return f"{slot.tool}, after {after}" if after else slot.tool


def _build_lost(step: Step) -> Lost:
    """The outcome of a step that failed. The event of a revision names its slot."""
    last = step.results[-1] if step.results else None
    said = last.failure.message if last is not None and last.failure is not None else ""
    arguments = last.arguments if last is not None else {}
    return Lost(step.slot.tool, step.slot.id, step.slot.id, arguments, said)


def _has_no_result(results: Sequence[ToolResult]) -> bool:
    """Return True if the tool accepted the call and found nothing. That is an answer."""
    return bool(results) and all(
        r.failure is not None and r.failure.kind == "empty" for r in results
    )
