"""Strategies against each other on a set of tasks: same model, tools, limits, executor and
accounting.

One JSON line per (task, strategy, model, configuration) is appended to the results as soon as it is
known, so a bench can be stopped at any time; started again, it runs only what is missing. The
configuration's digest covers the tasks, the limits, the prompts, the planner, the form of the
replies and Callwright's version: change one of them and the rows are new ones.
"""

from __future__ import annotations

import argparse
import asyncio
import re
import sys
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Generic

from callwright import __version__, prompts
from callwright.agent.catalog_search import Shortlisting
from callwright.agent.options import Interaction, Persistence, Safety, ToolSelection
from callwright.agent.orchestrator import Orchestrator, Run
from callwright.agent.strategies import Reflecting, open_strategy
from callwright.models import open_model
from callwright.nouns.errors import CallwrightError, ConfigError
from callwright.nouns.limits import Limits
from callwright.nouns.protocols import ChatModel, Planner, ReplyMode
from callwright.nouns.trace import JsonlSink
from callwright.nouns.types import JsonObject, compute_digest
from callwright.planning import default_planner, open_planner
from callwright.retrieval import mode_named
from callwright.tools.sources import SourceSpec, sources_of
from callwright_lab.benchmarks.comparison.model_size import find_model_size
from callwright_lab.benchmarks.comparison.plots import write_plots
from callwright_lab.benchmarks.comparison.report import render_comparison
from callwright_lab.benchmarks.comparison.rows import append_row, read_rows
from callwright_lab.benchmarks.comparison.task_sets import Stage, T, Task, TaskSet, select_tasks
from callwright_lab.benchmarks.makespan.delays import SlowSource, sum_call_time

LIMITS = Limits(seconds=600.0)
MODEL_CALLS = {"dfsdt": 12}  # a search that finds nothing would go on to the limit of all
MODES: Mapping[str, ReplyMode] = {"constrained": "schema", "native": "native", "plain": "text"}

_COMPARED = {"network": "layers", "none": "all-in-one"}  # planners, by the names of the tables


@dataclass(frozen=True)
class Bench(Generic[T]):
    """Settings of one measurement: the task set, the model, the strategies and their limits.
    ``label`` goes into the configuration's digest, for changes that it cannot see.

    ``mode`` is how the model is asked for calls (None: as its endpoint does best). ``model_calls``
    limits single strategies further than ``limits`` does. ``size`` is the model's, in billions of
    parameters. ``shortlist``: runs are shown only so many of a task's tools. ``delay``: every call
    takes about so many seconds longer. ``repairs``: the repair budget B of every run, if it differs
    from that of ``limits``. ``planned_by``: how the planner is called in the tables, if it was
    chosen.
    """

    task_set: TaskSet[T]
    model: ChatModel
    strategies: tuple[str, ...] = ("layered", "react")
    limits: Limits = LIMITS
    planner: Planner = field(default_factory=default_planner)
    label: str = ""
    traces: Path | None = None
    mode: ReplyMode | None = None
    model_calls: Mapping[str, int] = field(default_factory=lambda: dict(MODEL_CALLS))
    size: float | None = None
    shortlist: Shortlisting | None = None
    delay: float = 0.0
    repairs: int | None = None
    planned_by: str = ""

    def limits_of(self, strategy: str) -> Limits:
        """The limits of one strategy's runs."""
        plain = re.sub(
            r"-no-repair$|-no-gate$|\+.*", "", strategy
        )  # who repairs its calls is nothing to its limits
        of_plain = self.model_calls.get(plain, self.limits.model_calls)
        limits = replace(self.limits, model_calls=self.model_calls.get(strategy, of_plain))
        return limits if self.repairs is None else replace(limits, repairs=self.repairs)

    @cached_property
    def config(self) -> str:
        texts = {name: prompts.load(name) for name in prompts.names()}
        limits = [self.limits, self.model_calls]
        parts = [
            self.task_set.digest,
            limits,
            texts,
            self.planner.name,
            __version__,
            self.label,
            self.mode,
        ]
        given: list[object] = (
            [self.shortlist.stated] if self.shortlist else []
        )  # what is not given is no part of it
        given += [self.delay] if self.delay else []
        given += [] if self.repairs is None else [{"repairs": self.repairs}]
        return compute_digest([*parts, *given])


def list_missing_runs(
    bench: Bench[T], tasks: Sequence[T], rows: Iterable[JsonObject]
) -> list[tuple[T, str]]:
    """Return the pairs of task and strategy that are still to run. A row that ended in an error of
    the setup is run again; any other never is.

    Both strategies of a task follow each other, and they alternate in which comes first.
    """
    done = {_get_row_key(row) for row in rows if not row.get("error")}
    left = []
    for place, task in enumerate(tasks):
        order = bench.strategies if place % 2 == 0 else bench.strategies[::-1]
        left += [
            (task, name)
            for name in order
            if (task.id, name, bench.model.name, bench.config) not in done
        ]
    return left


