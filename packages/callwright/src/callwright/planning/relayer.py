"""Re-layering what is left of a plan, once a failure has shown that a tool came too early."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from callwright.dataflow.flow import find_links
from callwright.nouns.plan import Plan
from callwright.nouns.thresholds import threshold
from callwright.nouns.types import Tool

# score of a link that may have been overlooked; a plan asks for more, but nothing had failed then
FEEDS = threshold("callwright.planning", "feeds")


def find_feeders(tool: Tool, blamed: Collection[str], tools: Sequence[Tool]) -> tuple[str, ...]:
    """The reading tools that may provide what a failed call lacked: the blamed inputs, else those
    required.
    """
    keys = {*blamed} or {*tool.required}
    return tuple(
        other.name
        for other in tools
        if other.name != tool.name
        and other.effects.read_only
        and any(x.input.path[0] in keys for x in find_links(other, tool, FEEDS))
    )


def relayer_plan(
    made: Plan, left: Sequence[str], waits: Mapping[str, Collection[str]], why: Mapping[str, str]
) -> Plan:
    """A planner's plan of the tools ``left``, changed so that each tool of ``waits`` comes after
    those named there.

    Each tool stands in it once. What waited for a tool still does; only the tools that it has to
    wait for itself are taken out from behind it. ``why`` become the reasons of the slots moved.
    """
    before = _find_predecessors(made, left)
    for tool, named in waits.items():
        first = {name for name in named if name in before and name != tool}
        later = _collect_dependents(tool, before)
        for name in first & later:
            before[name] = (before[name] - later) | (before[tool] - first)
        before[tool] |= first
    reasons = {slot.tool: slot.reason for slot in made.slots}
    plan = Plan.from_edges(
        left, [(first, name) for name, firsts in before.items() for first in sorted(firsts)]
    )
    return plan.annotated({name: why.get(name, reasons.get(name, "")) for name in left})


def _find_predecessors(made: Plan, left: Sequence[str]) -> dict[str, set[str]]:
    """Tool -> the tools of ``left`` that come right before it; what was dropped between two keeps
    them in order.
    """
    before: dict[str, set[str]] = {}
    tool = {slot.id: slot.tool for slot in made.slots}
    for slot in (slot for layer in made.layers for slot in layer):
        nearest: set[str] = set()
        for name in (tool[id_] for id_ in slot.after):
            nearest |= {name} if name in left else before.get(name, set())
        before.setdefault(slot.tool, set()).update(nearest - {slot.tool})
    return {name: before.get(name, set()) for name in left}


def _collect_dependents(tool: str, before: Mapping[str, set[str]]) -> set[str]:
    """The tool and all that waits for it."""
    found = {tool}
    while more := {name for name, firsts in before.items() if name not in found and firsts & found}:
        found |= more
    return found
