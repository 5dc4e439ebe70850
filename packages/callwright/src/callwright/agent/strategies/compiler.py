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

import asyncio
import re
from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any, TypeAlias

from callwright import prompts
from callwright.agent.execution.perform import make_late_question, perform
from callwright.agent.execution.stream import Stream
from callwright.agent.journal.ledger import Answer
from callwright.agent.questions import LimitReached
from callwright.agent.render import render_results, render_signatures
from callwright.agent.safety.freeze import Level
from callwright.agent.strategies.dag import known_before
from callwright.agent.strategies.job import Job
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


class Compiler:
    """Streams the steps of a plan into the executor while the model writes it, and lets it judge
    what came.
    """

    name = "compiler"
    freezes: tuple[Level, ...] = ("plan", "arguments")

    def __init__(self, choose_above: int = 12) -> None:
        """``choose_above``: with more tools than this, the model is asked first which of them are
        needed.
        """
        self._choose_above = choose_above

    async def run(self, job: Job) -> None:
        job.plan, missing = Plan(), ""
        tools = await perform(choose_tools(job, self._choose_above), job)
        for number in range(1, _REPLANS + 2):
            if not await _Dispatch(job, tools, number, missing).run():
                job.trace.add("note", text="the model wrote no plan")
                break
            if (
                job.executor.freeze.on
                or number > _REPLANS
                or not (missing := await _ask_joiner(job))
            ):
                break
            job.trace.add("note", text=f"another plan is needed: {missing}")
            tools = job.tools  # what is missing may need any of them


