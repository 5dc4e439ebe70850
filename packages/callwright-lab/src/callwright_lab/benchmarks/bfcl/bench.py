"""``callwright bench bfcl --harness``: BFCL's own harness, with a model direct and behind the proxy.

The suite (``bfcl-eval``) asks, plays the calls in its environments and judges, unmodified and in an
environment of its own. The rows differ only in how it asks and whom:

* ``raw``: by the prompt that the suite has for models without tools, direct;
* ``fc-direct``: by native tools, direct;
* ``proxy``: by native tools, through ``callwright proxy``.

Beside the verdicts stands what the suite does not count: calls that changed the state of an
environment and that gold does not make, or makes less often, and turns in which gold calls and
nothing was called.
"""

from __future__ import annotations

import argparse
import shlex
import sys
import time
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from threading import Lock
from typing import Any, Protocol

import orjson

from callwright import __version__
from callwright.nouns.errors import ConfigError
from callwright.nouns.types import JsonObject, compute_digest
from callwright_lab.benchmarks.bfcl.endpoints import Endpoint, open_proxy, open_upstream
from callwright_lab.benchmarks.bfcl.gold import GOLD, GoldModel, serve_gold
from callwright_lab.benchmarks.bfcl.harness import Harness, Inference, Unreachable, prepare_python
from callwright_lab.benchmarks.bfcl.report import render_report
from callwright_lab.benchmarks.bfcl.sample import (
    CATEGORIES,
    Case,
    draw_sample,
    open_final,
    parse_categories,
    read_cases,
    read_tool_sets,
    render_sample,
    sort_for_cache,
)
from callwright_lab.benchmarks.comparison.rows import append_row, read_rows
from callwright_lab.benchmarks.comparison.task_sets import Half
from callwright_lab.benchmarks.refine.bfcl import REQUIREMENT

ROWS = ("raw", "fc-direct", "proxy")
PROXIED = "proxy"
_LOST = 2  # cases in a row without a reply, after which the endpoint counts as gone


@dataclass(frozen=True)
class Row:
    """One row's settings. ``options``: those of the proxy that the bench starts."""

    name: str
    inference: Inference
    options: tuple[str, ...] = ()
    label: str = ""

    @property
    def config(self) -> str:
        """Digest of everything that results of one row depend on, except the timeout."""
        asked = self.inference
        parts = [REQUIREMENT, self.name, asked.model, asked.temperature, asked.max_tokens]
        proxy = [__version__, self.options] if self.name == PROXIED else []
        return compute_digest([*parts, proxy, self.label])

    def describe(self, case: Case) -> JsonObject:
        """The words that a result of this row says about itself."""
        return {
            "case": case.id,
            "category": case.category,
            "half": case.half,
            "row": self.name,
            "model": self.inference.model,
            "config": self.config,
            "label": self.label,
        }


@dataclass(frozen=True)
class Setup:
    """Where the questions go, and where rows and logs are kept. ``proxy``: one that runs already;
    ``python``: an interpreter with the suite's libraries; ``parallel``: cases that run at once.
    """

    results: Path
    upstream: str | None = None
    proxy: str | None = None
    context: int = 24_576
    python: str | None = None
    limit_seconds: float = 0.0
    parallel: int = 1
    began: float = field(default_factory=time.monotonic)
    writing: Lock = field(default_factory=Lock)

    def is_over(self) -> bool:
        """Return True once no further case may begin."""
        return bool(self.limit_seconds) and time.monotonic() - self.began >= self.limit_seconds


class Runner(Protocol):
    """The runner of one case: the suite, or a test's own."""

    def run(self, category: str, case: str) -> JsonObject: ...


def list_missing(row: Row, cases: Sequence[Case], results: Path) -> list[Case]:
    """The cases that the row has no verdict on under these settings."""
    done = {r["case"] for r in read_rows(results) if _is_done(r, row)}
    return [case for case in cases if case.id not in done]


def _is_done(found: JsonObject, row: Row) -> bool:
    mine = found["row"] == row.name and found["config"] == row.config
    return mine and not found.get("error")


