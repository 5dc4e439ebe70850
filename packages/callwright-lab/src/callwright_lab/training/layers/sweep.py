"""Trains the layer network many times and tabulates it: folds, leave one source out, and RETO's
Fig. 6.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from callwright_lab.datasets.examples import PlanExample
from callwright_lab.datasets.splits import Split, iter_folds, leave_one_source_out
from callwright_lab.training.layers.runs import Run, Settings, measure_network, predict_layers
from callwright_lab.training.layers.scores import (
    MACRO,
    Scores,
    apply_constraint,
    render_table,
    score_layers,
)
from callwright_lab.training.layers.tensors import Encoded

WIDTHS = (64, 128, 256, 512, 1024)  # d' of Fig. 6, with 8 numbers per head
HEAD_SIZES = (2, 4, 8, 16, 32)  # numbers per head of Fig. 6, with d' = 256

Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Measured:
    """Scores on rows the network was not trained on: as predicted, and after the schema-level
    constraint.
    """

    plain: dict[str, Scores]
    constrained: dict[str, Scores]

    def text(self, title: str) -> str:
        return (
            f"### {title}, as predicted\n\n{render_table(self.plain)}\n\n"
            f"### {title}, with the schema-level constraint\n\n{render_table(self.constrained)}"
        )

    def to_dict(self) -> dict[str, dict[str, dict[str, float]]]:
        pairs = (("plain", self.plain), ("constrained", self.constrained))
        return {
            name: {source: s.to_dict() for source, s in scored.items()} for name, scored in pairs
        }


def cross_validate(rows: Sequence[Encoded], settings: Settings, progress: Progress) -> Measured:
    """Grouped 5-fold by tool combination: every row is measured once, by the network that never saw
    its fold.
    """
    return _pool_splits(iter_folds([row.example for row in rows]), rows, settings, progress)


def leave_sources_out(rows: Sequence[Encoded], settings: Settings, progress: Progress) -> Measured:
    """Every source is measured by the network trained on the others: what a new user's tools
    are.
    """
    return _pool_splits(
        leave_one_source_out([row.example for row in rows]), rows, settings, progress
    )


def _pool_splits(
    splits: Iterable[Split], rows: Sequence[Encoded], settings: Settings, progress: Progress
) -> Measured:
    by_id = {row.example.id: row for row in rows}
    examples: list[PlanExample] = []
    plain: list[Mapping[str, int]] = []
    for split in splits:
        train, validation, test = _split_rows(split, by_id)
        trained = Run(train, validation, settings).finish()
        progress(
            f"{split.name}: epoch {trained.best.number}, validation accuracy"
            f" {trained.best.accuracy:.3f}"
        )
        examples += split.test
        plain += predict_layers(trained.network, test)
    moved = [apply_constraint(e, found) for e, found in zip(examples, plain, strict=True)]
    return Measured(score_layers(examples, plain), score_layers(examples, moved))


def _split_rows(
    split: Split, by_id: Mapping[str, Encoded]
) -> tuple[list[Encoded], list[Encoded], list[Encoded]]:
    train, validation, test = (
        [by_id[e.id] for e in part] for part in (split.train, split.validation, split.test)
    )
    return train, validation, test


def iter_variants(settings: Settings) -> Iterator[tuple[str, Settings]]:
    """The settings of Fig. 6: d' with 8 numbers per head, then numbers per head with d' = 256."""
    for width in WIDTHS:
        yield f"d'={width}", replace(settings, width=width, heads=width // 8)
    for size in HEAD_SIZES:
        yield f"d_head={size}", replace(settings, width=256, heads=256 // size)


def measure_sensitivity(
    rows: Sequence[Encoded], settings: Settings, progress: Progress, fold: int = 0
) -> str:
    """Fig. 6 as a table: macro scores of each variant on one fold."""
    split = list(iter_folds([row.example for row in rows]))[fold]
    by_id = {row.example.id: row for row in rows}
    train, validation, test = _split_rows(split, by_id)
    found: dict[str, Scores] = {}
    for name, variant in iter_variants(settings):
        found[name] = measure_network(Run(train, validation, variant).finish().network, test)[MACRO]
        progress(f"{name}: accuracy {found[name].accuracy:.3f}")
    return render_table(found, "setting")
