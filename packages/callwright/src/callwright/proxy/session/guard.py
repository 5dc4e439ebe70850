"""Writes that do not leave in guided mode: those that have happened, and those with a value that
nobody said.

Where the upstream's own calls do not work, the calls that a client gets are this proxy's reading of
a reply, often of one that was held to a schema of calls. Such a reply calls too readily, and a
client carries out what it gets. So a write is kept back where it is certain that it should not be
made; the model then answers in words.

* **Repeated**: the same tool with the same arguments has succeeded since the user last spoke.
* **Unstated**: a required number, date, address or identifier stands nowhere in the conversation
  (:mod:`callwright.repair.provenance.invention` says what is judged at all, and what counts as
  known).

What may write is what no annotation declares to be read-only, as everywhere in this project. Two
equal calls in one reply are two wishes.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

from callwright.agent.safety.clear import (
    ClearanceState,
    ClearedCall,
    Denied,
    clear,
    compute_write_key,
    deny_write,
)
from callwright.jsontext import JsonError, parse
from callwright.nouns.types import CheckedCall, ToolCall, ToolResult, to_canonical_json
from callwright.proxy.session import history
from callwright.proxy.session.context import Context
from callwright.repair.gate import Refusal
from callwright.repair.provenance.sources import ProvenanceIndex

UNGUARDED = ClearanceState(consent=None)
"""Where the upstream's own calls work: they are the client's, who asks for approval and executes
them.
"""


class Guard:
    """Judges the calls of one answer. The conversation is read when a write is first judged."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._tools = {tool.name: tool for tool in context.toolset.tools}
        self._known: ClearanceState | None = None

    def clear(self, call: ToolCall, verdict: CheckedCall | Refusal) -> ClearedCall | Denied | None:
        """The call, cleared for the client, or why it does not leave. None where the gate refuses
        it: then it is passed through with a warning; the rules of writes hold for it too.
        """
        if not isinstance(verdict, Refusal) and verdict.arguments is not call.arguments:
            verdict = self._context.toolset.gate.check(call)
        tool = self._tools.get(call.tool)
        is_judged = self._context.guarded and tool is not None and tool.effects.may_write
        if isinstance(verdict, CheckedCall):
            return clear(verdict, self._state() if is_judged else UNGUARDED)
        if tool is None or not is_judged:
            return None
        return deny_write(tool, call.arguments, self._key(call, verdict), self._state())

    def _state(self) -> ClearanceState:
        """Return the facts of the conversation: the writes that have succeeded, and every value in
        it.
        """
        if self._known is None:
            self._known = ClearanceState(
                self._seen(),
                consent=None,
                written=self._succeeded(),
                spoken=[m.content for m in self._context.messages if history.is_user_message(m)],
            )
        return self._known

    def _succeeded(self) -> frozenset[str]:
        good = history.find_succeeded(self._context.messages)
        gate = self._context.toolset.gate
        return frozenset(self._key(c, gate.check(c)) for c in good if c.tool in self._tools)

    def _key(self, call: ToolCall, verdict: CheckedCall | Refusal) -> str:
        """Equal for calls that mean the same, those that the gate refuses by what they say."""
        if isinstance(verdict, CheckedCall):
            return compute_write_key(verdict)
        return to_canonical_json(history.make_call_key(call))

    def _seen(self) -> ProvenanceIndex:
        """All that the conversation says: messages, the arguments of earlier calls, and what
        results hold.
        """
        messages = self._context.messages
        made = ProvenanceIndex(self._context.query, messages)
        for message in messages:
            for call in message.tool_calls:
                made.add_text(
                    call.arguments
                    if isinstance(call.arguments, str)
                    else to_canonical_json(call.arguments)
                )
            if message.role == "tool":
                # strictly: repairing a long reply takes longer than its sums are worth
                with suppress(JsonError):
                    value = parse(message.content)
                    made.add_result(ToolResult(message.tool_call_id, message.name, {}, value))
        return made


def clear_calls(
    context: Context, calls: Sequence[ToolCall], verdicts: Sequence[CheckedCall | Refusal]
) -> list[ClearedCall | Denied | None]:
    """For each call with the gate's verdict the call cleared for the client, why it does not leave,
    or None for one that is passed through.
    """
    guard = Guard(context)
    return [guard.clear(call, verdict) for call, verdict in zip(calls, verdicts, strict=True)]
