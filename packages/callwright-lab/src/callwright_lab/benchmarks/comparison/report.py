"""Rows of a comparison of strategies -> Markdown tables, ready for a README."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import combinations
from statistics import fmean
from typing import Any

from callwright_lab.benchmarks.comparison.paired import (
    Interval,
    mcnemar,
    paired_bootstrap,
    paired_change,
    wilson,
)

Row = Mapping[str, Any]
ByTask = Mapping[str, Row]


def total_tokens(row: Row) -> float:
    """Prompt and completion of every model call of a run, dead branches included."""
    return float(row["prompt_tokens"] + row["completion_tokens"])


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


def report(rows: Iterable[Row]) -> str:
    """One section per (model, configuration): strategies, their successes by kind, and every pair
    of them.

    A strategy is counted on all the tasks it has done, a pair on the tasks that both have done.
    """
    parts = [_section(model, config, found) for (model, config), found in grouped(rows).items()]
    return "\n\n".join(parts) if parts else "No finished runs yet."


def grouped(rows: Iterable[Row]) -> dict[tuple[str, str], dict[str, dict[str, Row]]]:
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


def _section(model: str, config: str, strategies: Mapping[str, ByTask]) -> str:
    every = [row for rows in strategies.values() for row in rows.values()]
    halves = " and ".join(sorted({row["half"] for row in every}))
    mode = next((f", {row['mode']} replies" for row in every if row.get("mode")), "")
    tasks = f"{len({row['task'] for row in every})} tasks"
    head = f"Model {model}, {tasks} ({halves}){mode}{budget(every)}, configuration {config}."
    tables = [_summary(strategies), _kinds(strategies)]
    return "\n\n".join([head, *tables, *([_pairs(strategies)] if len(strategies) > 1 else [])])


def budget(rows: Iterable[Row]) -> str:
    """The repair budget of a configuration's runs, for its head; "" where it is the usual one."""
    return next(
        (f", repair budget {row['repair_budget']}" for row in rows if "repair_budget" in row), ""
    )


def system_of(row: Row) -> str:
    """What a run's row stands under beside others' systems: strategy and model, and what tells it
    from their usual runs.
    """
    unlike = [str(row["label"])] if row.get("label") else []
    unlike += [f"repair budget {row['repair_budget']}"] if "repair_budget" in row else []
    return f"{row['strategy']}, {row['model']}" + (f" ({', '.join(unlike)})" if unlike else "")


def _summary(strategies: Mapping[str, ByTask]) -> str:
    lines = [["strategy", "success (95 % interval)", *(name for name, _ in MEANS)]]
    for name, found in strategies.items():
        rows = list(found.values())
        won = sum(row["success"] for row in rows)
        share = wilson(won, len(rows))
        success = (
            f"{won}/{len(rows)} = {percent(share.value)} ({percent(share.low)} –"
            f" {percent(share.high)})"
        )
        lines.append(
            [name, success, *(_number(fmean(get(row) for row in rows)) for _, get in MEANS)]
        )
    done = {frozenset(found) for found in strategies.values()}
    over = (
        "" if len(done) == 1 else " of those that the strategy has done: only pairs can be compared"
    )
    return f"Means are per task{over}. A step is a question to the model.\n\n{table(lines)}"


def _kinds(strategies: Mapping[str, ByTask]) -> str:
    kinds = sorted({row["kind"] for rows in strategies.values() for row in rows.values()})
    lines = [["success by kind", *kinds]]
    for name, rows in strategies.items():
        cells = []
        for kind in kinds:
            these = [row["success"] for row in rows.values() if row["kind"] == kind]
            cells.append(f"{sum(these)}/{len(these)}")
        lines.append([name, *cells])
    return table(lines)


def _pairs(strategies: Mapping[str, ByTask]) -> str:
    lines = [
        ["on the tasks of both", "tasks", "success, points", "only one, exact McNemar", *COMPARED]
    ]
    lines += [_pair(a, b, strategies[a], strategies[b]) for a, b in combinations(strategies, 2)]
    return (
        "The first against the second, with 95 % intervals; costs as shares of the second's.\n\n"
        + table(lines)
    )


def _pair(a: str, b: str, first: ByTask, second: ByTask) -> list[str]:
    """One pair on the tasks that both have done."""
    shared = sorted(set(first) & set(second))
    head = [f"{a} against {b}", str(len(shared))]
    if not shared:
        return [*head, *["–"] * (2 + len(COMPARED))]
    ours, theirs = [first[task] for task in shared], [second[task] for task in shared]
    test = mcnemar([bool(row["success"]) for row in ours], [bool(row["success"]) for row in theirs])
    gain = paired_bootstrap(
        [100.0 * row["success"] for row in ours], [100.0 * row["success"] for row in theirs]
    )
    getters = dict(MEANS)
    costs = [
        _change([getters[name](row) for row in ours], [getters[name](row) for row in theirs])
        for name in COMPARED
    ]
    return [
        *head,
        _span(gain, _number),
        f"{test.only_a} and {test.only_b}, p = {test.p:.3g}",
        *costs,
    ]


def _change(ours: Sequence[float], theirs: Sequence[float]) -> str:
    if not any(theirs):
        return "–"
    found = paired_change(ours, theirs)
    return _span(
        Interval(100 * found.value, 100 * found.low, 100 * found.high),
        lambda value: f"{value:.0f} %",
    )


def _span(found: Interval, shown: Callable[[float], str]) -> str:
    return (
        f"{_signed(found.value, shown)} ({_signed(found.low, shown)} to"
        f" {_signed(found.high, shown)})"
    )


def _signed(value: float, shown: Callable[[float], str]) -> str:
    return ("−" if value < 0 else "+") + shown(abs(value))


def percent(share: float) -> str:
    """A share as whole percent."""
    return f"{100 * share:.0f} %"


def _number(value: float) -> str:
    if abs(value) >= 100:
        return f"{value:,.0f}"
    if abs(value) >= 10:
        return f"{value:.1f}"
    return f"{value:.2f}"


def table(lines: Sequence[Sequence[str]]) -> str:
    """Rows of cells as Markdown, the first row as head; numbers stand to the right."""
    head, *body = ["| " + " | ".join(cells) + " |" for cells in lines]
    rule = "|" + "|".join(["---"] + ["---:"] * (len(lines[0]) - 1)) + "|"
    return "\n".join([head, rule, *body])
