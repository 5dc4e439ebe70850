"""The planners that learn nothing: query and tools -> a plan in which every tool stands exactly
once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from callwright.dataflow.flow import get_profile
from callwright.nouns.errors import PlanError
from callwright.nouns.plan import Plan
from callwright.nouns.types import Tool
from callwright.planning.query import QueryView
from callwright.planning.schema_order import find_claims


def require_distinct(tools: Sequence[Tool]) -> None:
    """PlanError if two tools have the same name: a plan could not tell them apart."""
    names = [t.name for t in tools]
    for name in names:
        if names.count(name) > 1:
            raise PlanError(
                f"{names.count(name)} tools are named {name!r}",
                hint="give one of them a prefix where it is loaded, or leave one out",
            )


class SchemaPlanner:
    """Order by schemas alone: a tool waits for the tools whose outputs its required inputs need."""

    name = "schema"

    def plan(self, query: str, tools: Sequence[Tool]) -> Plan:
        """A plan with every tool exactly once, in the order given. Raises PlanError on names used
        twice.
        """
        del query  # this planner looks at the tools only
        require_distinct(tools)
        found = find_claims(tools)
        plan = Plan.from_edges([t.name for t in tools], [(c.producer, c.consumer) for c in found])
        reasons: dict[str, list[str]] = {}
        for claim in found:
            reasons.setdefault(claim.consumer, []).append(claim.reason)
        return replace(
            plan,
            slots=tuple(replace(s, reason="; ".join(reasons.get(s.id, ()))) for s in plan.slots),
        )


class AllInOnePlanner:
    """No order at all: every tool in the first layer."""

    name = "all-in-one"

    def plan(self, query: str, tools: Sequence[Tool]) -> Plan:
        """A plan without dependencies. Raises PlanError on names used twice."""
        del query
        require_distinct(tools)
        return Plan.from_edges([t.name for t in tools], ())


class MentionPlanner:
    """One tool a layer, in the order in which the query asks for them."""

    name = "mention"

    def plan(self, query: str, tools: Sequence[Tool]) -> Plan:
        """A chain of all tools; ties by name. Raises PlanError on names used twice."""
        require_distinct(tools)
        parts = QueryView(query, [get_profile(t) for t in tools]).parts
        order = [
            t.name
            for _, t in sorted(
                zip(parts, tools, strict=True), key=lambda x: (x[0].place, x[1].name)
            )
        ]
        return Plan.from_edges([t.name for t in tools], pairwise(order))
