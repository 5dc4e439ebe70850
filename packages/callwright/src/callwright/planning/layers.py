"""The layer predictor: one question to a small network puts every tool into an execution layer
(RETO, section 3.2).

The network reads query and tool documents as encoder vectors; the schema-level constraint then
moves a tool whose required input another tool provides to a later layer, past the network's last
one if need be. What the plan waits for is sharper than layers where the data flow is known
(:mod:`callwright.planning.layers_to_edges`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from callwright.language.frozen import knows_vocabulary
from callwright.nouns.errors import ConfigError
from callwright.nouns.plan import Plan
from callwright.nouns.protocols import Encoder
from callwright.nouns.types import Tool
from callwright.planning.card import Card, read_network
from callwright.planning.edges import shipped_model
from callwright.planning.features import DIGEST, NAMES, pair_features
from callwright.planning.layers_to_edges import find_flows, layers_to_edges
from callwright.planning.network import (
    Array,
    Network,
    compute_probabilities,
    decode_layers,
    render_document,
)
from callwright.planning.planner import require_distinct
from callwright.planning.schema_order import Move, constrain_layers, find_claims

SHIPPED = Path(__file__).parent / "data" / "layers-text.npz"
"""The paper's network, text only, trained on every source whose licence allows it; the card beside
it says how.
"""


@dataclass(frozen=True, slots=True)
class Prediction:
    """Prediction of the network for one tool, before the constraint. ``probabilities[k]`` is
    P(layer = k).
    """

    tool: str
    layer: int
    probabilities: tuple[float, ...]


class LayerPredictor:
    """Plans by the layer network. ``weights`` is the ``.npz`` of :mod:`callwright.planning.card`,
    its card beside it.

    The encoder (default: MiniLM, opened on first use) must be the one the weights were trained
    with, else ConfigError. Deterministic, and the order of the tools makes no difference.
    """

    name = "layers"

    def __init__(self, encoder: Encoder | None = None, weights: Path = SHIPPED) -> None:
        self._network, self.card = read_network(weights)
        _require_features(self._network, self.card)
        self._encoder = encoder
        if encoder is not None:
            _require_same(self.card, encoder)

    def predict(self, query: str, tools: Sequence[Tool]) -> tuple[Prediction, ...]:
        """Eq. (1)-(9): the network's layer of every tool, in the order given."""
        if not tools:
            return ()
        cumulative = predict_layers(self._network, self._open_encoder(), query, tools)  # T K
        return tuple(
            Prediction(tool.name, int(layer), tuple(round(float(p), 4) for p in row))
            for tool, layer, row in zip(
                tools, decode_layers(cumulative), compute_probabilities(cumulative), strict=True
            )
        )

    def plan(self, query: str, tools: Sequence[Tool]) -> Plan:
        """A plan with every tool exactly once. Raises PlanError on names used twice.

        A slot carries P(layer = k) of the network; its reason says why the constraint moved it, and
        which tools are known to feed it: it waits for these alone, and for the layer before it
        where nothing is known.
        """
        require_distinct(tools)
        found = {p.tool: p for p in self.predict(query, tools)}
        placed, moves = constrain_layers(
            {name: p.layer for name, p in found.items()}, find_claims(tools)
        )
        count = max(placed.values(), default=-1) + 1
        plan = Plan.from_layers(
            [[name for name, k in placed.items() if k == layer] for layer in range(count)]
        )
        why = {move.tool: _render_move(move) for move in moves}
        slots = (
            replace(s, probabilities=found[s.tool].probabilities, reason=why.get(s.tool, ""))
            for s in plan.slots
        )
        return layers_to_edges(
            replace(plan, slots=tuple(slots)), find_flows(query, tools, shipped_model())
        )

    def _open_encoder(self) -> Encoder:
        if self._encoder is None:
            from callwright.models.encoders import open_encoder

            opened = open_encoder("minilm")
            _require_same(self.card, opened)
            self._encoder = opened
        return self._encoder


def predict_layers(network: Network, encoder: Encoder, query: str, tools: Sequence[Tool]) -> Array:
    """P(l > k) of every tool, (T, K): encode, compute features if the network wants them, run
    it.
    """
    vectors = encoder.encode([query, *(render_document(t) for t in tools)])
    extra: tuple[Array | None, Array | None] = (None, None)
    if network.shape.tool_features:
        features, pairs = layer_features(query, tools)
        extra = features[None], pairs[None]
    cumulative: Array = network(vectors[:1], vectors[None, 1:], None, *extra)[0]
    return cumulative


def layer_features(query: str, tools: Sequence[Tool]) -> tuple[Array, Array]:
    """Features for the network that has them: of tools (T, 2F) and of pairs (T, T, F), F =
    len(NAMES).

    ``pairs[i, j]`` speaks of "i needs j", so that tool i attends to what it needs; a tool's own
    features are the largest and the mean of them over all other tools.
    """
    pairs = np.swapaxes(pair_features(query, tools), 0, 1).astype(np.float32)
    count = len(tools)
    if count < 2:
        return np.zeros((count, 2 * len(NAMES)), np.float32), pairs
    others = pairs[~np.eye(count, dtype=bool)].reshape(count, count - 1, -1)
    return np.concatenate([others.max(1), others.mean(1)], axis=-1), pairs


def _require_features(network: Network, card: Card) -> None:
    """ConfigError if the network takes features and they, or the words that they are computed with,
    have changed since it was trained.
    """
    same = card.about.get("features") == DIGEST and knows_vocabulary(card.about)
    if network.shape.tool_features and not same:
        raise ConfigError(
            f"the weights {card.name} were trained on other features than this version computes",
            hint="train them again: callwright train layers --model network --features",
        )


def _require_same(card: Card, encoder: Encoder) -> None:
    if encoder.name != card.encoder:
        raise ConfigError(
            f"the weights {card.name} were trained on vectors of {card.encoder!r}, not of"
            f" {encoder.name!r}",
            hint=(
                "take that encoder, or train weights for yours: callwright train layers --model"
                " network --encoder …"
            ),
        )


def _render_move(move: Move) -> str:
    return f"moved from layer {move.before} to {move.after}: {move.reason}"