def run_cases(runner: Runner, row: Row, cases: deque[Case], setup: Setup) -> None:
    """Take cases, run them and append a result for each, until the time is over. Other threads may
    take of the same cases.

    A case without a reply leaves a result with ``error`` and is run again next time. Raises
    ConfigError where the endpoint does not reply to several in a row.
    """
    lost = 0
    while not setup.is_over() and (case := _take_case(cases)) is not None:
        try:
            outcome, lost = runner.run(case.category, case.id), 0
        except Unreachable as error:
            outcome, lost = {"error": str(error)}, lost + 1
        beside = {"parallel": setup.parallel} if setup.parallel > 1 else {}
        with setup.writing:
            append_row(setup.results, {**row.describe(case), **beside, **outcome})
            _print_progress(row, case, outcome, len(cases))
        if lost >= _LOST:
            raise ConfigError(
                f"the endpoint of {row.name} gives no reply: {outcome['error']}",
                hint="start it and give the same command: finished cases are kept",
            )


def _take_case(cases: deque[Case]) -> Case | None:
    try:
        return cases.popleft()
    except IndexError:
        return None


def run_row(row: Row, cases: Sequence[Case], setup: Setup) -> int:
    """Run a row's cases, ``setup.parallel`` of them at once. Returns how many are left.

    Each of these has a suite and a proxy of its own, for the suite is one process that runs one
    case. An error in one of them ends the row when the cases under way have ended, and is raised.
    """
    waiting = deque(cases)

    def work(runner: Runner) -> None:
        try:
            run_cases(runner, row, waiting, setup)
        except BaseException:
            waiting.clear()
            raise

    with ExitStack() as stack:
        endpoint = stack.enter_context(_open_endpoint(row, setup))
        count = min(setup.parallel, len(cases))
        # entered first, so that who breaks off ends the suites before their threads are awaited
        pool = stack.enter_context(ThreadPoolExecutor(count))
        runners = [stack.enter_context(open_runner(row, setup, endpoint)) for _ in range(count)]
        under_way = [pool.submit(work, runner) for runner in runners]
        wait(under_way)
        for ended in under_way:
            ended.result()
    return len(waiting)


def _print_progress(row: Row, case: Case, outcome: JsonObject, left: int) -> None:
    said = outcome.get("error") or outcome["error_type"] or "right"
    sys.stderr.write(f"{row.name} {case.id}: {said}, {left} left\n")


@contextmanager
def _open_endpoint(row: Row, setup: Setup) -> Iterator[Endpoint | None]:
    """The endpoint that all runners of a row share, started where none is named; None where each
    has a scripted model of its own.
    """
    if row.inference.model == GOLD:
        yield None
        return
    running = setup.proxy if row.name == PROXIED else None
    with open_upstream(running or setup.upstream, row.inference.model, setup.context) as endpoint:
        yield endpoint


@contextmanager
def open_runner(row: Row, setup: Setup, shared: Endpoint | None) -> Iterator[Runner]:
    """The suite before the row's endpoint, or before a scripted model; behind the proxy with one
    that is started, unless one runs already.
    """
    log = setup.results.with_suffix(".log")
    python = setup.python or prepare_python()
    with ExitStack() as stack:
        gold = stack.enter_context(serve_gold()) if shared is None else None
        endpoint = gold.endpoint if gold else shared
        assert endpoint is not None
        if row.name == PROXIED and (gold or not setup.proxy):
            proxy_log = setup.results.with_suffix(".proxy.log")
            endpoint = stack.enter_context(open_proxy(endpoint, row.options, proxy_log))
        suite = stack.enter_context(Harness(python, endpoint, row.inference, log))
        yield _GoldRunner(suite, gold) if gold else suite


@dataclass(frozen=True)
class _GoldRunner:
    """Tells the scripted model of each case before the suite asks."""

    suite: Runner
    model: GoldModel

    def run(self, category: str, case: str) -> JsonObject:
        self.model.prepare(category, case)
        return self.suite.run(category, case)


def run_rows(rows: Sequence[Row], cases: Sequence[Case], setup: Setup) -> int:
    """Run what is missing, row by row. Returns how many cases are left."""
    left = 0
    for row in rows:
        missing = list_missing(row, cases, setup.results)
        if missing and not setup.is_over():
            left += run_row(row, missing, setup)
        else:
            left += len(missing)
    return left


