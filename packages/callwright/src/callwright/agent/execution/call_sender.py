"""Sends a call that was cleared, once its intent is on record, and records what it returns."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace

from callwright.agent.execution.call_context import CallContext
from callwright.agent.execution.invoke import idempotency_key, invoke
from callwright.agent.execution.recorded import build_resolved_result, load_result
from callwright.agent.journal.ledger import build_doubt_error
from callwright.agent.safety.clear import ClearedCall
from callwright.nouns.types import CheckedCall, Tool, ToolResult, get_public_fields
from callwright.repair.diagnose import Diagnosis, diagnose


@dataclass(slots=True)
class CallSender(CallContext):
    """Sends one call of a run, or takes its result from the record."""

    async def invoke(
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
        diagnosis = diagnose(result, self.adapt_effects(call.tool))
        judged = (
            result.ok and diagnosis.failure is not None
        )  # status 200 with an error inside, or nothing at all
        if not recorded and diagnosis.failure is not result.failure:
            result = replace(result, failure=diagnosis.failure)
        named = self.name_earlier(call) | ({"recorded": True} if recorded else {})
        self.shared.trace.add(
            "result", **get_public_fields(result), judged=judged, actor=self.id, turn=turn, **named
        )
        return result, diagnosis

    def adapt_effects(self, tool: Tool) -> Tool:
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
        same = self.find_same_earlier(call)
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
                **self.name_earlier(call),
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
