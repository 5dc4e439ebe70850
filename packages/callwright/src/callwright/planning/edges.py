"""The pairwise edge model: for every two tools, how likely one needs what the other returns.

Boosted trees over :mod:`callwright.planning.features` give a probability to every ordered pair, a low one wherever
nothing speaks for it (:mod:`callwright.planning.witness`). Of the likely pairs
the heaviest acyclic graph is kept (:mod:`callwright.planning.acyclic`); layers are longest paths in it. Everything is
computed on tools sorted by name, so the order in which they are listed makes no difference. Two models are shipped:
one reads letters alone, the other one also the sentence vectors of :mod:`callwright.planning.meaning`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from callwright.dataflow.flow import get_profile, links_between
from callwright.language.frozen import knows_vocabulary
from callwright.nouns.errors import ConfigError, WeightsError
from callwright.nouns.plan import Plan
from callwright.nouns.protocols import Encoder
from callwright.nouns.thresholds import threshold
from callwright.nouns.types import JsonObject, Tool
from callwright.planning.acyclic import heaviest_acyclic
from callwright.planning.features import DIGEST, pair_features
from callwright.planning.meaning import DIGEST as MEANINGS
from callwright.planning.meaning import pair_meanings
from callwright.planning.planner import require_distinct
from callwright.planning.query import QueryView
from callwright.planning.witness import UNWITNESSED, find_unwitnessed
from callwright.weights.trees import Forest, read_forest

Array = np.ndarray[Any, Any]

SHIPPED = Path(__file__).parent / "data" / "edges.npz"
WITH_ENCODER = SHIPPED.with_name("edges-encoder.npz")
MAX_TOOLS = 40  # looked at pairwise; of more, those the query speaks of most
# a tool waits for another one where that is at least as likely as not
LIKELY = threshold("callwright.planning", "likely")
TIE = 1e-9  # what a pair weighs that is exactly as likely as not
SAMPLES = 256  # drawn graphs behind P(layer = k)


@dataclass(frozen=True, slots=True)
class EdgeModel:
    """Trees and how to read them: P(needed) = sigmoid(slope * log-odds + offset).

    ``encoder`` where the trees read sentence vectors as well, None where they do not.
    """

    forest: Forest
    slope: float
    offset: float
    card: JsonObject
    encoder: Encoder | None = None

    def probabilities(self, query: str, tools: Sequence[Tool]) -> Array:
        """P[i, j] that tool j needs what tool i returns: float64 of shape (N, N), 0 on the
        diagonal.
        """
        count = len(tools)
        if count < 2:
            return np.zeros((count, count))
        return compute_likelihood(
            self.odds(query, tools, edge_features(query, tools, self.encoder))
        )

    def odds(self, query: str, tools: Sequence[Tool], features: Array) -> Array:
        """The calibrated log-odds of every ordered pair by its numbers, (N, N); minus infinity on the diagonal.

        Of a pair that nothing speaks for (:mod:`callwright.planning.witness`) they are low, whatever the trees say.
        """
        made = np.full(features.shape[:2], -np.inf)
        off = ~np.eye(len(made), dtype=bool)
        made[off] = self.slope * self.forest(features[off]) + self.offset
        return (
            made
            if self.card.get("labels") == "sequence"
            else cap_unwitnessed(made, query, tools, features)
        )


def cap_unwitnessed(odds: Array, query: str, tools: Sequence[Tool], features: Array) -> Array:
    """Log-odds in which no pair without a witness is likelier than :data:`UNWITNESSED`."""
    most = np.log(UNWITNESSED / (1 - UNWITNESSED))
    found: Array = np.where(find_unwitnessed(query, tools, features), np.minimum(odds, most), odds)
    return found


def compute_likelihood(odds: Array) -> Array:
    """Chances of log-odds; 0 for minus infinity."""
    with np.errstate(over="ignore"):
        made: Array = 1.0 / (1.0 + np.exp(-odds))
    return made


def edge_features(query: str, tools: Sequence[Tool], encoder: Encoder | None = None) -> Array:
    """Return the features of every ordered pair for the trees, (N, N, F); with an encoder its
    features follow the others.
    """
    found = pair_features(query, tools)
    if encoder is None:
        return found
    return np.concatenate([found, pair_meanings(query, tools, encoder)], axis=-1)


def open_model(path: Path = SHIPPED, encoder: Encoder | None = None) -> EdgeModel:
    """The edge model at ``path``. WeightsError if it is missing, changed, or made for other
    features.

    ``encoder`` must be the one it was trained with, or None if that was without; else ConfigError.
    """
    forest, card = read_forest(path)
    _require_encoder(path, card, encoder)
    same = card.get("features") == DIGEST and knows_vocabulary(card)
    if not same or (encoder is not None and card.get("meanings") != MEANINGS):
        raise WeightsError(
            f"the weights {path} were trained on other features than this version computes",
            hint=f"train them again: callwright train layers --model edges --out {path.parent}",
        )
    try:
        scale = card["calibration"]
        return EdgeModel(forest, float(scale["slope"]), float(scale["offset"]), card, encoder)
    except (KeyError, TypeError, ValueError) as exc:
        raise WeightsError(
            f"the card of {path} does not say how to read the trees: {exc!r}"
        ) from exc


def _require_encoder(path: Path, card: JsonObject, encoder: Encoder | None) -> None:
    trained, given = card.get("encoder"), encoder.name if encoder is not None else None
    if trained == given:
        return
    raise ConfigError(
        f"the weights {path.stem} were trained {_describe_encoder(trained)}, and are opened {_describe_encoder(given)}",
        hint=(
            "open them as they were trained, or train others: callwright train layers --model edges"
            " [--encoder …]"
        ),
    )


def _describe_encoder(encoder: object) -> str:
    return f"with vectors of {encoder!r}" if encoder else "without an encoder"


def acyclic_edges(chances: Array) -> list[tuple[int, int]]:
    """The pairs of at least :data:`LIKELY` that together weigh the most without closing a cycle,
    most likely first.

    A pair weighs its log-odds, so the graph is the likeliest acyclic one, each pair judged by
    itself: :func:`heaviest_acyclic`. Where the likely pairs close no cycle, all of them are kept. A
    pair below :data:`LIKELY` is never kept: it would make a tool wait for one that it probably does
    not need.
    """
    likely = chances >= LIKELY
    found = heaviest_acyclic(np.where(likely, np.maximum(log_odds(chances), 0.0) + TIE, 0.0))
    return sorted(found, key=lambda e: (-chances[e], e))


def log_odds(chances: Array) -> Array:
    """ln p / (1 - p), finite for sure things too."""
    inside = np.clip(chances, 1e-9, 1 - 1e-9)
    made: Array = np.log(inside / (1 - inside))
    return made


def layer_chances(chances: Array, samples: int = SAMPLES) -> Array:
    """P(layer = k) of every tool, (N, N): longest paths in graphs drawn from the pair
    probabilities.

    Of two pairs against each other only the likelier is drawn; longer cycles are cut at the last
    layer. The draws are the same every time.
    """
    count = len(chances)
    if not count:
        return np.zeros((0, 0))
    drawn = np.random.default_rng(0).random((samples, count, count)) < np.where(
        chances > chances.T, chances, 0
    )
    edge = np.ascontiguousarray(drawn.swapaxes(1, 2)).astype(
        np.int16
    )  # [s, j, i]: the longest axis lies last
    depth = np.zeros((samples, count), dtype=np.int16)
    for _ in range(count - 1):
        deeper = (edge * (depth[:, None, :] + 1)).max(axis=2, initial=0)
        deeper = np.minimum(deeper, count - 1)
        if (deeper == depth).all():
            break
        depth = deeper
    made: Array = np.stack([(depth == k).mean(axis=0) for k in range(count)], axis=1)
    return made


class EdgePlanner:
    """Plans by the learned edge model, the shipped one that needs no encoder unless told otherwise.

    Needs no output schemas; deterministic. ``name`` is ``edges``, or ``edges-encoder`` where
    vectors are read.
    """

    def __init__(self, model: EdgeModel | None = None) -> None:
        self.model = model or shipped_model()
        self.name = "edges" if self.model.encoder is None else "edges-encoder"

    def plan(self, query: str, tools: Sequence[Tool]) -> Plan:
        """A plan with every tool exactly once, in the order given. Raises PlanError on names used
        twice.

        A slot carries P(layer = k) and says what it waits for. Beyond :data:`MAX_TOOLS`, tools that
        the query speaks of least stay in the first layer.
        """
        require_distinct(tools)
        looked_at = sorted(select_most_asked(query, tools), key=lambda t: t.name)
        chances = self.model.probabilities(query, looked_at)
        pairs = acyclic_edges(chances)
        edges = [(looked_at[i].name, looked_at[j].name) for i, j in pairs]
        why: dict[str, list[str]] = {}
        for i, j in sorted(pairs, key=lambda p: -chances[p]):
            said = self._reason(looked_at[i], looked_at[j], chances[i, j])
            why.setdefault(looked_at[j].name, []).append(said)
        rows = {
            t.name: _trim_layers(row)
            for t, row in zip(looked_at, layer_chances(chances), strict=True)
        }
        plan = Plan.from_edges([t.name for t in tools], edges)
        slots = (
            replace(
                s, reason="; ".join(why.get(s.tool, ())), probabilities=rows.get(s.tool, (1.0,))
            )
            for s in plan.slots
        )
        return replace(plan, slots=tuple(slots))

    def _reason(self, before: Tool, after: Tool, chance: float) -> str:
        if self.model.card.get("labels") == "sequence":
            return f"is usually called after {before.name} ({chance:.0%})"
        return explain_wait(before, after, chance)


@cache
def shipped_model() -> EdgeModel:
    """The shipped model that needs no encoder, opened once."""
    return open_model(SHIPPED)


def _trim_layers(row: Array) -> tuple[float, ...]:
    """Probabilities without the layers nobody can be in."""
    last = max((k for k, p in enumerate(row) if p > 0), default=0)
    return tuple(round(float(p), 3) for p in row[: last + 1])


def select_most_asked(query: str, tools: Sequence[Tool]) -> list[Tool]:
    """All tools, or the :data:`MAX_TOOLS` the query speaks of most."""
    if len(tools) <= MAX_TOOLS:
        return list(tools)
    view = QueryView(query, [get_profile(t) for t in tools])
    ranked = sorted(zip(tools, view.parts, strict=True), key=lambda x: (-x[1].cover, x[0].name))
    return [t for t, _ in ranked[:MAX_TOOLS]]


def explain_wait(producer: Tool, consumer: Tool, chance: float) -> str:
    """Return the reason why ``consumer`` waits: the input that it lacks, if the schemas show
    one.
    """
    links = links_between(get_profile(producer), get_profile(consumer))
    best = next((x for x in links if x.score >= 0.5), None)
    shown = best.reason if best else f"the query asks for it with what {producer.name} returns"
    return f"{shown} ({chance:.0%})"