def _build_parser() -> argparse.ArgumentParser:
    known = argparse.ArgumentParser(
        "callwright bench bfcl", description=(__doc__ or "").partition(": ")[2].partition("\n")[0]
    )
    known.add_argument("--harness", action="store_true", help="run; else only print the sample")
    known.add_argument(
        "--report", action="store_true", help="only print the tables of what was run"
    )
    known.add_argument("--rows", default=",".join(ROWS), help="comma-separated (%(default)s)")
    known.add_argument(
        "--categories",
        default=",".join(CATEGORIES),
        help="comma-separated, also multi_turn and single_turn (%(default)s)",
    )
    known.add_argument("--per-category", type=int, default=15, help="cases of each (%(default)s)")
    known.add_argument(
        "--open-final", action="store_true", help="the final half, once for each row and model"
    )
    known.add_argument("--limit-seconds", type=float, default=0.0, help="begin no case after that")
    known.add_argument(
        "--parallel",
        type=int,
        default=1,
        help="cases that run at once; their seconds hold the waiting (%(default)s)",
    )
    known.add_argument("--results", type=Path, default=Path("runs/bfcl/results.jsonl"))
    known.add_argument("--label", default="", help="kept with the rows, and keeps them apart")
    known.add_argument(
        "--python", help="an interpreter with the suite's libraries; by default one is made"
    )
    _add_endpoint_options(known)
    return known


def _add_endpoint_options(known: argparse.ArgumentParser) -> None:
    known.add_argument("--upstream", help="the endpoint: http://host:8000/v1")
    known.add_argument(
        "--model",
        default="local",
        help="its model; without --upstream: local, local:PATH, or gold (%(default)s)",
    )
    known.add_argument(
        "--context", type=int, default=24_576, help="tokens, of the embedded model (%(default)s)"
    )
    known.add_argument("--proxy", help="base URL of a proxy that runs; by default one is started")
    known.add_argument(
        "--proxy-options", default="", help='of the one that is started: "--guided on --reasks 2"'
    )
    known.add_argument("--max-tokens", type=int, default=4096, help="of a reply; 0: no limit")
    known.add_argument("--temperature", type=float, default=0.001, help="the suite's (%(default)s)")
    known.add_argument("--timeout", type=float, default=3600.0, help="seconds of one question")


def _build_rows(given: Any) -> list[Row]:
    names = [name.strip() for name in given.rows.split(",") if name.strip()]
    if unknown := [name for name in names if name not in ROWS]:
        raise ConfigError(f"there is no row {unknown[0]!r}", hint="rows: " + ", ".join(ROWS))
    made = []
    for name in names:
        native = name != "raw"
        asked = Inference(given.model, native, given.temperature, given.max_tokens, given.timeout)
        options = tuple(shlex.split(given.proxy_options)) if name == PROXIED else ()
        made.append(Row(name, asked, options, given.label))
    return made


def _draw_cases(given: Any) -> tuple[Case, ...]:
    if given.per_category < 1:
        raise ConfigError("--per-category is less than 1", hint="the board has 15")
    categories = parse_categories(given.categories)
    half: Half = "final" if given.open_final else "dev"
    return draw_sample(read_cases(categories), half, given.per_category)


def _state_sample(rows: Sequence[Row], cases: Sequence[Case], given: Any) -> None:
    """Print and keep the sample, before any case is run."""
    half = "final" if given.open_final else "dev"
    sys.stdout.write(f"BFCL ({REQUIREMENT}), {half} half, {len(cases)} cases\n")
    sys.stdout.write(render_sample(cases) + "\n")
    sys.stdout.flush()
    if not given.harness:
        return
    kept = given.results.with_suffix(f".{half}.json")
    kept.parent.mkdir(parents=True, exist_ok=True)
    kept.write_bytes(orjson.dumps([case.id for case in cases], option=orjson.OPT_INDENT_2))
    if given.open_final:
        _open_final_half(rows, given.results.with_suffix(".opened.json"))


def _open_final_half(rows: Sequence[Row], ledger: Path) -> None:
    now = datetime.now(UTC).isoformat(timespec="seconds")
    for row in rows:
        when = open_final(ledger, f"{row.name} {row.inference.model}", row.config, now)
        sys.stdout.write(f"final half for {row.name}: opened {when}\n")


def main(arguments: Sequence[str] | None = None) -> int:
    """State the sample, run what is missing and print the tables."""
    given: Any = _build_parser().parse_args(arguments)
    rows = _build_rows(given)
    if not given.report:
        cases = _draw_cases(given)
        _state_sample(rows, cases, given)
        if not given.harness:
            sys.stdout.write("Nothing was run: --harness runs these cases.\n")
            return 0
        setup = Setup(
            given.results,
            given.upstream,
            given.proxy,
            given.context,
            given.python,
            given.limit_seconds,
            max(1, given.parallel),
        )
        tool_sets = read_tool_sets(parse_categories(given.categories))
        left = run_rows(rows, sort_for_cache(cases, tool_sets), setup)
        sys.stdout.write(f"{left} cases left: the same command goes on\n" if left else "")
    sys.stdout.write(render_report(read_rows(given.results)) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