def _get_row_key(row: JsonObject) -> tuple[str, str, str, str]:
    return row["task"], row["strategy"], row["model"], row["config"]


async def run_missing(
    bench: Bench[T],
    tasks: Sequence[T],
    results: Path,
    *,
    limit_seconds: float = 0.0,
    on_row: Callable[[JsonObject, int], None] | None = None,
) -> int:
    """Run what is missing and append each row. Stops before a run once ``limit_seconds`` have
    passed.

    Returns how many runs are still missing. A run whose model or tools cannot be used at all leaves
    a row with ``error`` and the bench goes on.
    """
    started = time.monotonic()
    left = list_missing_runs(bench, tasks, read_rows(results))
    while left:
        if limit_seconds and time.monotonic() - started >= limit_seconds:
            break
        task, strategy = left.pop(0)
        row = await run_task(bench, task, strategy)
        append_row(results, row)
        if on_row is not None:
            on_row(row, len(left))
    return len(left)


async def run_task(bench: Bench[T], task: T, strategy: str) -> JsonObject:
    """Run one task with one strategy in a fresh world and judge what came of it."""
    head: JsonObject = {
        "task": task.id,
        "half": task.half,
        "kind": task.kind,
        "strategy": strategy,
        "model": bench.model.name,
        "size": bench.size,
        "config": bench.config,
        "label": bench.label,
        **({"shortlist": bench.shortlist.stated} if bench.shortlist else {}),
        **({} if bench.repairs is None else {"repair_budget": bench.repairs}),
        **({"planner": bench.planned_by} if bench.planned_by else {}),
    }
    with bench.task_set.stage(task) as stage:
        try:
            async with _open_orchestrator(bench, task, stage, strategy) as (orchestrator, trace):
                run = await orchestrator.run(task.query, stage.conversation)
        except CallwrightError as error:
            return {**head, "success": False, "error": str(error)}
        reasons = stage.judge(run)
        facts = stage.facts(run) if stage.facts else {}
    return {**head, **_build_outcome(run, reasons), **facts, "trace": trace}


@asynccontextmanager
async def _open_orchestrator(
    bench: Bench[T], task: Task, stage: Stage, strategy: str
) -> AsyncIterator[tuple[Orchestrator, str]]:
    """An orchestrator with the task's tools open, and where its trace is written."""
    path = bench.traces / f"{task.id}.{strategy}.{bench.config}.jsonl" if bench.traces else None
    sink = JsonlSink(path) if path else None
    try:
        made = Orchestrator(
            _slow_sources(stage.sources, bench.delay),
            model=bench.model,
            strategy=stage.enter(strategy) if stage.enter else strategy,
            planner=bench.planner,
            limits=bench.limits_of(strategy),
            interaction=Interaction(mode=bench.mode),
            persistence=Persistence(sinks=[sink] if sink else []),
            selection=tool_selection(bench.shortlist, stage.only),
            # each run has a world of its own, thrown away afterwards: nobody need be asked
            safety=Safety(allow=("*",), sandbox=True),
        )
        async with made:
            yield made, str(path or "")
    finally:
        if sink:
            sink.close()


def _slow_sources(sources: Sequence[SourceSpec], delay: float) -> Sequence[SourceSpec]:
    if not delay:
        return sources
    return [SlowSource(source, delay) for spec in sources for source in sources_of(spec)]


def tool_selection(
    shortlist: Shortlisting | None, only: Sequence[str] | None = None
) -> ToolSelection:
    """The tools of a run: so many, chosen so, or all."""
    if shortlist is None:
        return ToolSelection(only)
    return ToolSelection(
        only, shortlist.size, shortlist.trials, shortlist.mode, probing=shortlist.probing
    )


def _build_outcome(run: Run, reasons: Sequence[str]) -> JsonObject:
    cost = run.cost
    return {
        "mode": run.events[0].data["mode"],
        "model_profile": run.events[0].data["model_profile"],
        "success": not reasons,
        "reasons": list(reasons),
        "status": run.status,
        "limit": run.limit,
        "answer": run.answer.text,
        "tools": [f"{result.tool}{'' if result.ok else '!'}" for result in run.results],
        "calls": cost.calls,
        "skips": len(run.skips),
        "repairs": dict(cost.repairs),
        "violations": _count_violations(run),
        "model_calls": cost.model_calls,
        "steps": cost.steps,
        "prompt_tokens": cost.usage.prompt_tokens,
        "cached_tokens": cost.usage.cached_tokens,
        "completion_tokens": cost.usage.completion_tokens,
        "seconds": round(cost.seconds, 2),
        "waited": round(sum_call_time(run.events), 2),
    }


