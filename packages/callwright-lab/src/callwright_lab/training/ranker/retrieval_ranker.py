"""``callwright train ranker``: the learned ranker of mode ``rank_candidates``, from queries and the tools
that each needs.

LambdaMART over :mod:`callwright.retrieval.candidates`: for every query the hundred best tools of
the hybrid mode, those it needs marked. How good it is, is measured on five folds by tool
(:func:`callwright_lab.training.ranker.retrieval_data.assign_folds`): each query is ranked by trees that
saw no query which needs a tool of the same API. What is shipped is learned from all queries of the
sources with the same settings; no figure is ever taken of it on those.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np

from callwright.language.frozen import vocabulary_digest
from callwright.models.encoders import open_encoder
from callwright.nouns.errors import ConfigError
from callwright.nouns.protocols import Encoder
from callwright.nouns.types import JsonObject
from callwright.retrieval import ToolIndex
from callwright.retrieval.candidates import DIGEST, NAMES, candidate_features
from callwright.retrieval.ranker import SHIPPED, Ranker
from callwright.weights import cache_dir
from callwright.weights.trees import Array, Forest, write
from callwright_lab.datasets.sources import data_root
from callwright_lab.metrics import all_at, ndcg_at, recall_at
from callwright_lab.training.boosting import build_parameters, export_forest, import_lightgbm
from callwright_lab.training.ranker.retrieval_data import FOLDS, SOURCES, Query, Task, assign_folds


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything a run depends on besides the data."""

    rounds: int = 200
    leaves: int = 15
    rate: float = 0.05
    least: int = 30  # candidates in a leaf
    ridge: float = 5.0
    truncation: int = 15  # places that count: pairs below are not compared
    seed: int = 1


@dataclass(frozen=True, slots=True)
class Rows:
    """The candidates of one query: their names best first, what trees read of each (C, F), which
    are needed (C,).
    """

    query: Query
    names: tuple[str, ...]
    features: Array
    needed: Array


def build_rows(index: ToolIndex, queries: Iterable[Query]) -> list[Rows]:
    """The rows of queries; those for which nothing is found have none."""
    made: list[Rows] = []
    for query in queries:
        found = index.candidates(query.text)
        names = tuple(found.names)
        made.append(
            Rows(
                query,
                names,
                candidate_features(found),
                np.array([n in query.relevant for n in names]),
            )
        )
    return made


def fit_forest(rows: Sequence[Rows], settings: Settings) -> Forest:
    """Trees learned from the queries of which a needed tool is among the candidates. Deterministic;
    one thread.
    """
    boosting = import_lightgbm("training the ranker")
    kept = [r for r in rows if r.needed.any()]
    if not kept:
        raise ConfigError(
            "no query has a tool that it needs among its candidates: there is nothing to learn"
        )
    data = boosting.Dataset(
        np.concatenate([r.features for r in kept]),
        np.concatenate([r.needed for r in kept]).astype(np.int32),
        group=[len(r.names) for r in kept],
        feature_name=list(NAMES),
    )
    params = build_parameters(
        settings, objective="lambdarank", lambdarank_truncation_level=settings.truncation
    )
    return export_forest(boosting.train(params, data, settings.rounds))


def fold_rankers(task: Task, rows: Sequence[Rows], settings: Settings) -> list[Ranker]:
    """For each query a ranker that saw no query which needs a tool of the same parent (one ranker
    for each fold).
    """
    of = assign_folds(task)
    made = [
        Ranker(fit_forest([r for r, k in zip(rows, of, strict=True) if k != fold], settings), {})
        for fold in range(FOLDS)
    ]
    return [made[fold] for fold in of]


def rank_candidates(ranker: Ranker, rows: Rows) -> list[str]:
    """The names of a query's candidates in a ranker's order, best first."""
    return [rows.names[i] for i in np.argsort(-ranker.forest(rows.features), kind="stable")]


