"""Calls that do not leave: those that were made already, and those with a value that nobody said.

A client carries out what it gets, and small models call too readily. So a call is kept back where
it is certain that it should not be made; the model then answers in words.

* **Repeated** (:mod:`callwright.agent.safety.repeats`): the same call was made since the user last
  spoke, and it is done, may be done, or has given its result.
  A write of an earlier turn is one as well beside a new call of its tool, where the user's last
  message speaks of the new one alone.
* **Left out**: an optional value that nothing supports goes, whatever the tool's effects
  (:mod:`callwright.repair.provenance.unstated`); the call is made without it.
* **Unstated**: a required number, date, address or identifier of a write stands nowhere in the
  conversation (:mod:`callwright.repair.provenance.value_judge` says what is judged at all, and what
  counts as known).

Effects are what annotations, an overlay or ``--effects`` declare. A tool of unknown effects is only
kept from being called again: it may well be a read, and then a value from nowhere does no harm.
Where our engine leads, a reply was held to a schema of calls and a model calls too readily: there
unknown effects count as writes, and a read is kept back for such a value too. Equal calls in one
reply are all meant. Where the conversation holds an image, a recording or a file, no value counts
as unstated.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from callwright.agent.call_key import make_call_key
from callwright.agent.safety.clear import (
    ClearanceState,
    ClearedCall,
    Denied,
    clear,
    compute_write_key,
    deny_call,
)
from callwright.agent.safety.looked_up import find_looked_up
from callwright.agent.safety.repeats import Before, find_made, find_resent_writes
from callwright.agent.state import RunState
from callwright.nouns.types import (
    CheckedCall,
    Json,
    Tool,
    ToolCall,
    to_canonical_json,
)
from callwright.proxy.session.context import Context
from callwright.repair.gate import Refusal
from callwright.repair.provenance.sources import ProvenanceIndex
from callwright.schema.value_edits import Pointer

if TYPE_CHECKING:
    from callwright.repair.provenance.named_days import WrongDay

UNGUARDED = ClearanceState(consent=None)
"""Where nobody guards: the calls are the client's, who asks for approval and executes them."""


