"""LLMCompiler (Kim et al., ICML 2024): plan, dispatch while the plan is still being written, join, plan again.

The planner's reply is read as it comes: a step is on its way as soon as its line is complete and what it refers to
has come, while the model goes on writing. When all have come, the joiner is asked whether that suffices, or another
plan is needed and why; two more plans at most (``max_replans``), each of which sees the results so far.

Ours: the executor, the gate, repair, budgets and accounting are those of every strategy here, and the answer is made
by the same last question, where LLMCompiler's joiner writes it itself: one question more. A plan may also be
written as JSON, which is what is asked for where the endpoint can constrain a reply. Frozen, nothing is dispatched
before the plan is whole, and there is no second one.

What is dispatched before the reply is complete is recorded step by step. A resume that finds steps and no reply goes
on with those steps: the model is not asked again, since it might write another plan than the one half done.
"""

from __future__ import annotations

import asyncio
import re

from callwright import prompts
from callwright.errors import PlanError
from callwright.execution.freeze import Level
from callwright.execution.ledger import Answer
from callwright.execution.questions import LimitReached
from callwright.execution.render import results_text, signatures
from callwright.execution.stream import Stream
from callwright.jsontext import JsonError, mend
from callwright.plan import Plan, Slot, SlotIds, renamed
from callwright.planning.dag import Asked, question, sound_part
from callwright.planning.notation import assembled, read_plan, written_steps
from callwright.protocols import ChatRequest
from callwright.strategies.dag import late_by_model
from callwright.strategies.job import Job
from callwright.types import JsonObject, Skip
from callwright.wire.schemas import closed_object

_REPLANS = 2
_SO_FAR = (
    "Steps were carried out already. Their results:\n{results}\n\nWhat is still missing: {missing}\n"
    "Plan only the steps that are still needed, the first of them as step 1. Do not repeat a call whose result is "
    "there; take values from these results as they are written."
)
_JUDGED_JSON = (
    'Reply with JSON: {"thought": "...", "judgement": "finish"}, or {"thought": "...", "judgement": "replan", '
    '"missing": "what is missing"}'
)
_JUDGED_TEXT = "Write one line: Finish, or Replan: <what is missing>"
_UNREADABLE = "the last reply held no plan that could be read"
_REPLAN = re.compile(r"\breplan\b[\s:*-]*(.*)", re.I)
_ENDS = ("}", ")", "\n")  # characters with which a step can be complete


class Compiler:
    """Streams the steps of a plan into the executor while the model writes it, and lets it judge what came."""

    name = "compiler"
    freezes: tuple[Level, ...] = ("plan", "arguments")

    async def run(self, job: Job) -> None:
        job.plan, missing = Plan(), ""
        for number in range(1, _REPLANS + 2):
            missing = await _Dispatch(job, number, missing).run()
            if not missing and not job.executor.freeze.on and number <= _REPLANS:
                missing = await _judged(job)
            if not missing or job.executor.freeze.on:
                break
            job.trace.add("note", text=f"another plan is needed: {missing}")


