"""Rows of a comparison of strategies -> Markdown tables, ready for a README."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import combinations
from statistics import fmean
from typing import Any

from callwright_lab.benchmarks.comparison.paired import (
    Interval,
    mcnemar_test,
    paired_bootstrap,
    paired_change,
    wilson_interval,
)

Row = Mapping[str, Any]
ByTask = Mapping[str, Row]


def total_tokens(row: Row) -> float:
    """Prompt and completion of every model call of a run, dead branches included."""
    return float(row["prompt_tokens"] + row["completion_tokens"])


def share_cached(rows: Iterable[Row]) -> float:
    """The share of all prompt tokens of these rows that the model did not compute again, since an
    earlier prompt began alike; 0 where nothing was asked. Rows without a count count as none.
    """
    counts = [(row["prompt_tokens"], row.get("cached_tokens", 0)) for row in rows]
    asked = sum(prompt for prompt, _ in counts)
    return sum(cached for _, cached in counts) / asked if asked else 0.0


MEANS: tuple[tuple[str, Callable[[Row], float]], ...] = (
    ("tool calls", lambda row: row["calls"]),
    ("repairs tier 1", lambda row: row["repairs"].get("tier1", 0)),
    ("repairs tier 2", lambda row: row["repairs"].get("tier2", 0)),
    ("repeats", lambda row: row["repairs"].get("repeat", 0)),
    ("steps", lambda row: row["model_calls"]),
    ("total tokens", total_tokens),
    ("prompt tokens", lambda row: row["prompt_tokens"]),
    ("completion tokens", lambda row: row["completion_tokens"]),
    ("seconds", lambda row: row["seconds"]),
    ("waited for tools", lambda row: row.get("waited", 0.0)),
    ("ungrounded", lambda row: row["violations"].get("ungrounded", 0)),
    ("unsourced", lambda row: row["violations"].get("unsourced", 0)),
)
COMPARED = ("total tokens", "steps", "tool calls", "seconds")


def render_comparison(rows: Iterable[Row]) -> str:
    """One section per (model, configuration): strategies, their successes by kind, and every pair
    of them.

    A strategy is counted on all the tasks it has done, a pair on the tasks that both have done.
    """
    parts = [
        _render_section(model, config, found) for (model, config), found in group_rows(rows).items()
    ]
    return "\n\n".join(parts) if parts else "No finished runs yet."


def group_rows(rows: Iterable[Row]) -> dict[tuple[str, str], dict[str, dict[str, Row]]]:
    """(model, configuration) -> strategy -> task -> row, of the runs that came to an end; layered
    first.
    """
    groups: dict[tuple[str, str], dict[str, dict[str, Row]]] = {}
    for row in rows:
        if not row.get("error"):
            strategies = groups.setdefault((row["model"], row["config"]), {})
            strategies.setdefault(row["strategy"], {})[row["task"]] = row
    in_order = {
        key: sorted(found, key=lambda name: (name != "layered", name))
        for key, found in groups.items()
    }
    return {key: {name: groups[key][name] for name in in_order[key]} for key in sorted(groups)}


def _render_section(model: str, config: str, strategies: Mapping[str, ByTask]) -> str:
    every = [row for rows in strategies.values() for row in rows.values()]
    halves = " and ".join(sorted({row["half"] for row in every}))
    mode = next((f", {row['mode']} replies" for row in every if row.get("mode")), "")
    tasks = f"{len({row['task'] for row in every})} tasks"
    head = (
        f"Model {model}, {tasks} ({halves}){mode}{describe_budget(every)}, configuration {config}."
    )
    tables = [_render_summary(strategies), _render_kinds(strategies)]
    return "\n\n".join(
        [head, *tables, *([_render_pairs(strategies)] if len(strategies) > 1 else [])]
    )


def describe_budget(rows: Iterable[Row]) -> str:
    """The repair budget of a configuration's runs, for its head; "" where it is the usual one."""
    return next(
        (f", repair budget {row['repair_budget']}" for row in rows if "repair_budget" in row), ""
    )


def name_system(row: Row) -> str:
    """Return the system name of a row: strategy, model and any settings that differ from the usual
    run.
    """
    unlike = [str(row["label"])] if row.get("label") else []
    unlike += [f"repair budget {row['repair_budget']}"] if "repair_budget" in row else []
    unlike += [f"planner {row['planner']}"] if "planner" in row else []
    return f"{row['strategy']}, {row['model']}" + (f" ({', '.join(unlike)})" if unlike else "")


