"""The refiner as the proxy uses it: which of the calls it returns came from which."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from callwright.errors import Violation
from callwright.proxy.context import Context
from callwright.refine import Settings, refine
from callwright.types import Edit, ToolCall


@dataclass(frozen=True, slots=True)
class Refined:
    """Calls in order; ``origin`` is the place of each among the calls given, -1 where it was added."""

    calls: tuple[ToolCall, ...]
    origin: tuple[int, ...]
    edits: tuple[Edit, ...] = ()
    violations: tuple[Violation, ...] = ()
    notes: tuple[str, ...] = ()


def refined(calls: Sequence[ToolCall], context: Context, *, leave_out: bool = False) -> Refined:
    """The calls as the rules would have them, given the tools and the conversation.

    ``leave_out``: values that nothing supports and calls that add nothing are left out (guided mode).
    """
    marked = [replace(call, id=f"at{place}") for place, call in enumerate(calls)]
    if not marked:
        return Refined((), ())
    found = refine(
        marked,
        context.toolset.tools,
        query=context.query,
        messages=context.messages,
        settings=Settings(leave_out=leave_out),
    )
    places = {call.id: place for place, call in enumerate(marked)}
    origin = tuple(places.get(call.id, -1) for call in found.calls)
    notes = tuple(f"left alone: {a.reason}" for a in found.abstained)
    return Refined(found.calls, origin, found.edits, found.violations, notes)
