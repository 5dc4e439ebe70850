"""Finds the calls of a conversation that are not made again, by their keys. No words are read.

In one turn of the user a write that succeeded is done, and one whose outcome is unknown may have
been. A call of a tool of unknown effects counts as done where its result is final: one that says
that it is pending may be made again (:mod:`callwright.repair.pending`). Reads are never kept back.
What the user says opens a new turn. Calls of one reply do not know each other: those that are equal
are all meant.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Literal, TypeAlias

from callwright.agent.state import RunState
from callwright.nouns.types import Tool, ToolCall, ToolResult
from callwright.repair.outcome import is_in_doubt
from callwright.repair.pending import is_pending

Before: TypeAlias = Literal["done", "unknown"]
"""What came of the same call: it was done, or it may have been."""


def find_made(state: RunState, key_of: Callable[[ToolCall], str]) -> Mapping[str, Before]:
    """The outcomes of the present turn's calls that are not to be made again, by their keys."""
    tools = {tool.name: tool for tool in state.tools}
    made: dict[str, Before] = {}
    for result in _in_turn(state):
        tool = tools.get(result.tool)
        if tool is None:
            continue
        before = _judge(result, tool)
        if before is not None:
            made[key_of(ToolCall(result.id, result.tool, result.arguments))] = before
    return made


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