class Guard:
    """Judges the calls of one answer. The conversation is read when a call is first judged."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._tools = {tool.name: tool for tool in context.toolset.tools}
        self._resent: Mapping[str, Before] = {}

    def read_reply(
        self, calls: Sequence[ToolCall], verdicts: Sequence[CheckedCall | Refusal]
    ) -> None:
        """Note which of a reply's calls repeat a write of an earlier turn beside a new one."""
        counts = Counter(call.tool for call in calls)
        writes = {name for name, tool in self._tools.items() if tool.effects.declares_write}
        is_judged = self._context.guard != "off" and not self._context.holds_media
        if not is_judged or not any(counts[name] > 1 for name in writes):
            return
        checked = [
            replace(call, arguments=verdict.arguments) if isinstance(verdict, CheckedCall) else call
            for call, verdict in zip(calls, verdicts, strict=True)
        ]
        self._resent = find_resent_writes(checked, self._context.state, self._key_of)

    def clear(self, call: ToolCall, verdict: CheckedCall | Refusal) -> ClearedCall | Denied | None:
        """The call, cleared for the client, or why it does not leave. None where the gate refuses
        it: then it is passed through with a warning; the same rules hold for it.
        """
        if not isinstance(verdict, Refusal) and verdict.arguments is not call.arguments:
            verdict = self._context.toolset.gate.check(call)
        tool = self._tools.get(call.tool)
        is_judged = self._context.guard != "off" and tool is not None
        state = self._state_for(tool) if is_judged and tool is not None else UNGUARDED
        if isinstance(verdict, CheckedCall):
            return clear(verdict, state)
        if tool is None or not is_judged:
            return None
        return deny_call(tool, call.arguments, make_meaning_key(call, verdict), state)

    def find_unstated_options(self, call: ToolCall) -> tuple[Pointer, ...]:
        """The places of a valid call's optional values that nothing in the conversation
        supports."""
        tool, arguments = self._tools.get(call.tool), call.arguments
        if tool is None or not isinstance(arguments, dict) or self._context.holds_media:
            return ()
        if all(self._is_settled(tool, key, value) for key, value in arguments.items()):
            return ()
        from callwright.repair.provenance.unstated import find_unstated_options

        state = self._state()
        links = state.looked_up.get(tool.name, {})
        return find_unstated_options(arguments, tool, state.sources, state.spoken or (), links)

    def find_wrong_day(self, call: ToolCall) -> WrongDay | None:
        """The argument of a valid call that is another day than the one the user names, if any."""
        tool, arguments = self._tools.get(call.tool), call.arguments
        if tool is None or not isinstance(arguments, dict) or self._context.holds_media:
            return None
        if not any(isinstance(arguments.get(key), str) for key in tool.required):
            return None
        from callwright.repair.provenance.named_days import find_wrong_day
        from callwright.repair.provenance.spans import find_named_day

        if find_named_day(self._context.query) is None:
            return None
        state = self._state()
        return find_wrong_day(arguments, tool, state.sources, state.spoken or ())

    def _is_settled(self, tool: Tool, key: str, value: Json) -> bool:
        """Return True if no part of an argument can be an optional value that nothing supports."""
        return not isinstance(value, dict) and (key in tool.required or self._is_said(value))

    def _is_said(self, value: Json) -> bool:
        """Return True if a text or a number of several signs stands in the conversation word for
        word: then the conversation need not be indexed.
        """
        if isinstance(value, bool) or not isinstance(value, str | int | float):
            return False
        text = str(value).lower()
        return len(text) > 1 and self._context.says(text)

    def _state_for(self, tool: Tool) -> ClearanceState:
        """The facts of the conversation, as far as they are judged for this tool."""
        known = self._state()
        if self._resent:
            known = known._replace(made={**known.made, **self._resent})
        is_judged = tool.effects.declared or self._context.leave_out
        is_judged = is_judged and not self._context.holds_media
        return known if is_judged else known._replace(spoken=None)

    def _state(self) -> ClearanceState:
        """The facts of the conversation, read once for all answers to a request."""
        is_strict, known = self._context.leave_out, self._context.known
        if is_strict not in known:
            state = self._context.state
            sources = self._build_sources(state)
            users = (m.content for m in state.asked.conversation if m.role == "user")
            known[is_strict] = ClearanceState(
                sources,
                consent=None,
                made=self._made(state),
                spoken=[*users, state.asked.query],
                looked_up=find_looked_up(state.tools, undeclared=is_strict),
                before=self._before_writes(state),
                judges_reads=is_strict,
            )
        return known[is_strict]

    def _build_sources(self, state: RunState) -> ProvenanceIndex:
        """Everything that was said and came back, and what declared writes were called with: that
        was judged then. What other calls were called with counts once the user has spoken since.
        """
        messages = self._context.messages
        said = [message for message in messages if message.role != "tool"]
        made = ProvenanceIndex(state.asked.query, said, (*state.earlier, *state.results))
        for call in (call for message in messages for call in message.tool_calls):
            tool = self._tools.get(call.tool)
            if tool is not None and tool.effects.declares_write:
                given = call.arguments
                made.add_text(given if isinstance(given, str) else to_canonical_json(given))
        for result in state.earlier:
            if result.ok:
                made.add_text(to_canonical_json(result.arguments))
        return made

    def _made(self, state: RunState) -> Mapping[str, Before]:
        return find_made(state, self._key_of, reopens=not self._context.leave_out)

    def _before_writes(self, state: RunState) -> ProvenanceIndex | None:
        """All that was known without what the writes of this turn returned; None without any."""
        writes = {name for name, tool in self._tools.items() if tool.effects.declares_write}
        wrote = {r.id for r in state.results if r.tool in writes and r.ok}
        if not wrote:
            return None
        kept = (r for r in (*state.earlier, *state.results) if r.id not in wrote)
        said = (m for m in self._context.messages if m.role in ("user", "system"))
        return ProvenanceIndex(state.asked.query, said, kept)

    def _key_of(self, call: ToolCall) -> str:
        return make_meaning_key(call, self._context.toolset.gate.check(call))


def make_meaning_key(call: ToolCall, verdict: CheckedCall | Refusal) -> str:
    """Equal for calls that mean the same, those that the gate refuses by what they say."""
    if isinstance(verdict, CheckedCall):
        return compute_write_key(verdict)
    return to_canonical_json(make_call_key(call))


def find_wrong_days(context: Context, calls: Sequence[ToolCall]) -> list[WrongDay | None]:
    """For each valid call the argument that is another day than the one the user names."""
    guard = Guard(context)
    return [guard.find_wrong_day(call) for call in calls]


def find_unstated_options(context: Context, calls: Sequence[ToolCall]) -> list[tuple[Pointer, ...]]:
    """For each valid call the places of optional values that nothing in the conversation
    supports."""
    guard = Guard(context)
    return [guard.find_unstated_options(call) for call in calls]


def clear_calls(
    context: Context, calls: Sequence[ToolCall], verdicts: Sequence[CheckedCall | Refusal]
) -> list[ClearedCall | Denied | None]:
    """For each call with the gate's verdict the call cleared for the client, why it does not leave,
    or None for one that is passed through.
    """
    guard = Guard(context)
    guard.read_reply(calls, verdicts)
    return [guard.clear(call, verdict) for call, verdict in zip(calls, verdicts, strict=True)]


def pass_through(verdict: CheckedCall | Refusal) -> ClearedCall | None:
    """The call, cleared although a rule speaks against it, for a client that only wants to be told
    of that; None where the gate refuses it.
    """
    cleared = clear(verdict, UNGUARDED) if isinstance(verdict, CheckedCall) else None
    return cleared if isinstance(cleared, ClearedCall) else None
