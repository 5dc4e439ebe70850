from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from callwright import weights
from callwright.models.encoders import open_encoder
from callwright.nouns.errors import ConfigError, MissingExtra, PlanError, WeightsError
from callwright.nouns.types import Tool
from callwright.planning.card import write_network
from callwright.planning.features import DIGEST, NAMES
from callwright.planning.layers import SHIPPED, LayerPredictor, layer_features
from callwright.planning.network import Network, Shape

WIDTH = 8


class HashEncoder:
    """Texts -> unit vectors that depend on the text only."""

    name = "hash"
    width = WIDTH

    def encode(self, texts: Sequence[str]) -> np.ndarray[Any, Any]:
        seeds = [int.from_bytes(hashlib.sha256(t.encode()).digest()[:8], "big") for t in texts]
        drawn = np.array([np.random.default_rng(s).normal(size=WIDTH) for s in seeds], np.float32)
        return drawn / np.linalg.norm(drawn, axis=1, keepdims=True)


def stored(
    folder: Path, about: dict[str, Any] | None = None, bias: float | None = None, **sizes: int
) -> Path:
    """A random network on disk; with ``bias`` every threshold answers the same, whatever the
    tool.
    """
    shape = Shape(encoder_width=WIDTH, width=8, heads=2, blocks=1, hidden=8, layers=3, **sizes)
    draw = np.random.default_rng(3)
    arrays = {name: draw.normal(size=size) for name, size in shape.parameters().items()}
    arrays |= {
        name: np.ones(size) for name, size in shape.parameters().items() if name.endswith("scale")
    }
    if bias is not None:
        arrays["rank.weight"] *= 0
        arrays["rank.bias"] = np.full(2, bias)
    write_network(folder, "w", Network(shape, arrays), "hash", about or {})
    return folder / "w.npz"


def tool(
    name: str, inputs: Sequence[str] = (), outputs: Sequence[str] = (), about: str = ""
) -> Tool:
    return Tool(
        name,
        about,
        {
            "type": "object",
            "properties": {i: {"type": "string"} for i in inputs},
            "required": list(inputs),
        },
        (
            {"type": "object", "properties": {o: {"type": "string"} for o in outputs}}
            if outputs
            else None
        ),
    )


SEARCH = tool("search_movie", ["title"], ["movie_id"], "Finds a movie by its title.")
CREDITS = tool("movie_credits", ["movie_id"], ["director_name"], "The people of a movie.")
WEATHER = tool("weather", ["city"], ["celsius"], "Weather of a city.")
TOOLS = [CREDITS, WEATHER, SEARCH]


@settings(max_examples=25, deadline=None)
@given(st.permutations(TOOLS), st.text(max_size=30))
def test_every_tool_stands_exactly_once_in_whatever_order_they_come(
    tmp_path_factory: pytest.TempPathFactory, tools: list[Tool], query: str
) -> None:
    predictor = LayerPredictor(HashEncoder(), stored(tmp_path_factory.mktemp("w")))
    plan = predictor.plan(query, tools)
    assert sorted(s.tool for s in plan.slots) == sorted(t.name for t in TOOLS)
    assert not plan.problems(t.name for t in tools)
    first = {
        s.tool: k for k, layer in enumerate(predictor.plan(query, TOOLS).layers) for s in layer
    }
    assert {s.tool: k for k, layer in enumerate(plan.layers) for s in layer} == first


@pytest.mark.parametrize("bias", [-5.0, 5.0])
def test_a_tool_that_needs_anothers_output_moves_past_it_even_past_the_last_layer(
    tmp_path: Path, bias: float
) -> None:
    predictor = LayerPredictor(HashEncoder(), stored(tmp_path, bias=bias))
    same = 2 if bias > 0 else 0
    assert [p.layer for p in predictor.predict("who directed Alien?", TOOLS)] == [same] * 3
    plan = predictor.plan("who directed Alien?", TOOLS)
    assert [[s.tool for s in layer] for layer in plan.layers] == [
        ["weather", "search_movie"],
        ["movie_credits"],
    ]
    moved = next(s for s in plan.slots if s.tool == "movie_credits")
    assert moved.reason.startswith(f"moved from layer {same} to {same + 1}: needs 'movie_id'")
    assert all(not s.reason for s in plan.slots if s is not moved)


