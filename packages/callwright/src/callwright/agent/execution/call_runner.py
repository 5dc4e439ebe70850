"""One call on its way: check -> (repair) -> invoke -> (diagnose -> repair -> invoke again).

An error stays at its call (RETO, section 3.4): what cannot be repaired within the budget is
recorded as skipped or failed. Calls on their way at the same time do not see each other. What one
of them changes for the run (skips, what an error taught, calls that wait) is kept with it and
merged by the executor in call order; the budget, where the first to ask is served, goes through the
ledger. So a run does not depend on which call was faster, and can be replayed.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial

from callwright.agent.execution.call_task import CallOutcome, CallTask, make_call_key
from callwright.agent.execution.invoke import idempotency_key, invoke
from callwright.agent.execution.recorded import (
    build_resolved_result,
    find_legacy_repeat,
    load_result,
    write_repeat_reason,
)
from callwright.agent.execution.repair_watcher import RepairWatcher
from callwright.agent.execution.run_services import RunServices
from callwright.agent.gaps import find_ungrounded, names_another, unknown_keys
from callwright.agent.journal.facts import EarlierCall
from callwright.agent.journal.ledger import Answer, build_doubt_error
from callwright.agent.questions import LimitReached
from callwright.agent.safety.clear import (
    Approval,
    ClearanceState,
    ClearedCall,
    Denied,
    clear,
    deny_call,
)
from callwright.agent.safety.consent import build_proposal, describe_refusal
from callwright.agent.safety.held_call import UNSTATED_VALUE, HeldCall
from callwright.agent.safety.looked_up import find_looked_up
from callwright.http import Retry
from callwright.models.dialogue import run_dialogue
from callwright.nouns.errors import Failure
from callwright.nouns.protocols import ChatRequest
from callwright.nouns.types import (
    CheckedCall,
    Edit,
    JsonObject,
    Reply,
    Skip,
    Tool,
    ToolCall,
    ToolResult,
    get_public_fields,
)
from callwright.nouns.wire_names import EditRules
from callwright.repair.by_model.question import (
    FailedCall,
    QuestionContext,
    check_call,
)
from callwright.repair.by_model.reflection import Tried
from callwright.repair.considered_calls import set_thoughts_apart
from callwright.repair.diagnose import Diagnosis, diagnose
from callwright.repair.draft import Draft
from callwright.repair.gate import Gate, Refusal
from callwright.repair.outcome import may_repeat
from callwright.repair.provenance.invention import find_inventions
from callwright.repair.provenance.named_days import find_wrong_day
from callwright.repair.provenance.sources import ProvenanceIndex
from callwright.repair.provenance.unstated import find_unstated_options
from callwright.repair.rule import UNANSWERED
from callwright.schema.coerce import pointer_join
from callwright.schema.value_edits import drop_members, get_member, render_pointer

_DROPPED = EditRules.DROP_UNKNOWN
_LEFT_OUT = EditRules.DROP_UNSOURCED
_REPEATS = 2  # of one call that the world refused: what is dead must not eat what could go round it
_NEAR = 7  # days from a known one, within which a date may have been counted
_UNDECLARED = ", and as its effects are not declared, it may write"
_FIRST_WAIT = 0.5  # seconds before a repeated execution of a call the world refused; doubles


@dataclass(slots=True)
class CallRunner:
    """One call's way and what came of it."""

    task: CallTask
    shared: RunServices
    gate: Gate
    outcome: CallOutcome = field(default_factory=CallOutcome)
    # nobody had to be asked, or who was asked here said yes
    is_approved: bool = True
    # what was refused or failed, and what was said of it
    tried: list[Tried] = field(default_factory=list)

    @property
    def id(self) -> str:
        return self.task.id

    @property
    def sources(self) -> ProvenanceIndex:
        return self.shared.index.sources if self.task.own is None else self.task.own

    async def run(self, call: ToolCall, may_defer: bool) -> None:
        """Take a call its whole way. ``may_defer``: a call with a made-up value waits. A model
        repairs only the calls that it wrote.
        """
        self.shared.trace.add(
            "call.raw",
            id=call.id,
            tool=call.tool,
            arguments=call.arguments,
            slot=call.slot,
            by=self.task.by,
        )
        if self.shared.handling.as_written:
            await self._run_as_written(call)
            return
        checked = await self._check(call, ask=self.task.by == "model")
        if checked is None:
            return
        spoken = self.shared.index.spoken
        if may_defer and (found := find_ungrounded(checked, self.sources, spoken)) is not None:
            self.outcome.deferred, self.outcome.lacks = checked, True
            self._skip(found.message, refused=True)
            return
        await self.run_unless_duplicate(checked)

    async def _run_as_written(self, call: ToolCall) -> None:
        """Execute a call that satisfies its schema, every time it appears; another returns an
        error. So does a write that is held back for a value that nothing states.
        """
        verdict = self.gate.as_written(call, unchecked=self.shared.handling.unchecked)
        given = verdict.arguments or {}
        if isinstance(verdict, CheckedCall):
            self.outcome.result = await self._run(verdict)
            held = self.outcome.held
            if self.outcome.result is not None or held is None or not held.is_unstated:
                return
            message = held.reason
        else:
            message = verdict.message
            self.shared.trace.add(
                "call.refused", id=call.id, violations=verdict.violations, edits=verdict.edits
            )
        failure = Failure("tool_error", message)
        self.outcome.result = ToolResult(call.id, call.tool, given, None, failure, slot=call.slot)

    async def run_unless_duplicate(self, call: CheckedCall) -> None:
        """Run a checked call, unless the same call or one of which the outcome is unknown forbids
        it.
        """
        key = make_call_key(call.tool, call.arguments)
        if told := self.shared.ledger.next(self.id, "skip"):
            self.outcome.same = told.get("same", "")  # journals of earlier versions do not say
            refused = told.get("refused", False)
            self.outcome.repeats = self.outcome.same or find_legacy_repeat(told)
            self._note_skip(
                Skip(told["tool"], told["reason"], told["slot"], refused=refused), told["turn"]
            )
        elif (
            not self.shared.ledger.ahead(self.id)
            and (skip := self._why_not_again(call, key)) is not None
        ):
            self._note_skip(skip, self.shared.ledger.turn(self.id))
        else:
            self.shared.index.made[key] = self.id
            self.outcome.key = key
            self.outcome.result = await self._run(call)

    def _why_not_again(self, call: CheckedCall, key: bytes) -> Skip | None:
        """The skip of a call that another one of this run forbids, None for a call that may be
        made.

        A tool that has a write in doubt is not called again in the run: other arguments would be a
        second write, if the first one happened. Writes that were written together are all meant,
        even if they are equal.
        """
        tool = call.tool
        doubt = self.shared.index.doubts.get(tool.name)
        ledger = self.shared.ledger
        if doubt is not None and not ledger.may_send_again(
            self.id, tool.name, partial(_is_same_call, call)
        ):
            why = (
                f"not called: whether {doubt} was done is not known, and this could do it a second"
                " time"
            )
            return Skip(tool.name, why, call.slot, refused=True)
        same = self.shared.index.made.get(key, "")
        if (
            not same
            or self.task.by == "retry"
            or (tool.effects.may_write and same in self.task.beside)
        ):
            return None
        self.outcome.same = self.outcome.repeats = same
        why = write_repeat_reason(same)
        why += "" if tool.effects.declared else _UNDECLARED
        return Skip(tool.name, why, call.slot)

    async def _check(self, call: ToolCall, ask: bool) -> CheckedCall | None:
        frozen = (
            self.shared.safety.freeze.arguments
        )  # then nothing is filled in from results, and no model repairs
        watcher = self._watch(
            call.arguments, may_ask=ask and self.shared.handling.may_repair and not frozen
        )
        verdict = await self._repair(call, watcher, None if frozen else self.sources)
        watcher.conclude(verdict)
        if isinstance(verdict, Refusal):
            self.outcome.refusal = verdict
            self.outcome.held = self._hold_ungrounded(call, verdict)
            self.outcome.lacks = self.outcome.held is not None
            said = next((one.message for one in verdict.violations), "refused by the gate")
            self._skip(said, refused=True)
            return None
        if not self.shared.handling.may_repair:
            written = self._as_written(call, verdict)
            if written is None:
                return None
            verdict = written
        elif not frozen:
            verdict = self._leave_out_unstated(self._take_named_day(verdict))
        self.shared.repairs["tier1"] += sum(edit.rule != "repair_model" for edit in verdict.edits)
        self.shared.trace.add(
            "call.checked",
            id=call.id,
            tool=verdict.tool.name,
            arguments=verdict.arguments,
            edits=verdict.edits,
            warnings=[w.to_dict() for w in verdict.warnings],
        )
        return verdict

    def _hold_ungrounded(self, call: ToolCall, refusal: Refusal) -> HeldCall | None:
        """The call that the gate refused for values from nowhere; None where it refused it
        otherwise. What the user's words lead to in their place is known as for a call that it lets
        through.
        """
        found = [v for v in refusal.violations if v.kind == "ungrounded"]
        if not found or refusal.tool is None:
            return None
        missing = dict.fromkeys(v.path.removeprefix("/").partition("/")[0] for v in found)
        state = self._clearance_state(None, 1)
        given = refusal.arguments or call.arguments
        denied = deny_call(refusal.tool, given, "", state) or Denied(
            UNSTATED_VALUE, " ".join(v.message for v in found), missing=tuple(missing)
        )
        return _build_held(call, denied)

    def _take_named_day(self, checked: CheckedCall) -> CheckedCall:
        """The call with the day that the user names by a word such as "tomorrow", where it has
        another one.
        """
        before, spoken = checked.arguments, self.shared.index.spoken
        if self.shared.handling.is_trusted:
            return checked
        wrong = find_wrong_day(before, checked.tool, self.sources, spoken)
        if wrong is None:
            return checked
        edit = Edit(pointer_join("", wrong.key), wrong.value, wrong.right, EditRules.NAMED_DAY)
        return self._judge_changed(checked, {**before, wrong.key: wrong.right}, [edit])

    def _judge_changed(
        self, checked: CheckedCall, arguments: JsonObject, edits: Iterable[Edit]
    ) -> CheckedCall:
        """The call with other arguments, as it was where the gate refuses them."""
        call = ToolCall(checked.id, checked.tool.name, arguments, checked.slot)
        verdict = self.gate.judge(Draft(0, call), self.sources, (*checked.edits, *edits))
        return verdict if isinstance(verdict, CheckedCall) else checked

    def _leave_out_unstated(self, checked: CheckedCall) -> CheckedCall:
        """The call without the optional values that nothing supports, where its schema holds so."""
        if self.shared.handling.is_trusted:
            return checked
        before = checked.arguments
        found = find_unstated_options(
            before, checked.tool, self.sources, self.shared.index.spoken, self._looked_up
        )
        implied, name = self.shared.handling.implied, checked.tool.name
        found = tuple(at for at in found if (name, str(at[0])) not in implied)
        if not found:
            return checked
        edits = (Edit(render_pointer(at), get_member(before, at), None, _LEFT_OUT) for at in found)
        return self._judge_changed(checked, drop_members(before, found), edits)

    @property
    def _looked_up(self) -> Mapping[str, tuple[str, ...]]:
        """The arguments of this tool that other tools' results give."""
        tools = tuple(self.shared.index.tools.values())
        return find_looked_up(tools).get(self.task.tool, {})

    def _as_written(self, call: ToolCall, checked: CheckedCall) -> CheckedCall | None:
        """Without repair: the call as it was written, unknown keys dropped (the gate's own part,
        RETO Eq. 11); None, and a skip, where its schema does not hold so.
        """
        if all(edit.rule == _DROPPED for edit in checked.edits):
            return checked
        plain = self.gate.check(call)
        if isinstance(plain, CheckedCall) and all(edit.rule == _DROPPED for edit in plain.edits):
            return plain
        edit = next(edit for edit in checked.edits if edit.rule != _DROPPED)
        self._skip(
            f"not as its schema wants ({edit.rule} at {edit.path or '/'}), and nothing is repaired",
            refused=True,
        )
        return None

    async def _repair(
        self,
        call: ToolCall,
        watcher: RepairWatcher,
        sources: ProvenanceIndex | None,
        failed: FailedCall | None = None,
    ) -> CheckedCall | Refusal:
        """Drive the pipeline with the configuration of a run over one call."""
        grant = partial(self._granted, "tier2")
        # a step of a plan sees what it waits for, and not all that the run's questions show
        prompt = self.shared.open_prompt() if self.task.own is None else None
        context = QuestionContext(
            self.gate, sources, grant, watcher, is_grounding=True, failed=failed, prompt=prompt
        )
        return await run_dialogue(check_call(call, context), self._ask)

    def _watch(
        self, before: JsonObject | str, *, may_ask: bool = True, is_executed: bool = False
    ) -> RepairWatcher:
        return RepairWatcher(
            self.task, self.shared, self.outcome, self.tried, before, may_ask, is_executed
        )

    async def _ask(self, request: ChatRequest) -> Reply:
        """The reply to a question about the call. It has the room of the reply that made the
        call."""
        room = max(request.max_tokens, self.shared.budget.limits.reply_tokens)
        request = replace(request, max_tokens=room)
        try:
            return set_thoughts_apart(await self.shared.questions.ask(request, actor=self.id))
        except LimitReached:
            return UNANSWERED

    def _granted(self, tier: str) -> bool:
        """One tier-2 question, or one repeated execution, from the run's budget B."""
        granted = self.shared.spend(self.id, "repairs", "repair", self.shared.budget.spend_repair)
        self.shared.repairs[tier] += granted
        return granted

    async def _run(self, call: CheckedCall) -> ToolResult | None:
        """Invoke; while the diagnosis allows it and the budget lasts, repair and invoke again."""
        attempt, approval = 1, None
        while True:
            origin = await self._origin_of_result(call, attempt, approval)
            if origin is None:
                return None
            result, diagnosis = await self._invoke(call, origin, attempt)
            if result.ok:
                self.outcome.assumed = (
                    ()
                    if self.shared.handling.is_trusted
                    else find_inventions(call.arguments, call.tool, self.sources, near=_NEAR)
                )
                return result
            again = await self._again(call, result, diagnosis)
            if again is None:
                return result
            has_left = isinstance(origin, ClearedCall)
            approval = Approval(call, granted=True) if has_left and self.is_approved else None
            call, attempt = again, attempt + 1

    async def _origin_of_result(
        self, call: CheckedCall, attempt: int, approval: Approval | None
    ) -> ClearedCall | ToolResult | None:
        """The call, cleared to leave and paid for; or its result, where an earlier segment recorded
        it: then nothing leaves, nobody is asked and nothing is spent. None, and a skip, where the
        call may not be made.
        """
        state = self._clearance_state(approval, attempt)
        verdict = clear(call, state)
        if verdict.origins:
            self._note_origins(call, verdict)
        if (known := self._recorded_result(call, attempt, verdict)) is not None:
            return known
        verdict = self._recorded_refusal(call) or verdict
        if isinstance(verdict, Denied):
            approved = await self._approve_or_skip(call, verdict, state)
            if approved is None:
                return None
            verdict = approved
        budget = self.shared.budget
        # where the time is over a write is not sent to be cut
        limit = "tool_calls" if budget.seconds_left > 0 else "seconds"
        if self.shared.spend(
            self.id, limit, "invoke", lambda: limit == "tool_calls" and budget.spend_tool_call()
        ):
            return verdict
        # a replay says the limit that is on record
        told = str(self.shared.trace.events[-1].data["limit"]).replace("_", " ")
        self._skip(f"the run's limit of {told} is reached", refused=True)
        return None

    async def _approve_or_skip(
        self, call: CheckedCall, denied: Denied, state: ClearanceState
    ) -> ClearedCall | None:
        """The call, cleared to leave once whoever has to approve it has; None, and a skip, where it
        may not leave.
        """
        verdict: ClearedCall | Denied = denied
        if denied.rule == "approval":
            answer = await self._ask_approval(call, denied.reason)
            verdict = clear(call, state._replace(approval=answer))
        if isinstance(verdict, ClearedCall):
            return verdict
        if verdict.rule in ("filled", "unstated_value"):
            # it was not made: where the plan says it, or a result gives its value, it may be
            self.shared.index.made.pop(make_call_key(call.tool, call.arguments), None)
        self.outcome.lacks = self.outcome.lacks or verdict.rule == "unstated_value"
        self._skip(verdict.reason, refused=True)
        raw = ToolCall(call.id, call.tool.name, call.arguments, call.slot)
        self.outcome.held = _build_held(raw, verdict)
        if verdict.rule == "refused":
            self.outcome.denied = (call, self.outcome.skips[-1])
        return None

    def _recorded_result(
        self, call: CheckedCall, attempt: int, verdict: ClearedCall | Denied
    ) -> ToolResult | None:
        """Return the result of the earlier call for which this one stands, as its own. One that may
        not be made whatever anybody approves stands for none.
        """
        if self.shared.ledger.segment == 1:
            return None
        if isinstance(verdict, Denied) and verdict.rule != "approval":
            return None
        if self._same_earlier(call) is None:
            ledger, is_same = self.shared.ledger, partial(_is_same_call, call)
            found = ledger.take_earlier(self.id, attempt, call.tool.name, is_same)
            self.outcome.earlier += [] if found is None else [found]
        same = self._same_earlier(call)
        if same is None or same.result is None:
            return None
        return replace(same.result, id=self.id, slot=self.task.slot, attempt=attempt, seconds=0.0)

    def _same_earlier(self, call: CheckedCall | ClearedCall) -> EarlierCall | None:
        """The call of an earlier segment for which this one stands."""
        last = self.outcome.earlier[-1] if self.outcome.earlier else None
        return last if last is not None and _is_same_call(call, last.arguments) else None

    def _named_earlier(self, call: CheckedCall | ClearedCall) -> JsonObject:
        """The earlier call for which this one stands, for the record."""
        same = self._same_earlier(call)
        return {} if same is None else {"earlier": same.id}

    def _clearance_state(self, approval: Approval | None, attempt: int) -> ClearanceState:
        safety, task = self.shared.safety, self.task
        state = ClearanceState(
            self.sources, safety.consent, approval, safety.freeze, task.is_planned, task.stated
        )
        if not self._is_provenance_judged(attempt):
            return state
        index, fills_schema = self.shared.index, self.shared.handling.fills_schema
        if self.shared.handling.as_written:
            return state._replace(spoken=index.spoken)
        looked_up = find_looked_up(tuple(index.tools.values()), undeclared=fills_schema)
        before = index.build_sources_before_writes() if self._may_undo() else None
        state = state._replace(spoken=index.spoken, looked_up=looked_up, before=before)
        # where models call too readily, one letter of the model decides that
        return state._replace(
            judges_reads=fills_schema, only_told=index.is_only_told and not fills_schema
        )

    def _may_undo(self) -> bool:
        """Return True if the call may undo what another call of this run has made."""
        tool = self.shared.index.tools.get(self.task.tool)
        return tool is not None and bool(tool.compensates or tool.effects.destructive)

    def _is_provenance_judged(self, attempt: int) -> bool:
        """Return True if a write may be kept back for a value that nobody said: not where the
        values are somebody's own, nor where calls are to leave as they were written in a sandbox,
        nor once the call has left. A tool whose effects nobody declared may well be a read, so that
        it is judged only where models call too readily.
        """
        handling, tool = self.shared.handling, self.shared.index.tools.get(self.task.tool)
        is_baseline = handling.as_written and self.shared.safety.is_sandbox
        if handling.is_trusted or is_baseline or tool is None:
            return False
        is_judged = tool.effects.declared or handling.fills_schema
        return is_judged and not self.shared.ledger.intended(self.id, attempt)

    def _note_origins(self, call: CheckedCall, verdict: ClearedCall | Denied) -> None:
        """Record where the values come from that no plan said."""
        self.shared.trace.add(
            "origins",
            id=call.id,
            tool=call.tool.name,
            origins=verdict.origins,
            refused=verdict.refused if isinstance(verdict, Denied) else (),
        )

    def _recorded_refusal(self, call: CheckedCall) -> Denied | None:
        """Return the refusal of a call that needed approval when it was recorded, and was not
        approved. What is allowed by now lets no call leave that did not leave then.
        """
        is_free = not self.shared.safety.consent.why(call.tool)  # else who asks reads the record
        told = self.shared.ledger.next(self.id, "approval") if is_free else None
        if told is not None and not self.shared.trace.add("approval", **told).data["granted"]:
            why, by = told.get("why", ""), told.get("by", "")
            return Denied("refused", describe_refusal(call, why, by))
        return None

    async def _ask_approval(self, call: CheckedCall, why: str) -> Approval:
        """Return what the person who is asked says. The reply is recorded, and not asked again
        after a crash. A record of somebody else lets no call leave that has not left.
        """
        ledger = self.shared.ledger
        told = ledger.next(self.id, "approval")
        offer = self.shared.safety.consent.offer(call.tool)
        other = (
            told is not None and told.get("digest", offer.digest) != offer.digest
        )  # of a tool that was another one
        is_unproven = told is None or ledger.foreign or other
        replayed = is_unproven and ledger.ahead(self.id)
        if told is None and replayed:
            told = {"granted": True}
        elif told is None or (is_unproven and told["granted"] and not replayed):
            told = await self._asked(call, why, told)
        if "id" in told:
            self.shared.trace.add("approval", **told)
        self.is_approved = bool(told["granted"]) and not replayed
        return Approval(call, bool(told["granted"]), told.get("by", ""))

    async def _asked(self, call: CheckedCall, why: str, before: Answer | None) -> Answer:
        """Return the answer to an approval request for a call, when the record holds none."""
        offer = self.shared.safety.consent.offer(call.tool)
        proposal = build_proposal(call, why, self.sources, offer)
        named = {"id": self.id, "tool": call.tool.name, "arguments": call.arguments}
        self.shared.trace.announce("approval", **named, why=why)
        async with self.shared.asking:
            granted, by = await self.shared.safety.consent.asked(proposal)
        shown = {
            "tool": call.tool.name,
            "arguments": call.arguments,
            "why": why,
            "origins": proposal.origins,
        }
        shown |= {"offer": offer.reference, "digest": offer.digest}
        turn = before["turn"] if before else self.shared.ledger.turn(self.id)
        return {
            "id": self.id,
            **shown,
            "granted": granted,
            "by": by,
            "actor": self.id,
            "turn": turn,
        }

    async def _invoke(
        self, call: CheckedCall, origin: ClearedCall | ToolResult, attempt: int
    ) -> tuple[ToolResult, Diagnosis]:
        """Return the result of a call, and what is wrong with it. A result of an earlier segment is
        taken as it was judged then.
        """
        told = self.shared.ledger.next(self.id, "result")
        recorded = isinstance(origin, ToolResult)
        # before the call leaves: where the record holds something else, it must not
        turn = told["turn"] if told else self.shared.ledger.turn(self.id)
        if isinstance(origin, ToolResult):
            result = origin
        elif told:
            result = load_result(told)
        else:
            result = self._without_secrets(await self._send(origin, attempt))
        diagnosis = diagnose(result, self._here(call.tool))
        judged = (
            result.ok and diagnosis.failure is not None
        )  # status 200 with an error inside, or nothing at all
        if not recorded and diagnosis.failure is not result.failure:
            result = replace(result, failure=diagnosis.failure)
        named = self._named_earlier(call) | ({"recorded": True} if recorded else {})
        self.shared.trace.add(
            "result", **get_public_fields(result), judged=judged, actor=self.id, turn=turn, **named
        )
        return result, diagnosis

    def _here(self, tool: Tool) -> Tool:
        """The tool with its effects in this run: in a sandbox what a failed call left behind is
        thrown away.
        """
        return (
            replace(tool, effects=replace(tool.effects, atomic=True))
            if self.shared.safety.is_sandbox
            else tool
        )

    async def _send(self, call: ClearedCall, attempt: int) -> ToolResult:
        """Send the call. One that may write leaves only after its intent is on the disk."""
        ledger, trace = self.shared.ledger, self.shared.trace
        same = self._same_earlier(call)
        key = idempotency_key(ledger.origin, call.checked) if call.tool.effects.may_write else ""
        if same is not None and same.key:
            key = same.key  # under which the call is known out there
        if (said := ledger.resolution(self.id, attempt)) is not None and said[
            "outcome"
        ] != "not_done":
            return build_resolved_result(call, attempt, said)
        if said is None and ledger.intended(self.id, attempt) and not call.tool.effects.may_repeat:
            raise build_doubt_error([self.id], ledger.run)
        if call.tool.effects.may_write:
            trace.add(
                "intent",
                id=self.id,
                attempt=attempt,
                tool=call.tool.name,
                arguments=call.arguments,
                effects=call.tool.effects,
                key=key,
                **self._named_earlier(call),
            )
            ledger.commit()
        trace.announce("call", id=self.id, tool=call.tool.name, arguments=call.arguments)
        limits = self.shared.budget.limits
        timeout = min(limits.tool_seconds, max(0.001, self.shared.budget.seconds_left))
        self.shared.questions.sent[self.id] = back = asyncio.Event()
        try:
            return await invoke(
                call,
                self.shared.caller,
                timeout=timeout,
                max_bytes=limits.result_bytes,
                attempt=attempt,
                key=key,
                deadlines=self.shared.deadlines,
            )
        finally:
            back.set()

    def _without_secrets(self, result: ToolResult) -> ToolResult:
        """A tool may echo the key it was called with: neither the model nor the answer may see
        it.
        """
        if not self.shared.trace.secrets:
            return result
        redact, failure = self.shared.trace.redact, result.failure
        if failure is not None:
            failure = replace(
                failure, message=redact(failure.message), detail=redact(failure.detail)
            )
        return replace(result, content=redact(result.content), failure=failure)

    async def _again(
        self, call: CheckedCall, result: ToolResult, diagnosis: Diagnosis
    ) -> CheckedCall | None:
        """The call to execute next after a failure, or None where the failure stands."""
        failure = result.failure
        if (
            failure is None
            or not self.shared.handling.may_repair
            or not may_repeat(failure, self._here(call.tool).effects)
        ):
            return None
        if diagnosis.points_at_arguments:
            frozen = self.shared.safety.freeze.arguments
            return None if frozen else await self._with_other_arguments(call, result, diagnosis)
        asked = _get_asked_wait(failure)
        may_wait = result.attempt <= _REPEATS and asked <= Retry().longest
        if failure.retryable and may_wait and self._granted("repeat"):
            if not self.shared.ledger.ahead(self.id):
                wait = max(asked, _FIRST_WAIT * 2 ** (result.attempt - 1))
                await asyncio.sleep(min(wait, self.shared.budget.seconds_left))
            return call
        return None

    async def _with_other_arguments(
        self, call: CheckedCall, result: ToolResult, diagnosis: Diagnosis
    ) -> CheckedCall | None:
        if self._unknown_here(call, diagnosis):
            return None
        raw = ToolCall(call.id, call.tool.name, call.arguments, call.slot)
        watcher = self._watch(call.arguments, is_executed=True)
        failed = FailedCall(call, result, diagnosis)
        repaired = await self._repair(raw, watcher, self.sources, failed)
        self.tried.append(Tried(call.arguments, diagnosis.message, left=True))
        if isinstance(repaired, Refusal) or any(
            t.left and t.arguments == repaired.arguments for t in self.tried
        ):
            return None  # nothing better, or what has failed already
        if not self._granted("repeat"):
            return None
        self.outcome.taught = repaired.tool  # what the error taught holds for the rest of the run
        return repaired

    def _unknown_here(self, call: CheckedCall, diagnosis: Diagnosis) -> bool:
        """Return True if no other arguments can be obtained. Another tool knows the value, or
        neither the sources nor the error offer one.
        """
        message = diagnosis.failure.message if diagnosis.failure else ""
        if names_another(message, call.tool.name, self.shared.names):
            return True
        offered = (
            {c.key for c in diagnosis.overlay.changes if c.change == "enum"}
            if diagnosis.overlay
            else set()
        )
        keys = {*unknown_keys(message, call.arguments)} - offered
        under = self.sources.under
        return bool(keys) and not any({*under(k)} - {call.arguments[k]} for k in keys)

    def _skip(self, reason: str, refused: bool = False) -> None:
        self._note_skip(Skip(self.task.tool, reason, self.task.slot, refused=refused))

    def _note_skip(self, skip: Skip, turn: int | None = None) -> None:
        self.outcome.skips.append(skip)
        named = (
            {}
            if turn is None
            else {
                "actor": self.id,
                "turn": turn,
                "same": self.outcome.same,
                "refused": skip.refused,
            }
        )
        self.shared.trace.add("skip", tool=skip.tool, reason=skip.reason, slot=skip.slot, **named)


def _is_same_call(call: CheckedCall | ClearedCall, arguments: JsonObject) -> bool:
    """Return True if arguments mean the same call, however they spell a number or a default."""
    return make_call_key(call.tool, arguments) == make_call_key(call.tool, call.arguments)


def _build_held(call: ToolCall, denied: Denied) -> HeldCall:
    return HeldCall(call, denied.rule, denied.reason, meant=denied.meant, missing=denied.missing)


def _get_asked_wait(failure: Failure) -> float:
    """The seconds that the world asks to wait (``Retry-After``), 0 without a number of them."""
    asked = failure.detail.get("retry_after") if isinstance(failure.detail, dict) else 0.0
    return asked if isinstance(asked, int | float) else 0.0