class _Dispatch:
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
        self._writing = 0  # the reply that is being written
        self._read = 0  # steps of it
        self._over = False

    async def run(self) -> bool:
        """Carry it out; False where no reply held a plan. Raises LimitReached when all has come,
        where a limit was hit.
        """
        job, limit, planned = self._job, "", True
        late = make_late_question(job)
        async with job.executor.stream(
            done=self._asked.finished, late=late, known=job.known
        ) as stream:
            try:
                planned = await self._written(stream)
            except LimitReached as reached:  # what is on its way is waited for
                limit = reached.limit
        job.record_plan()
        if limit := limit or stream.limit:
            raise LimitReached(limit)
        return planned

    async def _written(self, stream: Stream) -> bool:
        """Have the plan written, and again while it is unsound. Or take the steps that a process
        dispatched which ended before they were all.
        """
        freeze = self._job.executor.freeze
        if not freeze.on:  # else the plan comes first, which says what may be called
            self._take_recorded(stream)
        best, wrong, request = None, tuple[str, ...](), build_question(self._asked)
        for reply in range(1, ROUNDS + 2):
            if self._begun_before(stream, reply):
                return True
            text = await self._reply(stream, request, reply)
            plan, wrong = self._judged(text)
            if plan is not None:
                best = reply, plan
            if not wrong:
                break
            request = build_retry_question(
                self._asked, text, (*wrong, *self._under_way(reply, plan))
            )
        if best is not None:
            self._finish(stream, *best, wrong)
        return best is not None

    def _begun_before(self, stream: Stream, reply: int) -> bool:
        """Return True if steps of this reply are on record and the reply itself is not. The
        recorded steps then count as the complete reply.
        """
        begun = any(written == reply for written, _ in (*self._sent, *self._left_out))
        if not self._over and begun and not self._job.ledger.ahead(""):
            self._note(stream, over=True)
        return self._over

    async def _reply(self, stream: Stream, request: ChatRequest, reply: int) -> str:
        """A reply. Its sound steps are dispatched as they come, unless the plan is to be frozen
        first.
        """
        loop, text, job = asyncio.get_running_loop(), "", self._job

        def on_piece(piece: str) -> None:  # in whatever thread the model runs
            nonlocal text
            text += piece
            if any(end in piece for end in _ENDS):
                loop.call_soon_threadsafe(self._dispatch, stream, text, reply)

        self._writing, self._read = reply, 0
        try:
            if job.executor.freeze.on:
                return (await job.questions.ask(request, calls=None)).text
            whole = (await job.questions.ask(request, calls=None, on_piece=on_piece)).text
            self._dispatch(stream, whole, reply)
            return whole
        finally:
            self._writing = 0  # a piece may still be on its way to this thread

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

    def _dispatch(self, stream: Stream, text: str, reply: int) -> None:
        """Send the steps of a reply, or of its beginning, on their way that are not there yet. One
        after the other, however the reply was cut into pieces: the same steps get the same numbers.
        """
        if self._writing != reply:
            return  # a piece that comes after its reply
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
            self._send(
                stream,
                reply,
                plan,
                [n for n, slot in enumerate(plan.slots, 1) if slot.id not in held],
            )

    def _finish(self, stream: Stream, reply: int, plan: Plan, wrong: Collection[str]) -> None:
        """Dispatch what is left of the plan: all of it, or its sound part, for it was not
        repaired.
        """
        names = {tool.name for tool in self._asked.tools}
        part = keep_sound_part(plan, names, self._asked.finished)
        self._job.executor.freeze.fix(part)
        self._take_recorded(stream)
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
        self._send(stream, reply, Plan(tuple(slots)), sound)
        for place, slot in enumerate(plan.slots, 1):
            if (reply, place) not in self._sent.keys() | self._left_out:
                self._note(stream, unknown=slot.tool, reply=reply, place=place)

    def _send(self, stream: Stream, reply: int, plan: Plan, able: Collection[int]) -> None:
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
                self._let_go(stream, (reply, place), slot, named)
                named[slot.id] = self._sent[reply, place].id
                waiting.remove(place)

    def _let_go(self, stream: Stream, place: _Place, slot: Slot, named: Mapping[str, str]) -> None:
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
        self._note(stream, steps=[slot], reply=place[0], place=place[1])

    def _note(self, stream: Stream, **noted: Any) -> None:
        """Record one step before it is on its way, then let it go."""
        whole = {"steps": [], "unknown": "", "over": False, "reply": 0, "place": 0, **noted}
        slots = [slot.id for slot in whole["steps"]]
        turn = self._job.ledger.turn(self._actor)
        event = self._job.trace.add("dispatch", slots=slots, **whole, actor=self._actor, turn=turn)
        self._take(stream, event.data)

    def _take_recorded(self, stream: Stream) -> None:
        """Take over the steps that an earlier process dispatched."""
        while found := self._job.ledger.next(self._actor, "dispatch"):
            self._job.trace.add("dispatch", **found)
            self._take(stream, found)

    def _take(self, stream: Stream, noted: Answer) -> None:
        """Let go what one record says."""
        job, place = self._job, (noted["reply"], noted["place"])
        self._over = self._over or noted["over"]
        if noted["unknown"]:
            self._left_out.add(place)
            reason = "there is no such tool, or its step stands twice"
            job.executor.skip([Skip(noted["unknown"], reason, refused=True)])
        for slot in Plan.from_slots(noted["steps"]).slots:
            self._sent[place] = slot
            self._ids.take(slot.id)
            job.plan = Plan((*job.plan.slots, slot), job.plan.revision)
            stream.add(slot)


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
        shown=render_signatures(tools),
        mode=job.questions.mode,
        known=known,
        conversation=job.conversation,
        finished=frozenset(slot.id for slot in job.plan.slots),
        reply_tokens=job.limits.reply_tokens,
    )


async def _ask_joiner(job: Job) -> str:
    """The joiner's question: what is missing, or "" if that will do."""
    schema_mode = job.questions.mode == "schema"
    results = render_results(job.executor.results, job.limits.result_chars, job.executor.skips)
    messages = prompts.render(
        "join",
        tools=render_signatures(job.tools),
        format=_JUDGED_JSON if schema_mode else _JUDGED_TEXT,
        query=job.query,
        results=results,
    )
    messages = messages[:1] + job.conversation + messages[1:]
    schema = _build_judgement_schema() if schema_mode else None
    reply = await job.questions.ask(
        ChatRequest(messages, purpose="join", schema=schema, max_tokens=160), calls=None
    )
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
