"""``callwright train layers --model complextool``: whole graphs on ComplexTool-Plan, learned only
to measure.

No licence of it is known, so nothing learned here is kept. Five folds by parent tool: no two rows
that offer an operation of the same API are on both sides. One model learns from easy and hard rows
alike, the choice of tools and the edges among gold's; both read the chances of the shipped model
besides, which knows nothing of these rows. Gold hangs together always, so every graph is joined up.
"""

from __future__ import annotations

import argparse
import hashlib
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from callwright.models.encoders import open_encoder
from callwright.nouns.protocols import Encoder
from callwright.planning.features import pair_features
from callwright.planning.graph import GraphModel, choose_tools, link_members, open_graph
from callwright.planning.meaning import NAMES as MEANINGS
from callwright.planning.meaning import pair_meanings
from callwright.planning.needed import needed_features
from callwright.weights import cache_dir
from callwright.weights.arrays import Array
from callwright.weights.trees import Forest
from callwright_lab import metrics
from callwright_lab.datasets.examples import PlanExample
from callwright_lab.datasets.sources import load_examples
from callwright_lab.datasets.splits import FOLDS
from callwright_lab.training.boosting import build_parameters, export_forest, import_lightgbm
from callwright_lab.training.edges.graph import Settings, compute_shares, render_table

PARTS = ("complextool_easy", "complextool_hard")
SEED = "callwright-complextool-1"  # changing it changes every split: never do
NEEDED = 0.4  # both halves, seen on the rows learned from
_PARENT = re.compile(r"工具[\"“]([^\"”]+)[\"”]|[\"“]([^\"”]+)[\"”]工具")


@dataclass(frozen=True, slots=True)
class Row:
    """One example: features of tools (N, F) and pairs (N, N, P), and gold's tools (N) and edges (N,
    N).
    """

    example: PlanExample
    fold: int
    tools: Array
    pairs: Array
    needed: Array
    edges: Array

    @property
    def mask(self) -> Array:
        """The pairs of gold's tools, (N, N)."""
        both: Array = np.outer(self.needed, self.needed) & ~np.eye(len(self.needed), dtype=bool)
        return both


def find_parent_apis(example: PlanExample) -> frozenset[str]:
    """The APIs whose operations are offered, by the tools' descriptions; a tool that names none is
    its own.
    """
    found = ((t.name, _PARENT.search(t.description)) for t in example.tools)
    return frozenset((m[1] or m[2]) if m else f"tool {name}" for name, m in found)


def assign_folds(groups: Sequence[frozenset[str]]) -> list[int]:
    """The fold of every row, so that rows which share a parent, directly or over others, are in the
    same.
    """
    above: dict[str, str] = {}

    def top(name: str) -> str:
        while above.setdefault(name, name) != name:
            name = above[name]
        return name

    for group in groups:
        first, *others = sorted(group)
        for other in others:
            low, high = sorted((top(first), top(other)))
            above[high] = low
    return [_hash_to_fold(top(min(group))) for group in groups]


def _hash_to_fold(name: str) -> int:
    return int.from_bytes(hashlib.sha256(f"{SEED}\0{name}".encode()).digest()[:8], "big") % FOLDS


def build_row(
    example: PlanExample, fold: int, model: GraphModel, encoder: Encoder | None = None
) -> Row:
    """The features of one example; what the shipped model says of a tool or pair stands behind its
    own numbers.

    With an ``encoder`` the likeness of pairs (:mod:`callwright.planning.meaning`) does too, and
    that of each tool to its part of the request and to the whole.
    """
    pairs = pair_features(example.query, example.tools)
    odds = model.edges.odds(example.query, example.tools, pairs)
    place = {t.name: k for k, t in enumerate(example.tools)}
    needed = np.array([t.name in example.gold for t in example.tools])
    edges = np.zeros(odds.shape, dtype=bool)
    for a, b in example.edges:
        edges[place[a], place[b]] = True
    found = needed_features(example.query, example.tools, pairs, odds)
    likely = model.tools(found)
    tools = [found, np.stack([likely, likely - likely.max(initial=0.0)], axis=1)]
    more = [pairs, np.stack([odds, odds.T], axis=-1)]
    if encoder is not None:
        alike = pair_meanings(example.query, example.tools, encoder)
        own = alike.max(axis=1)[
            :, [MEANINGS.index(n) for n in ("meaning_own_a", "meaning_query_a")]
        ]
        tools += [own, own - own.max(axis=0)]
        more.append(alike)
    return Row(
        example, fold, np.concatenate(tools, axis=1), np.concatenate(more, axis=-1), needed, edges
    )