def _count_violations(run: Run) -> dict[str, int]:
    """Count how often the gate reported each kind of violation, warnings included."""
    found: Counter[str] = Counter()
    for event in run.events:
        for part in (
            ("violations", "warnings") if event.kind in ("call.refused", "call.checked") else ()
        ):
            found.update(item["kind"] for item in event.data.get(part) or ())
    return dict(found)


def compare_strategies(
    options: argparse.Namespace,
    load: Callable[[], TaskSet[T]],
    limits: Limits = LIMITS,
    shown: Callable[[Sequence[JsonObject]], str] = render_comparison,
    drawn: Callable[[Sequence[JsonObject], Path], Sequence[Path]] = write_plots,
) -> int:
    """Run a command with the options of :func:`build_parser`: report, digest, or run what is
    missing.

    ``limits`` are of one run. Its seconds are wall-clock: too few of them measure what else the
    machine is doing. ``shown`` makes the tables of the rows, ``drawn`` the plots in the folder
    ``--plots``.
    """
    if options.report:
        _print_report(read_rows(options.out), options, shown, drawn)
        return 0
    task_set = load()
    if options.digest:
        sys.stdout.write(f"{task_set.digest}  {len(task_set.tasks)} tasks\n")
        return 0
    tasks = select_tasks(
        task_set.tasks, options.half, tuple(filter(None, options.tasks.split(",")))
    )
    require_strategies(
        [*options.strategies.split(","), *_parse_limits(options.max_model_calls)], options.repairs
    )
    started, rows, left = time.monotonic(), list[JsonObject](), 0
    for spec in options.model.split(",") if options.model else [None]:
        spent = time.monotonic() - started
        limit = max(options.limit_seconds - spent, 1e-9) if options.limit_seconds else 0.0
        of_one = argparse.Namespace(**{**vars(options), "model": spec, "limit_seconds": limit})
        done, still = asyncio.run(_run_model(task_set, tasks, of_one, limits))
        rows, left = rows + done, left + still
    _print_report(rows, options, shown, drawn)
    sys.stderr.write(f"{left} runs are missing; the same command goes on\n" if left else "")
    return 0


def require_strategies(names: Iterable[str], repairs: int | None = None) -> None:
    """Raises ConfigError for a name that no strategy has, or one that cannot be compared, with this
    repair budget at least: each task would leave an error row, or a row that is another strategy's.
    """
    for name in names:
        strategy = open_strategy(name)
        if repairs is not None:
            replace(LIMITS, repairs=repairs)  # says what is no budget
        if repairs == 0 and isinstance(strategy, Reflecting):
            raise ConfigError(
                f"{name} reflects within the repair budget, and --repairs 0 leaves none",
                hint=f"--strategies {name} without --repairs, or {strategy.strategy.name} with it",
            )
        if name == "given":
            raise ConfigError(
                "a plan that somebody wrote is compared with nothing",
                hint="callwright run --plan FILE",
            )


def _print_report(
    rows: Sequence[JsonObject],
    options: argparse.Namespace,
    shown: Callable[[Sequence[JsonObject]], str],
    drawn: Callable[[Sequence[JsonObject], Path], Sequence[Path]],
) -> None:
    sys.stdout.write(shown(rows) + "\n")
    for path in drawn(rows, options.plots) if options.plots else ():
        sys.stderr.write(f"written: {path}\n")


async def _run_model(
    task_set: TaskSet[T], tasks: Sequence[T], options: argparse.Namespace, limits: Limits
) -> tuple[list[JsonObject], int]:
    """Run what is missing of one model. Returns its rows of this configuration, and how many are
    still missing.
    """
    model = open_model(options.model)
    strategies = tuple(options.strategies.split(","))
    traces = options.out.parent / "traces"
    model_calls = _parse_limits(options.max_model_calls)
    try:
        mode = MODES[options.mode] if options.mode else (await model.capabilities()).mode
        bench = Bench(
            task_set,
            model,
            strategies,
            limits,
            label=options.label,
            traces=traces,
            mode=mode,
            model_calls=model_calls,
            size=await find_model_size(model),
            shortlist=read_shortlist_options(options),
            delay=options.delay,
            repairs=options.repairs,
            planner=open_compared_planner(options.planner),
            planned_by=options.planner,
        )
        sys.stderr.write(
            f"tasks {task_set.digest}, {len(tasks)} chosen, {model.name}, {mode} replies, "
        )
        sys.stderr.write(f"configuration {bench.config}\n")
        left = await run_missing(
            bench, tasks, options.out, limit_seconds=options.limit_seconds, on_row=_print_progress
        )
    finally:
        await model.aclose()
        if close := getattr(task_set, "aclose", None):  # of what answers in the tools' place
            await close()
    chosen = {task.id for task in tasks}
    ours = (bench.config, model.name)
    rows = [
        r
        for r in read_rows(options.out)
        if (r["config"], r["model"]) == ours and r["task"] in chosen
    ]
    return rows, left


