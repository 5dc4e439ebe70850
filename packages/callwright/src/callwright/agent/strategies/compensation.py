"""Declared compensations: which tool can undo a write that was made, for the reader of an answer.

A tool may declare that it undoes the calls of another (``Tool.compensates``). Where a run could not
do all that it was asked for, its answer says what was written and what can undo it. Nothing is
undone unasked: no such tool is planned, offered or called for it.
"""

from __future__ import annotations

from collections.abc import Iterable

from callwright.agent.step import StepContext
from callwright.agent.strategies.revision import list_lost_calls
from callwright.nouns.types import Tool, ToolResult, to_canonical_json

_SHOWN = 80  # characters of a result


def offer_compensations(context: StepContext, tools: Iterable[Tool]) -> tuple[str, ...]:
    """One sentence for each write that was made and that one of the tools undoes; none where
    nothing was lost. A write that was undone already is none.
    """
    facts = context.facts
    undoing = {tool.compensates: tool.name for tool in tools if tool.compensates}
    # a call was left out, or a write rests on what is no longer so
    is_refused = facts.outdated or facts.denied or any(skip.refused for skip in facts.missing)
    if not undoing or not (is_refused or list_lost_calls(context)):
        return ()
    undone = facts.succeeded
    made = (r for r in facts.all_results if r.ok and undoing.get(r.tool, r.tool) not in undone)
    return tuple(
        _describe(result, undoing[result.tool]) for result in made if result.tool in undoing
    )


def _describe(result: ToolResult, undo: str) -> str:
    said = to_canonical_json(result.content)
    shown = said if len(said) <= _SHOWN else f"{said[:_SHOWN]}…"
    return f"{result.tool} was done and returned {shown}; {undo} can undo it, and was not called"
