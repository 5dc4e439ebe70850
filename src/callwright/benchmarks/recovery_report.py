"""Rows of runs that met an error -> tables of the objective ERR and ECR, by kind of error, strategy by strategy."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from statistics import fmean

from callwright.benchmarks.judge_rates import error_correction, error_recognition
from callwright.benchmarks.paired import mcnemar, paired_bootstrap, wilson
from callwright.benchmarks.recovery_score import counted
from callwright.benchmarks.report import ByTask, Row, grouped, table
from callwright.types import JsonObject

OBJECTIVE = (
    "Objective, without a judge: recognised (something else was tried) and told in the answer, of the runs that met "
    "the error; corrected, of those whose error some call can correct. 95 % intervals (Wilson)."
)


def recovery_report(rows: Iterable[Row]) -> str:
    """One section per (model, configuration)."""
    parts = [_section(model, config, found) for (model, config), found in grouped(rows).items()]
    return "\n\n".join(parts) if parts else "No finished runs yet."


def _section(model: str, config: str, strategies: Mapping[str, ByTask]) -> str:
    tasks = {task for found in strategies.values() for task in found}
    head = f"Model {model}, {len(tasks)} error cases, configuration {config}."
    kinds = sorted({row["kind"] for found in strategies.values() for row in found.values()})
    tables = [_summary(strategies), _by_kind(strategies, kinds, "recognised", "met")]
    tables += [_by_kind(strategies, kinds, "corrected", "mendable")]
    return "\n\n".join([head, OBJECTIVE, *tables, *([_pairs(strategies)] if len(strategies) > 1 else [])])


def _summary(strategies: Mapping[str, ByTask]) -> str:
    rates = ("ERR, objective", "ECR, objective", "told", "task right")
    lines = [["strategy", "met", *rates, "steps", "tokens", "calls"]]
    for name, found in strategies.items():
        rows = list(found.values())
        counts = counted(rows)
        right = sum(bool(row["success"]) for row in rows)
        lines.append(
            [
                name,
                f"{counts['met']}/{len(rows)}",
                share(counts["recognised"], counts["met"]),
                share(counts["corrected"], counts["mendable"]),
                f"{counts['told']}/{counts['met']}",
                share(right, len(rows)),
                f"{fmean(row['model_calls'] for row in rows):.1f}",
                f"{fmean(row['prompt_tokens'] + row['completion_tokens'] for row in rows):,.0f}",
                f"{fmean(row['calls'] for row in rows):.1f}",
            ]
        )
    return table(lines)


def _by_kind(strategies: Mapping[str, ByTask], kinds: Sequence[str], what: str, of: str) -> str:
    lines = [[f"{what}, by kind", *kinds]]
    for name, found in strategies.items():
        counts = [counted(row for row in found.values() if row["kind"] == kind) for kind in kinds]
        lines.append([name, *(share(count[what], count[of]) for count in counts)])
    return table(lines)


def _pairs(strategies: Mapping[str, ByTask]) -> str:
    """Each two on the error cases that both met and that can be corrected."""
    lines = [["the first against the second", "cases", "ECR, points", "ratio", "only one, exact McNemar"]]
    for a, b in combinations(strategies, 2):
        shared = [t for t in strategies[a] if all(_counts(strategies[s].get(t)) for s in (a, b))]
        if not shared:
            lines.append([f"{a} against {b}", "0", "–", "–", "–"])
            continue
        ours, theirs = ([bool(strategies[s][t]["corrected"]) for t in shared] for s in (a, b))
        test = mcnemar(ours, theirs)
        gain = paired_bootstrap([100.0 * won for won in ours], [100.0 * won for won in theirs])
        ratio = f"{sum(ours) / sum(theirs):.2f}" if sum(theirs) else "–"
        span = f"{gain.value:+.1f} ({gain.low:+.1f} to {gain.high:+.1f})"
        only = f"{test.only_a} and {test.only_b}, p = {test.p:.3g}"
        lines.append([f"{a} against {b}", str(len(shared)), span, ratio, only])
    return table(lines)


def _counts(row: Row | None) -> bool:
    return row is not None and bool(row.get("met")) and bool(row.get("mendable"))


def judged_table(rows: Sequence[JsonObject]) -> str:
    """ERR and ECR by a judge (Tool-MVR, Table 7), by system and part, each error case by its first readable verdict
    of every repetition: the mean of the repetitions."""
    parts = sorted({str(row["part"]) for row in rows})
    lines = [["judge", "system", *(f"ERR {p}" for p in parts), "ERR", *(f"ECR {p}" for p in parts), "ECR", "unread"]]
    groups: dict[tuple[str, str], list[JsonObject]] = {}
    for row in rows:
        groups.setdefault((str(row["judge"]), str(row["system"])), []).append(row)
    for (judge, system), found in sorted(groups.items()):
        cells = [
            _judged([row for row in found if part in ("", row["part"])], rate)
            for rate in (error_recognition, error_correction)
            for part in (*parts, "")
        ]
        lines.append([judge, system, *cells, str(sum(not row["verdict"] for row in found))])
    return table(lines)


def _judged(rows: Sequence[JsonObject], rate: object) -> str:
    pairs = [(str(row["verdict"]), str(row["more"])) for row in rows if row["verdict"]]
    return f"{100 * rate(pairs):.1f} ({len(pairs)})" if pairs and callable(rate) else "–"


def share(part: int, whole: int) -> str:
    """``3/12 = 25 % (9 – 53)``; a dash of none."""
    if not whole:
        return "–"
    found = wilson(part, whole)
    return f"{part}/{whole} = {100 * found.value:.0f} % ({100 * found.low:.0f} – {100 * found.high:.0f})"
