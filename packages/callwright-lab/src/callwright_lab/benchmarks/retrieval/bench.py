"""``callwright bench retrieval``: do the tools that a request needs stand at the top of a large
catalogue?

Every set is a catalogue and queries with the tools that each needs
(:mod:`callwright_lab.benchmarks.retrieval.sets`). Recall@K is the mean share of a query's relevant
tools among the first K, all@K the share of queries with every one of them there, NDCG@K as usual
with gains 0 and 1. Nothing is learned but mode ``ranked``: on the sets that its shipped ranker
learned from, each query is ranked by one that saw no tool of an API which a query of its fold needs
(five folds). Intervals resample groups of queries that share an API, for many queries are one
template filled in several times.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

from callwright.models.encoders import open_encoder
from callwright.nouns.errors import CallwrightError
from callwright.retrieval import MODES, Mode, ToolIndex, mode_named, needs_encoder
from callwright.retrieval.ranker import Ranker, open_ranker, shipped_ranker
from callwright_lab.benchmarks.comparison.report import render_table
from callwright_lab.benchmarks.retrieval.sets import SETS
from callwright_lab.datasets.sources import data_root
from callwright_lab.metrics import Interval, all_at, clustered_bootstrap, ndcg_at, recall_at
from callwright_lab.training.ranker.retrieval_data import (
    Query,
    Task,
    join_queries,
    read_stabletoolbench,
)
from callwright_lab.training.ranker.retrieval_ranker import RankerTraining, Settings

Groups = dict[str, dict[str, float]]  # group -> measure -> percent
Rankings = Sequence[tuple[Query, Sequence[str], Collection[str]]]  # names, and those brought along

KS = (3, 5, 10)
WITH_INTERVALS = ("R@5", "R@10", "NDCG@5", "all@10")
WITH_BROUGHT = f"all@{max(KS)}+"
MEASURES: Mapping[str, Callable[[int, Sequence[str], frozenset[str]], float]] = {
    "R": recall_at,
    "all": all_at,
    "NDCG": ndcg_at,
}


def score_rankings(rankings: Iterable[tuple[Query, Sequence[str], Collection[str]]]) -> Groups:
    """Group ("all": every query) -> measure -> percent, of names ranked for queries and those
    brought along.

    ``all@10+`` also counts what was brought along, beyond the ten.
    """
    found: dict[str, list[dict[str, float]]] = defaultdict(list)
    for query, ranked, along in rankings:
        scores = _score_query(query, ranked)
        scores[WITH_BROUGHT] = float(query.relevant <= {*ranked[: max(KS)], *along})
        for group in (query.group, "all"):
            found[group].append(scores)
    ordered = sorted(found.items(), key=lambda item: (item[0] == "all", item[0]))
    return {group: _average_scores(rows) for group, rows in ordered}


def _score_query(query: Query, ranked: Sequence[str]) -> dict[str, float]:
    return {
        f"{name}@{k}": score(k, ranked, query.relevant)
        for name, score in MEASURES.items()
        for k in KS
    }


def render_intervals(rankings: Mapping[str, Rankings], task: Task) -> str:
    """One table: mode by group, percent with 95 % intervals of resampled groups of queries that share
    an API.
    """
    joined = dict(zip(task.queries, join_queries(task), strict=True))
    lines = [["mode", "group", "queries", "of them apart", *WITH_INTERVALS]]
    for mode, ranked in rankings.items():
        rows = [(query, _score_query(query, names)) for query, names, _ in ranked]
        for group in (*sorted({query.group for query, _ in rows}), "all"):
            of = [(joined[q], scores) for q, scores in rows if group in (q.group, "all")]
            clusters = [name for name, _ in of]
            shown = [
                _format_interval(clustered_bootstrap([s[measure] for _, s in of], clusters))
                for measure in WITH_INTERVALS
            ]
            lines.append([mode, group, str(len(of)), str(len(set(clusters))), *shown])
    return render_table(lines)


def _format_interval(found: Interval) -> str:
    return f"{100 * found.value:.1f} ({100 * found.low:.1f} to {100 * found.high:.1f})"


def _average_scores(rows: Sequence[Mapping[str, float]]) -> dict[str, float]:
    return {name: 100 * fmean(row[name] for row in rows) for name in rows[0]}


def render_report(results: Mapping[str, Groups], task: Task) -> str:
    """One table: mode by group, percent."""
    columns = [*(f"{name}@{k}" for name in MEASURES for k in KS), WITH_BROUGHT]
    counts = Counter(q.group for q in task.queries)
    lines = [["mode", "group", "queries", *columns]]
    for mode, groups in results.items():
        for group, scores in groups.items():
            count = counts.get(group, len(task.queries))
            lines.append([mode, group, str(count), *(f"{scores[c]:.1f}" for c in columns)])
    return f"{len(task.queries)} queries over {len(task.tools)} tools.\n\n{render_table(lines)}"


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line of the bench."""
    options = _parse_options(arguments)
    try:
        task = (
            read_stabletoolbench(options.data) if options.data else SETS[options.set](data_root())
        )
        modes = _parse_modes(options.modes)
        dense = any(needs_encoder(mode) for mode in modes)
        index = ToolIndex.build(
            task.tools, open_encoder(options.encoder, cache=options.cache) if dense else None
        )
        rankers = _open_rankers(index, task, options) if "ranked" in modes else []
        ranked: dict[str, Rankings] = {
            mode: list(_iter_rankings(index, mode, task, rankers)) for mode in modes
        }
    except CallwrightError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    results: dict[str, Groups] = {mode: score_rankings(found) for mode, found in ranked.items()}
    sys.stdout.write(f"{render_report(results, task)}\n\n{render_intervals(ranked, task)}\n")
    return 0


