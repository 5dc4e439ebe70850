from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from callwright.nouns.errors import WeightsError
from callwright.nouns.types import Tool
from callwright.planning.network import (
    Network,
    Shape,
    compute_probabilities,
    decode_layers,
    render_document,
)

SMALL = Shape(encoder_width=6, width=8, heads=2, blocks=2, hidden=12, layers=4)
FEATURED = Shape(
    encoder_width=6,
    width=8,
    heads=2,
    blocks=1,
    hidden=12,
    layers=3,
    tool_features=3,
    pair_features=2,
)


def network(shape: Shape = SMALL, seed: int = 0) -> Network:
    draw = np.random.default_rng(seed)
    return Network(
        shape, {name: draw.normal(size=size) for name, size in shape.parameters().items()}
    )


def vectors(*size: int, seed: int = 1) -> np.ndarray[Any, Any]:
    return np.random.default_rng(seed).normal(size=size).astype(np.float32)


@settings(max_examples=30, deadline=None)
@given(st.permutations(range(5)), st.integers(0, 3))
def test_permuting_the_tools_permutes_the_output_and_nothing_else(
    order: list[int], seed: int
) -> None:
    query, tools = vectors(1, 6, seed=seed), vectors(1, 5, 6, seed=seed + 1)
    found = network()(query, tools)
    assert np.allclose(network()(query, tools[:, order]), found[:, order], atol=1e-5)


@settings(max_examples=20, deadline=None)
@given(st.permutations(range(4)))
def test_permuting_tools_with_features_permutes_the_output(order: list[int]) -> None:
    query, tools, features, pairs = (
        vectors(1, 6),
        vectors(1, 4, 6),
        vectors(1, 4, 3),
        vectors(1, 4, 4, 2),
    )
    n = network(FEATURED)
    moved = n(query, tools[:, order], None, features[:, order], pairs[:, order][:, :, order])
    assert np.allclose(moved, n(query, tools, None, features, pairs)[:, order], atol=1e-5)


def test_padding_changes_nothing() -> None:
    query, tools = vectors(1, 6), vectors(1, 3, 6)
    padded = np.concatenate([tools, vectors(1, 2, 6, seed=9)], axis=1)
    mask = np.array([[True, True, True, False, False]])
    assert np.allclose(network()(query, padded, mask)[:, :3], network()(query, tools), atol=1e-5)


def test_query_and_other_tools_change_what_is_said_of_a_tool() -> None:
    query, tools = vectors(1, 6), vectors(1, 3, 6)
    found = network()(query, tools)[0, 0]
    assert not np.allclose(network()(-query, tools)[0, 0], found, atol=1e-5)
    assert not np.allclose(network()(query, tools[:, :2])[0, 0], found, rtol=0, atol=1e-5)


def test_pair_features_reach_the_tool_that_looks() -> None:
    query, tools, features = vectors(1, 6), vectors(1, 3, 6), vectors(1, 3, 3)
    pairs = np.zeros((1, 3, 3, 2), np.float32)
    n = network(FEATURED)
    before = n(query, tools, None, features, pairs)
    pairs[0, 0, 2] = 5.0
    after = n(query, tools, None, features, pairs)
    assert not np.allclose(before[0, 0], after[0, 0], atol=1e-4)
    assert np.allclose(
        before[0, 1:], after[0, 1:], atol=1e-6
    )  # one block: nobody else has looked at tool 0 since


def test_a_network_with_features_does_not_run_without_them() -> None:
    with pytest.raises(ValueError, match="features"):
        network(FEATURED)(vectors(1, 6), vectors(1, 3, 6))


def test_the_output_is_one_score_shared_by_all_thresholds() -> None:
    """Eq. (8): the logits of two thresholds differ by the difference of their biases, for every
    tool alike.
    """
    n = network()
    found = n(vectors(2, 6), vectors(2, 4, 6)).astype(np.float64)
    logits = np.log(found / (1 - found))
    inside = np.abs(logits).max(-1) < 8  # past that float32 has no digits left
    gaps = (logits - logits[..., :1])[inside]
    assert inside.sum() > 2
    assert np.allclose(gaps, n.weights["rank.bias"] - n.weights["rank.bias"][0], atol=0.02)


@pytest.mark.parametrize(
    ("cumulative", "layer"),
    [([0.1, 0.1], 0), ([0.9, 0.4], 1), ([0.9, 0.6], 2), ([0.5, 0.5], 0), ([0.4, 0.6], 1)],
)
def test_the_layer_is_the_number_of_thresholds_exceeded(
    cumulative: list[float], layer: int
) -> None:
    assert decode_layers(np.array(cumulative)) == layer


@given(st.lists(st.floats(0, 1), min_size=1, max_size=6))
def test_probabilities_of_layers_are_a_distribution(cumulative: list[float]) -> None:
    found = compute_probabilities(np.array(cumulative))
    assert len(found) == len(cumulative) + 1
    assert found.min() >= 0
    assert found.sum() == pytest.approx(1)


def test_probabilities_are_differences_of_cumulative_ones() -> None:
    assert compute_probabilities(np.array([0.9, 0.3, 0.1])) == pytest.approx([0.1, 0.6, 0.2, 0.1])


def test_a_document_holds_name_description_and_parameters_required_ones_first() -> None:
    properties = {
        "unit": {"type": "string"},
        "city": {"type": "string", "description": "where"},
        "x": True,
    }
    tool = Tool(
        "get_weather",
        " Weather of a city. ",
        {"type": "object", "properties": properties, "required": ["city"]},
        output_schema={"type": "object", "properties": {"celsius": {"type": "number"}}},
    )
    text = render_document(tool)
    assert (
        text == "get_weather: Weather of a city.\nParameters: city (string, required): where; unit"
        " (string); x (any)"
    )
    assert render_document(tool, outputs=True) == text + "\nReturns: celsius (number)"
    assert render_document(Tool("ping")) == "ping: \nParameters: none"


def test_weights_of_another_shape_are_refused_by_name() -> None:
    arrays = dict(network().weights)
    arrays["rank.bias"] = np.zeros(7)
    with pytest.raises(WeightsError, match=r"rank\.bias"):
        Network(SMALL, arrays)
    del arrays["rank.bias"]
    with pytest.raises(WeightsError, match="missing"):
        Network(SMALL, arrays)


@pytest.mark.parametrize(
    "row", [{}, {**SMALL.to_dict(), "heads": 3}, {**SMALL.to_dict(), "layers": "many"}]
)
def test_a_shape_that_is_none_is_refused(row: dict[str, Any]) -> None:
    with pytest.raises(WeightsError, match="layer network"):
        Shape.from_dict(row)


def test_the_default_shape_is_the_papers() -> None:
    assert (Shape().width, Shape().heads, Shape().blocks, Shape().layers) == (256, 8, 2, 5)
    assert Shape.from_dict(Shape().to_dict()) == Shape()