def _print_progress(row: JsonObject, left: int) -> None:
    word = "ok  " if row["success"] else "fail"
    why = row.get("error") or "; ".join(row["reasons"])
    cost: Any = (
        f"{row['model_calls']} model calls, {row['seconds']:.0f} s"
        if "seconds" in row
        else "no run"
    )
    sys.stderr.write(f"{word} {row['task']:22} {row['strategy']:18} {cost}  {why}  ({left} left)\n")
    sys.stderr.flush()


def _parse_limits(text: str) -> dict[str, int]:
    """``dfsdt=12,react=20`` as a mapping. Raises ConfigError."""
    found = {}
    for part in filter(None, text.split(",")):
        name, _, count = part.partition("=")
        if not count.isdecimal() or not int(count):
            raise ConfigError(
                f"--max-model-calls {part!r} is no STRATEGY=N", hint="for example dfsdt=12,react=20"
            )
        found[name] = int(count)
    return found


def read_shortlist_options(options: argparse.Namespace) -> Shortlisting | None:
    """Return the tool selection that ``--shortlist``, ``--trials`` and ``--retrieval`` describe;
    None without ``--shortlist``.
    """
    if options.shortlist is None:
        return None
    return Shortlisting(
        options.shortlist,
        options.trials,
        mode_named(options.retrieval) if options.retrieval else None,
    )


def add_shortlist_options(parser: argparse.ArgumentParser, shortlist: int | None = None) -> None:
    """The options that :func:`read_shortlist_options` reads. Trials only read: what a task's tools change is
    judged.
    """
    parser.add_argument(
        "--shortlist",
        type=int,
        default=shortlist,
        help="show runs only so many tools (%(default)s)",
    )
    parser.add_argument(
        "--trials", choices=("off", "read-only"), default="off", help="try them first (%(default)s)"
    )
    parser.add_argument("--retrieval", default=None, help="how they are found; as retrieve --mode")


def add_planner_option(parser: argparse.ArgumentParser) -> None:
    """The option that :func:`open_compared_planner` reads."""
    parser.add_argument(
        "--planner",
        default="",
        help=(
            "network (the paper's layer network), edges (trees, the default), none (no order), or"
            " any other that callwright run takes"
        ),
    )


def open_compared_planner(named: str) -> Planner:
    """The planner of a bench by its name; "": the default one. Raises ConfigError, MissingExtra."""
    return open_planner(_COMPARED.get(named, named or None))


def build_parser(command: str, about: str, results: Path) -> argparse.ArgumentParser:
    """The options that every such command takes. ``results``: where its rows go by default."""
    parser = argparse.ArgumentParser(prog=f"callwright bench {command}", description=about)
    parser.add_argument(
        "--model",
        default=None,
        help=(
            "local (default), local:PATH or URL#MODEL; several, with commas between, run one after"
            " another"
        ),
    )
    parser.add_argument(
        "--strategies", default="layered,react", help="names with commas between (%(default)s)"
    )
    parser.add_argument(
        "--mode", choices=tuple(MODES), default=None, help="replies (default: the endpoint's best)"
    )
    parser.add_argument(
        "--max-model-calls",
        default=",".join(f"{name}={count}" for name, count in MODEL_CALLS.items()),
        help=(
            "STRATEGY=N, with commas between: at most N model calls a run, the answer's included"
            " (%(default)s)"
        ),
    )
    parser.add_argument(
        "--repairs",
        type=int,
        default=None,
        help=(
            f"the repair budget of a run ({LIMITS.repairs}); 0: no question about a failed call, no"
            " second try"
        ),
    )
    parser.add_argument(
        "--half", choices=("dev", "final", "all"), default="dev", help="which tasks (%(default)s)"
    )
    add_shortlist_options(parser)
    add_planner_option(parser)
    parser.add_argument("--tasks", default="", help="only these task ids, with commas between")
    parser.add_argument(
        "--delay", type=float, default=0.0, help="seconds that a call takes more, about"
    )
    parser.add_argument(
        "--limit-seconds", type=float, default=0.0, help="start no run after this time"
    )
    parser.add_argument("--out", type=Path, default=results, help="results (%(default)s)")
    parser.add_argument(
        "--label", default="", help="tell apart changes that the configuration cannot see"
    )
    parser.add_argument(
        "--report", action="store_true", help="only print the tables of the results so far"
    )
    parser.add_argument(
        "--plots",
        type=Path,
        default=None,
        help="a folder for success against tokens, and by model size (SVG)",
    )
    parser.add_argument(
        "--digest", action="store_true", help="only print the digest of tasks and gold"
    )
    return parser
