"""Finds the calls of a conversation that are not made again, by their keys.

In one turn of the user a write that succeeded is done, and one whose outcome is unknown may have
been. A call of a tool of unknown effects counts as done where its result is final: one that says
that it is pending may be made again (:mod:`callwright.repair.pending`). Reads are never kept back.
What the user says opens a new turn, and may ask for a write of an earlier one again; a message that
only thanks does not. Calls of one reply do not know each other: those that are equal are all meant.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Literal, TypeAlias

from callwright.agent.state import RunState
from callwright.language.thanks import is_only_thanks
from callwright.nouns.types import Tool, ToolCall, ToolResult
from callwright.repair.outcome import is_in_doubt
from callwright.repair.pending import is_pending

Before: TypeAlias = Literal["done", "unknown", "thanked"]
"""What came of the same call: it was done, or it may have been; or it was done in an earlier turn, and
the user has only thanked since.
"""


def find_made(state: RunState, key_of: Callable[[ToolCall], str]) -> Mapping[str, Before]:
    """The outcomes of the present turn's calls that are not to be made again, by their keys."""
    tools = {tool.name: tool for tool in state.tools}
    made: dict[str, Before] = {}
    if is_only_thanks(state.asked.query):
        made = {key_of(_call_of(r)): "thanked" for r in state.earlier if _is_done(r, tools)}
    for result in _in_turn(state):
        tool = tools.get(result.tool)
        if tool is None:
            continue
        before = _judge(result, tool)
        if before is not None:
            made[key_of(_call_of(result))] = before
    return made


def _call_of(result: ToolResult) -> ToolCall:
    return ToolCall(result.id, result.tool, result.arguments)


def _is_done(result: ToolResult, tools: Mapping[str, Tool]) -> bool:
    """Return True if a call of a tool that may write has succeeded."""
    tool = tools.get(result.tool)
    return tool is not None and tool.effects.may_write and result.ok


def _in_turn(state: RunState) -> Iterable[ToolResult]:
    """The results of the turn, and the calls of it of which nobody knows what they returned."""
    earlier = {result.id for result in state.earlier}
    known = {result.id for result in state.results}
    lost = (r for id_, r in state.lasting.doubts.items() if id_ not in known | earlier)
    return (*state.results, *lost)


def _judge(result: ToolResult, tool: Tool) -> Before | None:
    effects = tool.effects
    if effects.read_only:
        return None
    if not result.ok:
        # of what nobody declared, an error is taken for what it says
        return "unknown" if effects.declared and is_in_doubt(result, tool) else None
    if not effects.declared and is_pending(result.content):
        return None
    return "done"