def load_rows(root: Path | None = None, encoder: Encoder | None = None) -> list[Row]:
    """Every row of both halves."""
    examples = [e for part in PARTS for e in load_examples(part, root)]
    model, folds = open_graph(), assign_folds([find_parent_apis(e) for e in examples])
    return [build_row(e, k, model, encoder) for e, k in zip(examples, folds, strict=True)]


def grow_forests(learned: Sequence[Row], settings: Settings) -> tuple[Forest, Forest]:
    """Trees for tools and trees for pairs. Deterministic; one thread."""
    tools = np.concatenate([r.tools for r in learned]), np.concatenate([r.needed for r in learned])
    pairs = (
        np.concatenate([r.pairs[r.mask] for r in learned]),
        np.concatenate([r.edges[r.mask] for r in learned]),
    )
    even = np.concatenate(
        [np.full(int(r.mask.sum()), 1.0 / max(1, r.needed.sum() - 1)) for r in learned]
    )
    return _grow_forest(*tools, None, settings), _grow_forest(*pairs, even, settings)


def _grow_forest(
    features: Array, target: Array, weight: Array | None, settings: Settings
) -> Forest:
    boosting = import_lightgbm("measuring on ComplexTool-Plan")
    data = boosting.Dataset(features, target.astype(np.float32), weight=weight)
    return export_forest(
        boosting.train(build_parameters(settings, objective="binary"), data, settings.rounds)
    )


def score_row(row: Row, tools: Forest, pairs: Forest) -> metrics.GraphScore:
    """The graph planned for one row against gold."""
    chances = np.zeros(row.edges.shape)
    off = ~np.eye(len(chances), dtype=bool)
    chances[off] = 1.0 / (1.0 + np.exp(-pairs(row.pairs[off])))
    members = choose_tools(1.0 / (1.0 + np.exp(-tools(row.tools))), NEEDED, 2)
    graph = link_members(chances, members, connected=True)
    names = [t.name for t in row.example.tools]
    found = {(names[i], names[j]) for i, j in graph.edges}
    return metrics.graph_score(
        [names[k] for k in members], found, row.example.gold, row.example.edges
    )


def measure_halves(
    root: Path | None = None, encoder: Encoder | None = None
) -> dict[str, metrics.GraphScore]:
    """Macro-averaged scores of both halves on parents that nobody learned from. ConfigError without
    the data.
    """
    every, settings = load_rows(root, encoder), Settings()
    made: dict[str, list[metrics.GraphScore]] = {part: [] for part in PARTS}
    for k in range(FOLDS):
        trees = grow_forests([r for r in every if r.fold != k], settings)
        for r in (r for r in every if r.fold == k):
            made[r.example.source].append(score_row(r, *trees))
    return {part: metrics.average_scores(scores) for part, scores in made.items()}


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table. Writes no weights."""
    p = argparse.ArgumentParser(
        prog="callwright train layers --model complextool", description=__doc__
    )
    p.add_argument(
        "--data", type=Path, help="folder that holds the data sets (default: $CALLWRIGHT_DATA)"
    )
    p.add_argument(
        "--encoder",
        help="read sentence vectors as well: minilm, a model folder, https://host/v1#model",
    )
    p.add_argument(
        "--cache",
        type=Path,
        default=cache_dir() / "vectors.sqlite",
        help="file that keeps the vectors",
    )
    args = p.parse_args(list(sys.argv[1:] if arguments is None else arguments))
    encoder = open_encoder(args.encoder, cache=args.cache) if args.encoder else None
    found = measure_halves(args.data, encoder)
    sys.stdout.write(
        render_table({part: compute_shares(score) for part, score in found.items()}) + "\n"
    )
    return 0
