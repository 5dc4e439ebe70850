"""The licences of what a refiner learns from. Nobody is kept from training: what is kept to oneself
may be trained on anything that one has.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from callwright_lab.training.refiner.sources import SOURCES, UNKNOWN
from callwright_lab.training.refiner.task import Sample

_MAY = {True: "yes", False: "no", None: "unknown"}


def list_limits(learned: Sequence[Sample]) -> list[str]:
    """A sentence for each source whose rows are not, or not surely, for weights given away."""
    names = sorted({sample.task.source for sample in learned})
    return [
        f"Rows of {name} are not for weights that are given away. Licence: {licence}."
        for name, (licence, train) in ((name, _find_terms(name)) for name in names)
        if not train
    ]


def render_licences(learned: Sequence[Sample]) -> str:
    """The rows to learn from by source and who made the errors, with licences, as Markdown."""
    lines = ["| source | rows to learn from | errors by | licence | weights may be given away |"]
    lines.append("|---|---|---|---|---|")
    for (name, by), count in sorted(Counter((s.task.source, s.by) for s in learned).items()):
        licence, train = _find_terms(name)
        lines.append(f"| {name} | {count} | {by} | {licence} | {_MAY[train]} |")
    return "\n".join(lines)


def _find_terms(source: str) -> tuple[str, bool | None]:
    known = SOURCES.get(source)
    return (known.licence, known.train) if known else (UNKNOWN, None)
