"""``callwright train ranker``: the learned ranker of mode ``ranked``, from queries and the tools that
each needs.

A projection turns the encoder's vectors of requests
(:mod:`callwright_lab.training.ranker.retrieval_projection`); LambdaMART orders the hundred best
tools of the hybrid mode, those that a query needs marked. A query is never read through a
projection that learned from it, or the trees would trust what they cannot have later.

How good it is, is measured on five folds by tool
(:func:`callwright_lab.training.ranker.retrieval_data.assign_folds`): each query is ranked by a
ranker that saw no tool of an API which a query of its fold needs, neither as needed nor as not
needed; :func:`check_apart` refuses anything else. What is shipped is learned from all queries of
the sources with the same settings; no figure is ever taken of it on those.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

import numpy as np

from callwright.language.frozen import vocabulary_digest
from callwright.models.encoders import open_encoder
from callwright.nouns.errors import ConfigError
from callwright.nouns.protocols import Encoder
from callwright.nouns.types import JsonObject
from callwright.retrieval import ToolIndex
from callwright.retrieval.candidates import DIGEST, NAMES, Candidates, candidate_features
from callwright.retrieval.projection import Projection, build_identity
from callwright.retrieval.ranker import SHIPPED, Ranker, save_ranker
from callwright.weights import cache_dir
from callwright.weights.arrays import Array
from callwright.weights.trees import Forest
from callwright_lab.datasets.sources import data_root
from callwright_lab.metrics import all_at, ndcg_at, recall_at
from callwright_lab.training.boosting import (
    Growth,
    build_parameters,
    export_forest,
    import_lightgbm,
)
from callwright_lab.training.ranker.retrieval_data import (
    SOURCES,
    Query,
    Task,
    assign_folds,
    find_parents,
    join_tasks,
)
from callwright_lab.training.ranker.retrieval_projection import (
    Lesson,
    ProjectionSettings,
    fit_projection,
)


@dataclass(frozen=True, slots=True)
class Settings(Growth):
    """Everything a run depends on besides the data."""

    rounds: int = 200
    least: int = 60  # candidates in a leaf
    truncation: int = 15  # places that count: pairs below are not compared
    share: float = 0.25  # of the columns, for each tree
    projection: ProjectionSettings = field(default_factory=ProjectionSettings)


@dataclass(frozen=True, slots=True)
class Found:
    """The candidates of one query, and which of them it needs (C,)."""

    query: Query
    candidates: Candidates
    needed: Array
    lesson: Lesson | None  # None where the encoder gave nothing


@dataclass(frozen=True, slots=True)
class Rows:
    """The lesson of one query for trees: a row a candidate (C, F), whether it is needed (C,), and the
    parent of each.
    """

    query: Query
    parents: tuple[str, ...]
    features: Array
    needed: Array


def find_candidates(index: ToolIndex, queries: Iterable[Query]) -> list[Found]:
    """The candidates of queries."""
    made: list[Found] = []
    for query in queries:
        found = index.candidates(query.text)
        needed = np.array([name in query.relevant for name in found.names], bool)
        made.append(Found(query, found, needed, _build_lesson(index, query, found)))
    return made


def _build_lesson(index: ToolIndex, query: Query, found: Candidates) -> Lesson | None:
    parts = [part for part in (found.asked.vectors, found.asked.clause_vectors) if part is not None]
    if not parts:
        return None
    place = index.documents.place
    return Lesson(np.concatenate(parts), tuple(sorted(place[name] for name in query.relevant)))


def check_apart(rows: Sequence[Rows], apart: Collection[str], parent: Mapping[str, str]) -> None:
    """Raises ValueError if trees would learn from a tool of a parent that is kept apart, or from a
    query that needs one.
    """
    for row in rows:
        seen = {*row.parents, *(parent[name] for name in row.query.relevant)}
        if wrong := sorted(seen & set(apart)):
            raise ValueError(
                f"the query {row.query.text[:60]!r} would teach about {wrong[0]!r}, which is kept"
                " apart for measuring"
            )


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
        group=[len(r.needed) for r in kept],
        feature_name=list(NAMES),
    )
    params = build_parameters(
        settings,
        objective="lambdarank",
        lambdarank_truncation_level=settings.truncation,
        feature_fraction=settings.share,
    )
    return export_forest(boosting.train(params, data, settings.rounds))


class RankerTraining:
    """Learns rankers from the queries of one task, with some folds of them left out.

    A projection depends only on which folds are left out, so each is learned once.
    """

    def __init__(
        self, task: Task, index: ToolIndex, settings: Settings, folds: Sequence[int] | None = None
    ) -> None:
        """``folds`` numbers each query's; without, they are assigned by tool."""
        self.found = find_candidates(index, task.queries)
        self.folds = assign_folds(task) if folds is None else list(folds)
        self.settings = settings
        self._parent = find_parents(task)
        self._index = index
        self._projections: dict[frozenset[int], Projection] = {}

    def learn_ranker(self, *left_out: int) -> Ranker:
        """The ranker of all queries but those of some folds, and without any tool of a parent that
        these need.
        """
        rows = self.build_rows(*left_out)
        check_apart(rows, self.find_apart(left_out), self._parent)
        return Ranker(fit_forest(rows, self.settings), {}, self.learn_projection(*left_out))

    def learn_fold_rankers(self) -> list[Ranker]:
        """For each query a ranker that saw no tool of a parent which a query of its fold needs (one
        ranker for each fold).
        """
        made = {fold: self.learn_ranker(fold) for fold in sorted(set(self.folds))}
        return [made[fold] for fold in self.folds]

    def build_rows(self, *left_out: int) -> list[Rows]:
        """Build the rows that trees learn from: each query seen through a projection that learned neither from its
        fold nor from those left out.
        """
        apart = self.find_apart(left_out)
        return [
            self._build_row(found, apart, self.learn_projection(*left_out, fold))
            for found, fold in zip(self.found, self.folds, strict=True)
            if fold not in left_out
        ]

    def _build_row(self, found: Found, apart: Collection[str], projection: Projection) -> Rows:
        parents = [self._parent[name] for name in found.candidates.names]
        kept = np.array([parent not in apart for parent in parents], bool)
        return Rows(
            found.query,
            tuple(parent for parent in parents if parent not in apart),
            candidate_features(found.candidates, projection)[kept],
            found.needed[kept],
        )

    def find_apart(self, left_out: Collection[int]) -> frozenset[str]:
        """The parents of all tools that queries of these folds need."""
        return frozenset(
            self._parent[name]
            for found, fold in zip(self.found, self.folds, strict=True)
            if fold in left_out
            for name in found.query.relevant
        )

    def learn_projection(self, *left_out: int) -> Projection:
        """The projection of all queries but those of some folds."""
        key = frozenset(left_out)
        if key not in self._projections:
            self._projections[key] = self._fit_projection(key)
        return self._projections[key]

    def _fit_projection(self, left_out: frozenset[int]) -> Projection:
        lessons = [
            found.lesson
            for found, fold in zip(self.found, self.folds, strict=True)
            if fold not in left_out and found.lesson is not None
        ]
        vectors, encoder = self._index.vectors, self._index.encoder
        if vectors is None or encoder is None or not lessons:
            return build_identity()
        apart = self.find_apart(left_out)
        documents = self._index.documents
        marks = np.array([self._parent[name] in apart for name in documents.names], bool)
        matrix = fit_projection(lessons, np.asarray(vectors), marks, self.settings.projection)
        return Projection(matrix, encoder.name)


