"""Rows of a desk bench -> Markdown tables, ready for a README."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from statistics import fmean
from typing import Any

from callwright.benchmarks.paired import Interval, mcnemar, paired_bootstrap, wilson

Row = Mapping[str, Any]

MEANS: tuple[tuple[str, Callable[[Row], float]], ...] = (
    ("tool calls", lambda row: row["calls"]),
    ("repairs tier 1", lambda row: row["repairs"].get("tier1", 0)),
    ("repairs tier 2", lambda row: row["repairs"].get("tier2", 0)),
    ("repeats", lambda row: row["repairs"].get("repeat", 0)),
    ("model calls", lambda row: row["model_calls"]),
    ("prompt tokens", lambda row: row["prompt_tokens"]),
    ("completion tokens", lambda row: row["completion_tokens"]),
    ("seconds", lambda row: row["seconds"]),
    ("ungrounded", lambda row: row["violations"].get("ungrounded", 0)),
    ("unsourced", lambda row: row["violations"].get("unsourced", 0)),
)
COMPARED = ("tool calls", "model calls", "prompt tokens", "completion tokens", "seconds")


def report(rows: Iterable[Row]) -> str:
    """One section per (model, config) with a table of strategies and one of their paired differences."""
    groups: dict[tuple[str, str], dict[str, dict[str, Row]]] = {}
    for row in rows:
        if not row.get("error"):
            strategies = groups.setdefault((row["model"], row["config"]), {})
            strategies.setdefault(row["strategy"], {})[row["task"]] = row
    parts = [_section(model, config, found) for (model, config), found in sorted(groups.items())]
    return "\n\n".join(parts) if parts else "No finished runs yet."


def _section(model: str, config: str, strategies: Mapping[str, Mapping[str, Row]]) -> str:
    shared = sorted(set.intersection(*(set(rows) for rows in strategies.values())))
    if not shared:
        return f"Model {model}, configuration {config}: no task was done by every strategy yet."
    chosen = {name: [rows[task] for task in shared] for name, rows in sorted(strategies.items())}
    any_rows = next(iter(chosen.values()))
    halves = sorted({row["half"] for row in any_rows})
    head = f"Model {model}, {len(shared)} tasks ({' and '.join(halves)}), configuration {config}."
    tables = [_summary(chosen), _kinds(chosen)]
    names = list(chosen)
    tables += [_differences(a, chosen[a], b, chosen[b]) for i, a in enumerate(names) for b in names[i + 1 :]]
    return "\n\n".join([head, *tables])


def _summary(chosen: Mapping[str, Sequence[Row]]) -> str:
    lines = [["strategy", "success (95 % interval)", *(name for name, _ in MEANS)]]
    for name, rows in chosen.items():
        won = sum(row["success"] for row in rows)
        share = wilson(won, len(rows))
        success = f"{won}/{len(rows)} = {percent(share.value)} ({percent(share.low)} – {percent(share.high)})"
        lines.append([name, success, *(_number(fmean(get(row) for row in rows)) for _, get in MEANS)])
    return "Means are per task.\n\n" + table(lines)


def _kinds(chosen: Mapping[str, Sequence[Row]]) -> str:
    kinds = sorted({row["kind"] for rows in chosen.values() for row in rows})
    lines = [["success by kind", *kinds]]
    for name, rows in chosen.items():
        cells = []
        for kind in kinds:
            these = [row["success"] for row in rows if row["kind"] == kind]
            cells.append(f"{sum(these)}/{len(these)}")
        lines.append([name, *cells])
    return table(lines)


def _differences(a: str, first: Sequence[Row], b: str, second: Sequence[Row]) -> str:
    getters = dict(MEANS)
    test = mcnemar([bool(row["success"]) for row in first], [bool(row["success"]) for row in second])
    gain = paired_bootstrap([100.0 * row["success"] for row in first], [100.0 * row["success"] for row in second])
    detail = f"only {a} {test.only_a}, only {b} {test.only_b}, exact McNemar p = {test.p:.3g}"
    lines = [
        [f"{a} − {b}, paired", "mean difference (95 % interval)", "note"],
        ["success, points", _span(gain), detail],
    ]
    for name in COMPARED:
        get = getters[name]
        apart = paired_bootstrap([get(row) for row in first], [get(row) for row in second])
        lines.append([name, _span(apart), ""])
    return table(lines)


def _span(found: Interval) -> str:
    return f"{_signed(found.value)} ({_signed(found.low)} to {_signed(found.high)})"


def _signed(value: float) -> str:
    return ("−" if value < 0 else "+") + _number(abs(value))


def percent(share: float) -> str:
    """A share as whole percent."""
    return f"{100 * share:.0f} %"


def _number(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.1f}" if abs(value) >= 10 else f"{value:.2f}"


def table(lines: Sequence[Sequence[str]]) -> str:
    """Rows of cells as Markdown, the first row as head; numbers stand to the right."""
    head, *body = [["| " + " | ".join(cells) + " |"][0] for cells in lines]
    rule = "|" + "|".join(["---"] + ["---:"] * (len(lines[0]) - 1)) + "|"
    return "\n".join([head, rule, *body])
