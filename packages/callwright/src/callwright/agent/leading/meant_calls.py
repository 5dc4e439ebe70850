"""The calls of one reply that are made at once: equal ones that are meant more than once, and those
that lack nothing which a lookup beside them gives.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from callwright.agent.call_key import make_call_key
from callwright.nouns.types import Tool, ToolCall


class MeantCalls(NamedTuple):
    """``dropped``: those that equal another one and are not meant again."""

    calls: tuple[ToolCall, ...]
    dropped: tuple[ToolCall, ...] = ()


def list_meant_calls(calls: Sequence[ToolCall], query: str, tools: Sequence[Tool]) -> MeantCalls:
    """Those of one reply's calls that are made at once. Equal reads are one call, as are equal
    writes that the request surely wants once. A write that lacks an identifier which a lookup
    beside it gives has its turn when it is known.
    """
    from callwright.repair.rules.equal_calls import may_be_meant_again

    reads = {tool.name for tool in tools if tool.effects.read_only}
    kept: dict[str, ToolCall] = {}
    dropped, wrote = [], 0
    for place, call in enumerate(calls):
        is_read = call.tool in reads
        wrote += not is_read
        # a read behind a write may say something else
        key = f"{wrote if is_read else 'write'} {make_call_key(call)}"
        if key in kept and not is_read and may_be_meant_again(call, query):
            key = str(place)
        if key in kept:
            dropped.append(call)
        kept.setdefault(key, call)
    return MeantCalls(_hold_incomplete([*kept.values()], tools), tuple(dropped))


def _hold_incomplete(calls: Sequence[ToolCall], tools: Sequence[Tool]) -> tuple[ToolCall, ...]:
    known = {tool.name: tool for tool in tools}
    reads = [known[c.tool] for c in calls if c.tool in known and known[c.tool].effects.read_only]
    if not reads:
        return tuple(calls)
    return tuple(
        call
        for call in calls
        if call.tool not in known
        or known[call.tool].effects.read_only
        or not _lacks_identifier(call, known[call.tool], reads)
    )


def _lacks_identifier(call: ToolCall, tool: Tool, reads: Sequence[Tool]) -> bool:
    from callwright.dataflow.flow import find_links
    from callwright.dataflow.prerequisites import LEAST, is_looked_up

    given = call.arguments if isinstance(call.arguments, dict) else {}
    return any(
        link.input.path[0] not in given and is_looked_up(link.input)
        for read in reads
        for link in find_links(read, tool, LEAST)
    )
