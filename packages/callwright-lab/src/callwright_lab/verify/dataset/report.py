"""The rates of a data set as tables: Table 1's columns, then every class of finding with what it
counts as.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from callwright_lab.verify.dataset.precision import READ, Read, is_defect
from callwright_lab.verify.dataset.rules import CALLS, CRITERIA, QUERY, Rates


@dataclass(frozen=True, slots=True)
class Grid:
    """A table: heads, rows, and which columns hold numbers, first to last."""

    heads: Sequence[str]
    rows: Sequence[Sequence[str]]
    numbers: tuple[int, int]

    def markdown(self) -> str:
        """As Markdown; numbers stand to the right."""
        first, last = self.numbers
        rule = (
            "".join("|---:" if first <= at <= last else "|---" for at in range(len(self.heads)))
            + "|"
        )
        return "\n".join([_render_row(self.heads), rule, *map(_render_row, self.rows)])


def _render_row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def build_quality_grid(name: str, found: Rates) -> Grid:
    """Shares of rows without a defect, in per cent, as Table 1 has them. Upper bounds: rules
    overlook much.
    """
    heads = [*map(str.capitalize, QUERY), "Request", *map(str.capitalize, CALLS), "Calls"]
    values = [
        *(found.quality[c] for c in QUERY),
        found.query,
        *(found.quality[c] for c in CALLS),
        found.calls,
    ]
    row = [name, str(found.rows), *(f"{v:.1%}" for v in values)]
    return Grid(["data", "rows", *heads], [row], (1, len(row) - 1))


def build_class_grid(found: Rates) -> Grid:
    """Every class that was found: rows, share, criterion, and how often it was right where it was
    read.
    """
    rows = []
    for kind, count in sorted(found.kinds.items(), key=lambda item: -item[1]):
        if count:
            read = READ.get(kind, Read())
            told = f"{read.right} of {read.read}" if read.read else "never read"
            level = "defect" if is_defect(kind) else "suspicion"
            rows.append(
                [kind, str(count), f"{count / found.rows:.1%}", CRITERIA[kind], level, told]
            )
    heads = ["finding", "rows", "share", "speaks against", "counts as", "right where read"]
    return Grid(heads, rows, (1, 2))
