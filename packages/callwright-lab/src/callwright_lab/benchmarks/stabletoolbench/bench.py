"""``callwright bench stabletoolbench``: strategies and others' answers, judged as StableToolBench's
papers do.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

from callwright.models import open_model
from callwright.nouns.errors import CallwrightError, ConfigError
from callwright.nouns.trace import read_jsonl
from callwright.nouns.trajectory import Trajectory
from callwright.nouns.types import JsonObject
from callwright.simulation.recording import Recording
from callwright.simulation.simulator import extend_limits
from callwright_lab.benchmarks.comparison.comparison import LIMITS, build_parser, compare_strategies
from callwright_lab.benchmarks.comparison.configurations import EVERY, select_configuration
from callwright_lab.benchmarks.comparison.published import published_stabletoolbench
from callwright_lab.benchmarks.comparison.report import name_system
from callwright_lab.benchmarks.comparison.rows import read_rows
from callwright_lab.benchmarks.judge.bench import print_verdict
from callwright_lab.benchmarks.judge.rates import take_majority
from callwright_lab.benchmarks.judge.rows import (
    RUNS,
    Item,
    Judge,
    build_pass_item,
    build_win_item,
    group_verdicts,
    judge_in_turn,
)
from callwright_lab.benchmarks.judge.text import CHARS
from callwright_lab.benchmarks.recovery.bench import get_judged_path
from callwright_lab.benchmarks.stabletoolbench.report import render_stable_report
from callwright_lab.benchmarks.stabletoolbench.tasks import (
    StableTask,
    StableToolBench,
    VirtualServer,
    build_tasks,
    read_answers,
    read_queries,
    sample_tasks,
)
from callwright_lab.datasets.sources import data_root
from callwright_lab.transcripts.run_trajectory import build_trajectory

Runs = Mapping[str, Mapping[str, Trajectory]]
"""System -> task id -> what it did."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what is missing, or judge what was run and what others answered; then print the papers'
    tables.
    """
    options = _build_parser().parse_args(arguments)
    try:
        if options.published:
            sys.stdout.write(published_stabletoolbench() + "\n")
            return 0
        tasks = _load_tasks(options)
        if options.judge:
            left = asyncio.run(_judge_runs(options, tasks))
            sys.stderr.write(
                f"{left} verdicts are missing; the same command goes on\n" if left else ""
            )
        elif not options.report:
            limits = extend_limits(LIMITS) if options.simulator else LIMITS
            return compare_strategies(
                options, lambda: _build_task_set(options, tasks), limits, shown=_render_costs
            )
        sys.stdout.write(_render_report(options, tasks) + "\n")
    except CallwrightError as error:
        sys.stderr.write(f"error: {error}\n")
        return 1
    return 0


def read_our_runs(rows: Sequence[JsonObject], folder: Path) -> dict[str, dict[str, Trajectory]]:
    """Our rows' traces as trajectories: ``strategy, model`` -> task -> run."""
    found: dict[str, dict[str, Trajectory]] = {}
    for row in rows:
        trace = Path(row.get("trace") or "")
        trace = trace if trace.exists() else folder / "traces" / trace.name
        if not row.get("error") and trace.is_file():
            found.setdefault(_get_system_name(row), {})[row["task"]] = build_trajectory(
                read_jsonl(trace), row["task"]
            )
    return found


def build_judged_items(
    tasks: Sequence[StableTask],
    runs: Runs,
    measures: Sequence[str],
    reference: str = "",
    said: Sequence[JsonObject] = (),
) -> list[Item]:
    """Return the items to judge for these tasks. ``said``: verdicts so far. Those of sopr decide
    which sowr questions can be skipped.

    Raises ConfigError if a win rate is requested and the reference answered nothing.
    """
    if {*measures} & {"sowr", "wr"} and reference not in runs:
        raise ConfigError(
            f"a win rate needs the runs of a reference, and there are none of {reference!r}",
            hint="--reference NAME, with the model where the table has it; one of: "
            + "; ".join(map(repr, runs)),
        )
    status = {
        key: take_majority(by_run.values()) for key, by_run in group_verdicts(said, "sopr").items()
    }
    items = []
    for task in tasks:
        head = {"group": task.group, "solvable": task.solvable}
        for system, mine in runs.items():
            run, other = mine.get(task.id), runs.get(reference, {}).get(task.id)
            key = f"{system}|{task.id}"
            for measure in measures if run is not None else ():
                if measure in ("sopr", "pr"):
                    items.append(build_pass_item(measure, key, run, system=system, **head))  # type: ignore[arg-type]
                elif other is not None and system != reference:
                    standing = (status.get(key, ""), status.get(f"{reference}|{task.id}", ""))
                    named = f"{system} against {reference}"
                    item = build_win_item(measure, key, run, other, standing, system=named, **head)  # type: ignore[arg-type]
                    items.append(item)
    return items


async def _judge_runs(options: argparse.Namespace, tasks: Sequence[StableTask]) -> int:
    measures = options.measures.split(",")
    if unknown := [name for name in measures if name not in ("sopr", "pr", "sowr", "wr")]:
        raise ConfigError(f"there is no measure {unknown[0]!r}", hint="--measures sopr,pr,sowr,wr")
    runs, path = _load_runs(options), get_judged_path(options.out)
    model = open_model(options.judge)
    try:
        judge = await Judge.of(model, options.judge_temperature, options.chars)
        alone, paired = (
            [m for m in measures if m in some] for some in (("sopr", "pr"), ("sowr", "wr"))
        )
        stages = [
            partial(build_judged_items, tasks, runs, some, options.reference)
            for some in (alone, paired)
            if some
        ]
        return await judge_in_turn(
            judge,
            stages,
            path,
            runs=options.judge_runs,
            limit_seconds=options.limit_seconds,
            on_row=print_verdict,
        )
    finally:
        await model.aclose()