def _open_rankers(index: ToolIndex, task: Task, options: Any) -> Sequence[Ranker]:
    """The ranker of each query: never one that saw a tool of a parent which the query needs."""
    if options.ranker is None and _is_trained_on(options):
        return RankerTraining(task, index, Settings()).learn_fold_rankers()
    ranker = open_ranker(options.ranker) if options.ranker else shipped_ranker()
    return [ranker] * len(task.queries)


def _is_trained_on(options: Any) -> bool:
    name = "stabletoolbench" if options.data else options.set.replace("-", "_")
    return name in shipped_ranker().card["data"]


def _iter_rankings(
    index: ToolIndex, mode: Mode, task: Task, rankers: Sequence[Ranker]
) -> Iterable[tuple[Query, Sequence[str], Collection[str]]]:
    for query, ranker in zip(
        task.queries, rankers if mode == "ranked" else [None] * len(task.queries), strict=True
    ):
        hits = index.search(query.text, max(KS), mode=mode, ranker=ranker)
        found = [hit.name for hit in hits if not hit.needed_by]
        yield query, found, {hit.name for hit in hits if hit.needed_by}


def _parse_modes(given: str) -> list[Mode]:
    named = [mode_named(name) for name in given.split(",")]
    return [mode for mode in MODES if mode in named]


def _parse_options(arguments: Sequence[str] | None) -> Any:
    parser = argparse.ArgumentParser(prog="callwright bench retrieval", description=__doc__)
    parser.add_argument(
        "--set", choices=SETS, default="stabletoolbench", help="default: %(default)s"
    )
    parser.add_argument(
        "--data", type=Path, help="another folder of StableToolBench's queries, a file a group"
    )
    parser.add_argument(
        "--modes", default=",".join(MODES), help=f"of {', '.join(MODES)}; comma-separated"
    )
    parser.add_argument(
        "--ranker", type=Path, help="the .npz of a ranker that never saw this set, for mode ranked"
    )
    parser.add_argument(
        "--encoder", help="minilm (default), a model folder, or an endpoint URL#MODEL"
    )
    parser.add_argument("--cache", type=Path, help="file that remembers vectors between runs")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main())
