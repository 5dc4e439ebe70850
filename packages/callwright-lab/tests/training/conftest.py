"""Small encoded examples: the layer of a tool is written into its vector, so that there is
something to learn.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
import pytest

from callwright.nouns.types import Tool
from callwright_lab.datasets.examples import example_from_calls

if TYPE_CHECKING:
    from callwright_lab.training.layers.tensors import Encoded

WIDTH, LAYERS, FEATURES = 8, 3, 2


@pytest.fixture(scope="session")
def make_rows() -> Callable[..., list[Encoded]]:
    """``make_rows(count, features=False)``: chains of one to three tools and one distractor
    each.
    """
    pytest.importorskip("torch", reason="extra 'train' is not installed")
    from callwright_lab.training.layers.tensors import DISTRACTOR, Encoded

    def one(number: int, features: bool) -> Encoded:
        draw = random.Random(number)
        noise = np.random.default_rng(number)
        depth = draw.randint(1, LAYERS)
        names = [f"tool_{number}_{k}" for k in range(depth)]
        tools = [Tool(name) for name in [*names, f"other_{number}"]]
        source = "even" if number % 2 else "odd"
        example = example_from_calls(
            f"e{number}", source, "q", tools, names, {k: [k - 1] for k in range(1, depth)}
        )
        layers = np.array([example.layers.get(t.name, DISTRACTOR) for t in example.tools])
        vectors = noise.normal(size=(len(layers), WIDTH)).astype(np.float32) * 0.1
        vectors[np.arange(len(layers)), layers] += 1  # a distractor (-1) marks the last place
        tool_features = noise.normal(size=(len(layers), FEATURES)).astype(np.float32)
        pairs = noise.normal(size=(len(layers), len(layers), FEATURES)).astype(np.float32)
        query = noise.normal(size=WIDTH).astype(np.float32)
        extra = (tool_features, pairs) if features else (None, None)
        return Encoded(example, query, vectors, layers, *extra)

    return lambda count, features=False, start=0: [one(start + i, features) for i in range(count)]