def score_rankings(found: Iterable[tuple[Query, Sequence[str]]]) -> dict[str, float]:
    """R@5, NDCG@5 and all@10 of rankings, percent."""
    every = [
        (
            recall_at(5, names, q.relevant),
            ndcg_at(5, names, q.relevant),
            all_at(10, names, q.relevant),
        )
        for q, names in found
    ]
    means = np.mean(every, axis=0)
    return {
        name: round(100 * float(m), 1)
        for name, m in zip(("R@5", "NDCG@5", "all@10"), means, strict=True)
    }


def train_ranker(
    names: Sequence[str], settings: Settings, encoder: Encoder, root: Path | None = None
) -> tuple[Forest, JsonObject]:
    """The trees learned from all queries of the sources, and their card: data, settings, scores on
    held-out folds.
    """
    every: list[Rows] = []
    data: JsonObject = {}
    measured: JsonObject = {}
    for name in names:
        source = SOURCES[name]
        task = source.read((root or data_root()) / source.folder)
        rows = build_rows(ToolIndex.build(task.tools, encoder), task.queries)
        by_fold = fold_rankers(task, rows, settings)
        measured[name] = {
            "hybrid": score_rankings((r.query, r.names) for r in rows),
            "ranked": score_rankings(
                (r.query, rank_candidates(k, r)) for k, r in zip(by_fold, rows, strict=True)
            ),
        }
        data[name] = {
            "queries": len(rows),
            "tools": len(task.tools),
            "licence": source.licence,
            "from": source.where,
        }
        every += rows
    card: JsonObject = {
        "what": (
            "how well a tool answers beside other candidates, LambdaMART over"
            " callwright.retrieval.candidates"
        ),
        "features": DIGEST,
        "vocabulary": vocabulary_digest(),
        "encoder": encoder.name,
        "data": data,
        "settings": asdict(settings),
        "scores": {"five folds, no query needs a tool of an API that was learned from": measured},
    }
    return fit_forest(every, settings), card


def main(arguments: Sequence[str] | None = None) -> int:
    """Train, write weights and card; print the scores and where the files are."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    args = _build_parser().parse_args(given)
    names = args.sources.split(",")
    if unknown := [name for name in names if name not in SOURCES]:
        raise ConfigError(
            f"there is no source {unknown[0]!r} to learn from",
            hint=f"sources: {', '.join(SOURCES)}",
        )
    settings = replace(Settings(), rounds=args.rounds, seed=args.seed)
    forest, about = train_ranker(
        names, settings, open_encoder(args.encoder, cache=args.cache), args.data
    )
    again = (
        f"callwright train ranker --sources {args.sources} --rounds {args.rounds} --seed"
        f" {args.seed}"
    )
    card = write(args.out, SHIPPED.stem, forest, {**about, "command": again})
    for title, measured in about["scores"].items():
        sys.stdout.write(f"{title}:\n")
        for name, rows in measured.items():
            for mode, found in rows.items():
                sys.stdout.write(
                    f"  {name} {mode}: {', '.join(f'{k} {v:.1f}' for k, v in found.items())}\n"
                )
    sys.stdout.write(f"{args.out / card['name']}.npz, sha256 {card['sha256']}\n")
    return 0


def _build_parser() -> argparse.ArgumentParser:
    p = argparse.ArgumentParser(prog="callwright train ranker", description=__doc__)
    p.add_argument(
        "--sources", default="stabletoolbench", help=f"of {', '.join(SOURCES)}; by comma"
    )
    p.add_argument(
        "--data", type=Path, help="folder that holds the data sets (default: $CALLWRIGHT_DATA)"
    )
    p.add_argument("--rounds", type=int, default=Settings().rounds)
    p.add_argument("--seed", type=int, default=Settings().seed)
    p.add_argument("--encoder", help="minilm (default), a model folder, https://host/v1#model")
    p.add_argument(
        "--cache",
        type=Path,
        default=cache_dir() / "vectors.sqlite",
        help="file that keeps the vectors",
    )
    where = p.add_mutually_exclusive_group()
    where.add_argument(
        "--out", type=Path, default=Path("runs/ranker"), help="folder (default: %(default)s)"
    )
    where.add_argument(
        "--ship",
        dest="out",
        action="store_const",
        const=SHIPPED.parent,
        help="into the package, in place of its weights",
    )
    return p


if __name__ == "__main__":
    raise SystemExit(main())
