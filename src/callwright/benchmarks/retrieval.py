"""``callwright bench retrieval``: do the tools that a request needs stand at the top of a large catalogue?

StableToolBench's solvable queries (Guo et al. 2024): what a query names as relevant is gold, the candidates of all
queries together are the catalogue. Nothing is learned from them. Recall@K is the mean share of a query's relevant
tools among the first K, all@K the share of queries with every one of them there, NDCG@K as usual with gains 0 and 1.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

from callwright.benchmarks.report import table
from callwright.encoders import open_encoder
from callwright.errors import CallwrightError, ConfigError
from callwright.jsontext import parse
from callwright.metrics import all_at, ndcg_at, recall_at
from callwright.retrieval import MODES, Mode, ToolIndex, mode_named, needs_encoder
from callwright.training.sources import data_root
from callwright.types import Tool
from callwright.wire.toolbench import tool_from_toolbench

Groups = dict[str, dict[str, float]]  # group -> measure -> percent

KS = (3, 5, 10)
MEASURES: Mapping[str, Callable[[int, Sequence[str], frozenset[str]], float]] = {
    "R": recall_at,
    "all": all_at,
    "NDCG": ndcg_at,
}


@dataclass(frozen=True, slots=True)
class Query:
    """One request and the names of the tools that it needs. ``group`` is StableToolBench's file."""

    group: str
    text: str
    relevant: frozenset[str]


@dataclass(frozen=True, slots=True)
class Task:
    """A catalogue and the queries asked of it."""

    tools: tuple[Tool, ...]
    queries: tuple[Query, ...]


def stabletoolbench(folder: Path) -> Task:
    """The queries of every ``*.json`` of a folder, and the candidates of all of them.

    A query whose relevant tools are not among the candidates is left out: nobody could find them. Raises
    ConfigError where there is no query.
    """
    tools: dict[tuple[str, str], Tool] = {}
    asked: list[tuple[str, str, list[tuple[str, str]]]] = []
    for path in sorted(folder.glob("*.json")):
        for row in parse(path.read_bytes()):
            for api in row["api_list"]:
                key = (api["tool_name"], api["api_name"])
                if key not in tools:
                    tools[key] = tool_from_toolbench(api)
            asked.append((path.stem, row["query"], [(tool, api) for tool, api in row["relevant APIs"]]))
    queries = tuple(
        Query(group, text, frozenset(tools[key].name for key in relevant))
        for group, text, relevant in asked
        if relevant and all(key in tools for key in relevant)
    )
    if not queries:
        raise ConfigError(f"{folder} holds no StableToolBench queries", hint="--data FOLDER, or set CALLWRIGHT_DATA")
    return Task(tuple({tool.name: tool for tool in tools.values()}.values()), queries)


def measure(search: Callable[[str], Sequence[str]], queries: Sequence[Query]) -> Groups:
    """Group ("all": every query) -> measure -> percent. ``search`` gives the best ``max(KS)`` names for a text."""
    found: dict[str, list[dict[str, float]]] = defaultdict(list)
    for query in queries:
        ranked = search(query.text)
        scores = {f"{name}@{k}": score(k, ranked, query.relevant) for name, score in MEASURES.items() for k in KS}
        for group in (query.group, "all"):
            found[group].append(scores)
    return {
        group: {name: 100 * fmean(row[name] for row in rows) for name in rows[0]}
        for group, rows in sorted(found.items(), key=lambda item: (item[0] == "all", item[0]))
    }


def report(results: Mapping[str, Groups], task: Task) -> str:
    """One table: mode by group, percent."""
    columns = [f"{name}@{k}" for name in MEASURES for k in KS]
    counts = Counter(q.group for q in task.queries)
    lines = [["mode", "group", "queries", *columns]]
    for mode, groups in results.items():
        for group, scores in groups.items():
            count = counts.get(group, len(task.queries))
            lines.append([mode, group, str(count), *(f"{scores[c]:.1f}" for c in columns)])
    return f"{len(task.queries)} queries over {len(task.tools)} tools.\n\n{table(lines)}"


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line of the bench."""
    options = _options(arguments)
    try:
        task = stabletoolbench(options.data or data_root() / "stabletoolbench" / "queries")
        modes = _modes(options.modes)
        dense = any(needs_encoder(mode) for mode in modes)
        index = ToolIndex.build(task.tools, open_encoder(options.encoder, cache=options.cache) if dense else None)
        results: dict[str, Groups] = {mode: measure(_searcher(index, mode), task.queries) for mode in modes}
    except CallwrightError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    sys.stdout.write(report(results, task) + "\n")
    return 0


def _searcher(index: ToolIndex, mode: Mode) -> Callable[[str], Sequence[str]]:
    return lambda text: [hit.name for hit in index.search(text, max(KS), mode=mode)]


def _modes(given: str) -> list[Mode]:
    named = [mode_named(name) for name in given.split(",")]
    return [mode for mode in MODES if mode in named]


def _options(arguments: Sequence[str] | None) -> Any:
    parser = argparse.ArgumentParser(prog="callwright bench retrieval", description=__doc__)
    parser.add_argument("--data", type=Path, help="folder of StableToolBench's solvable queries, a file a group")
    parser.add_argument("--modes", default=",".join(MODES), help=f"of {', '.join(MODES)}; comma-separated")
    parser.add_argument("--encoder", help="minilm (default), a model folder, or an endpoint URL#MODEL")
    parser.add_argument("--cache", type=Path, help="file that remembers vectors between runs")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main())
