"""Scores predicted layers, by source and in the mean over sources."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields

from callwright.planning.schema_order import constrain_layers, find_claims
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


def score_layers(
    examples: Sequence[PlanExample], layers: Sequence[Mapping[str, int]]
) -> dict[str, Scores]:
    """Scores by source, and their plain mean under ``macro``.

    Distractors are taken out and empty layers closed up first, as a plan does with layers nobody is
    in.
    """
    groups: dict[str, list[tuple[PlanExample, dict[str, int]]]] = {}
    for example, found in zip(examples, layers, strict=True):
        groups.setdefault(example.source, []).append(
            (example, metrics.compact_layers(found, example.gold))
        )
    scored = {source: _score_source(rows) for source, rows in sorted(groups.items())}
    return scored | {MACRO: _average_scores(list(scored.values()))}


def apply_constraint(example: PlanExample, layers: Mapping[str, int]) -> dict[str, int]:
    """The layers after the schema-level constraint among all tools offered."""
    return constrain_layers(layers, find_claims(example.tools))[0]


def render_table(scored: Mapping[str, Scores], title: str = "source") -> str:
    """A Markdown table, one row per entry: percentages, and the error in layers."""
    lines = [
        f"| {title} | examples | accuracy | order | valid | exact | error |",
        "|---|---|---|---|---|---|---|",
    ]
    for name, s in scored.items():
        shares = " | ".join(f"{100 * x:.1f}" for x in (s.accuracy, s.order, s.valid, s.exact))
        lines.append(f"| {name} | {s.examples} | {shares} | {s.error:.2f} |")
    return "\n".join(lines)


def _score_source(rows: Iterable[tuple[PlanExample, dict[str, int]]]) -> Scores:
    pairs = list(rows)
    return Scores(
        len(pairs),
        accuracy=metrics.pool_share(metrics.layer_accuracy(e.layers, found) for e, found in pairs),
        order=metrics.pool_share(metrics.order_accuracy(e.layers, found) for e, found in pairs),
        valid=metrics.pool_share(metrics.score_validity(e.edges, found) for e, found in pairs),
        exact=metrics.pool_share(metrics.score_exact_match(e.layers, found) for e, found in pairs),
        error=metrics.pool_share(metrics.layer_error(e.layers, found) for e, found in pairs),
    )


def _average_scores(rows: Sequence[Scores]) -> Scores:
    count = max(1, len(rows))
    means = {
        f.name: sum(getattr(s, f.name) for s in rows) / count
        for f in fields(Scores)
        if f.name != "examples"
    }
    return Scores(sum(s.examples for s in rows), **means)
