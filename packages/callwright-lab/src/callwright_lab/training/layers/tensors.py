"""Plan examples as arrays and padded batches for the layer network. Shape letters as in
:mod:`planning.network`.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from callwright.nouns.errors import MissingExtra
from callwright.nouns.protocols import Encoder
from callwright.nouns.types import Tool
from callwright.planning.network import Array, render_document
from callwright_lab.datasets.examples import PlanExample

try:
    import torch
    from torch import Tensor
except ImportError:
    raise MissingExtra("training the layer predictor", "train", "callwright-lab") from None

Featurizer: TypeAlias = Callable[[str, Sequence[Tool]], tuple[Array, Array]]
"""(query, tools) -> tool features (T, F) and pair features (T, T, P)."""

DISTRACTOR = -1  # the "layer" of a tool that gold never calls


@dataclass(frozen=True, slots=True)
class Encoded:
    """One example as arrays. ``layers`` holds :data:`DISTRACTOR` where gold never calls the
    tool.
    """

    example: PlanExample
    query: Array  # D
    tools: Array  # T D
    layers: Array  # T
    features: Array | None = None  # T F
    pairs: Array | None = None  # T T P
    weight: float = 1.0  # in the loss

    def reordered(self, order: Sequence[int]) -> Encoded:
        """The same example with its tools in another order."""
        rows = np.asarray(order)
        return Encoded(
            self.example,
            self.query,
            self.tools[rows],
            self.layers[rows],
            None if self.features is None else self.features[rows],
            None if self.pairs is None else self.pairs[rows][:, rows],
            self.weight,
        )


@dataclass(frozen=True, slots=True)
class Batch:
    """Padded tensors. ``mask`` is False on padding, ``gold`` is False on padding and on
    distractors.
    """

    query: Tensor  # B D
    tools: Tensor  # B T D
    mask: Tensor  # B T
    layers: Tensor  # B T
    gold: Tensor  # B T
    weight: Tensor  # B
    features: Tensor | None = None  # B T F
    pairs: Tensor | None = None  # B T T P


def encode_examples(
    examples: Sequence[PlanExample],
    encoder: Encoder,
    featurizer: Featurizer | None = None,
    progress: Callable[[str], None] = lambda _: None,
) -> list[Encoded]:
    """Vectors, labels and features of every example, each distinct text encoded once."""
    texts = sorted(
        {e.query for e in examples} | {render_document(t) for e in examples for t in e.tools}
    )
    progress(f"encoding {len(texts)} texts with {encoder.name}")
    place = {text: i for i, text in enumerate(texts)}
    vectors = encoder.encode(texts)
    return [_encode_example(e, vectors, place, featurizer) for e in examples]


def _encode_example(
    e: PlanExample, vectors: Array, place: dict[str, int], featurizer: Featurizer | None
) -> Encoded:
    features, pairs = featurizer(e.query, e.tools) if featurizer else (None, None)
    return Encoded(
        e,
        vectors[place[e.query]],
        vectors[[place[render_document(t)] for t in e.tools]],
        np.array([e.layers.get(t.name, DISTRACTOR) for t in e.tools], np.int64),
        features,
        pairs,
    )


def weight_sources_evenly(rows: Sequence[Encoded]) -> list[Encoded]:
    """The same rows, weighted so that every source weighs the same in sum; the mean weight is 1."""
    counts = Counter(row.example.source for row in rows)
    return [
        replace(row, weight=len(rows) / (len(counts) * counts[row.example.source])) for row in rows
    ]


def iter_batches(rows: Sequence[Encoded], size: int, draw: random.Random) -> Iterator[Batch]:
    """All rows once, in random order, the tools of each in random order.

    Within eight batches rows are sorted by their number of tools, so that little is padded; which
    of the batches comes first is random again.
    """
    order = draw.sample(range(len(rows)), len(rows))
    for start in range(0, len(order), 8 * size):
        near = sorted(order[start : start + 8 * size], key=lambda i: len(rows[i].layers))
        parts = [near[i : i + size] for i in range(0, len(near), size)]
        for part in draw.sample(parts, len(parts)):
            yield collate_batch([_shuffle_tools(rows[i], draw) for i in part])


def _shuffle_tools(row: Encoded, draw: random.Random) -> Encoded:
    return row.reordered(draw.sample(range(len(row.layers)), len(row.layers)))


def collate_batch(rows: Sequence[Encoded]) -> Batch:
    """One padded batch."""
    b, t = len(rows), max(len(row.layers) for row in rows)
    layers = np.full((b, t), DISTRACTOR, np.int64)
    mask = np.zeros((b, t), bool)
    for i, row in enumerate(rows):
        layers[i, : len(row.layers)] = row.layers
        mask[i, : len(row.layers)] = True
    features = [row.features for row in rows if row.features is not None]
    pairs = [row.pairs for row in rows if row.pairs is not None]
    return Batch(
        query=torch.from_numpy(np.stack([row.query for row in rows])),
        tools=_pad_arrays([row.tools for row in rows], (b, t)),
        mask=torch.from_numpy(mask),
        layers=torch.from_numpy(layers),
        gold=torch.from_numpy(layers > DISTRACTOR),
        weight=torch.tensor([row.weight for row in rows]),
        features=_pad_arrays(features, (b, t)) if features else None,
        pairs=_pad_arrays(pairs, (b, t, t)) if pairs else None,
    )


def _pad_arrays(parts: Sequence[Array], size: tuple[int, ...]) -> Tensor:
    """Arrays whose last axis is as long everywhere, zero-padded to ``size`` + (last axis,)."""
    out = np.zeros((*size, parts[0].shape[-1]), np.float32)
    for i, part in enumerate(parts):
        where: tuple[int | slice, ...] = (i, *(slice(n) for n in part.shape[:-1]))
        out[where] = part
    return torch.from_numpy(out)
