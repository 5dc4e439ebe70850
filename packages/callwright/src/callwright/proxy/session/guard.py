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
from dataclasses import dataclass

from callwright.jsontext import JsonError, parse
from callwright.nouns.types import (
    CheckedCall,
    Json,
    JsonObject,
    Tool,
    ToolCall,
    ToolResult,
    canonical,
)
from callwright.proxy.session import history
from callwright.proxy.session.context import Context
from callwright.repair.provenance.sources import ProvenanceIndex

REPEATED, UNSTATED = "repeated_write", "unstated_write"
_SHOWN = 80  # characters of a value in a sentence


@dataclass(frozen=True, slots=True)
class Withheld:
    """Why a call does not leave: the rule, and a sentence that names tool, parameter and value."""

    rule: str
    said: str


class Guard:
    """Judges the calls of one answer. The conversation is read when a write is first judged."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._tools = {tool.name: tool for tool in context.toolset.tools}
        self._done: frozenset[str] | None = None
        self._sources: ProvenanceIndex | None = None

    def withheld(self, call: ToolCall) -> Withheld | None:
        """Why this call does not leave, or None. Calls of tools that declare to only read always
        do.
        """
        tool = self._tools.get(call.tool)
        if not self._context.guarded or tool is None or not tool.effects.may_write:
            return None
        if self._key(call, tool) in self._succeeded():
            said = (
                f"'{call.tool}' was not called again: it has already succeeded with the same"
                " arguments since the user's last message."
            )
            return Withheld(REPEATED, said)
        if not isinstance(call.arguments, dict):
            return None
        from callwright.repair.provenance.invention import inventions

        spoken = [m.content for m in self._context.messages if history.is_of_user(m)]
        found = inventions(call.arguments, tool, self._seen(), spoken)
        if not found:
            return None
        values = ", ".join(f"'{one.key}' = {canonical(one.value)[:_SHOWN]}" for one in found)
        return Withheld(
            UNSTATED, f"'{call.tool}' was not called: nothing in this conversation states {values}."
        )

    def _succeeded(self) -> frozenset[str]:
        if self._done is None:
            good = history.succeeded(self._context.messages)
            self._done = frozenset(
                self._key(c, self._tools[c.tool]) for c in good if c.tool in self._tools
            )
        return self._done

    def _key(self, call: ToolCall, tool: Tool) -> str:
        """Equal for calls that mean the same: as the gate has them, less what is there by default
        anyway.
        """
        checked = self._context.toolset.gate.check(call)
        if not isinstance(checked, CheckedCall):
            return canonical(history.key(call))
        return canonical([call.tool, _without_defaults(checked.arguments, tool)])

    def _seen(self) -> ProvenanceIndex:
        """All that the conversation says: messages, the arguments of earlier calls, and what
        results hold.
        """
        if self._sources is None:
            messages = self._context.messages
            made = ProvenanceIndex(self._context.query, messages)
            for message in messages:
                for call in message.tool_calls:
                    made.add_text(
                        call.arguments
                        if isinstance(call.arguments, str)
                        else canonical(call.arguments)
                    )
                if message.role == "tool":
                    with suppress(
                        JsonError
                    ):  # strictly: mending a long reply takes longer than its sums are worth
                        value = parse(message.content)
                        made.add_result(ToolResult(message.tool_call_id, message.name, {}, value))
            self._sources = made
        return self._sources


def _without_defaults(arguments: JsonObject, tool: Tool) -> JsonObject:
    """Without optional arguments that hold their schema's default, and with each number written one
    way.
    """
    made: JsonObject = {}
    for key, value in arguments.items():
        part = tool.properties.get(key)
        default = part.get("default") if isinstance(part, dict) else None
        if (
            key in tool.required
            or value is None
            or canonical(_plain(default)) != canonical(_plain(value))
        ):
            made[key] = _plain(value)
    return made


def _plain(value: Json) -> Json:
    """The value with 5.0 as 5."""
    if isinstance(value, dict):
        return {key: _plain(member) for key, member in value.items()}
    if isinstance(value, list):
        return [_plain(member) for member in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def of(context: Context, calls: Sequence[ToolCall]) -> list[Withheld | None]:
    """For each call why it does not leave, or None."""
    guard = Guard(context)
    return [guard.withheld(call) for call in calls]
