"""``callwright train layers --model graph``: which of the tools offered a request needs, learned
beside the edges.

The edge model stays as it is (:mod:`callwright_lab.training.edges.edges`); the trees learned here
read its chances. Trees fit what they have seen too well, so nothing is learned from a chance that
trees gave to an example of their own: plans are predicted in five folds by tool combination, each
by an edge model of the other four, and the trees for tools learn from all of them. They are
calibrated on sources left out.

Scores of whole graphs on combinations nobody learned from go into the card.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from callwright.language.frozen import vocabulary_digest
from callwright.planning.edges import EdgeModel, compute_likelihood, open_model
from callwright.planning.features import pair_features
from callwright.planning.graph import NEEDED, SHIPPED, choose_tools, link_members
from callwright.planning.needed import DIGEST, NAMES, needed_features
from callwright.weights.arrays import Array
from callwright.weights.trees import Forest, write_forest
from callwright_lab import metrics
from callwright_lab.datasets.examples import PlanExample
from callwright_lab.datasets.sources import data_root, list_sources, load_examples
from callwright_lab.datasets.splits import FOLDS, get_fold, hash_fold
from callwright_lab.training.boosting import (
    Growth,
    build_parameters,
    export_forest,
    fit_logistic,
    import_lightgbm,
)
from callwright_lab.training.edges import edges
from callwright_lab.training.edges.choices import (
    CANDIDATES,
    Choice,
    build_choices,
    stabletoolbench_choices,
)
from callwright_lab.training.ranker.retrieval_data import STABLETOOLBENCH_WHERE
from callwright_lab.training.release import (
    add_options,
    render_command,
    require_place,
    require_sources,
)

MEASURED = ("nestful", "complexfuncbench", "nestools", "seal_tools")


@dataclass(frozen=True, slots=True)
class Settings(Growth):
    """Everything a run depends on besides the data."""

    rounds: int = 200
    least: int = 20  # tools in a leaf
    power: float = 0.5  # a source of n tools weighs n ** power


@dataclass(frozen=True, slots=True)
class Rows:
    """One choice: the log-odds of its pairs (N, N), the features of its tools (N, F), and which are
    needed (N).
    """

    choice: Choice
    odds: Array
    features: Array
    target: Array


def build_rows(choice: Choice, model: EdgeModel) -> Rows:
    """``model`` must not have learned from the choice."""
    pairs = pair_features(choice.query, choice.tools)
    odds = model.odds(choice.query, choice.tools, pairs)
    target = np.array([t.name in choice.needed for t in choice.tools])
    return Rows(choice, odds, needed_features(choice.query, choice.tools, pairs, odds), target)


def without_each_fold(
    prepared: edges.Prepared, settings: edges.Settings, shipped: EdgeModel
) -> list[EdgeModel]:
    """Edge models, the k-th of which has seen no tool combination of fold k; calibrated as the
    shipped one is.
    """
    made: list[EdgeModel] = []
    for k in range(FOLDS):
        forest = edges.grow_forest(
            prepared.rows(e for e in prepared.examples if get_fold(e) != k), settings
        )
        made.append(replace(shipped, forest=forest))
    return made


def gather_choices(names: Iterable[str], root: Path | None) -> dict[str, list[Choice]]:
    """The choices of every source."""
    made: dict[str, list[Choice]] = {}
    for name in names:
        if name == CANDIDATES:
            made[name] = stabletoolbench_choices(
                (root or data_root()) / "stabletoolbench" / "queries"
            )
        else:
            made[name] = build_choices(load_examples(name, root))
    return made


def build_choice_rows(
    choices: Mapping[str, Sequence[Choice]], unseen: Sequence[EdgeModel], shipped: EdgeModel
) -> list[Rows]:
    """The rows of all choices. No edge model learned from :data:`CANDIDATES`, so the shipped one
    speaks there.
    """
    return [
        build_rows(c, shipped if c.source == CANDIDATES else unseen[hash_fold(c.combination)])
        for found in choices.values()
        for c in found
    ]


def grow_forest(rows: Sequence[Rows], settings: Settings) -> Forest:
    """Trees for P(needed). Deterministic; one thread."""
    boosting = import_lightgbm("training the choice of tools")
    features = np.concatenate([r.features for r in rows])
    target = np.concatenate([r.target for r in rows]).astype(np.float32)
    data = boosting.Dataset(
        features,
        target,
        weight=compute_tool_weights(rows, settings.power),
        feature_name=list(NAMES),
    )
    return export_forest(
        boosting.train(build_parameters(settings, objective="binary"), data, settings.rounds)
    )


def compute_tool_weights(rows: Sequence[Rows], power: float) -> Array:
    """One weight a tool; all tools of a source together weigh their number to the ``power``."""
    size: dict[str, int] = {}
    for r in rows:
        size[r.choice.source] = size.get(r.choice.source, 0) + len(r.target)
    every = np.concatenate(
        [np.full(len(r.target), size[r.choice.source] ** (power - 1.0)) for r in rows]
    )
    found: Array = every / every.mean()
    return found


Predicted = list[tuple[Rows, Array]]


def predict_across_folds(rows: Sequence[Rows], settings: Settings) -> Predicted:
    """Log-odds for every choice by trees that saw none with its combination of tools."""
    made: Predicted = []
    for k in range(FOLDS):
        forest = grow_forest([r for r in rows if hash_fold(r.choice.combination) != k], settings)
        made += [(r, forest(r.features)) for r in rows if hash_fold(r.choice.combination) == k]
    return made


def predict_unseen_sources(rows: Sequence[Rows], settings: Settings) -> Predicted:
    """Log-odds for every choice by trees that saw nothing of its source."""
    made: Predicted = []
    for source in sorted({r.choice.source for r in rows}):
        others = [r for r in rows if r.choice.source != source]
        if others:
            forest = grow_forest(others, settings)
            made += [(r, forest(r.features)) for r in rows if r.choice.source == source]
    return made


def fit_calibration(found: Predicted) -> tuple[float, float]:
    """Slope and offset of the logistic curve that fits log-odds to labels best, every source
    weighing the same.
    """
    names = sorted({r.choice.source for r, _ in found})
    of = {s: [(o, r.target) for r, o in found if r.choice.source == s] for s in names}
    x = np.concatenate([o for s in names for o, _ in of[s]])
    y = np.concatenate([t for s in names for _, t in of[s]])
    w = np.concatenate(
        [np.full(sum(len(t) for _, t in of[s]), 1.0 / sum(len(t) for _, t in of[s])) for s in names]
    )
    return fit_logistic(x, y, w)


def scored_tools(found: Predicted, slope: float, offset: float) -> dict[str, metrics.GraphScore]:
    """Return the scores of the chosen tools, macro-averaged by source; edges are ignored."""
    made: dict[str, list[metrics.GraphScore]] = {}
    for r, odds in found:
        kept = choose_tools(1.0 / (1.0 + np.exp(-(slope * odds + offset))), NEEDED)
        score = metrics.graph_score(kept, (), np.flatnonzero(r.target).tolist(), ())
        made.setdefault(r.choice.source, []).append(score)
    return {source: metrics.average_scores(scores) for source, scores in sorted(made.items())}


def scored_edges(found: edges.Predicted, model: EdgeModel) -> dict[str, metrics.GraphScore]:
    """Edges among gold's tools, macro-averaged by source; ``all`` is over the plans of
    :data:`MEASURED`.
    """
    made: dict[str, list[metrics.GraphScore]] = {}
    for r, odds in found:
        _, pairs = edges.decode_plan(r, odds, model.slope, model.offset)
        score = metrics.graph_score(r.example.gold, pairs, r.example.gold, r.example.edges)
        made.setdefault(r.example.source, []).append(score)
    every = [score for source in MEASURED for score in made.get(source, ())]
    means = {source: metrics.average_scores(scores) for source, scores in sorted(made.items())}
    return means | ({"all": metrics.average_scores(every)} if every else {})


def scored_graphs(
    found: Predicted, plans: Mapping[str, PlanExample], scale: tuple[float, float]
) -> dict[str, metrics.GraphScore]:
    """Whole graphs, tools chosen and then linked, by source; choices that no plan stands behind are
    left out.
    """
    made: dict[str, list[metrics.GraphScore]] = {}
    for r, odds in found:
        plan = plans.get(r.choice.id)
        if plan is None:
            continue
        names = [t.name for t in r.choice.tools]
        kept = choose_tools(1.0 / (1.0 + np.exp(-(scale[0] * odds + scale[1]))), NEEDED)
        graph = link_members(compute_likelihood(r.odds), kept)
        pairs = {(names[i], names[j]) for i, j in graph.edges}
        score = metrics.graph_score([names[k] for k in kept], pairs, plan.gold, plan.edges)
        made.setdefault(r.choice.source, []).append(score)
    return {source: metrics.average_scores(scores) for source, scores in sorted(made.items())}


def train_model(
    names: Sequence[str], settings: Settings, root: Path | None = None
) -> tuple[Forest, EdgeModel, dict[str, Any]]:
    """The trees learned from all choices of ``names``, the edge model they go with, and the card's
    content.
    """
    shipped = open_model()
    learned = [n for n in names if n != CANDIDATES]
    plans = [e for n in learned for e in load_examples(n, root)]
    prepared = edges.Prepared(plans, edges.Settings())
    unseen = without_each_fold(prepared, edges.Settings(), shipped)
    rows = build_choice_rows(gather_choices(names, root), unseen, shipped)
    folds, left_out = predict_across_folds(rows, settings), predict_unseen_sources(rows, settings)
    slope, offset = fit_calibration(left_out or folds)
    found = [
        (r, edges.log_odds(unseen[get_fold(r.example)].forest, r))
        for r in prepared.plain(prepared.examples)
    ]
    by_id = {e.id: e for e in plans}
    scores = {
        "edges among gold's tools, five folds": scored_edges(found, shipped),
        "tools, five folds": scored_tools(folds, slope, offset),
        "tools, source left out": scored_tools(left_out, slope, offset),
        "whole graphs, five folds": scored_graphs(folds, by_id, (slope, offset)),
    }
    about = {
        "what": "P(the request needs the tool), boosted trees over callwright.planning.needed",
        "features": DIGEST,
        "vocabulary": vocabulary_digest(),
        "edges": shipped.card["sha256"],
        "calibration": {
            "slope": slope,
            "offset": offset,
            "on": "predictions for sources left out of training",
        },
        "data": {n: _describe_data(n, rows) for n in names},
        "settings": asdict(settings),
        "scores": {
            title: {k: compute_shares(s) for k, s in found.items()}
            for title, found in scores.items()
        },
    }
    return grow_forest(rows, settings), shipped, about


def _describe_data(name: str, rows: Sequence[Rows]) -> dict[str, Any]:
    count = sum(r.choice.source == name for r in rows)
    if name == CANDIDATES:
        return {"examples": count, "licence": "Apache-2.0", "from": STABLETOOLBENCH_WHERE}
    source = list_sources()[name]
    return {"examples": count, "licence": source.licence, "from": source.where}


def compute_shares(score: metrics.GraphScore) -> dict[str, float]:
    n, e = score.nodes, score.edges
    made = {"node P": n.precision, "node R": n.recall, "node F1": n.f1}
    made |= {"edge P": e.precision, "edge R": e.recall, "edge F1": e.f1, "exact": score.exact}
    return {name: round(value, 4) for name, value in made.items()}


def render_table(scores: Mapping[str, Mapping[str, float]]) -> str:
    """Shares by source as Markdown."""
    head = next(iter(scores.values()))
    lines = [f"| source | {' | '.join(head)} |", "|---" * (len(head) + 1) + "|"]
    lines += [
        f"| {name} | {' | '.join(f'{x:.3f}' for x in row.values())} |"
        for name, row in scores.items()
    ]
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> int:
    """Train on every source whose licence allows it, write weights and card. Prints the scores."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    args = _build_parser().parse_args(given)
    names = (args.sources or ",".join((*edges.SOURCES, CANDIDATES))).split(",")
    kept = require_sources([n for n in names if n != CANDIDATES], args.private)
    require_place(args.out, args.name, SHIPPED, private=args.private)
    settings = replace(Settings(), rounds=args.rounds, seed=args.seed)
    forest, _, about = train_model(names, settings, args.data)
    card = write_forest(
        args.out,
        args.name,
        forest,
        {**about, "command": render_command("graph", given), "private": kept},
    )
    for title, scores in about["scores"].items():
        sys.stdout.write(f"{title}\n{render_table(scores)}\n\n")
    sys.stdout.write(f"{args.out / card['name']}.npz, sha256 {card['sha256']}\n")
    return 0


def _build_parser() -> argparse.ArgumentParser:
    p = argparse.ArgumentParser(prog="callwright train layers --model graph", description=__doc__)
    p.add_argument(
        "--sources", help="data sources, by comma (default: those whose licence allows it)"
    )
    p.add_argument(
        "--data", type=Path, help="folder that holds the data sets (default: $CALLWRIGHT_DATA)"
    )
    p.add_argument("--rounds", type=int, default=Settings().rounds)
    p.add_argument("--seed", type=int, default=Settings().seed)
    add_options(p, SHIPPED, SHIPPED.stem)
    return p


if __name__ == "__main__":
    raise SystemExit(main())