def test_slots_carry_the_probabilities_of_the_layers(tmp_path: Path) -> None:
    plan = LayerPredictor(HashEncoder(), stored(tmp_path)).plan("a query", TOOLS)
    for slot in plan.slots:
        assert len(slot.probabilities) == 3
        assert sum(slot.probabilities) == pytest.approx(1, abs=1e-3)


def test_no_tools_make_an_empty_plan(tmp_path: Path) -> None:
    assert LayerPredictor(HashEncoder(), stored(tmp_path)).plan("a query", []).slots == ()


def test_two_tools_of_one_name_are_refused(tmp_path: Path) -> None:
    with pytest.raises(PlanError, match="search_movie"):
        LayerPredictor(HashEncoder(), stored(tmp_path)).plan("a query", [SEARCH, SEARCH])


def test_vectors_of_another_encoder_are_refused(tmp_path: Path) -> None:
    class Other(HashEncoder):
        name = "other"

    with pytest.raises(ConfigError, match="'hash', not of 'other'"):
        LayerPredictor(Other(), stored(tmp_path))


def test_features_of_a_tool_are_those_of_what_it_needs() -> None:
    features, pairs = layer_features("Find Alien, then its credits", TOOLS)
    need = NAMES.index("flow_required")
    assert features.shape == (3, 2 * len(NAMES))
    assert pairs.shape == (3, 3, len(NAMES))
    assert pairs[0, 2, need] > 0.8  # movie_credits needs what search_movie returns
    assert pairs[2, 0, need] < 0.5
    assert features[0, need] == pairs[0, 2, need]


def test_one_tool_alone_has_no_features() -> None:
    features, pairs = layer_features("Find Alien", [SEARCH])
    assert not features.any()
    assert pairs.shape == (1, 1, len(NAMES))


def test_a_network_with_features_plans_and_is_bound_to_them(tmp_path: Path) -> None:
    sizes = {"tool_features": 2 * len(NAMES), "pair_features": len(NAMES)}
    predictor = LayerPredictor(HashEncoder(), stored(tmp_path, {"features": DIGEST}, **sizes))
    assert len(predictor.plan("Find Alien, then its credits", TOOLS).slots) == 3
    assert len(predictor.plan("Find Alien", [SEARCH]).slots) == 1
    with pytest.raises(ConfigError, match="other features"):
        LayerPredictor(HashEncoder(), stored(tmp_path, {"features": "0"}, **sizes))


@pytest.fixture(scope="module")
def shipped() -> LayerPredictor:
    try:
        weights.fetch("minilm-int8")
        return LayerPredictor(open_encoder())
    except (WeightsError, MissingExtra) as exc:
        pytest.skip(f"the weights of minilm-int8 cannot be had: {exc.message}")


def test_the_shipped_weights_come_with_a_card_that_says_what_they_are() -> None:
    card = LayerPredictor().card
    assert card.encoder == "minilm-int8"
    assert card.shape == Shape()
    assert SHIPPED.stat().st_size < 4_000_000
    assert {row["licence"] for row in card.about["data"]} <= {"Apache-2.0", "MIT"}
    assert {row["title"] for row in card.about["scores"]} == {
        "grouped 5-fold",
        "leave one source out",
    }
    assert card.about["command"].startswith("callwright train layers")


def test_the_shipped_weights_put_a_lookup_before_what_uses_it(shipped: LayerPredictor) -> None:
    """Tools of no training source, no output schemas: the order has to come from the network."""
    tools = [
        tool(
            "charge_card",
            ["customer_number", "sum"],
            about="Charges the card on file of a customer.",
        ),
        tool(
            "find_customer",
            ["email"],
            about="Looks a customer up by e-mail address and returns the number.",
        ),
    ]
    found = {
        p.tool: p for p in shipped.predict("Charge ann@example.org's card with 20 dollars.", tools)
    }
    later, first = found["charge_card"].probabilities, found["find_customer"].probabilities
    assert 1 - later[0] > 1 - first[0] + 0.1
