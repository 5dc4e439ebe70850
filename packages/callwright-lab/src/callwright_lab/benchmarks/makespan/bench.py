"""``callwright bench makespan``: how long each strategy takes with the same knowledge and scripted
delays.

A model that knows the right calls (:mod:`callwright_lab.benchmarks.makespan.expert`) is asked by
every strategy in its own way, on the desk's tasks of two calls and more; replies take a fixed time
and so many seconds a token, tools one of their own. What then differs is how often a strategy asks,
how much it has written, and what waits for what. ``least`` is what nobody can beat: the longest
chain of the task's tool calls. All time passes really, on a clock that other work slows down too.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

from callwright.nouns.limits import Limits
from callwright.nouns.plan import Plan
from callwright.nouns.types import JsonObject, ToolCall
from callwright.tools.catalog import open_catalog
from callwright_lab.benchmarks.comparison.comparison import (
    Bench,
    add_planner_option,
    open_compared_planner,
    require_strategies,
    run_task,
)
from callwright_lab.benchmarks.comparison.paired import paired_change
from callwright_lab.benchmarks.comparison.report import render_table
from callwright_lab.benchmarks.comparison.rows import append_row, read_rows
from callwright_lab.benchmarks.comparison.task_sets import select_tasks
from callwright_lab.benchmarks.desk.tasks import Desk, DeskTask, load_desk
from callwright_lab.benchmarks.makespan.delays import compute_delay
from callwright_lab.benchmarks.makespan.expert import Expert
from callwright_lab.benchmarks.makespan.gold_plan import Made, gold_plan

STRATEGIES = ("layered", "dag", "edges", "compiler", "react", "dfsdt", "code")
LIMITS = Limits(seconds=600.0, tool_calls=100, model_calls=100)
Pace = tuple[float, float, float]
"""Seconds of a reply, of each of its tokens, and about those of a tool."""


def select_playable_tasks(tasks: Sequence[DeskTask]) -> tuple[DeskTask, ...]:
    """The tasks whose gold is two calls and more, all of which succeed, on a desk as it is
    documented.
    """
    return tuple(
        task
        for task in tasks
        if len(task.gold_calls) > 1
        and not task.faults
        and not any(call.get("fails") for call in task.gold_calls)
    )


async def build_gold_plan(desk: Desk, task: DeskTask) -> tuple[Plan, tuple[ToolCall, ...]]:
    """The plan of a task and its calls, carried out once in a desk of its own to see what feeds
    what.
    """
    made = []
    with desk.stage(task) as stage:
        async with open_catalog(list(stage.sources), include=stage.only or ()) as catalog:
            for number, row in enumerate(task.gold_calls, 1):
                output = await catalog.call(row["tool"], row["arguments"])
                made.append(
                    Made(ToolCall(str(number), row["tool"], row["arguments"]), output.content)
                )
            writes = [tool.name for tool in catalog if tool.effects.may_write]
    return gold_plan(task.query, made, writes), tuple(one.call for one in made)


async def measure_run(
    desk: Desk, task: DeskTask, strategy: str, pace: Pace, planner: str = ""
) -> JsonObject:
    """One run as a row. ``planner``: as :func:`open_compared_planner` takes it."""
    latency, per_token, delay = pace
    plan, calls = await build_gold_plan(desk, task)
    model = Expert(plan, calls, task.gold_answer, latency, per_token)
    bench = Bench(
        desk,
        model,
        (strategy,),
        LIMITS,
        open_compared_planner(planner),
        mode="schema",
        delay=delay,
        label=f"{latency} {per_token}",
        planned_by=planner,
    )
    row = await run_task(bench, task, strategy)
    times = {slot.id: compute_delay(slot.tool, delay) for slot in plan.slots}
    return {**row, "least": round(sum(times[one] for one in plan.critical_path(times)), 3)}


def render_report(rows: Sequence[JsonObject]) -> str:
    """The table, on the tasks that every strategy has run; costs against the first strategy,
    paired.
    """
    by: dict[str, dict[str, JsonObject]] = {}
    for row in rows:
        if not row.get("error"):
            by.setdefault(row["strategy"], {})[row["task"]] = row
    shared = sorted(set.intersection(*map(set, by.values()))) if by else []
    if not shared:
        return "No task was run by every strategy yet."
    first = next(iter(by))
    lines = [
        [
            "strategy",
            "success",
            "steps",
            "tokens written",
            "seconds",
            "waited for tools",
            f"against {first}",
        ]
    ]
    for name, found in by.items():
        mine = [found[task] for task in shared]
        means = (
            fmean(r[key] for r in mine)
            for key in ("model_calls", "completion_tokens", "seconds", "waited")
        )
        won = f"{sum(r['success'] for r in mine)} of {len(mine)}"
        against = (
            "–" if name == first else _format_change(mine, [by[first][task] for task in shared])
        )
        lines.append([name, won, *(f"{value:.2f}" for value in means), against])
    least = fmean(by[first][task]["least"] for task in shared)
    return (
        f"{len(shared)} tasks; the longest chain of calls alone takes {least:.2f}"
        f" s.\n\n{render_table(lines)}"
    )


def _format_change(ours: Sequence[JsonObject], theirs: Sequence[JsonObject]) -> str:
    """By how much the seconds differ, as a share of theirs; "–" where theirs are none, to the
    hundredth.
    """
    if not any(row["seconds"] for row in theirs):
        return "–"
    found = paired_change([row["seconds"] for row in ours], [row["seconds"] for row in theirs])
    return f"{found.value:+.0%} ({found.low:+.0%} to {found.high:+.0%})"


def _build_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        "callwright bench makespan", description=(__doc__ or "").split("\n")[0]
    )
    parser.add_argument(
        "--strategies", default=",".join(STRATEGIES), help="names with commas between (%(default)s)"
    )
    parser.add_argument(
        "--latency", type=float, default=0.3, help="seconds before a reply begins (%(default)s)"
    )
    parser.add_argument(
        "--per-token", type=float, default=0.01, help="seconds of a token (%(default)s)"
    )
    parser.add_argument(
        "--delay", type=float, default=0.5, help="a tool takes half to 1.5 times this (%(default)s)"
    )
    add_planner_option(parser)
    parser.add_argument("--tasks", default="", help="only these task ids, with commas between")
    parser.add_argument(
        "--out", type=Path, default=Path("runs/makespan/results.jsonl"), help="rows (%(default)s)"
    )
    parser.add_argument(
        "--report", action="store_true", help="only print the table of the rows so far"
    )
    return parser


def _read_paced_rows(path: Path, pace: Pace, planner: str) -> list[JsonObject]:
    """The rows of one pace and planner: seconds of different ones are not comparable."""
    return [
        row
        for row in read_rows(path)
        if tuple(row["pace"]) == pace and row.get("planner", "") == planner
    ]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what is missing, one after another, and print the table."""
    options: Any = _build_parser().parse_args(arguments)
    strategies, pace = (
        options.strategies.split(","),
        (options.latency, options.per_token, options.delay),
    )
    require_strategies(strategies)
    if not options.report:
        desk = load_desk()
        tasks = select_tasks(
            select_playable_tasks(desk.tasks), "all", tuple(filter(None, options.tasks.split(",")))
        )
        done = {
            (row["task"], row["strategy"])
            for row in _read_paced_rows(options.out, pace, options.planner)
            if not row.get("error")
        }
        for task in tasks:
            for name in strategies:
                if (task.id, name) not in done:
                    row = asyncio.run(measure_run(desk, task, name, pace, options.planner))
                    append_row(options.out, {**row, "pace": pace})
    found = _read_paced_rows(options.out, pace, options.planner)
    rows = [row for row in found if row["strategy"] in strategies]
    sys.stdout.write(render_report(rows) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
