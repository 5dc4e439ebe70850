"""``callwright bench plan``: planned graphs and layers against gold, by source, for every planner.

Two tables. Graphs: which tools and which edges, macro-averaged
(:mod:`callwright_lab.benchmarks.planning.graphs`). Layers: how well the tools of gold are put in
order. Three protocols, never mixed: planners that learn nothing; the edge model learned again and
measured on tool combinations it has not seen (five folds) or on a source it has not seen; and
shipped weights as they are, where a score on a source that they were trained on is marked ``*`` and
says nothing about new tools. A source is a data set by name, or a file of plans.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from callwright.nouns.errors import CallwrightError, ConfigError
from callwright.nouns.protocols import Planner
from callwright.planning import open_planner
from callwright_lab import metrics
from callwright_lab.benchmarks.planning import graphs as plan_graphs
from callwright_lab.datasets.examples import PlanExample, add_distractors
from callwright_lab.datasets.examples import collect_tools as pool_of
from callwright_lab.datasets.files import keep_gold_tools
from callwright_lab.datasets.sources import load_examples

SOURCES = (
    "nestful", "complexfuncbench", "nestools", "complexfuncbench_refs", "seal_tools", "tmdb",
    "ultratool", "complextool_plan", "stabletoolbench",
)  # fmt: skip
GRAPHS = (
    "complextool_easy", "complextool_hard", "ultratool", "tmdb_links", "nestools", "seal_tools", "nestful",
    "complexfuncbench",
)  # fmt: skip
TABLES = ("graphs", "layers")
MACRO = ("nestful", "complexfuncbench", "nestools")
SIMPLE = ("all-in-one", "mention", "schema")
SHIPPED = ("edges", "layers")


@dataclass(frozen=True, slots=True)
class Row:
    """One planner on one source. Shares in percent; ``seen`` marks a source the weights were
    trained on.
    """

    planner: str
    source: str
    examples: int
    accuracy: float
    error: float
    order: float
    valid: float
    f1: float
    seen: bool = False

    def cells(self) -> str:
        mark = "*" if self.seen else ""
        shares = " | ".join(
            f"{x:.1f}{mark}" for x in (self.accuracy, self.order, self.valid, self.f1)
        )
        return f"| {self.planner} | {self.source} | {self.examples} | {shares} | {self.error:.2f} |"


T = TypeVar("T")
Data = Mapping[str, Sequence[PlanExample]]
Found = list[tuple[PlanExample, dict[str, int], set[tuple[str, str]]]]  # example, layers, edges


def measure_planner(planner: Planner, examples: Sequence[PlanExample], seen: bool = False) -> Row:
    """One planner on the examples of one source. ConfigError for one that leaves tools of gold
    out.
    """
    found: Found = []
    for example in examples:
        plan = planner.plan(example.query, example.tools)
        layers = {slot.tool: k for k, layer in enumerate(plan.layers) for slot in layer}
        if not set(example.gold) <= set(layers):
            raise ConfigError(
                f"{planner.name} chooses tools: it is scored as graphs only", hint="--tables graphs"
            )
        found.append((example, layers, set(plan.edges)))
    return score_answers(planner.name, found, seen)


def score_answers(name: str, answers: Found, seen: bool = False) -> Row:
    """The scores of plans for one source; distractors are taken out and empty layers closed up
    first.
    """
    found = [(e, metrics.compact_layers(layers, e.gold), edges) for e, layers, edges in answers]
    return Row(
        planner=name,
        source=found[0][0].source,
        examples=len(found),
        accuracy=100 * metrics.pool_share(metrics.layer_accuracy(e.layers, x) for e, x, _ in found),
        error=metrics.pool_share(metrics.layer_error(e.layers, x) for e, x, _ in found),
        order=100 * metrics.pool_share(metrics.order_accuracy(e.layers, x) for e, x, _ in found),
        valid=100 * metrics.pool_share(metrics.score_validity(e.edges, x) for e, x, _ in found),
        f1=100
        * metrics.pool_f1(metrics.edge_counts(e.edges, edges, e.gold) for e, _, edges in found),
        seen=seen,
    )


def average_rows(rows: Sequence[Row], sources: Sequence[str] = MACRO) -> Row | None:
    """The plain mean over ``sources``; None unless all of them were measured."""
    kept = [r for r in rows if r.source in sources]
    if len(kept) != len(sources):
        return None
    fields = ("accuracy", "error", "order", "valid", "f1")
    means: dict[str, Any] = {f: sum(getattr(r, f) for r in kept) / len(kept) for f in fields}
    total = sum(r.examples for r in kept)
    return Row(kept[0].planner, "macro", total, **means, seen=any(r.seen for r in kept))


def render_table(rows: Iterable[Row]) -> str:
    """The rows as Markdown."""
    head = "| planner | source | examples | accuracy | order | valid | edge F1 | error |"
    return "\n".join([head, "|---|---|---|---|---|---|---|---|", *(r.cells() for r in rows)])


def iter_planner_results(
    names: Iterable[str], data: Data, one: Callable[[Planner, Sequence[PlanExample], bool], T]
) -> Iterator[list[T]]:
    """Every planner on every source; planners whose weights are not there are left out with a
    note.
    """
    for name in names:
        try:
            planner = open_planner(name)
            trained = list_training_sources(planner)
            yield [one(planner, examples, source in trained) for source, examples in data.items()]
        except CallwrightError as exc:
            sys.stderr.write(f"{name}: left out: {exc}\n")


def measure_layers(names: Iterable[str], data: Data) -> list[Row]:
    """The layers of every planner on every source, and their mean."""
    made: list[Row] = []
    for rows in iter_planner_results(names, data, measure_planner):
        whole = average_rows(rows)
        made += [*rows, whole] if whole else rows
    return made


def measure_graphs(
    names: Iterable[str], data: Data, at_once: int = 1
) -> list[plan_graphs.GraphRow]:
    """The graphs of every planner on every source; a planner that is a model is asked for so many
    at once.
    """
    measured = partial(plan_graphs.measure_planner, at_once=at_once)
    return [row for rows in iter_planner_results(names, data, measured) for row in rows]


def list_training_sources(planner: Planner) -> frozenset[str]:
    """The sources a planner's weights were trained on, by its card; two labellings of the same
    requests are one.
    """
    card = getattr(getattr(planner, "model", None), "card", None) or getattr(planner, "card", None)
    about = getattr(card, "about", card) or {}
    named = about.get("data") or about.get("sources") or ()
    found = {str(name["source"] if isinstance(name, dict) else name) for name in named}
    also = {"complexfuncbench": "complexfuncbench_refs", "tmdb": "tmdb_links"}
    return frozenset(found | {other for name, other in also.items() if name in found})


def measure_learned_edges(data: Data) -> list[Row]:
    """The edge model learned again for every split: five folds, and every source left out in
    turn.
    """
    from callwright_lab.training.edges import edges

    settings = edges.Settings()
    prepared = edges.Prepared([e for found in data.values() for e in found], settings)
    apart = edges.unseen_sources(prepared, settings)
    scale = edges.fit_calibration(apart)
    across = edges.unseen_combinations(prepared, settings)
    made: list[Row] = []
    for title, predicted in (("edges, five folds", across), ("edges, source left out", apart)):
        answers = [(r.example, *edges.decode_plan(r, odds, *scale)) for r, odds in predicted]
        rows = [
            score_answers(title, [a for a in answers if a[0].source == source]) for source in data
        ]
        whole = average_rows(rows)
        made += [*rows, whole] if whole else rows
    return made


def gather_examples(
    names: Iterable[str], root: Path | None, distractors: int = 0, least: int = 1
) -> Data:
    """Examples with at least ``least`` gold tools by source; sources that are absent, or have none,
    are left out with a note. Of two files of one name the second is called by its path.
    """
    made: dict[str, list[PlanExample]] = {}
    for name in names:
        try:
            examples = [e for e in load_examples(name, root) if len(e.gold) >= least]
        except ConfigError as exc:
            sys.stderr.write(f"{name}: left out: {exc}\n")
            continue
        if not examples:
            sys.stderr.write(f"{name}: left out: no plan of it has {least} tools or more\n")
            continue
        if examples[0].source in made:
            examples = [replace(e, source=name) for e in examples]
        spare = pool_of(examples)
        found = (
            [add_distractors(e, spare, distractors) for e in examples] if distractors else examples
        )
        made[found[0].source] = found
    return made


def sample_examples(examples: Sequence[PlanExample], count: int) -> list[PlanExample]:
    """``count`` examples, the same ones every time."""
    return random.Random("bench plan").sample(list(examples), min(count, len(examples)))


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the tables. 1 where no source could be measured."""
    args = _build_parser().parse_args(arguments)
    planners = args.planners.split(",")
    given = args.sources.split(",") if args.sources else None
    measured = False
    if "graphs" in args.tables:
        data = gather_examples(given or GRAPHS, args.data, args.distractors)
        measured = bool(data)
        if args.gold_tools:
            data = {source: keep_gold_tools(examples) for source, examples in data.items()}
        if args.limit:
            data = {
                source: sample_examples(examples, args.limit) for source, examples in data.items()
            }
        sys.stdout.write(
            plan_graphs.render_table(measure_graphs(planners, data, args.at_once))
            + "\n* trained on this source\n\n"
        )
    if "layers" in args.tables:
        data = gather_examples(given or SOURCES, args.data, args.distractors, least=2)
        measured = measured or bool(data)
        sys.stdout.write(
            render_table(measure_layers(planners, data)) + "\n* trained on this source\n"
        )
        if args.learn:
            from callwright_lab.training.edges.edges import SOURCES as LEARNED

            rows = measure_learned_edges({s: x for s, x in data.items() if s in LEARNED})
            sys.stdout.write("\n" + render_table(rows) + "\n")
    return 0 if measured else 1


