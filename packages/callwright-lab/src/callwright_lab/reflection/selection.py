"""Selects the rows of an exploration to write: each lesson once, a limited number per error, each
in its part.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Literal

from callwright.nouns.types import JsonObject, compute_digest
from callwright_lab.reflection.row import Reflected, record

HELD = 1 / 6  # of the requests, which `train toolmvr` holds out of rows that do not say their part
_STEPS = 6
_FINER = 9_973  # a prime: the order within a sixth


def deduplicate_rows(rows: Iterable[Reflected]) -> list[Reflected]:
    """The rows without those that teach what an earlier one does: the same error with the same
    correction, whoever made it where; of equal ones the first that a model reflected on, where
    there is one.
    """
    found: dict[str, Reflected] = {}
    for row in rows:
        if row.lesson not in found or (found[row.lesson].by == "rule" and row.by != "rule"):
            found[row.lesson] = row
    return list(found.values())


def balance_errors(rows: Sequence[Reflected], each: int | None) -> list[Reflected]:
    """At most ``each`` rows of every error, in their order; which of them, their digests decide."""
    if each is None:
        return list(rows)
    counts: Counter[str] = Counter()
    kept = set()
    for at in sorted(
        range(len(rows)), key=lambda at: compute_digest([rows[at].before.id, rows[at].lesson])
    ):
        counts[_error_label(rows[at])] += 1
        if counts[_error_label(rows[at])] <= each:
            kept.add(at)
    return [row for at, row in enumerate(rows) if at in kept]


def assign_part(row: Reflected, held: float = HELD) -> Literal["train", "test"]:
    """The part of a row's request, the same for all rows of it. With the default the parts are
    those of ``train toolmvr``; a smaller ``held`` holds out some of its requests, a larger one
    others beside them.
    """
    drawn = int(compute_digest(row.before.query)[:8], 16)
    rank = (drawn % _STEPS + drawn // _STEPS % _FINER / _FINER) / _STEPS
    return "test" if rank < held else "train"


def select_rows(row: Reflected, layout: str, held: float = HELD) -> JsonObject:
    """The row as it stands in a file: the record with its part, for training. ConfigError where the
    layout cannot say it.
    """
    return {**record(row, layout), "part": assign_part(row, held)}


def _error_label(row: Reflected) -> str:
    return f"{row.kind}: {row.error}"