def _load_runs(options: argparse.Namespace) -> dict[str, dict[str, Trajectory]]:
    rows, notes = select_configuration(read_rows(options.out), options.config)
    sys.stderr.writelines(f"{note}\n" for note in notes)
    return {**read_our_runs(rows, options.out.parent), **_read_answer_files(options)}


def _read_answer_files(options: argparse.Namespace) -> dict[str, dict[str, Trajectory]]:
    found = {}
    for given in options.answers:
        name, _, path = given.partition("=")
        if not path:
            raise ConfigError(
                f"--answers {given!r} is no NAME=PATH", hint="for example gpt-3.5=runs/gpt35"
            )
        found[name] = read_answers(Path(path))
    return found


def _load_tasks(options: argparse.Namespace) -> tuple[StableTask, ...]:
    root = options.data or data_root() / "stabletoolbench" / "queries"
    solvable = read_queries(root) if options.source == "queries" or root.is_dir() else ()
    tasks = solvable
    if options.source != "queries":
        tasks = build_tasks(read_answers(Path(options.source)), (task.id for task in solvable))
    groups = tuple(filter(None, options.groups.split(",")))
    return sample_tasks(tasks, groups, options.per_group)


def _build_task_set(options: argparse.Namespace, tasks: tuple[StableTask, ...]) -> StableToolBench:
    recorded = Recording.read(*options.recorded)
    sys.stderr.writelines(f"note: {problem}\n" for problem in recorded.problems)
    model = open_model(options.simulator) if options.simulator else None
    return StableToolBench(
        tasks, VirtualServer(recorded, model, options.out.parent / "replies.jsonl")
    )


def _render_report(options: argparse.Namespace, tasks: Sequence[StableTask]) -> str:
    ids = {task.id for task in tasks}
    rows, notes = select_configuration(read_rows(options.out), options.config)
    others = {
        _get_system_name(row) for row in select_configuration(read_rows(options.out), EVERY)[0]
    } - {_get_system_name(row) for row in rows}
    judged = [
        row
        for row in read_rows(get_judged_path(options.out))
        if row["item"].partition("|")[2] in ids
    ]
    judged = [row for row in judged if row["item"].partition("|")[0] not in others]
    costs = [cost for cost in _collect_costs(rows) if cost["task"] in ids]
    group_of = {task.id: task.group for task in tasks}
    for name, answers in _read_answer_files(options).items():
        for key, run in answers.items():
            if key in ids:
                answered = not run.given_up and bool(run.answer)
                steps = len(run.steps) + bool(
                    run.answer or run.given_up
                )  # Finish is a step of the papers
                head = {"system": name, "task": key, "group": group_of[key]}
                costs.append(
                    {
                        **head,
                        "tokens": None,
                        "steps": steps,
                        "calls": len(run.calls),
                        "answered": answered,
                    }
                )
    return "\n\n".join([render_stable_report(judged, costs), *notes])


def _collect_costs(rows: Sequence[JsonObject]) -> list[JsonObject]:
    """Return the costs of our runs: for repeated runs of a task by one system, those of the last
    run, which is judged.
    """
    last = {(_get_system_name(row), row["task"]): row for row in rows if not row.get("error")}
    return [
        {
            "system": _get_system_name(row),
            "task": row["task"],
            "group": row["group"],
            "tokens": row["prompt_tokens"] + row["completion_tokens"],
            "steps": row["model_calls"],
            "calls": row["calls"],
            "answered": row["answered"],
        }
        for row in last.values()
        if "group" in row
    ]


def _get_system_name(row: JsonObject) -> str:
    return str(row.get("system") or name_system(row))


def _render_costs(rows: Sequence[JsonObject]) -> str:
    return (
        render_stable_report((), _collect_costs(rows))
        + "\n\nNothing is judged yet: --judge MODEL does that."
    )


def _build_parser() -> argparse.ArgumentParser:
    about = (__doc__ or "").partition(": ")[2]
    known = build_parser("stabletoolbench", about, Path("runs/stabletoolbench/results.jsonl"))
    known.set_defaults(half="all", strategies="layered")
    add = known.add_argument
    add("--strategy", dest="strategies", help="the same as --strategies")
    add(
        "--groups",
        default="",
        help="G1_instruction, G1_tool, …, with commas between (all that are there)",
    )
    add("--per-group", type=int, default=0, help="so many tasks of each group, by digest (all)")
    add("--data", type=Path, default=None, help="the folder of the solvable queries")
    add(
        "--source",
        default="queries",
        help="queries, or answer files whose tasks are taken (%(default)s)",
    )
    add(
        "--recorded",
        type=Path,
        action="append",
        default=[],
        help="recorded replies: traces, ToolBench's files",
    )
    add("--simulator", default=None, help="a model that imitates tools where nothing is on record")
    add(
        "--answers",
        action="append",
        default=[],
        help="NAME=PATH: somebody's answer files, to be judged as well",
    )
    add(
        "--config",
        default="",
        help="report and judge rows of this configuration, or of all (the newest)",
    )
    add("--reference", default="", help="the system that win rates are against")
    add("--judge", default=None, help="judge the runs so far, and --answers, by this model")
    add("--measures", default="sopr", help="of sopr, pr, sowr, wr (%(default)s)")
    add("--judge-runs", type=int, default=RUNS, help="how often each (%(default)s)")
    add("--judge-temperature", type=float, default=0.0, help="(%(default)s, as in the papers)")
    add("--chars", type=int, default=CHARS, help="of a chain that the judge is shown (%(default)s)")
    add("--published", action="store_true", help="only print the papers' tables")
    return known


if __name__ == "__main__":
    sys.exit(main())
