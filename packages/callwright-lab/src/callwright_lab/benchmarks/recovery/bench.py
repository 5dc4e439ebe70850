"""``callwright bench recovery``: does a strategy notice that a tool is not as documented, and
repair its call?
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from callwright.models import open_model
from callwright.nouns.errors import CallwrightError
from callwright.nouns.trace import read_jsonl
from callwright.nouns.trajectory import Trajectory
from callwright.nouns.types import JsonObject, compute_digest
from callwright_lab.benchmarks.comparison.comparison import build_parser, compare_strategies
from callwright_lab.benchmarks.comparison.report import name_system
from callwright_lab.benchmarks.comparison.rows import read_rows
from callwright_lab.benchmarks.desk.tasks import DeskTask, load_desk
from callwright_lab.benchmarks.judge.bench import print_verdict
from callwright_lab.benchmarks.judge.questions import ask_recovery
from callwright_lab.benchmarks.judge.rows import Item, Judge, digest_run, judge_missing
from callwright_lab.benchmarks.recovery.desk import FaultyTasks, build_faulty_tasks
from callwright_lab.benchmarks.recovery.plots import write_recovery_plots
from callwright_lab.benchmarks.recovery.report import item_key, recovery_report, render_judged_table
from callwright_lab.transcripts.run_trajectory import build_trajectory

STRATEGIES = "react-no-gate,react-no-repair,react,dfsdt,layered,layered+reflect"
JUDGED = (
    "By a judge (Tool-MVR, Table 7): % of so many verdicts. What its figures are worth stands to"
    " their right: how often it agrees with the objective verdicts on the same runs (95 % interval,"
    " Cohen's kappa) and repeats itself."
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what is missing, judge it where a judge is named, and print the tables."""
    options = _build_parser().parse_args(arguments)
    try:
        if options.judge:
            items = error_items(_load_tasks(options), read_rows(options.out), options.out.parent)
            left = asyncio.run(judge_items(options, items))
            sys.stderr.write(
                f"{left} verdicts are missing; the same command goes on\n" if left else ""
            )
            sys.stdout.write(render_judged_section(options.out) + "\n")
            return 0
        tasks = partial(_load_tasks, options)
        code = compare_strategies(options, tasks, shown=recovery_report, drawn=write_recovery_plots)
        if options.report and get_judged_path(options.out).exists():
            sys.stdout.write(f"\n{render_judged_section(options.out)}\n")
    except CallwrightError as error:
        sys.stderr.write(f"error: {error}\n")
        return 1
    return code


def _load_tasks(options: argparse.Namespace) -> FaultyTasks:
    return build_faulty_tasks(load_desk(options.desk), options.set)


def render_judged_section(results: Path) -> str:
    """The judge's table of the runs in a file of results, beside its agreement with the objective
    verdicts there.
    """
    return f"{JUDGED}\n\n{render_judged_table(read_rows(get_judged_path(results)), read_rows(results))}"


def get_judged_path(results: Path) -> Path:
    """Return the path of the verdicts on the runs of a results file."""
    return results.with_name(f"{results.stem}.judged.jsonl")


def error_items(tasks: FaultyTasks, rows: Sequence[JsonObject], folder: Path) -> list[Item]:
    """Every run that met its error, for Table 7's questions: what came before, the wrong call, what
    came after.
    """
    by_id: Mapping[str, DeskTask] = {task.id: task for task in tasks.tasks}
    items = []
    for row in rows:
        task, trace = by_id.get(row["task"]), Path(row.get("trace") or "")
        trace = trace if trace.exists() else folder / "traces" / trace.name
        if row.get("error") or task is None or not row.get("met") or not trace.is_file():
            continue
        run = build_trajectory(read_jsonl(trace), task.id)
        at = tasks.met_at(task, run)
        if at is not None:
            head = {"system": name_system(row), "part": task.kind}
            items.append(error_item(item_key(row), run, at, **head))
    return items


def error_item(key: str, run: Trajectory, at: int, **head: object) -> Item:
    """Table 7's question about the error in round ``at`` of a run."""
    after = replace(run, steps=run.steps[at + 1 :])
    content = compute_digest([digest_run(run), at])
    return Item(
        "recovery",
        key,
        content,
        lambda way: ask_recovery(run.query, run.tools, run.steps[:at], run.steps[at], after, way),
        head,
    )


async def judge_items(options: argparse.Namespace, items: Sequence[Item]) -> int:
    """Have ``--judge`` judge what is missing; returns how many verdicts are missing then."""
    model = open_model(options.judge)
    try:
        judge = await Judge.of(model, options.judge_temperature)
        out, seconds = get_judged_path(options.out), options.limit_seconds
        return await judge_missing(
            judge, items, out, runs=options.judge_runs, limit_seconds=seconds, on_row=print_verdict
        )
    finally:
        await model.aclose()


def _build_parser() -> argparse.ArgumentParser:
    known = build_parser(
        "recovery", (__doc__ or "").partition(": ")[2], Path("runs/recovery/results.jsonl")
    )
    known.set_defaults(strategies=STRATEGIES)
    known.add_argument(
        "--desk", type=Path, default=None, help="the folder examples/desk, where it is not found"
    )
    known.add_argument(
        "--set",
        choices=("written", "injected", "all"),
        default="all",
        help="which faulty tasks (%(default)s)",
    )
    add_judge(known)
    return known


def add_judge(known: argparse.ArgumentParser) -> None:
    """The options of a judge beside the runs."""
    known.add_argument(
        "--judge", default=None, help="judge the runs so far by this model instead of running"
    )
    known.add_argument("--judge-runs", type=int, default=1, help="how often each (%(default)s)")
    known.add_argument("--judge-temperature", type=float, default=0.0, help="(%(default)s)")


if __name__ == "__main__":
    sys.exit(main())