class _Dispatch:
    """One plan, from its question to the results of all its steps."""

    def __init__(self, job: Job, number: int, missing: str) -> None:
        self._job = job
        self._actor = f"plan {number}"
        self._missing = missing
        self._ids = SlotIds(slot.id for slot in job.plan.slots)
        self._named: dict[str, str] = {}  # what a slot is called in the reply -> in the run's plan
        self._read = 0  # steps of the reply
        self._over = False

    async def run(self) -> str:
        """Carry it out; returns what is missing where it held no plan at all. Raises LimitReached when all has come,
        where a limit was hit."""
        job, limit, missing = self._job, "", ""
        done = {slot.id for slot in job.plan.slots}
        async with job.executor.stream(done=done, late=late_by_model(job), known=job.known) as stream:
            try:
                missing = await self._written(stream)
            except LimitReached as reached:  # what is on its way is waited for
                limit = reached.limit
        job.record_plan()
        if limit := limit or stream.limit:
            raise LimitReached(limit)
        return missing

    async def _written(self, stream: Stream) -> str:
        """Have the plan written, or take the steps that a process dispatched which ended before they were all."""
        ledger = self._job.ledger
        while told := ledger.next(self._actor, "dispatch"):
            self._take(stream, told, told["turn"])
        if self._read and not self._over and not ledger.ahead(""):
            self._note(stream, {"steps": [], "over": True})
        if self._over:
            return ""
        try:
            text = await self._asked(stream)
            self._dispatch(stream, text)
        finally:
            self._over = True  # a piece may still be on its way to this thread
        return "" if self._read or _is_empty_plan(text) else _UNREADABLE

    async def _asked(self, stream: Stream) -> str:
        """The reply. Its steps are dispatched as they come, unless the plan is to be frozen first."""
        loop, text, job = asyncio.get_running_loop(), "", self._job

        def on_piece(piece: str) -> None:  # in whatever thread the model runs
            nonlocal text
            text += piece
            if any(end in piece for end in _ENDS):
                loop.call_soon_threadsafe(self._dispatch, stream, text)

        if not job.executor.freeze.on:
            return (await job.questions.ask(self._question(), calls=None, on_piece=on_piece)).text
        reply = await job.questions.ask(self._question(), calls=None)
        job.executor.freeze.fix(assembled(written_steps(reply.text, job.tools), job.tools, loose=True))
        return reply.text

    def _question(self) -> ChatRequest:
        job, known = self._job, ""
        if self._missing:
            results = results_text(job.executor.results, job.limits.result_chars, job.executor.skips)
            known = _SO_FAR.format(results=results, missing=self._missing)
        return question(
            Asked(
                query=job.query,
                tools=job.tools,
                shown=signatures(job.tools),
                mode=job.questions.mode,
                known=known,
                conversation=job.conversation,
                reply_tokens=job.limits.reply_tokens,
            )
        )

    def _dispatch(self, stream: Stream, text: str) -> None:
        """Send the steps of a reply, or of its beginning, on their way that are not there yet."""
        if self._over:
            return  # a piece that comes after its reply
        tools = self._job.tools
        steps = written_steps(text, tools)
        for count in range(self._read + 1, len(steps) + 1):
            plan = assembled(steps[:count], tools, loose=True)
            last = plan.slots[-1]
            sound = sound_part(plan, {tool.name for tool in tools})
            slot = next((s for s in sound.slots if s.id == last.id), None)
            if slot is None or slot.id in self._named:
                self._note(stream, {"steps": [], "unknown": last.tool})
            else:
                self._note(stream, {"steps": [self._in_the_run(slot)], "label": slot.id})

    def _in_the_run(self, slot: Slot) -> Slot:
        """The slot under the ids of the run's plan, which may hold earlier plans."""
        named = {**self._named, slot.id: self._ids.next(slot.id)}
        after = frozenset(named[b] for b in slot.after if b in named)
        return Slot(named[slot.id], slot.tool, after, slot.reason, arguments=renamed(slot.arguments, named))

    def _note(self, stream: Stream, told: JsonObject) -> None:
        """Record one step before it is on its way, then let it go."""
        turn = self._job.ledger.turn(self._actor)
        event = self._job.trace.add("dispatch", **_whole(told), actor=self._actor, turn=turn)
        self._take(stream, event.data, None)

    def _take(self, stream: Stream, told: Answer, turn: int | None) -> None:
        """Let go what one record says. ``turn``: it was recorded by an earlier process, and is recorded again."""
        job = self._job
        if turn is not None:
            job.trace.add("dispatch", **told)
        self._over = self._over or told["over"]
        self._read += not told["over"]
        if told["unknown"]:
            job.executor.skip(
                [Skip(told["unknown"], "there is no such tool, or its step stands twice", refused=True)]
            )
        for slot in Plan.from_slots(told["steps"]).slots:
            self._named[told["label"]] = slot.id
            self._ids.take(slot.id)
            job.plan = Plan((*job.plan.slots, slot), job.plan.revision)
            stream.add(slot)


def _whole(told: JsonObject) -> JsonObject:
    """A record of a step with all its fields."""
    slots = [slot.id for slot in told["steps"]]
    return {"slots": slots, "label": "", "unknown": "", "over": False, **told}


def _is_empty_plan(text: str) -> bool:
    """Whether a reply says that no tool is needed."""
    try:
        return not read_plan(text, ()).slots
    except PlanError:
        return bool(re.match(r"\s*1\.\s*join\(", text))


async def _judged(job: Job) -> str:
    """The joiner's question: what is missing, or "" if that will do."""
    schema_mode = job.questions.mode == "schema"
    results = results_text(job.executor.results, job.limits.result_chars, job.executor.skips)
    messages = prompts.render(
        "join",
        tools=signatures(job.tools),
        format=_JUDGED_JSON if schema_mode else _JUDGED_TEXT,
        query=job.query,
        results=results,
    )
    messages = messages[:1] + job.conversation + messages[1:]
    schema = _judgement() if schema_mode else None
    reply = await job.questions.ask(ChatRequest(messages, purpose="join", schema=schema, max_tokens=160), calls=None)
    return _missing(reply.text, schema_mode)


def _judgement() -> JsonObject:
    thought: JsonObject = {"type": "string", "maxLength": 200}
    done = closed_object(thought=thought, judgement={"const": "finish"})
    again = closed_object(
        thought=thought, judgement={"const": "replan"}, missing={"type": "string", "maxLength": 200}
    )
    return {"anyOf": [done, again]}


def _missing(text: str, as_json: bool) -> str:
    if as_json:
        try:
            value = mend(text).value
        except JsonError:
            return ""
        if not isinstance(value, dict) or value.get("judgement") != "replan":
            return ""
        return str(value.get("missing") or "something")
    found = _REPLAN.search(text)
    return (found[1].strip() or "something") if found else ""
