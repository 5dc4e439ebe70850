"""The refiner as the proxy uses it: which of the calls it returns came from which. It is loaded
with the first call that is not plainly right.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from callwright.nouns.errors import Violation
from callwright.nouns.types import Edit, ToolCall, scalars
from callwright.proxy.session.context import Context
from callwright.repair.gate import Refusal

if TYPE_CHECKING:
    from callwright.repair.rules.several import Joint

UNASKED, LEFT_OUT = "unasked_call", "drop_unsourced"  # the refiner's rules of these names
_MARKS = re.compile(
    r"[$<>{}\[\]]|API_call|\bvar_?\d", re.I
)  # what references and placeholders are made of


@dataclass(frozen=True, slots=True)
class Refined:
    """Calls in order; ``origin`` is the place of each among the calls given, -1 where it was
    added.
    """

    calls: tuple[ToolCall, ...]
    origin: tuple[int, ...]
    edits: tuple[Edit, ...] = ()
    violations: tuple[Violation, ...] = ()
    notes: tuple[str, ...] = ()


def plainly_right(calls: Sequence[ToolCall], context: Context) -> bool:
    """Whether nothing could be found to mend: the gate takes every call as it stands, no two are
    alike, and every value stands in the conversation word for word. Spares most answers the reading
    of the whole conversation.
    """
    seen = set()
    for call in calls:
        if not isinstance(call.arguments, dict) or call.tool not in context.toolset.names:
            return False
        verdict = context.toolset.gate.check(call)
        if isinstance(verdict, Refusal) or verdict.edits:
            return False
        leaves = list(scalars(call.arguments))
        if not all(isinstance(leaf, str | int | float | bool) and leaf != "" for leaf in leaves):
            return False
        seen.add((call.tool, str(call.arguments)))
        if not all(isinstance(leaf, bool) or context.says(str(leaf).lower()) for leaf in leaves):
            return False
        if any(isinstance(leaf, str) and _MARKS.search(leaf) for leaf in leaves):
            return False
    return len(seen) == len(calls)


def wants_more(calls: Sequence[ToolCall], context: Context) -> bool:
    """Whether the user's last message shows signs of more wishes than these calls serve, and
    several may be made.
    """
    from callwright.repair.rules.several import several

    return context.parallel and several(context.query, calls, context.toolset.tools)


def left_open(calls: Sequence[ToolCall], context: Context) -> int:
    """How many numbers and quotations of the user's last message no call has."""
    from callwright.repair.rules.several import left_over

    return len(list(left_over(context.query, calls)))


def read_twice(
    first: Sequence[ToolCall], second: Sequence[ToolCall], context: Context
) -> list[Joint]:
    """A reading of the request and what a second one adds to it."""
    from callwright.repair.context import RepairContext
    from callwright.repair.rules.several import joined

    situation = RepairContext(context.toolset.tools, context.query, context.messages)
    return joined(first, second, situation)


def refined(calls: Sequence[ToolCall], context: Context, *, leave_out: bool = False) -> Refined:
    """The calls as the rules would have them, given the tools and the conversation.

    ``leave_out``: values that nothing supports and calls that add nothing are left out (guided
    mode). Where the upstream's own calls do not work and the client does not insist on one, calls
    that nobody asked for go as well.
    """
    if not calls:
        return Refined((), ())
    doubt = not context.native and not context.demanded
    if (
        not leave_out
        and plainly_right(calls, context)
        and not (doubt and any(not c.arguments for c in calls))
    ):
        return Refined(tuple(calls), tuple(range(len(calls))))
    from callwright.repair.refinement import refine
    from callwright.repair.result import Settings

    marked = [replace(call, id=f"at{place}") for place, call in enumerate(calls)]
    found = refine(
        marked,
        context.toolset.tools,
        query=context.query,
        messages=context.messages,
        settings=Settings(leave_out=leave_out, drop_unasked=doubt),
    )
    places = {call.id: place for place, call in enumerate(marked)}
    origin = tuple(places.get(call.id, -1) for call in found.calls)
    notes = tuple(f"left alone: {a.reason}" for a in found.abstained)
    return Refined(found.calls, origin, found.edits, found.violations, notes)