def _render_summary(strategies: Mapping[str, ByTask]) -> str:
    head = ["strategy", "success (95 % interval)", *(name for name, _ in MEANS)]
    lines = [[*head, "prompt tokens from the cache"]]
    for name, found in strategies.items():
        rows = list(found.values())
        won = sum(row["success"] for row in rows)
        share = wilson_interval(won, len(rows))
        success = (
            f"{won}/{len(rows)} = {format_percent(share.value)} ({format_percent(share.low)} –"
            f" {format_percent(share.high)})"
        )
        means = (_format_number(fmean(get(row) for row in rows)) for _, get in MEANS)
        lines.append([name, success, *means, format_percent(share_cached(rows))])
    done = {frozenset(found) for found in strategies.values()}
    over = (
        "" if len(done) == 1 else " of those that the strategy has done: only pairs can be compared"
    )
    return f"Means are per task{over}. A step is a question to the model.\n\n{render_table(lines)}"


def _render_kinds(strategies: Mapping[str, ByTask]) -> str:
    kinds = sorted({row["kind"] for rows in strategies.values() for row in rows.values()})
    lines = [["success by kind", *kinds]]
    for name, rows in strategies.items():
        cells = []
        for kind in kinds:
            these = [row["success"] for row in rows.values() if row["kind"] == kind]
            cells.append(f"{sum(these)}/{len(these)}")
        lines.append([name, *cells])
    return render_table(lines)


def _render_pairs(strategies: Mapping[str, ByTask]) -> str:
    lines = [
        ["on the tasks of both", "tasks", "success, points", "only one, exact McNemar", *COMPARED]
    ]
    lines += [
        _compare_pair(a, b, strategies[a], strategies[b]) for a, b in combinations(strategies, 2)
    ]
    return (
        "The first against the second, with 95 % intervals; costs as shares of the second's.\n\n"
        + render_table(lines)
    )


def _compare_pair(a: str, b: str, first: ByTask, second: ByTask) -> list[str]:
    """One pair on the tasks that both have done."""
    shared = sorted(set(first) & set(second))
    head = [f"{a} against {b}", str(len(shared))]
    if not shared:
        return [*head, *["–"] * (2 + len(COMPARED))]
    ours, theirs = [first[task] for task in shared], [second[task] for task in shared]
    test = mcnemar_test(
        [bool(row["success"]) for row in ours], [bool(row["success"]) for row in theirs]
    )
    gain = paired_bootstrap(
        [100.0 * row["success"] for row in ours], [100.0 * row["success"] for row in theirs]
    )
    getters = dict(MEANS)
    costs = [
        _format_change([getters[name](row) for row in ours], [getters[name](row) for row in theirs])
        for name in COMPARED
    ]
    return [
        *head,
        _format_interval(gain, _format_number),
        f"{test.only_a} and {test.only_b}, p = {test.p:.3g}",
        *costs,
    ]


def _format_change(ours: Sequence[float], theirs: Sequence[float]) -> str:
    if not any(theirs):
        return "–"
    found = paired_change(ours, theirs)
    return _format_interval(
        Interval(100 * found.value, 100 * found.low, 100 * found.high),
        lambda value: f"{value:.0f} %",
    )


def _format_interval(found: Interval, shown: Callable[[float], str]) -> str:
    return (
        f"{_format_signed(found.value, shown)} ({_format_signed(found.low, shown)} to"
        f" {_format_signed(found.high, shown)})"
    )


def _format_signed(value: float, shown: Callable[[float], str]) -> str:
    return ("−" if value < 0 else "+") + shown(abs(value))


def format_percent(share: float) -> str:
    """A share as whole percent."""
    return f"{100 * share:.0f} %"


def _format_number(value: float) -> str:
    if abs(value) >= 100:
        return f"{value:,.0f}"
    if abs(value) >= 10:
        return f"{value:.1f}"
    return f"{value:.2f}"


def render_table(lines: Sequence[Sequence[str]]) -> str:
    """Rows of cells as Markdown, the first row as head; numbers stand to the right."""
    head, *body = ["| " + " | ".join(cells) + " |" for cells in lines]
    rule = "|" + "|".join(["---"] + ["---:"] * (len(lines[0]) - 1)) + "|"
    return "\n".join([head, rule, *body])
