"""``callwright bench plan``: how well tools are put into layers, by source, for every planner.

Three protocols, never mixed: planners that learn nothing; the edge model learned anew and measured on tool
combinations it has not seen (five folds) or on a source it has not seen; and shipped weights as they are, where a
score on a source that they were trained on is marked ``*`` and says nothing about new tools.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from callwright import metrics
from callwright.errors import CallwrightError, ConfigError
from callwright.planning import open_planner
from callwright.protocols import Planner
from callwright.training.data import PlanExample, with_distractors
from callwright.training.data import pool as pool_of
from callwright.training.sources import load

SOURCES = (
    "nestful", "complexfuncbench", "nestools", "complexfuncbench_refs", "seal_tools", "tmdb",
    "ultratool", "complextool_plan", "stabletoolbench",
)  # fmt: skip
MACRO = ("nestful", "complexfuncbench", "nestools")
SIMPLE = ("all-in-one", "mention", "schema")
SHIPPED = ("edges", "layers")


@dataclass(frozen=True, slots=True)
class Row:
    """One planner on one source. Shares in percent; ``seen`` marks a source the weights were trained on."""

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
        shares = " | ".join(f"{x:.1f}{mark}" for x in (self.accuracy, self.order, self.valid, self.f1))
        return f"| {self.planner} | {self.source} | {self.examples} | {shares} | {self.error:.2f} |"


Found = list[tuple[PlanExample, dict[str, int], set[tuple[str, str]]]]  # example, layers, edges


def measure(planner: Planner, examples: Sequence[PlanExample], seen: bool = False) -> Row:
    """One planner on the examples of one source."""
    found: Found = []
    for example in examples:
        plan = planner.plan(example.query, example.tools)
        layers = {slot.tool: k for k, layer in enumerate(plan.layers) for slot in layer}
        found.append((example, layers, set(plan.edges)))
    return scored(planner.name, found, seen)


def scored(name: str, answers: Found, seen: bool = False) -> Row:
    """The scores of plans for one source; distractors are taken out and empty layers closed up first."""
    found = [(e, metrics.compact(layers, e.gold), edges) for e, layers, edges in answers]
    return Row(
        planner=name,
        source=found[0][0].source,
        examples=len(found),
        accuracy=100 * metrics.share(metrics.layer_accuracy(e.layers, x) for e, x, _ in found),
        error=metrics.share(metrics.layer_error(e.layers, x) for e, x, _ in found),
        order=100 * metrics.share(metrics.order_accuracy(e.layers, x) for e, x, _ in found),
        valid=100 * metrics.share(metrics.valid(e.edges, x) for e, x, _ in found),
        f1=100 * metrics.f1(metrics.edge_counts(e.edges, edges, e.gold) for e, _, edges in found),
        seen=seen,
    )


def mean(rows: Sequence[Row], sources: Sequence[str] = MACRO) -> Row | None:
    """The plain mean over ``sources``; None unless all of them were measured."""
    kept = [r for r in rows if r.source in sources]
    if len(kept) != len(sources):
        return None
    fields = ("accuracy", "error", "order", "valid", "f1")
    means: dict[str, Any] = {f: sum(getattr(r, f) for r in kept) / len(kept) for f in fields}
    total = sum(r.examples for r in kept)
    return Row(kept[0].planner, "macro", total, **means, seen=any(r.seen for r in kept))


def table(rows: Iterable[Row]) -> str:
    """The rows as Markdown."""
    head = "| planner | source | examples | accuracy | order | valid | edge F1 | error |"
    return "\n".join([head, "|---|---|---|---|---|---|---|---|", *(r.cells() for r in rows)])


def fixed(names: Sequence[str], data: Mapping[str, Sequence[PlanExample]]) -> list[Row]:
    """Planners as they are, on every source; those whose weights are not there are left out with a note."""
    made: list[Row] = []
    for name in names:
        try:
            planner = open_planner(name)
            trained = trained_on(planner)
            rows = [measure(planner, examples, source in trained) for source, examples in data.items()]
        except CallwrightError as exc:
            sys.stderr.write(f"{name}: left out: {exc}\n")
            continue
        whole = mean(rows)
        made += [*rows, whole] if whole else rows
    return made


def trained_on(planner: Planner) -> frozenset[str]:
    """The sources a planner's weights were trained on, by its card; ComplexFuncBench's two labellings are one."""
    card = getattr(getattr(planner, "model", None), "card", None) or getattr(planner, "card", None)
    about = getattr(card, "about", card) or {}
    named = about.get("data") or about.get("sources") or ()
    found = {str(name) for name in named}
    return frozenset(found | ({"complexfuncbench_refs"} if "complexfuncbench" in found else set()))


def learned(data: Mapping[str, Sequence[PlanExample]]) -> list[Row]:
    """The edge model learned anew for every split: five folds, and every source left out in turn."""
    from callwright.training import edges

    settings = edges.Settings()
    prepared = edges.Prepared([e for found in data.values() for e in found], settings)
    apart = edges.unseen_sources(prepared, settings)
    scale = edges.calibrate(apart)
    across = edges.unseen_combinations(prepared, settings)
    made: list[Row] = []
    for title, predicted in (("edges, five folds", across), ("edges, source left out", apart)):
        answers = [(r.example, *edges.answer(r, odds, *scale)) for r, odds in predicted]
        rows = [scored(title, [a for a in answers if a[0].source == source]) for source in data]
        whole = mean(rows)
        made += [*rows, whole] if whole else rows
    return made


def gather(names: Iterable[str], distractors: int, root: Path | None) -> dict[str, list[PlanExample]]:
    """Examples with at least two gold tools by source; sources whose files are absent are left out with a note."""
    made: dict[str, list[PlanExample]] = {}
    for name in names:
        try:
            examples = [e for e in load(name, root) if len(e.gold) > 1]
        except ConfigError as exc:
            sys.stderr.write(f"{name}: left out: {exc}\n")
            continue
        spare = pool_of(examples)
        made[name] = [with_distractors(e, spare, distractors) for e in examples] if distractors else examples
    return made


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the tables."""
    p = argparse.ArgumentParser(prog="callwright bench plan", description=__doc__)
    p.add_argument("--sources", default=",".join(SOURCES), help="data sources, by comma")
    p.add_argument("--planners", default=",".join((*SIMPLE, *SHIPPED)), help="planners, by comma")
    p.add_argument("--data", type=Path, help="folder that holds the data sets (default: $CALLWRIGHT_DATA)")
    p.add_argument("--distractors", type=int, default=0, help="tools that gold never calls, mixed into each example")
    p.add_argument("--learn", action="store_true", help="also learn the edge model anew for every split (minutes)")
    args = p.parse_args(arguments)
    data = gather(args.sources.split(","), args.distractors, args.data)
    rows = fixed(args.planners.split(","), data)
    sys.stdout.write(table(rows) + "\n* trained on this source\n")
    if args.learn:
        from callwright.training.edges import SOURCES as LEARNED

        rows = learned({s: x for s, x in data.items() if s in LEARNED})
        sys.stdout.write("\n" + table(rows) + "\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
