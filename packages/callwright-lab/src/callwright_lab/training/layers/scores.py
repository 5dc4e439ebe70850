"""How good predicted layers are, by source and in the mean over sources."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields

from callwright.planning.schema_order import claims, constrain
from callwright_lab import metrics
from callwright_lab.datasets.examples import PlanExample

MACRO = "macro"


@dataclass(frozen=True, slots=True)
class Scores:
    """Shares in 0..1, except ``error``: mean absolute error in layers. See
    :mod:`callwright_lab.metrics`.
    """

    examples: int
    accuracy: float
    order: float
    valid: float
    exact: float
    error: float

    def to_dict(self) -> dict[str, float]:
        return {f.name: round(getattr(self, f.name), 4) for f in fields(self)}


def score(
    examples: Sequence[PlanExample], layers: Sequence[Mapping[str, int]]
) -> dict[str, Scores]:
    """Scores by source, and their plain mean under ``macro``.

    Distractors are taken out and empty layers closed up first, as a plan does with layers nobody is
    in.
    """
    groups: dict[str, list[tuple[PlanExample, dict[str, int]]]] = {}
    for example, found in zip(examples, layers, strict=True):
        groups.setdefault(example.source, []).append(
            (example, metrics.compact(found, example.gold))
        )
    scored = {source: _scores(rows) for source, rows in sorted(groups.items())}
    return scored | {MACRO: _mean(list(scored.values()))}


def constrained(example: PlanExample, layers: Mapping[str, int]) -> dict[str, int]:
    """The layers after the schema-level constraint among all tools offered."""
    return constrain(layers, claims(example.tools))[0]


def table(scored: Mapping[str, Scores], title: str = "source") -> str:
    """A Markdown table, one row per entry: percentages, and the error in layers."""
    lines = [
        f"| {title} | examples | accuracy | order | valid | exact | error |",
        "|---|---|---|---|---|---|---|",
    ]
    for name, s in scored.items():
        shares = " | ".join(f"{100 * x:.1f}" for x in (s.accuracy, s.order, s.valid, s.exact))
        lines.append(f"| {name} | {s.examples} | {shares} | {s.error:.2f} |")
    return "\n".join(lines)


def _scores(rows: Iterable[tuple[PlanExample, dict[str, int]]]) -> Scores:
    pairs = list(rows)
    return Scores(
        len(pairs),
        accuracy=metrics.share(metrics.layer_accuracy(e.layers, found) for e, found in pairs),
        order=metrics.share(metrics.order_accuracy(e.layers, found) for e, found in pairs),
        valid=metrics.share(metrics.valid(e.edges, found) for e, found in pairs),
        exact=metrics.share(metrics.exact(e.layers, found) for e, found in pairs),
        error=metrics.share(metrics.layer_error(e.layers, found) for e, found in pairs),
    )


def _mean(rows: Sequence[Scores]) -> Scores:
    count = max(1, len(rows))
    means = {
        f.name: sum(getattr(s, f.name) for s in rows) / count
        for f in fields(Scores)
        if f.name != "examples"
    }
    return Scores(sum(s.examples for s in rows), **means)
