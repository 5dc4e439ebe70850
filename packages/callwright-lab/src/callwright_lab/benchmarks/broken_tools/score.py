"""Rows of the broken-tools benchmark -> measures and tables.

A query's gold are the tools that truly answered when they were really called. Recall@K, NDCG@K and
all@K (every one of them in the first K) are of those; works@K: every thing that the query needs has
one of them in the first K. ``later`` is Recall@10 of the tools that sit in later layers of a chain.

Two tables are the paper's. Table 3 compares the systems by Recall, NDCG and Pass at 3 and 5;
Pass@K is works@K. Table 4 says what trials of the first five candidates proved. Beside it stands
what became of each kind of breakage.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from statistics import fmean
from typing import Any

from callwright_lab.benchmarks.comparison.report import render_table
from callwright_lab.metrics import all_at, ndcg_at, paired_bootstrap, recall_at

Row = Mapping[str, Any]
KS = (5, 10)
AIMS = {"works@10": 0.136, "works@5": 0.198, "NDCG@10": 0.050}
"""Gains over the base retriever that GRETEL reports (Table 2: Pass@10, Pass@5, NDCG@10)."""


def works_at(k: int, row: Row) -> float:
    """1.0 if each of the query's needs has a tool that truly answers among the first ``k``."""
    first = set(row["ranking"][:k])
    return float(all(first & set(need["tools"]) for need in row["gold"]))


def collect_gold_tools(row: Row) -> frozenset[str]:
    """Every tool that truly answers one of the query's needs."""
    return frozenset(tool for need in row["gold"] for tool in need["tools"])


def _measure_later_recall(row: Row) -> float:
    return recall_at(
        10, row["ranking"], frozenset(t for n in row["gold"] if n["layer"] for t in n["tools"])
    )


def _make_measure(
    measure: Callable[[int, Sequence[str], frozenset[str]], float], k: int
) -> Callable[[Row], float]:
    return lambda row: measure(k, row["ranking"], collect_gold_tools(row))


MEASURES: Mapping[str, Callable[[Row], float]] = {
    **{f"R@{k}": _make_measure(recall_at, k) for k in KS},
    **{f"NDCG@{k}": _make_measure(ndcg_at, k) for k in KS},
    **{f"all@{k}": _make_measure(all_at, k) for k in KS},
    "works@5": lambda row: works_at(5, row),
    "works@10": lambda row: works_at(10, row),
}


PAPERS: Mapping[str, Callable[[Row], float]] = {
    **{f"Recall@{k}": _make_measure(recall_at, k) for k in (3, 5)},
    **{f"NDCG@{k}": _make_measure(ndcg_at, k) for k in (3, 5)},
    "Pass@3": lambda row: works_at(3, row),
    "Pass@5": lambda row: works_at(5, row),
}
"""The measures of GRETEL's Table 3."""
CLASSES = (
    "parameter_mismatch",
    "semantic_mismatch",
    "execution_failure",
    "functional_success",
)
"""The classes of its Table 4, in its order."""
_FIRST = 5  # candidates, as retrieved, whose trials Table 4 counts


def is_chained(row: Row) -> bool:
    """Return True if a query needs a tool of a later layer."""
    return any(need["layer"] for need in row["gold"])


def render_report(rows: Sequence[Row]) -> str:
    """The tables of one half: all measures, the gains over the base with 95 % intervals, works@10
    by group.
    """
    found: dict[tuple[int, str], dict[str, Row]] = {}
    for row in rows:
        found.setdefault((row["rate"], row["system"]), {})[row["query"]] = row
    if not found:
        return "No rows yet."
    ordered = sorted(found, key=lambda key: key[0])
    parts = [
        _render_measures(ordered, found),
        _render_gains(ordered, found),
        _render_groups(ordered, found),
        _render_papers_systems(ordered, found),
        _render_classes(ordered, found),
        _render_kinds(ordered, found),
    ]
    return "\n\n".join(part for part in parts if part)


Found = Mapping[tuple[int, str], Mapping[str, Row]]


def _render_measures(ordered: Sequence[tuple[int, str]], found: Found) -> str:
    lines = [["broken %", "system", "queries", *MEASURES, "later R@10", "calls", "of trying all"]]
    for rate, system in ordered:
        rows = list(found[rate, system].values())
        chained = [row for row in rows if is_chained(row)]
        later = f"{fmean(map(_measure_later_recall, chained)):.3f}" if chained else "–"
        cells = [f"{fmean(map(measure, rows)):.3f}" for measure in MEASURES.values()]
        calls = fmean(row["calls"] for row in rows)
        lines.append(
            [
                str(rate),
                system,
                str(len(rows)),
                *cells,
                later,
                f"{calls:.1f}",
                _format_call_share(rate, rows, found),
            ]
        )
    return render_table(lines)


