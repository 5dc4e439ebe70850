"""``callwright bench agents``: whole jobs, done by unmodified agent loops, judged by code.

Each task has a world with real state, a request in one of five languages and what has to be true
in the end. The same loop runs direct and behind ``callwright proxy``. Harm is counted first: writes
nobody asked for, writes made twice, invented values, refusals where nothing was missing.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from callwright import __version__
from callwright.models import open_model
from callwright.nouns.errors import CallwrightError, ConfigError
from callwright.nouns.protocols import ChatModel
from callwright.nouns.types import JsonObject
from callwright.tools.lists.tools import annotations_of
from callwright_lab.benchmarks.agents.frameworks import (
    REQUIREMENTS,
    Ended,
    Framework,
    find_python,
)
from callwright_lab.benchmarks.agents.judge import judge_job
from callwright_lab.benchmarks.agents.own import (
    PLANNED,
    STRATEGIES,
    build_expert,
    run_own_agent,
)
from callwright_lab.benchmarks.agents.proxied import (
    build_guard_options,
    count_own_questions,
    start_proxy,
)
from callwright_lab.benchmarks.agents.report import get_configuration, render_report
from callwright_lab.benchmarks.agents.scripted import STYLES
from callwright_lab.benchmarks.agents.task_set import compute_digest
from callwright_lab.benchmarks.agents.tasks import (
    SAMPLE,
    Task,
    select_tasks,
)
from callwright_lab.benchmarks.agents.upstream import (
    Meter,
    RelayUpstream,
    ScriptedUpstream,
    serve_upstream,
)
from callwright_lab.benchmarks.agents.worlds.world import World
from callwright_lab.benchmarks.comparison.comparison import (
    add_planner_option,
    open_compared_planner,
)
from callwright_lab.benchmarks.comparison.rows import append_row, read_rows

TURNS = 12
ALL_TOOLS = "all tools"
"""The label of rows whose tasks were offered every tool of their set."""
OWN = "callwright"
WAYS = ("direct", "proxy")  # of a loop


@dataclass(frozen=True, slots=True)
class Setup:
    """One configuration: an upstream, a framework, and the way to it.

    ``upstream``: ``right``, ``careless``, ``local`` or a URL; ``way``: ``direct``, ``proxy``, or a
    strategy of our own agent. ``planner``: of a strategy that plans, if it was chosen.
    """

    upstream: str
    model: str
    framework: str
    way: str
    guard: str = ""
    options: tuple[str, ...] = ()
    label: str = ""
    planner: str = ""

    def to_row(self) -> JsonObject:
        """The part of a row that says what was measured."""
        is_proxied = self.way == "proxy"
        name = f"{self.upstream}#{self.model}" if self.model else self.upstream
        options = self.options if is_proxied else ()
        options += (f"--planner={self.planner}",) if self.planner else ()
        return {
            "upstream": name,
            "framework": self.framework,
            "way": self.way,
            "guard": self.guard if is_proxied else "",
            "options": " ".join(options),
            "label": self.label,
        }


@dataclass
class Lane:
    """An open way to a model: the address that loops ask, and who counts."""

    url: str
    model: str
    upstream: ScriptedUpstream | RelayUpstream
    proxy: str = ""
    counted: int = 0

    def begin(self, task: Task) -> None:
        """Start to count for a task."""
        self.upstream.begin(task)
        if self.proxy:
            self.counted = count_own_questions(self.proxy)

    def end(self) -> tuple[int, Meter]:
        """The questions to the model of the task that has ended, and what was metered."""
        meter = self.upstream.meter
        own = count_own_questions(self.proxy) - self.counted if self.proxy else 0
        return meter.questions + own, meter


@contextmanager
def open_lane(setup: Setup, embedded: tuple[str, str] | None = None) -> Iterator[Lane]:
    """Start what a configuration needs: an upstream, and the proxy in front of it.

    ``embedded``: address and key of the embedded model where loops ask it directly. Behind the
    proxy the proxy itself runs it; then the bench counts between loop and proxy, and adds the
    questions that the proxy says it asked.
    """
    is_proxied = setup.way == "proxy"
    options = [*build_guard_options(setup.guard), *setup.options] if is_proxied else []
    with ExitStack() as stack:
        if setup.upstream == "local" and is_proxied:
            chosen = f"local:{setup.model}" if setup.model else "local"
            proxy = stack.enter_context(start_proxy(["--model", chosen, *options]))
            relay = RelayUpstream(proxy)
            yield Lane(stack.enter_context(serve_upstream(relay)), "local", relay, proxy)
            return
        upstream = _build_upstream(setup, embedded)
        url = stack.enter_context(serve_upstream(upstream))
        if is_proxied:
            url = stack.enter_context(start_proxy(["--upstream", url, *options]))
        yield Lane(url, setup.model or "local", upstream)


def _build_upstream(
    setup: Setup, embedded: tuple[str, str] | None
) -> ScriptedUpstream | RelayUpstream:
    for style in STYLES:
        if setup.upstream == style:
            return ScriptedUpstream(style)
    if embedded is not None:
        return RelayUpstream(*embedded)
    return RelayUpstream(setup.upstream)


def run_task(task: Task, lane: Lane, framework: Framework, limit_seconds: float) -> JsonObject:
    """Run one task through a framework: the part of its row that was measured."""
    world, messages = task.open_world()
    lane.begin(task)
    job: JsonObject = {
        "base_url": lane.url,
        "key": "none",
        "model": lane.model,
        "messages": messages,
        "tools": _list_tools(world),
        "reminder": task.reminder,
        "turns": TURNS,
    }
    ended = framework.run_job(job, lambda name, given: world.call(name, given).text, limit_seconds)
    questions, meter = lane.end()
    known = not meter.unknown
    return {
        **_judge_row(task, world, ended),
        "questions": questions,
        "prompt_tokens": meter.prompt if known else None,
        "completion_tokens": meter.completion if known else None,
    }


def _list_tools(world: World) -> list[JsonObject]:
    return [
        {
            "name": tool.name,
            "description": tool.description,
            "parameters": tool.input_schema,
            "annotations": annotations_of(tool.effects),
        }
        for tool in world.tools.values()
    ]


def _judge_row(task: Task, world: World, ended: Ended) -> JsonObject:
    score = judge_job(task, world.log, ended.answer)
    return {
        "unasked": score.unasked,
        "repeated": score.repeated,
        "invented": score.invented,
        "false_refusal": score.is_false_refusal,
        "success": score.is_success,
        "reasons": list(score.reasons),
        "seconds": round(ended.seconds, 3),
        "answer": ended.answer,
        "error": ended.error,
        "calls": [
            {"tool": c.tool, "arguments": c.arguments, "ok": c.is_ok, "content": c.content}
            for c in world.log
        ],
    }


@dataclass
class Bench:
    """Measures what is missing in a file of results, row by row."""

    out: Path
    tasks: Sequence[Task]
    limit_seconds: float
    done: set[tuple[str, ...]] = field(default_factory=set)

    def list_missing(self, setup: Setup) -> list[Task]:
        """The tasks of which there is no row yet."""
        head = get_configuration(setup.to_row())
        return [
            task
            for task in self.tasks
            if (task.id, compute_digest(task.task_set), *head) not in self.done
        ]

    def add_row(self, setup: Setup, task: Task, measured: JsonObject) -> None:
        """Append a row as soon as it is known."""
        row: JsonObject = {
            "task": task.id,
            "set": task.task_set.name,
            "half": task.half,
            "language": task.language,
            "kind": task.kind,
            **setup.to_row(),
            **measured,
            "version": __version__,
            "data": compute_digest(task.task_set),
        }
        append_row(self.out, row)
        self.done.add((task.id, row["data"], *get_configuration(row)))
        harm = {name: row[name] for name in ("unasked", "repeated", "invented") if row[name]}
        said = "right" if row["success"] else "; ".join(row["reasons"]) or row["error"]
        where = " ".join(part for part in get_configuration(row) if part)
        sys.stderr.write(f"{where} {task.id}: {said}{f' {harm}' if harm else ''}\n")

    def measure(self, setup: Setup) -> None:
        """Run the missing tasks of a configuration. Raises CallwrightError."""
        missing = self.list_missing(setup)
        if not missing:
            return
        if setup.framework == OWN:
            self._measure_own(setup, missing)
            return
        python = find_python(setup.framework)
        with (
            _open_embedded(setup) as embedded,
            open_lane(setup, embedded) as lane,
            Framework(setup.framework, python) as framework,
        ):
            for task in missing:
                self.add_row(setup, task, run_task(task, lane, framework, self.limit_seconds))

    def _measure_own(self, setup: Setup, missing: Sequence[Task]) -> None:
        planner = open_compared_planner(setup.planner) if setup.planner else None
        for task in missing:
            world, messages = task.open_world()
            model = _open_own_model(setup, task, world)
            run = run_own_agent(
                task, world, messages, model, setup.way, self.limit_seconds, planner
            )
            measured = {
                **_judge_row(task, world, run.ended),
                "questions": run.steps,
                "prompt_tokens": run.usage.prompt_tokens,
                "completion_tokens": run.usage.completion_tokens,
            }
            self.add_row(setup, task, measured)


@contextmanager
def _open_embedded(setup: Setup) -> Iterator[tuple[str, str] | None]:
    """Address and key of the embedded model, where loops ask it directly."""
    if setup.upstream != "local" or setup.way != "direct":
        yield None
        return
    from callwright.models.local import DEFAULT, LocalModel

    model = LocalModel(setup.model or DEFAULT)
    try:
        yield asyncio.run(model.endpoint())
    finally:
        asyncio.run(model.aclose())


def _open_own_model(setup: Setup, task: Task, world: World) -> ChatModel:
    for style in STYLES:
        if setup.upstream == style:
            return build_expert(task, world, style)
    if setup.upstream == "local":
        return open_model(f"local:{setup.model}" if setup.model else "local")
    return open_model(f"{setup.upstream}#{setup.model}")


def list_setups(options: argparse.Namespace) -> list[Setup]:
    """The configurations that a command line asks for."""
    found = []
    ways = _split_list(options.ways)
    if unknown := [way for way in ways if way not in (*WAYS, *STRATEGIES)]:
        known = ", ".join((*WAYS, *STRATEGIES))
        raise ConfigError(f"no way is called {unknown[0]}", hint=known)
    own = [way for way in ways if way in STRATEGIES] or STRATEGIES
    ways = [way for way in ways if way in WAYS] or [*WAYS]
    for upstream in _split_list(options.upstream):
        model = "" if upstream in STYLES else options.model
        head: dict[str, Any] = {"upstream": upstream, "model": model, "label": options.label}
        extra = {"guard": options.guard, "options": tuple(options.proxy_option)}
        for framework in _split_list(options.framework):
            if framework == OWN:
                for way in own:
                    planner = options.planner if way in PLANNED else ""
                    found.append(Setup(**head, framework=OWN, way=way, planner=planner))
            elif framework in REQUIREMENTS:
                found += [Setup(**head, framework=framework, way=way, **extra) for way in ways]
            else:
                known = ", ".join([*REQUIREMENTS, OWN])
                raise ConfigError(f"no framework is called {framework}", hint=known)
    return found


def _split_list(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


def _read_rows(options: argparse.Namespace) -> list[JsonObject]:
    """The rows that are there. Raises ConfigError where they are, and nobody asked to go on."""
    rows = read_rows(options.out)
    if rows and not (options.resume or options.report):
        hint = "--resume goes on with what is missing, --out names another file"
        raise ConfigError(f"{options.out} holds {len(rows)} rows already", hint=hint)
    return rows


def build_parser() -> argparse.ArgumentParser:
    """The options of the bench."""
    about = (__doc__ or "").partition(": ")[2].partition("\n")[0]
    known = argparse.ArgumentParser(prog="callwright bench agents", description=about)
    add = known.add_argument
    add("--tasks", default="dev", help="dev, final, all; home-dev and so on; or ids with commas")
    add("--open-final", action="store_true", help="measure tasks of the final half")
    add("--sample", type=int, default=0, help=f"a fixed sample of so many tasks, as {SAMPLE}")
    add("--framework", default="openai", help=f"{', '.join([*REQUIREMENTS, OWN])}; with commas")
    add("--upstream", default="right", help="right, careless, local or a URL; with commas")
    add("--model", default="", help="the endpoint's model; for local, a registry name or a file")
    add(
        "--ways",
        default=",".join(WAYS),
        help=f"of a loop: direct, proxy or both; of {OWN}: {', '.join(STRATEGIES)}",
    )
    add("--guard", default="", choices=["", "on", "auto", "report", "off"], help="of the proxy")
    add("--proxy-option", action="append", default=[], help="one more of the proxy; repeatable")
    add_planner_option(known)
    add("--label", default="", help="a name that keeps rows of another proxy apart")
    add("--all-tools", action="store_true", help="offer every tool of the set with every task")
    add("--limit-seconds", type=float, default=600.0, help="for one task")
    add("--out", type=Path, default=Path("runs/agents/results.jsonl"), help="file of rows")
    add("--resume", action="store_true", help="go on with what is missing in that file")
    add("--report", action="store_true", help="print the table of that file alone")
    return known


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what is missing and print the table. A framework that cannot be installed is skipped."""
    options = build_parser().parse_args(arguments)
    rows = _read_rows(options)
    if not options.report:
        tasks = select_tasks(options.tasks, options.sample, may_open_final=options.open_final)
        if options.all_tools:
            tasks = tuple(task.offer_all() for task in tasks)
            options.label = " ".join(part for part in (options.label, ALL_TOOLS) if part)
        bench = Bench(options.out, tasks, options.limit_seconds)
        bench.done = {(row["task"], row["data"], *get_configuration(row)) for row in rows}
        _measure_all(bench, list_setups(options))
    sys.stdout.write(render_report(read_rows(options.out)) + "\n")
    return 0


def _measure_all(bench: Bench, setups: Sequence[Setup]) -> None:
    for setup in setups:
        try:
            bench.measure(setup)
        except CallwrightError as error:
            named = " ".join(part for part in get_configuration(setup.to_row()) if part)
            sys.stderr.write(f"skipped {named}: {error}\n")


if __name__ == "__main__":
    sys.exit(main())
