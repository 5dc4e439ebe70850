from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="extra 'train' is not installed")

from callwright.nouns.types import Tool  # noqa: E402
from callwright.planning.network import render_document  # noqa: E402
from callwright_lab.datasets.examples import example_from_calls  # noqa: E402
from callwright_lab.training.layers.tensors import (  # noqa: E402
    DISTRACTOR,
    collate_batch,
    encode_examples,
    iter_batches,
    weight_sources_evenly,
)


class Lengths:
    name = "lengths"
    width = 2

    def __init__(self) -> None:
        self.asked: list[str] = []

    def encode(self, texts: Sequence[str]) -> np.ndarray[Any, Any]:
        self.asked += texts
        return np.array([[len(t), 1] for t in texts], np.float32)


def test_examples_become_arrays_each_text_encoded_once() -> None:
    tools = [Tool("a"), Tool("bb"), Tool("ccc")]
    examples = [example_from_calls(i, "s", "query", tools, ["a", "bb"], {1: [0]}) for i in "12"]
    encoder = Lengths()
    rows = encode_examples(examples, encoder)
    assert sorted(encoder.asked) == sorted({"query", *(render_document(t) for t in tools)})
    for row in rows:
        for tool, vector, layer in zip(row.example.tools, row.tools, row.layers, strict=True):
            assert vector[0] == len(render_document(tool))
            assert layer == {"a": 0, "bb": 1, "ccc": DISTRACTOR}[tool.name]


def test_features_are_computed_for_the_tools_in_their_order() -> None:
    example = example_from_calls("1", "s", "query", [Tool("a"), Tool("bb")], ["a"], {})

    def featurizer(query: str, tools: Sequence[Tool]) -> tuple[Any, Any]:
        lengths = np.array([[float(len(t.name))] for t in tools], np.float32)
        return lengths, lengths[:, None] - lengths[None]

    (row,) = encode_examples([example], Lengths(), featurizer)
    assert row.features is not None
    assert row.pairs is not None
    assert [len(t.name) for t in example.tools] == row.features[:, 0].tolist()
    assert row.pairs[0, 1, 0] == row.features[0, 0] - row.features[1, 0]


def test_batches_hold_every_row_once_with_labels_riding_with_their_tools(
    make_rows: Callable[..., Any],
) -> None:
    rows = make_rows(21, features=True)
    found = list(iter_batches(rows, 4, random.Random(0)))
    assert sum(len(b.query) for b in found) == 21
    for b in found:
        marked = b.tools.argmax(-1)
        assert torch.equal(torch.where(b.gold, b.layers, 0), torch.where(b.gold, marked, 0))
        assert torch.equal(b.gold, b.mask & (b.layers > DISTRACTOR))
        assert b.features is not None
        assert b.pairs is not None
        assert b.pairs.shape[:3] == (*b.mask.shape, b.mask.shape[1])
        assert not b.tools[~b.mask].any()


def test_reordering_moves_pairs_along_both_axes(make_rows: Callable[..., Any]) -> None:
    row = next(r for r in make_rows(9, features=True) if len(r.layers) > 2)
    order = list(range(len(row.layers)))[::-1]
    moved = row.reordered(order)
    assert np.array_equal(moved.layers, row.layers[::-1])
    assert np.array_equal(moved.pairs, row.pairs[::-1, ::-1])


def test_the_order_of_tools_differs_from_epoch_to_epoch(make_rows: Callable[..., Any]) -> None:
    rows = make_rows(12)
    first, second = (next(iter(iter_batches(rows, 12, random.Random(seed)))) for seed in (1, 2))
    assert not torch.equal(first.layers, second.layers)


def test_even_weights_make_sources_weigh_the_same(make_rows: Callable[..., Any]) -> None:
    rows = weight_sources_evenly(
        [*make_rows(8), *(r for r in make_rows(6, start=100) if r.example.source == "odd")]
    )
    sums: dict[str, float] = {}
    for row in rows:
        sums[row.example.source] = sums.get(row.example.source, 0.0) + row.weight
    assert len(sums) == 2
    assert sums["odd"] == pytest.approx(sums["even"])
    assert np.mean(collate_batch(rows).weight.numpy()) == pytest.approx(1)
