"""Rows of runs that met an error -> tables of the objective ERR and ECR, by kind of error, strategy
by strategy.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import fmean

from callwright.nouns.types import JsonObject
from callwright_lab.benchmarks.comparison.paired import mcnemar_test, paired_bootstrap
from callwright_lab.benchmarks.comparison.report import (
    ByTask,
    Row,
    describe_budget,
    group_rows,
    render_table,
    total_tokens,
)
from callwright_lab.benchmarks.judge.check import measure_gold_agreement, measure_repeat_agreement
from callwright_lab.benchmarks.judge.rates import error_correction, error_recognition
from callwright_lab.recovery import count_outcomes, format_share

OBJECTIVE = (
    "Objective, without a judge. met: runs to which the error happened. ERR: something else was"
    " tried, of the met. ECR of met: corrected, of the met errors that some call can correct; of"
    " all: of all such errors, met or not. told: the answer says so. A step is a question to the"
    " model; steps, tokens and calls are means per run. 95 % intervals (Wilson)."
)
PAIRED = (
    "Paired, case by case. ECR of met: on the errors that both met and some call can correct; of"
    " all: on all that some call can correct; task right: on all cases that both have run. 95 %"
    " intervals are of resampled cases."
)
BASELINES = ("react-no-gate", "react-no-repair", "react")
"""What the others are held against: ReAct as it was published, with the schema gate, and with gate
and repair.
"""


def recovery_report(rows: Iterable[Row]) -> str:
    """One section per (model, configuration)."""
    parts = [
        _render_section(model, config, found) for (model, config), found in group_rows(rows).items()
    ]
    return "\n\n".join(parts) if parts else "No finished runs yet."


def _render_section(model: str, config: str, strategies: Mapping[str, ByTask]) -> str:
    tasks = {task for found in strategies.values() for task in found}
    told = describe_budget(row for found in strategies.values() for row in found.values())
    head = f"Model {model}, {len(tasks)} error cases{told}, configuration {config}."
    kinds = sorted({row["kind"] for found in strategies.values() for row in found.values()})
    tables = [_render_summary(strategies), _render_kinds(strategies, kinds, "recognised", "met")]
    tables += [_render_kinds(strategies, kinds, "corrected", "mendable")]
    return "\n\n".join(
        [
            head,
            OBJECTIVE,
            *tables,
            *([PAIRED, _render_pairs(strategies)] if len(strategies) > 1 else []),
        ]
    )


def _render_summary(strategies: Mapping[str, ByTask]) -> str:
    rates = (
        "ERR, objective",
        "ECR of met, objective",
        "ECR of all, objective",
        "told",
        "task right",
    )
    lines = [["strategy", "met", *rates, "steps", "tokens", "calls"]]
    for name, found in strategies.items():
        rows = list(found.values())
        counts = count_outcomes(rows)
        right = sum(bool(row["success"]) for row in rows)
        lines.append(
            [
                name,
                f"{counts['met']}/{len(rows)}",
                format_share(counts["recognised"], counts["met"]),
                format_share(counts["corrected"], counts["mendable"]),
                format_share(counts["corrected"], sum(bool(row["mendable"]) for row in rows)),
                f"{counts['told']}/{counts['met']}",
                format_share(right, len(rows)),
                f"{fmean(row['model_calls'] for row in rows):.1f}",
                f"{fmean(map(total_tokens, rows)):,.0f}",
                f"{fmean(row['calls'] for row in rows):.1f}",
            ]
        )
    return render_table(lines)


def _render_kinds(
    strategies: Mapping[str, ByTask], kinds: Sequence[str], what: str, of: str
) -> str:
    lines = [[f"{what}, by kind", *kinds]]
    for name, found in strategies.items():
        counts = [
            count_outcomes(row for row in found.values() if row["kind"] == kind) for kind in kinds
        ]
        lines.append([name, *(format_share(count[what], count[of]) for count in counts)])
    return render_table(lines)


@dataclass(frozen=True, slots=True)
class _Measure:
    """Something that two strategies are compared by, on the cases that count for it in both their
    rows.
    """

    name: str
    field: str
    counts: Callable[[Row], bool]


_MEASURES = (
    _Measure("ECR of met", "corrected", lambda row: bool(row["met"] and row["mendable"])),
    _Measure("ECR of all", "corrected", lambda row: bool(row["mendable"])),
    _Measure("task right", "success", lambda _: True),
)


def _render_pairs(strategies: Mapping[str, ByTask]) -> str:
    """Each strategy against the baselines; each two where there is none of them."""
    there = [name for name in BASELINES if name in strategies]
    against = [
        (name, base)
        for base in there
        for name in strategies
        if name not in there[: there.index(base) + 1]
    ]
    lines = [
        [
            "the first against the second",
            "what",
            "cases",
            "points",
            "ratio",
            "only one, exact McNemar",
        ]
    ]
    for a, b in against or combinations(strategies, 2):
        lines += [
            [f"{a} against {b}", *_compare_pair(strategies[a], strategies[b], what)]
            for what in _MEASURES
        ]
    return render_table(lines)


def _compare_pair(first: ByTask, second: ByTask, what: _Measure) -> list[str]:
    shared = [
        task
        for task in first
        if task in second and what.counts(first[task]) and what.counts(second[task])
    ]
    if not shared:
        return [what.name, "0", "–", "–", "–"]
    ours, theirs = ([bool(found[task][what.field]) for task in shared] for found in (first, second))
    test = mcnemar_test(ours, theirs)
    gain = paired_bootstrap([100.0 * won for won in ours], [100.0 * won for won in theirs])
    ratio = f"{sum(ours) / sum(theirs):.2f}" if sum(theirs) else "–"
    span = f"{gain.value:+.1f} ({gain.low:+.1f} to {gain.high:+.1f})"
    return [
        what.name,
        str(len(shared)),
        span,
        ratio,
        f"{test.only_a} and {test.only_b}, p = {test.p:.3g}",
    ]


def render_judged_table(judged: Sequence[JsonObject], runs: Iterable[Row] = ()) -> str:
    """ERR and ECR by a judge (Tool-MVR, Table 7), by system and part, the mean over items and
    repetitions; and beside them how far this judge can be believed: whether it repeats itself, and
    whether it agrees with the objective verdicts that ``runs`` hold of the same items.
    """
    rows = list(
        {_get_judgement_key(row): row for row in judged}.values()
    )  # a run that was judged again counts once
    parts = sorted({str(row["part"]) for row in rows})
    rates = [*(f"ERR {part}" for part in parts), "ERR", *(f"ECR {part}" for part in parts), "ECR"]
    trust = ["agrees with code on ERR", "agrees with code on ECR", "repeats alike", "unread"]
    lines = [["judge", "system", *rates, *trust]]
    code = {item_key(run): run for run in runs if not run.get("error")}
    groups: dict[tuple[str, str], list[JsonObject]] = {}
    for row in rows:
        judge = f"{row['judge']} ({row['config']})"
        groups.setdefault((judge, str(row["system"])), []).append(row)
        groups.setdefault((judge, _ALL), []).append(row)
    alone = {judge for judge, _ in groups if sum(name == judge for name, _ in groups) == 2}
    for (judge, system), found in sorted(
        groups.items(), key=lambda one: (one[0][0], one[0][1] == _ALL, one[0][1])
    ):
        if system == _ALL and judge in alone:
            continue
        cells = [
            _format_judged_rate([row for row in found if part in ("", row["part"])], rate)
            for rate in (error_recognition, error_correction)
            for part in (*parts, "")
        ]
        lines.append([judge, system, *cells, *_render_agreement(found, code)])
    return render_table(lines)


_ALL = "all of them"


def item_key(run: Row) -> str:
    """Return the key of a run among the items of a judge."""
    return f"{run['task']} {run['strategy']} {run['model']} {run['config']}"


def _get_judgement_key(row: JsonObject) -> tuple[object, ...]:
    return row["judge"], row["config"], row["item"], row["run"]


def _render_agreement(rows: Sequence[JsonObject], code: Mapping[str, Row]) -> list[str]:
    """Return the reliability of a judge's verdicts: agreement with code, and agreement between
    repetitions.
    """
    seen: dict[str, dict[int, str]] = {}
    repaired: dict[str, dict[int, str]] = {}
    both: dict[str, dict[int, str]] = {}
    for row in rows:
        item, run = str(row["item"]), int(row["run"])
        seen.setdefault(item, {})[run] = str(row["verdict"])
        repaired.setdefault(item, {})[run] = str(row["more"]) if row["verdict"] else ""
        both.setdefault(item, {})[run] = f"{row['verdict']}/{row['more']}" if row["verdict"] else ""
    recognised = {item: bool(code[item]["recognised"]) for item in seen if item in code}
    corrected = {item: bool(code[item]["corrected"]) for item in seen if item in code}
    agreements = (
        measure_gold_agreement(seen, recognised),
        measure_gold_agreement(repaired, corrected),
        measure_repeat_agreement(both),
    )
    return [*map(str, agreements), str(sum(not row["verdict"] for row in rows))]


def _format_judged_rate(
    rows: Sequence[JsonObject], rate: Callable[[Sequence[tuple[str, str]]], float]
) -> str:
    pairs = [(str(row["verdict"]), str(row["more"])) for row in rows if row["verdict"]]
    return f"{100 * rate(pairs):.1f} ({len(pairs)})" if pairs else "–"
