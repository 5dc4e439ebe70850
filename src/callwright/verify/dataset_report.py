"""The rates of a data set as a table: Table 1's columns, then every class of finding with what it counts as."""

from __future__ import annotations

from callwright.verify.dataset import CALLS, CRITERIA, QUERY, Rates
from callwright.verify.dataset_precision import READ, Read, is_defect


def quality(name: str, found: Rates) -> str:
    """Shares of rows without a defect, in per cent, as Table 1 has them. Upper bounds: rules overlook much."""
    heads = [*(c.capitalize()[:5] for c in QUERY), "Request", *(c.capitalize()[:5] for c in CALLS), "Calls"]
    values = [*(found.quality[c] for c in QUERY), found.query, *(found.quality[c] for c in CALLS), found.calls]
    lines = ["| data | rows | " + " | ".join(heads) + " |", "|---|---:" + "|---:" * len(heads) + "|"]
    return "\n".join([*lines, f"| {name} | {found.rows} | " + " | ".join(f"{v:.1%}" for v in values) + " |"])


def classes(found: Rates) -> str:
    """Every class that was found: rows, share, criterion, and how often it was right where it was read."""
    lines = [
        "| finding | rows | share | speaks against | counts as | right where read |",
        "|---|---:|---:|---|---|---|",
    ]
    for kind, rows in sorted(found.kinds.items(), key=lambda item: -item[1]):
        if rows:
            read = READ.get(kind, Read())
            told = f"{read.right} of {read.read}" if read.read else "never read"
            level = "defect" if is_defect(kind) else "suspicion"
            share = rows / found.rows
            lines.append(f"| {kind} | {rows} | {share:.1%} | {CRITERIA[kind]} | {level} | {told} |")
    return "\n".join(lines)