def _format_call_share(rate: int, rows: Sequence[Row], found: Found) -> str:
    every = found.get((rate, "try all"), {})
    shared = [row for row in rows if row["query"] in every]
    spent = sum(every[row["query"]]["calls"] for row in shared)
    return f"{100 * sum(row['calls'] for row in shared) / spent:.0f} %" if spent else "–"


def _render_gains(ordered: Sequence[tuple[int, str]], found: Found) -> str:
    lines = [
        [
            "broken %",
            "against the base",
            *(f"{name} (aim +{aim:.3f})" for name, aim in AIMS.items()),
            "later",
        ]
    ]
    for rate, system in ordered:
        base = found.get((rate, "base"), {})
        shared = [q for q in found[rate, system] if q in base]
        if system == "base" or not shared:
            continue
        ours, theirs = [found[rate, system][q] for q in shared], [base[q] for q in shared]
        cells = [_format_gain(MEASURES[name], ours, theirs) for name in AIMS]
        both = [(a, b) for a, b in zip(ours, theirs, strict=True) if is_chained(a)]
        later = (
            _format_gain(_measure_later_recall, [a for a, _ in both], [b for _, b in both])
            if both
            else "–"
        )
        lines.append([str(rate), system, *cells, later])
    return render_table(lines) if len(lines) > 1 else ""


def _format_gain(
    measure: Callable[[Row], float], ours: Sequence[Row], theirs: Sequence[Row]
) -> str:
    found = paired_bootstrap([measure(row) for row in ours], [measure(row) for row in theirs])
    return f"{found.value:+.3f} ({found.low:+.3f} to {found.high:+.3f})"


def _render_groups(ordered: Sequence[tuple[int, str]], found: Found) -> str:
    groups = sorted({row["group"] for rows in found.values() for row in rows.values()})
    lines = [["works@10: broken %", "system", *groups]]
    for rate, system in ordered:
        cells = []
        for group in groups:
            rows = [row for row in found[rate, system].values() if row["group"] == group]
            cells.append(f"{fmean(works_at(10, row) for row in rows):.3f}" if rows else "–")
        lines.append([str(rate), system, *cells])
    return render_table(lines)


def _render_papers_systems(ordered: Sequence[tuple[int, str]], found: Found) -> str:
    """GRETEL, Table 3: every system by the paper's measures."""
    lines = [["Table 3: broken %", "system", "queries", *PAPERS]]
    for rate, system in ordered:
        rows = list(found[rate, system].values())
        cells = [f"{fmean(map(measure, rows)):.3f}" for measure in PAPERS.values()]
        lines.append([str(rate), system, str(len(rows)), *cells])
    return render_table(lines)


def classify_trial(outcome: str) -> str:
    """The class of Table 4 that a trial of a row belongs to; a simulated success is one of its own,
    and so is what proved nothing.
    """
    if outcome in CLASSES:
        return outcome
    return "simulated" if outcome.startswith("simulated") else "nothing proved"


def _iter_trials(rows: Sequence[Row], first: int | None = None) -> Iterator[tuple[str, str]]:
    """The class and the kind of breakage of each candidate; of the first ``first`` as retrieved."""
    for row in rows:
        for _, initial, outcome, kind in row.get("tried_tools", ()):
            if first is None or initial <= first:
                yield classify_trial(outcome), kind


def _render_classes(ordered: Sequence[tuple[int, str]], found: Found) -> str:
    """GRETEL, Table 4: what trials of the first candidates proved."""
    columns = (*CLASSES, "simulated", "nothing proved")
    names = [name.replace("_", " ") for name in columns]
    lines = [["Table 4: broken %", "system", f"first {_FIRST}", *names]]
    for rate, system in ordered:
        seen = Counter(one for one, _ in _iter_trials(list(found[rate, system].values()), _FIRST))
        total = seen.total()
        if total:
            cells = [f"{100 * seen[name] / total:.0f} %" for name in columns]
            lines.append([str(rate), system, str(total), *cells])
    return render_table(lines) if len(lines) > 1 else ""


def _render_kinds(ordered: Sequence[tuple[int, str]], found: Found) -> str:
    """The candidates that were shown to fail, of those that succeeded or failed: broken tools by kind,
    and the intact ones.
    """
    kinds = sorted({kind for rows in found.values() for _, kind in _iter_trials([*rows.values()])})
    lines = [["sunk, of those decided: broken %", "system", *(kind or "intact" for kind in kinds)]]
    for rate, system in ordered:
        trials = list(_iter_trials(list(found[rate, system].values())))
        cells = []
        for kind in kinds:
            decided = [one for one, of in trials if of == kind and one in CLASSES]
            sunk = sum(one != "functional_success" for one in decided)
            cells.append(f"{sunk} of {len(decided)}" if decided else "–")
        if any(cell != "–" for cell in cells):
            lines.append([str(rate), system, *cells])
    return render_table(lines) if len(lines) > 1 else ""
