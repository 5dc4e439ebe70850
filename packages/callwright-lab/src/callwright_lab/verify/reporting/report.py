"""Renders the results of a sweep as a table: kept and dropped rows, reasons, categories, and the
cost.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from callwright.viewer import Table
from callwright_lab.verify.sweep import Finding, Sweep

_OPEN = {
    "untried": "not tried",
    "unsettled": "undecided",
}  # how a category begins -> what is said instead of dropped


@dataclass(frozen=True, slots=True)
class Line:
    """One category: how many rows, their share of all that were judged, and the first of them with
    its reason.
    """

    verdict: str  # kept | dropped | not tried | undecided
    category: str
    rows: int
    share: float
    example: str


def classify_verdict(finding: Finding) -> str:
    """``kept`` or ``dropped``; where nothing is known ``not tried``, or ``undecided`` after a
    passing failure.
    """
    if finding.kept:
        return "kept"
    return next(
        (verdict for begins, verdict in _OPEN.items() if finding.category.startswith(begins)),
        "dropped",
    )


def count_categories(findings: Sequence[Finding]) -> tuple[Line, ...]:
    """Findings by verdict and category, kept first, then the most frequent."""
    groups: dict[tuple[bool, str], list[Finding]] = {}
    for one in findings:
        groups.setdefault((one.kept, one.category), []).append(one)
    ordered = sorted(groups.items(), key=lambda g: (not g[0][0], -len(g[1]), g[0][1]))
    return tuple(
        Line(
            classify_verdict(some[0]),
            category,
            len(some),
            len(some) / len(findings),
            f"{some[0].id}: {some[0].why}" if some[0].why else some[0].id,
        )
        for (kept, category), some in ordered
    )


def summarize_sweep(made: Sweep) -> str:
    """One line: kept of judged, what was on record, what is left and why, what it cost."""
    judged = len(made.findings)
    share = f" ({len(made.kept) / judged:.1%})" if judged else ""
    parts = [f"kept {len(made.kept)} of {judged}{share}"]
    verdicts = Counter(map(classify_verdict, made.findings))
    parts += [f"{verdicts[verdict]} {verdict}" for verdict in _OPEN.values() if verdicts[verdict]]
    if made.again:
        parts.append(f"{made.again} from the journal")
    parts.append(str(made.cost))
    if made.left:
        parts.append(
            f"{len(made.left)} left: {made.stopped or 'stopped'}; the same command goes on with"
            " them"
        )
    return "; ".join(parts)


def render_markdown(made: Sweep, tables: Sequence[Table] = ()) -> str:
    """The report as Markdown, for a log; ``tables`` come before that of the categories."""
    head = "| verdict | category | rows | share | for example |\n|---|---|---:|---:|---|"
    body = [
        f"| {one.verdict} | {one.category or '—'} | {one.rows} | {one.share:.1%} |"
        f" {_render_cell(one.example)} |"
        for one in count_categories(made.findings)
    ]
    return "\n".join(
        [
            *(line for table in tables for line in _iter_table_lines(table)),
            head,
            *body,
            "",
            summarize_sweep(made),
        ]
    )


def _iter_table_lines(table: Table) -> Iterator[str]:
    yield from (f"**{table.title}**", "")
    for row in (table.heads, ["---"] * len(table.heads), *table.rows):
        yield f"| {' | '.join(map(_render_cell, row))} |"
    yield from ("", *([table.note, ""] if table.note else []))


def _render_cell(text: str) -> str:
    flat = " ".join(text.replace("|", "\\|").split())
    return flat if len(flat) <= 160 else flat[:159] + "…"
