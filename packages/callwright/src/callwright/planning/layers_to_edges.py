"""Layers say when, edges say what feeds what: barriers become edges where the data flow is known.

In a plan of layers every tool waits for the whole layer before it, the slowest of them included.
Where schemas or the edge model show which tools feed one, it waits for these alone; where nothing
is shown it waits as before, for not to know what a tool needs is no reason to run it early.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from callwright.nouns.plan import Plan, Slot
from callwright.nouns.types import Tool
from callwright.planning.edges import EdgeModel, acyclic_edges, explain_wait, select_most_asked
from callwright.planning.schema_order import find_claims


@dataclass(frozen=True, slots=True)
class Flow:
    """``consumer`` uses what ``producer`` returns, and why that is thought."""

    producer: str
    consumer: str
    reason: str


def find_flows(
    query: str, tools: Sequence[Tool], model: EdgeModel | None = None
) -> tuple[Flow, ...]:
    """The flows that schemas claim (:func:`schema_order.claims`) and, with a ``model``, those it
    thinks likely.

    Each pair once, the schemas' word before the model's.
    """
    found = {
        (c.producer, c.consumer): Flow(c.producer, c.consumer, c.reason) for c in find_claims(tools)
    }
    if model is not None:
        looked_at = sorted(select_most_asked(query, tools), key=lambda t: t.name)
        chances = model.probabilities(query, looked_at)
        for i, j in acyclic_edges(chances):
            a, b = looked_at[i], looked_at[j]
            found.setdefault(
                (a.name, b.name), Flow(a.name, b.name, explain_wait(a, b, float(chances[i, j])))
            )
    return tuple(found.values())


def layers_to_edges(plan: Plan, flows: Sequence[Flow]) -> Plan:
    """The plan of layers with barriers turned into edges: a slot with a known producer in an
    earlier layer waits for its producers alone.

    A flow against the layers is not followed: the order stays, only waiting in vain goes. Slots
    must stand for one tool each, and each tool for one slot, as planners of layers make them.
    """
    layer = {slot.tool: k for k, slots in enumerate(plan.layers) for slot in slots}
    feeding: dict[str, list[Flow]] = {}
    for flow in flows:
        if layer.get(flow.producer, len(layer)) < layer.get(flow.consumer, 0):
            feeding.setdefault(flow.consumer, []).append(flow)
    id_of = {slot.tool: slot.id for slot in plan.slots}
    return replace(
        plan,
        slots=tuple(_add_edges(slot, feeding.get(slot.tool, []), id_of) for slot in plan.slots),
    )


def _add_edges(slot: Slot, found: Sequence[Flow], id_of: dict[str, str]) -> Slot:
    if not found:
        return slot
    reasons = [slot.reason, *(flow.reason for flow in found if flow.reason not in slot.reason)]
    after = frozenset(id_of[flow.producer] for flow in found)
    return replace(slot, after=after, reason="; ".join(r for r in reasons if r))
