"""Re-layering what is left of a plan, once a failure has shown that a tool came too early."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from callwright.flow import links
from callwright.plan import Plan
from callwright.types import Tool

FEEDS = 0.5  # score of a link that may have been overlooked; a plan asks for more, but nothing had failed then


def feeders(tool: Tool, blamed: Collection[str], tools: Sequence[Tool]) -> tuple[str, ...]:
    """The reading tools that may provide what a failed call lacked: the blamed inputs, else those required."""
    keys = {*blamed} or {*tool.required}
    return tuple(
        other.name
        for other in tools
        if other.name != tool.name
        and other.effects.read_only
        and any(x.input.path[0] in keys for x in links(other, tool, FEEDS))
    )


def relayered(made: Plan, left: Sequence[str], waits: Mapping[str, Collection[str]], why: Mapping[str, str]) -> Plan:
    """A planner's plan of the tools ``left``, changed so that each tool of ``waits`` comes after those named there.

    Each tool stands in it once. What came before a tool still does, and so does what it came before, unless the tools
    it waits for need that themselves. ``why`` become the reasons of the slots moved.
    """
    before = _among(made, left)
    for tool, named in waits.items():
        first = {name for name in named if name in before and name != tool}
        for name in _with_ancestors(first, before, tool):
            if tool in before[name]:
                before[name] = (before[name] - {tool}) | before[tool] - {name}
        before[tool] |= first
    reasons = {slot.tool: slot.reason for slot in made.slots}
    plan = Plan.from_edges(left, [(first, name) for name, firsts in before.items() for first in sorted(firsts)])
    return plan.annotated({name: why.get(name, reasons.get(name, "")) for name in left})


def _among(made: Plan, left: Sequence[str]) -> dict[str, set[str]]:
    """Tool -> the tools of ``left`` that come right before it; what was dropped between two keeps them in order."""
    before: dict[str, set[str]] = {}
    tool = {slot.id: slot.tool for slot in made.slots}
    for slot in (slot for layer in made.layers for slot in layer):
        nearest: set[str] = set()
        for name in (tool[id_] for id_ in slot.after):
            nearest |= {name} if name in left else before.get(name, set())
        before.setdefault(slot.tool, set()).update(nearest - {slot.tool})
    return {name: before.get(name, set()) for name in left}


def _with_ancestors(names: Iterable[str], before: Mapping[str, set[str]], apart: str) -> set[str]:
    """The names and all that comes before them, paths through ``apart`` left out."""
    found: set[str] = set()
    front = [name for name in names if name != apart]
    while front:
        name = front.pop()
        if name not in found:
            found.add(name)
            front += before[name] - {apart}
    return found
