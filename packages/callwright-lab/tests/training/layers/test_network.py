from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="extra 'train' is not installed")

from callwright.planning.network import Network, Shape  # noqa: E402
from callwright_lab.training.layers.network import (  # noqa: E402
    LayerModel,
    layer_loss,
    threshold_weights,
)
from callwright_lab.training.layers.tensors import collate_batch  # noqa: E402

TEXT = Shape(encoder_width=8, width=32, heads=4, blocks=2, hidden=64, layers=5)
FEATURED = Shape(8, 32, 4, 2, 64, 5, tool_features=2, pair_features=2)
PAPER = Shape(encoder_width=8)


def drawn(shape: Shape) -> LayerModel:
    torch.manual_seed(0)
    model = LayerModel(shape).eval()
    draw = np.random.default_rng(0)
    scales = {
        name: np.abs(draw.normal(size=size)) + 1
        for name, size in shape.parameters().items()
        if "scale" in name
    }
    biases = {
        name: draw.normal(size=size) * 0.1
        for name, size in shape.parameters().items()
        if "bias" in name
    }
    pairs = {
        name: draw.normal(size=size)
        for name, size in shape.parameters().items()
        if "pairs.weight" in name
    }
    changed = {
        name: found.astype(np.float32) for name, found in {**scales, **biases, **pairs}.items()
    }
    model.load_arrays(model.arrays() | changed)
    return model


@pytest.mark.parametrize("shape", [TEXT, FEATURED, PAPER], ids=["text", "features", "paper"])
def test_numpy_computes_what_torch_computes(shape: Shape, make_rows: Callable[..., Any]) -> None:
    model = drawn(shape)
    batch = collate_batch(make_rows(9, features=bool(shape.tool_features)))
    with torch.no_grad():
        wanted = torch.sigmoid(model(batch)).numpy()
    extra = [None if x is None else x.numpy() for x in (batch.features, batch.pairs)]
    found = Network(shape, model.arrays())(
        batch.query.numpy(), batch.tools.numpy(), batch.mask.numpy(), *extra
    )
    mask = batch.mask.numpy()
    assert np.abs(found - wanted)[mask].max() < 1e-5
    assert wanted[mask].std() > 0.01  # it is not one number everywhere


def test_the_blocks_are_pytorchs_own_transformer_encoder(make_rows: Callable[..., Any]) -> None:
    """Eq. (6) by torch.nn.TransformerEncoder, as the paper's authors would write it, gives the same
    numbers.
    """
    model = drawn(TEXT)
    arrays = {name: torch.from_numpy(found) for name, found in model.arrays().items()}
    layer = torch.nn.TransformerEncoderLayer(32, 4, 64, dropout=0.0, batch_first=True)
    encoder = torch.nn.TransformerEncoder(layer, 2, enable_nested_tensor=False).eval()
    for i, block in enumerate(encoder.layers):
        ours = {name.removeprefix(f"blocks.{i}."): found for name, found in arrays.items()}
        theirs = {
            "self_attn.in_proj_weight": "attend.weight",
            "self_attn.in_proj_bias": "attend.bias",
            "self_attn.out_proj.weight": "merge.weight",
            "self_attn.out_proj.bias": "merge.bias",
            "linear1.weight": "expand.weight",
            "linear1.bias": "expand.bias",
            "linear2.weight": "contract.weight",
            "linear2.bias": "contract.bias",
            "norm1.weight": "norm1.gain",
            "norm1.bias": "norm1.bias",
            "norm2.weight": "norm2.gain",
            "norm2.bias": "norm2.bias",
        }
        block.load_state_dict({name: ours[here] for name, here in theirs.items()})
    batch = collate_batch(make_rows(5))
    seen = torch.cat([torch.ones(5, 1, dtype=torch.bool), batch.mask], dim=1)
    with torch.no_grad():
        states = encoder(model._project(batch), src_key_padding_mask=~seen)[:, 1:]
        wanted = states @ arrays["rank.weight"]
        found = model(batch)[..., 0] - arrays["rank.bias"][0]
    assert (found - wanted)[batch.mask].abs().max() < 1e-4


def test_loss_counts_gold_tools_only(make_rows: Callable[..., Any]) -> None:
    batch = collate_batch(make_rows(6))
    logits = torch.zeros(*batch.layers.shape, 4)
    ones = torch.ones(2, 4)
    loss = layer_loss(logits, batch, ones)
    assert loss.item() == pytest.approx(4 * np.log(2), abs=1e-5)  # every threshold undecided
    logits[~batch.gold] = 50.0
    assert layer_loss(logits, batch, ones).item() == pytest.approx(loss.item(), abs=1e-6)


def test_loss_is_zero_for_sure_and_right_answers(make_rows: Callable[..., Any]) -> None:
    batch = collate_batch(make_rows(6))
    above = batch.layers[..., None] > torch.arange(4)
    assert layer_loss(above.float() * 80 - 40, batch, torch.ones(2, 4)).item() == pytest.approx(
        0, abs=1e-6
    )


def test_loss_weighs_by_label_and_threshold(make_rows: Callable[..., Any]) -> None:
    batch = collate_batch(make_rows(6))
    weights = torch.zeros(2, 4)
    weights[1, 0] = 2.0
    logits = torch.zeros(*batch.layers.shape, 4)
    deep = float((batch.layers[batch.gold] > 0).float().mean())
    assert layer_loss(logits, batch, weights).item() == pytest.approx(
        2 * deep * np.log(2), abs=1e-5
    )


def test_class_weights_make_both_labels_of_a_threshold_weigh_the_same() -> None:
    layers = np.array([0] * 6 + [1] * 3 + [2])
    found = threshold_weights(layers, 2, "class", limit=100)
    for k in range(2):
        above = (layers > k).sum()
        assert found[1, k] * above == pytest.approx(found[0, k] * (10 - above))
    assert threshold_weights(layers, 2, "class", limit=3).max() == 3


def test_threshold_weights_are_corals() -> None:
    found = threshold_weights(np.array([0] * 6 + [1] * 3 + [2]), 2, "threshold")
    assert np.allclose(found, np.sqrt([6, 9]) / 3)
    assert np.array_equal(threshold_weights(np.array([0, 1]), 3, "none"), np.ones((2, 3)))
