"""What is overlooked because a graph proposes whose vectors are looked at, beside looking at
all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from retrieval_kept import FOLDER

from callwright.models.encoders import open_encoder
from callwright.retrieval import Mode, ToolIndex
from callwright.retrieval.features import LOOKED_AT
from callwright.retrieval.neighbours import Neighbours
from callwright.retrieval.store import load

FIRST = 10


def missed(sizes: Sequence[int], asked: Sequence[str]) -> list[str]:
    """A table: of the ten nearest vectors, and of the ten best tools, how many are found; percent
    of all of them.
    """
    lines = [
        (
            f"| tools | nearest {FIRST} among {LOOKED_AT} proposed | best {FIRST}, `dense` |"
            " `single` | `hybrid` |"
        ),
        "|---:" * 5 + "|",
    ]
    encoder = open_encoder(cache=FOLDER / "vectors.sqlite")
    for size in sizes:
        index = load(FOLDER / str(size), encoder)
        vectors = np.asarray(index.vectors)
        near = index.fields.near or Neighbours.build(index.documents.digests, vectors)
        every = ToolIndex(index.documents, encoder, vectors, replace(index.fields, near=None))
        some = ToolIndex(index.documents, encoder, vectors, replace(index.fields, near=near))
        modes: tuple[Mode, ...] = ("dense", "single", "hybrid")
        shares = [
            _proposed(near, vectors, encoder.encode(asked)),
            *(_same(some, every, asked, mode) for mode in modes),
        ]
        lines.append(f"| {size:,} | {' | '.join(f'{100 * share:.1f}' for share in shares)} |")
    return lines


def _proposed(near: Neighbours, vectors: np.ndarray, asked: np.ndarray) -> float:
    best = np.argsort(-(vectors @ asked.T), axis=0, kind="stable")[:FIRST].T
    return float(
        np.mean(
            [
                np.isin(each, near.nearest(asked[i : i + 1], LOOKED_AT)).mean()
                for i, each in enumerate(best)
            ]
        )
    )


def _same(some: ToolIndex, every: ToolIndex, asked: Sequence[str], mode: Mode) -> float:
    """The share of the best tools of looking at all vectors that are among the best of looking at
    some.
    """
    found = 0.0
    for query in asked:
        one, other = (
            {hit.name for hit in index.search(query, FIRST, mode=mode)} for index in (some, every)
        )
        found += len(one & other) / max(1, len(other))
    return found / len(asked)
