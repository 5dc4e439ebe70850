"""The planned graph: which of the tools offered the request needs, and what feeds what among them.
No language model.

The edge model (:mod:`callwright.planning.edges`) gives every ordered pair a chance. Boosted trees
over :mod:`callwright.planning.needed` then look at single tools, knowing those chances: which are
needed? What is left is the heaviest acyclic graph of these (:mod:`callwright.planning.acyclic`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from callwright.language.frozen import knows_vocabulary
from callwright.nouns.errors import WeightsError
from callwright.nouns.plan import Plan
from callwright.nouns.thresholds import threshold
from callwright.nouns.types import JsonObject, Tool
from callwright.planning.acyclic import connect_members
from callwright.planning.edges import (
    EdgeModel,
    acyclic_edges,
    compute_likelihood,
    explain_wait,
    select_most_asked,
    shipped_model,
)
from callwright.planning.features import pair_features
from callwright.planning.needed import DIGEST, needed_features
from callwright.planning.planner import require_distinct
from callwright.weights.trees import Forest, read_forest

Array = np.ndarray[Any, Any]

SHIPPED = Path(__file__).parent / "data" / "needed.npz"
NEEDED = threshold("callwright.planning", "needed")
"""A tool as likely as this is planned: one left out costs the answer, one too many a call that may
be declined.
"""


@dataclass(frozen=True, slots=True)
class Graph:
    """Decided graph: places of the needed tools, their (from, to) pairs, likeliest first, and all
    probabilities.
    """

    members: tuple[int, ...]
    edges: tuple[tuple[int, int], ...]
    chances: Array  # (N, N)


@dataclass(frozen=True, slots=True)
class GraphModel:
    """The edge model and the trees that choose tools: P(needed) = sigmoid(slope * log-odds +
    offset).
    """

    edges: EdgeModel
    tools: Forest
    slope: float
    offset: float
    card: JsonObject

    def decide(self, query: str, tools: Sequence[Tool], connected: bool = False) -> Graph:
        """The graph of one request; at least one tool is needed if any is offered.

        ``connected``: one graph that hangs together, of two tools at least, for scorers that know
        no other.
        """
        pairs = pair_features(query, tools)
        odds = self.edges.odds(query, tools, pairs)
        found = self.tools(needed_features(query, tools, pairs, odds))
        members = choose_tools(
            compute_likelihood(self.slope * found + self.offset), NEEDED, 2 if connected else 1
        )
        return link_members(compute_likelihood(odds), members, connected)


def choose_tools(chances: Array, cut: float, least: int = 1) -> list[int]:
    """The places of the tools whose chance makes the cut, or of the ``least`` likeliest ones where
    fewer do.
    """
    order = sorted(range(len(chances)), key=lambda k: (-chances[k], k))
    return sorted(k for rank, k in enumerate(order) if rank < least or chances[k] >= cut)


def link_members(chances: Array, members: Sequence[int], connected: bool = False) -> Graph:
    """The heaviest acyclic graph of the members alone, and joined up if it is to be
    ``connected``.
    """
    inner = np.zeros_like(chances)
    place = np.ix_(members, members)
    inner[place] = chances[place]
    edges = acyclic_edges(inner)
    if connected:
        edges = connect_members(inner, edges, members)
    return Graph(tuple(members), tuple(sorted(edges, key=lambda e: (-chances[e], e))), chances)


class GraphPlanner:
    """Plans only the tools that the request needs, with what feeds what. Deterministic, in
    milliseconds.

    Unlike a :class:`Planner` of layers it may leave tools out; at least one stands in the plan if
    any is offered. The order in which tools are listed makes no difference.
    """

    def __init__(self, model: GraphModel | None = None, connected: bool = False) -> None:
        """``connected``: plans hang together even where nothing is known to flow; for scorers that
        want it so.
        """
        self.model = model or _open_shipped()
        self.name = "graph-connected" if connected else "graph"
        self._connected = connected

    def plan(self, query: str, tools: Sequence[Tool]) -> Plan:
        """A plan of the tools needed, in the order given, each with the reason it waits. PlanError
        on equal names.
        """
        require_distinct(tools)
        looked_at = sorted(select_most_asked(query, tools), key=lambda t: t.name)
        if not looked_at:
            return Plan()
        graph = self.model.decide(query, looked_at, self._connected)
        why: dict[str, list[str]] = {}
        for i, j in graph.edges:
            said = explain_wait(looked_at[i], looked_at[j], graph.chances[i, j])
            why.setdefault(looked_at[j].name, []).append(said)
        kept = {looked_at[k].name for k in graph.members}
        edges = [(looked_at[i].name, looked_at[j].name) for i, j in graph.edges]
        plan = Plan.from_edges([t.name for t in tools if t.name in kept], edges)
        return replace(
            plan, slots=tuple(replace(s, reason="; ".join(why.get(s.tool, ()))) for s in plan.slots)
        )


@cache
def _open_shipped() -> GraphModel:
    return open_graph(SHIPPED)


def open_graph(path: Path = SHIPPED, edges: EdgeModel | None = None) -> GraphModel:
    """The trees at ``path`` with the edge model whose chances they learned from (default: the
    shipped one).

    WeightsError if they are missing or changed, or were made for other features or another edge
    model.
    """
    forest, card = read_forest(path)
    model = edges or shipped_model()
    same = card.get("features") == DIGEST and knows_vocabulary(card)
    if not same or card.get("edges") != model.card.get("sha256"):
        raise WeightsError(
            f"the weights {path} were trained on other features or another edge model than they are"
            " opened with",
            hint=f"train them again: callwright train layers --model graph --out {path.parent}",
        )
    try:
        scale = card["calibration"]
        return GraphModel(model, forest, float(scale["slope"]), float(scale["offset"]), card)
    except (KeyError, TypeError, ValueError) as exc:
        raise WeightsError(
            f"the card of {path} does not say how to read the trees: {exc!r}"
        ) from exc
