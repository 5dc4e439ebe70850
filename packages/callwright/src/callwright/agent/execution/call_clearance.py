"""Clears a call to leave: by the origins of its values, by approval, and within the limits."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

from callwright.agent.execution.call_context import CallContext, build_held, is_same_call
from callwright.agent.execution.call_task import make_call_key
from callwright.agent.journal.ledger import Answer
from callwright.agent.safety.clear import Approval, ClearanceState, ClearedCall, Denied, clear
from callwright.agent.safety.consent import build_proposal, describe_refusal
from callwright.agent.safety.looked_up import find_looked_up
from callwright.nouns.types import CheckedCall, ToolCall, ToolResult


@dataclass(slots=True)
class CallClearance(CallContext):
    """Clears one call of a run, or takes the result that an earlier segment recorded for it."""

    # nobody had to be asked, or who was asked here said yes
    is_approved: bool = True

    async def find_origin(
        self, call: CheckedCall, attempt: int, approval: Approval | None
    ) -> ClearedCall | ToolResult | None:
        """The call, cleared to leave and paid for; or its result, where an earlier segment recorded
        it: then nothing leaves, nobody is asked and nothing is spent. None, and a skip, where the
        call may not be made.
        """
        state = self.build_state(approval, attempt)
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
        self.skip(f"the run's limit of {told} is reached", refused=True)
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
        self.skip(verdict.reason, refused=True)
        raw = ToolCall(call.id, call.tool.name, call.arguments, call.slot)
        self.outcome.held = build_held(raw, verdict)
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
        if self.find_same_earlier(call) is None:
            ledger, is_same = self.shared.ledger, partial(is_same_call, call)
            found = ledger.take_earlier(self.id, attempt, call.tool.name, is_same)
            self.outcome.earlier += [] if found is None else [found]
        same = self.find_same_earlier(call)
        if same is None or same.result is None:
            return None
        return replace(same.result, id=self.id, slot=self.task.slot, attempt=attempt, seconds=0.0)

    def build_state(self, approval: Approval | None, attempt: int) -> ClearanceState:
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
