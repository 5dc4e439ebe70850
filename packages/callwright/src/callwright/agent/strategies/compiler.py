"""LLMCompiler (Kim et al., ICML 2024): plan, dispatch while the plan is still being written, join,
plan again.

The planner's reply is read as it comes: a step is on its way as soon as it is complete, and so is
what it refers to, while the model goes on writing. When all have come, the joiner is asked whether
that suffices, or another plan is needed and why; two more plans at most, each of which sees the
results so far.

Ours: the executor, the gate, repair, budgets and accounting are those of every strategy here, and
the answer is made by the same last question, where LLMCompiler's joiner writes it itself: one
question more. Of many tools the model chooses first, and an unsound plan is sent back, as for
``dag``; what was sound of it is on its way by then, and a step that is written again is not called
again. A plan may also be written as JSON, which is what is asked for where the endpoint can
constrain a reply. Frozen, nothing is dispatched before the plan is whole and there is no second
one.

What is dispatched before the reply is complete is recorded step by step. A resume that finds steps
and no reply goes on with those steps: the model is not asked again, since it might write another
plan than the one half done.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Generator, Mapping
from dataclasses import replace
from typing import Any, TypeAlias

from callwright import prompts
from callwright.agent.execution.job import Job
from callwright.agent.questions import LimitReached
from callwright.agent.render import render_results, render_signatures
from callwright.agent.safety.freeze import Level
from callwright.agent.step import (
    Dispatch,
    Dispatched,
    Ran,
    Recall,
    Replied,
    RunBeside,
    Steps,
    Write,
    ask,
)
from callwright.agent.strategies.dag import known_before
from callwright.agent.strategies.strategy import Choosing
from callwright.agent.strategies.tool_choice import choose_tools
from callwright.jsontext import JsonError, parse_lenient
from callwright.nouns.plan import Plan, Slot, SlotIds, find_references, rename_references
from callwright.nouns.protocols import ChatRequest
from callwright.nouns.types import JsonObject, Skip, Tool, to_canonical_json
from callwright.planning.dag import (
    ROUNDS,
    Asked,
    build_question,
    build_retry_question,
    describe_problem,
    find_problems,
    judge_reply,
    keep_sound_part,
)
from callwright.planning.notation import assemble_plan, parse_steps
from callwright.schema.normalize import closed_object

_REPLANS = 2
_SO_FAR = (
    "Steps were carried out already. Their results:\n{results}\n\nWhat is still missing:"
    " {missing}\nPlan only the steps that are still needed, the first of them as step 1. Do not"
    " repeat a call whose result is there; take values from these results as they are written."
)
_JUDGED_JSON = (
    'Reply with JSON: {"thought": "...", "judgement": "finish"}, or {"thought": "...", "judgement":'
    ' "replan", "missing": "what is missing"}'
)
_JUDGED_TEXT = "Write one line: Finish, or Replan: <what is missing>"
_REPLAN = re.compile(r"\breplan\b[\s:*-]*(.*)", re.I)
_REFERS = re.compile(r"\$(?:\d|\{(?!\?))")
_ENDS = ("}", ")", "\n")  # characters with which a step can be complete
_UNDER_WAY = "what follows is being carried out already; write it again as it is: {steps}"
_Place: TypeAlias = tuple[int, int]  # a reply, and a step in it, both counted from 1
_Dispatches: TypeAlias = Generator[Dispatch, Dispatched, None]


class Compiler(Choosing):
    """Streams the steps of a plan into the executor while the model writes it, and lets it judge
    what came.
    """

    name = "compiler"
    freezes: tuple[Level, ...] = ("plan", "arguments")

    def steps(self, job: Job) -> Steps[None]:  # type: ignore[override]  # it needs a stream
        job.plan, missing = Plan(), ""
        tools = yield from choose_tools(job, self._choose_above)
        for number in range(1, _REPLANS + 2):
            if not (yield from _PlanWriting(job, tools, number, missing).steps()):
                job.trace.add("note", text="the model wrote no plan")
                break
            if job.facts.freeze.on or number > _REPLANS:
                break
            missing = yield from _ask_joiner(job)
            if not missing:
                break
            job.trace.add("note", text=f"another plan is needed: {missing}")
            tools = job.tools  # what is missing may need any of them


class _PlanWriting:
    """One plan, from its question to the results of all its steps."""

    def __init__(self, job: Job, tools: tuple[Tool, ...], number: int, missing: str) -> None:
        self._job = job
        self._actor = f"plan {number}"
        self._asked = _build_plan_question(job, tools, missing)
        self._ids = SlotIds(self._asked.finished)
        self._sent: dict[
            _Place, Slot
        ] = {}  # the steps that are on their way, under the run's names
        self._left_out: set[_Place] = set()
        self._read = 0  # steps of the reply that is being written
        self._over = False

    def steps(self) -> Steps[bool]:
        """Carry it out; False where no reply held a plan. Raises LimitReached when all has come,
        where a limit was hit.
        """
        event: Ran = yield RunBeside(self._write_within_limits(), self._asked.finished)
        planned, limit = event.value
        self._job.record_plan()
        if limit := limit or event.stream.limit:
            raise LimitReached(limit)
        return bool(planned)

    def _write_within_limits(self) -> Steps[tuple[bool, str]]:
        """Return True if there is a plan, and the limit that was hit: what is on its way goes
        on."""
        try:
            planned = yield from self._write()
        except LimitReached as reached:
            return True, reached.limit
        return planned, ""

    def _write(self) -> Steps[bool]:
        """Have the plan written, and again while it is unsound. Or take the steps that a process
        dispatched which ended before they were all.
        """
        if (
            not self._job.facts.freeze.on
        ):  # else the plan comes first, which says what may be called
            yield from self._take_recorded()
        best, wrong, request = None, tuple[str, ...](), build_question(self._asked)
        for reply in range(1, ROUNDS + 2):
            if (yield from self._begun_before(reply)):
                return True
            text = yield from self._reply(request, reply)
            plan, wrong = self._judged(text)
            if plan is not None:
                best = reply, plan
            if not wrong:
                break
            request = build_retry_question(
                self._asked, text, (*wrong, *self._under_way(reply, plan))
            )
        if best is not None:
            yield from self._finish(*best, wrong)
        return best is not None

    def _begun_before(self, reply: int) -> Steps[bool]:
        """Return True if steps of this reply are on record and the reply itself is not. The
        recorded steps then count as the complete reply.
        """
        begun = any(written == reply for written, _ in (*self._sent, *self._left_out))
        if begun and not self._over and (yield from self._take_recorded()):
            yield from self._note(over=True)
        return self._over

    def _reply(self, request: ChatRequest, reply: int) -> Steps[str]:
        """A reply. Its sound steps are dispatched as they come, unless the plan is to be frozen
        first.
        """
        self._read = 0
        if self._job.facts.freeze.on:
            return (yield from ask(request, calls=None)).text
        event: Replied = yield Write(request, lambda text: self._dispatch(text, reply), _ENDS)
        yield from self._dispatch(event.reply.text, reply)
        return event.reply.text

    def _judged(self, text: str) -> tuple[Plan | None, tuple[str, ...]]:
        """The plan that a whole reply holds, as its steps were read, and what is wrong with it."""
        steps = parse_steps(text, self._asked.tools)
        if not steps:  # another form, a plan that calls nothing, or none
            return judge_reply(text, self._asked)
        plan = assemble_plan(steps, self._asked.tools, loose=True)
        return plan, tuple(
            describe_problem(one, self._asked.tools) for one in find_problems(plan, self._asked)
        )

    def _under_way(self, reply: int, plan: Plan | None) -> list[str]:
        """Return a note for the model about the steps that are already under way and need not wait
        for a corrected plan.
        """
        slots = plan.slots if plan is not None else ()
        steps = [slot.id for place, slot in enumerate(slots, 1) if (reply, place) in self._sent]
        return [_UNDER_WAY.format(steps=", ".join(steps))] if steps else []

    def _dispatch(self, text: str, reply: int) -> _Dispatches:
        """Send the steps of a reply, or of its beginning, on their way that are not there yet. One
        after the other, however the reply was cut into pieces: the same steps get the same numbers.
        """
        steps = parse_steps(text, self._asked.tools)
        for count in range(self._read + 1, len(steps) + 1):
            self._read = count
            plan = assemble_plan(steps[:count], self._asked.tools, loose=True)
            wrong = find_problems(plan, self._asked)
            held = {
                id_
                for one in wrong
                for id_ in (one.slots if one.kind == "cycle" else one.slots[:1])
            }
            held |= {slot.id for slot in plan.slots if _may_refer_on(slot, plan)}
            able = [n for n, slot in enumerate(plan.slots, 1) if slot.id not in held]
            yield from self._send(reply, plan, able)

    def _finish(self, reply: int, plan: Plan, wrong: Collection[str]) -> Steps[None]:
        """Dispatch what is left of the plan: all of it, or its sound part, for it was not
        repaired.
        """
        names = {tool.name for tool in self._asked.tools}
        part = keep_sound_part(plan, names, self._asked.finished)
        self._job.facts.freeze.fix(part)
        yield from self._take_recorded()
        if wrong:
            self._job.trace.add(
                "note", text="the plan is unsound, its sound part is taken: " + "; ".join(wrong)
            )
        kept = {slot.id: slot for slot in part.slots}
        sound: dict[int, Slot] = {}
        for place, slot in enumerate(plan.slots, 1):
            if slot.tool in names and slot.id in kept:
                sound[place] = kept.pop(slot.id)
        slots = (sound.get(place, slot) for place, slot in enumerate(plan.slots, 1))
        yield from self._send(reply, Plan(tuple(slots)), sound)
        for place, slot in enumerate(plan.slots, 1):
            if (reply, place) not in self._sent.keys() | self._left_out:
                yield from self._note(unknown=slot.tool, reply=reply, place=place)

    def _send(self, reply: int, plan: Plan, able: Collection[int]) -> _Dispatches:
        """Dispatch of these steps, by their places, those that wait for nothing but what is on its
        way.
        """
        slots = plan.slots
        named = {
            slots[n - 1].id: s.id
            for (r, n), s in self._sent.items()
            if r == reply and n <= len(slots)
        }
        waiting = [place for place in able if (reply, place) not in self._sent]
        while ready := [
            n for n in waiting if slots[n - 1].after <= named.keys() | self._asked.finished
        ]:
            for place in ready:
                slot = slots[place - 1]
                yield from self._let_go((reply, place), slot, named)
                named[slot.id] = self._sent[reply, place].id
                waiting.remove(place)

    def _let_go(self, place: _Place, slot: Slot, named: Mapping[str, str]) -> _Dispatches:
        """One step, under the names of the run's plan, unless it is on its way since an earlier
        reply.
        """
        slot = replace(slot, arguments=rename_references(slot.arguments, named))
        before = [self._sent[known] for known in sorted(self._sent) if known[0] < place[0]]
        again = (s for s in before if (s.tool, s.arguments) == (slot.tool, slot.arguments))
        if twin := next((s for s in again if s.id not in named.values()), None):
            self._sent[place] = twin
            return
        id_ = self._ids.next(slot.id.partition("#")[0])
        slot = replace(slot, id=id_, after=frozenset(named.get(b, b) for b in slot.after))
        yield from self._note(steps=[slot], reply=place[0], place=place[1])

    def _note(self, **noted: Any) -> _Dispatches:
        """Have one step recorded before it is on its way."""
        whole = {"steps": [], "unknown": "", "over": False, "reply": 0, "place": 0, **noted}
        event = yield Dispatch(self._actor, whole)
        assert event.noted is not None
        self._take(event.noted)

    def _take_recorded(self) -> Steps[bool]:
        """Take over the steps that an earlier process dispatched. Return True if nothing that came
        later is on record.
        """
        while True:
            event: Dispatched = yield Recall(self._actor)
            if event.noted is None:
                return event.is_last
            self._take(event.noted)

    def _take(self, noted: Mapping[str, Any]) -> None:
        """Take in what one record says was let go."""
        job, place = self._job, (noted["reply"], noted["place"])
        self._over = self._over or noted["over"]
        if noted["unknown"]:
            self._left_out.add(place)
            reason = "there is no such tool, or its step stands twice"
            job.facts.skip([Skip(noted["unknown"], reason, refused=True)])
        for slot in Plan.from_slots(noted["steps"]).slots:
            self._sent[place] = slot
            self._ids.take(slot.id)
            job.plan = Plan((*job.plan.slots, slot), job.plan.revision)


def _may_refer_on(slot: Slot, plan: Plan) -> bool:
    """Return True if a text in its arguments may turn out to refer to a step that is not written
    yet.
    """
    text = to_canonical_json(slot.arguments)
    for known in find_references(slot.arguments, {one.id for one in plan.slots}):
        text = text.replace(known.text, "")
    return bool(_REFERS.search(text))


def _build_plan_question(job: Job, tools: tuple[Tool, ...], missing: str) -> Asked:
    """Return the request for a plan; ``missing`` is set after another one was executed."""
    known = known_before(job)
    if missing:
        results = render_results(job.executor.results, job.limits.result_chars, job.executor.skips)
        known = _SO_FAR.format(results=results, missing=missing)
    return Asked(
        query=job.asked,
        tools=tools,
        shown=render_signatures(tools, job.facts.profile),
        mode=job.mode,
        known=known,
        conversation=job.conversation,
        finished=frozenset(slot.id for slot in job.plan.slots),
        reply_tokens=job.limits.reply_tokens,
    )


def _ask_joiner(job: Job) -> Steps[str]:
    """The joiner's question: what is missing, or "" if that will do."""
    schema_mode = job.mode == "schema"
    results = render_results(job.executor.results, job.limits.result_chars, job.executor.skips)
    messages = prompts.render(
        "join",
        tools=render_signatures(job.tools, job.facts.profile),
        format=_JUDGED_JSON if schema_mode else _JUDGED_TEXT,
        query=job.query,
        results=results,
    )
    messages = messages[:1] + job.conversation + messages[1:]
    schema = _build_judgement_schema() if schema_mode else None
    request = ChatRequest(messages, purpose="join", schema=schema, max_tokens=160)
    reply = yield from ask(request, calls=None)
    return _read_missing(reply.text, schema_mode)


def _build_judgement_schema() -> JsonObject:
    thought: JsonObject = {"type": "string", "maxLength": 200}
    done = closed_object(thought=thought, judgement={"const": "finish"})
    again = closed_object(
        thought=thought, judgement={"const": "replan"}, missing={"type": "string", "maxLength": 200}
    )
    return {"anyOf": [done, again]}


def _read_missing(text: str, as_json: bool) -> str:
    if as_json:
        try:
            value = parse_lenient(text).value
        except JsonError:
            return ""
        if not isinstance(value, dict) or value.get("judgement") != "replan":
            return ""
        return str(value.get("missing") or "something")
    found = _REPLAN.search(text)
    return (found[1].strip() or "something") if found else ""