def rank_candidates(ranker: Ranker, found: Candidates) -> list[str]:
    """The names of a query's candidates in a ranker's order, best first."""
    return [found.names[i] for i in np.argsort(-ranker(found), kind="stable")]


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
) -> Ranker:
    """The ranker learned from all queries of the sources, over one catalogue of all their tools; its
    card says data, settings, and scores on held-out folds.
    """
    tasks = {name: SOURCES[name].read(root or data_root()) for name in names}
    task = join_tasks(list(tasks.values()))
    index = ToolIndex.build(task.tools, encoder)
    training = RankerTraining(task, index, settings)
    card: JsonObject = {
        "what": (
            "how well a tool answers beside other candidates, LambdaMART over"
            " callwright.retrieval.candidates, and a projection of requests' vectors"
        ),
        "features": DIGEST,
        "vocabulary": vocabulary_digest(),
        "encoder": encoder.name,
        "data": {
            name: {
                "queries": len(read.queries),
                "tools": len(read.tools),
                "licence": SOURCES[name].licence,
                "from": SOURCES[name].where,
            }
            for name, read in tasks.items()
        },
        "settings": asdict(settings),
        "scores": {
            "five folds, no tool of an API that a query of the fold needs was seen": _measure_folds(
                training, tasks
            )
        },
    }
    return replace(training.learn_ranker(), card=card)


def _measure_folds(training: RankerTraining, tasks: Mapping[str, Task]) -> JsonObject:
    """Source -> hybrid and ranked -> measure, each query by the ranker of its fold."""
    by_fold = training.learn_fold_rankers()
    measured: JsonObject = {}
    for name, task in tasks.items():
        asked = set(task.queries)
        pairs = [
            (found, ranker)
            for found, ranker in zip(training.found, by_fold, strict=True)
            if found.query in asked
        ]
        measured[name] = {
            "hybrid": score_rankings((f.query, f.candidates.names) for f, _ in pairs),
            "ranked": score_rankings(
                (f.query, rank_candidates(ranker, f.candidates)) for f, ranker in pairs
            ),
        }
    return measured


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
    ranker = train_ranker(names, settings, open_encoder(args.encoder, cache=args.cache), args.data)
    again = (
        f"callwright train ranker --sources {args.sources} --rounds {args.rounds} --seed"
        f" {args.seed}"
    )
    card = save_ranker(args.out, replace(ranker, card={**ranker.card, "command": again}))
    for title, measured in ranker.card["scores"].items():
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
