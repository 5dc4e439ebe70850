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

from callwright.agent.execution.call_clearance import CallClearance
from callwright.agent.execution.call_context import CallContext, build_held, is_same_call
from callwright.agent.execution.call_sender import CallSender
from callwright.agent.execution.call_task import make_call_key
from callwright.agent.execution.recorded import find_legacy_repeat, write_repeat_reason
from callwright.agent.execution.repair_watcher import RepairWatcher
from callwright.agent.gaps import find_ungrounded, names_another, unknown_keys
from callwright.agent.questions import LimitReached
from callwright.agent.safety.clear import Approval, ClearedCall, Denied, deny_call
from callwright.agent.safety.held_call import UNSTATED_VALUE, HeldCall
from callwright.agent.safety.looked_up import find_looked_up
from callwright.http import Retry
from callwright.models.dialogue import run_dialogue
from callwright.nouns.errors import Failure
from callwright.nouns.protocols import ChatRequest
from callwright.nouns.types import CheckedCall, Edit, JsonObject, Reply, Skip, ToolCall, ToolResult
from callwright.nouns.wire_names import EditRules
from callwright.repair.by_model.question import FailedCall, QuestionContext, check_call
from callwright.repair.by_model.reflection import Tried
from callwright.repair.considered_calls import set_thoughts_apart
from callwright.repair.diagnose import Diagnosis
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
class CallRunner(CallContext):
    """One call's way and what came of it."""

    gate: Gate
    # what was refused or failed, and what was said of it
    tried: list[Tried] = field(default_factory=list)
    clearance: CallClearance = field(init=False)
    sender: CallSender = field(init=False)

    def __post_init__(self) -> None:
        self.clearance = CallClearance(self.task, self.shared, outcome=self.outcome)
        self.sender = CallSender(self.task, self.shared, outcome=self.outcome)

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
            self.skip(found.message, refused=True)
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
            self.note_skip(
                Skip(told["tool"], told["reason"], told["slot"], refused=refused), told["turn"]
            )
        elif (
            not self.shared.ledger.ahead(self.id)
            and (skip := self._why_not_again(call, key)) is not None
        ):
            self.note_skip(skip, self.shared.ledger.turn(self.id))
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
            self.id, tool.name, partial(is_same_call, call)
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
            self.skip(said, refused=True)
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
        state = self.clearance.build_state(None, 1)
        given = refusal.arguments or call.arguments
        denied = deny_call(refusal.tool, given, "", state) or Denied(
            UNSTATED_VALUE, " ".join(v.message for v in found), missing=tuple(missing)
        )
        return build_held(call, denied)

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
        self.skip(
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
        grant = partial(self.grant, "tier2")
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

    async def _run(self, call: CheckedCall) -> ToolResult | None:
        """Invoke; while the diagnosis allows it and the budget lasts, repair and invoke again."""
        attempt, approval = 1, None
        while True:
            origin = await self.clearance.find_origin(call, attempt, approval)
            if origin is None:
                return None
            result, diagnosis = await self.sender.invoke(call, origin, attempt)
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
            approval = (
                Approval(call, granted=True) if has_left and self.clearance.is_approved else None
            )
            call, attempt = again, attempt + 1

    async def _again(
        self, call: CheckedCall, result: ToolResult, diagnosis: Diagnosis
    ) -> CheckedCall | None:
        """The call to execute next after a failure, or None where the failure stands."""
        failure = result.failure
        if (
            failure is None
            or not self.shared.handling.may_repair
            or not may_repeat(failure, self.sender.adapt_effects(call.tool).effects)
        ):
            return None
        if diagnosis.points_at_arguments:
            frozen = self.shared.safety.freeze.arguments
            return None if frozen else await self._with_other_arguments(call, result, diagnosis)
        asked = _get_asked_wait(failure)
        may_wait = result.attempt <= _REPEATS and asked <= Retry().longest
        if failure.retryable and may_wait and self.grant("repeat"):
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
        if not self.grant("repeat"):
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


def _get_asked_wait(failure: Failure) -> float:
    """The seconds that the world asks to wait (``Retry-After``), 0 without a number of them."""
    asked = failure.detail.get("retry_after") if isinstance(failure.detail, dict) else 0.0
    return asked if isinstance(asked, int | float) else 0.0