def _parse_tables(text: str) -> list[str]:
    found = text.split(",")
    if unknown := [t for t in found if t not in TABLES]:
        raise argparse.ArgumentTypeError(f"no table {unknown[0]!r}: {', '.join(TABLES)}")
    return found


def _build_parser() -> argparse.ArgumentParser:
    p = argparse.ArgumentParser(prog="callwright bench plan", description=__doc__)
    p.add_argument(
        "--sources", help="data sources or files of plans, by comma (default: those of each table)"
    )
    p.add_argument(
        "--tables",
        type=_parse_tables,
        default=list(TABLES),
        help="by comma (default: graphs,layers)",
    )
    p.add_argument(
        "--planners",
        default=",".join((*SIMPLE, *SHIPPED)),
        help="planners, or models: http://host/v1#model",
    )
    p.add_argument(
        "--data", type=Path, help="folder that holds the data sets (default: $CALLWRIGHT_DATA)"
    )
    p.add_argument(
        "--distractors",
        type=int,
        default=0,
        help="tools that gold never calls, mixed into each example",
    )
    p.add_argument(
        "--gold-tools",
        action="store_true",
        help="graphs: offer gold's tools alone; edges are left to find",
    )
    p.add_argument(
        "--limit",
        type=int,
        default=0,
        help="graphs: so many plans of each source, drawn once for all",
    )
    p.add_argument(
        "--at-once",
        type=int,
        default=1,
        help="graphs: questions at once to a planner that is a model",
    )
    p.add_argument(
        "--learn",
        action="store_true",
        help="also learn a new edge model for every split (minutes)",
    )
    return p


if __name__ == "__main__":
    raise SystemExit(main())
