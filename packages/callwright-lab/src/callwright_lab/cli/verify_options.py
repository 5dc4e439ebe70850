"""Defines the shared parts of the ``callwright verify`` commands: budget and journal options,
progress on stderr, the report.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from callwright.nouns.control_characters import one_line
from callwright.nouns.types import JsonObject, compute_digest

if TYPE_CHECKING:
    from callwright.simulation.recording import Recording
    from callwright.viewer import Report, Table
    from callwright_lab.verify.budget import Budget, Cost
    from callwright_lab.verify.sweep import Finding, Judge, Levels, Row, Sweep

T = TypeVar("T")

Concurrency = Annotated[int, typer.Option(help="Rows judged at a time.", min=1)]
Calls = Annotated[
    int | None,
    typer.Option(
        "--calls", help="Budget: real calls of tools, requests that are sent again included.", min=0
    ),
]
ModelCalls = Annotated[
    int | None, typer.Option("--model-calls", help="Budget: questions to models.", min=0)
]
Minutes = Annotated[float | None, typer.Option("--minutes", help="Budget: minutes.", min=0)]
JournalFile = Annotated[
    Path | None,
    typer.Option(
        "--journal",
        help=(
            "File that keeps what is judged; the same command goes on from it. Default: in the"
            " user's state."
        ),
    ),
]
Anew = Annotated[
    bool, typer.Option("--fresh", help="Judge everything again, whatever the journal holds.")
]
ReportFile = Annotated[
    Path | None,
    typer.Option("--report", help="Write the report here too: a page (.html), else Markdown."),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print every finding as JSON, one a line.")]


@dataclass(frozen=True, slots=True)
class ModelExtent:
    """Settings of a sweep that calls no tool, as options of its command: its pace, its budget, its
    journal and its report.
    """

    concurrency: Concurrency = 4
    model_calls: ModelCalls = None
    minutes: Minutes = None
    journal: JournalFile = None
    anew: Anew = False
    report: ReportFile = None
    as_json: AsJson = False

    @property
    def budget(self) -> Budget:
        """Return the budget of the sweep. Raises ConfigError."""
        from callwright_lab.verify.budget import Budget

        return Budget(None, self.model_calls, self.minutes)

    @property
    def wants_page(self) -> bool:
        """Return True if the report is an HTML page."""
        return self.report is not None and self.report.suffix.lower() in (".html", ".htm")


@dataclass(frozen=True, slots=True)
class Extent(ModelExtent):
    """Settings of a sweep that calls tools."""

    calls: Calls = None

    @property
    def budget(self) -> Budget:
        """Return the budget of the sweep. Raises ConfigError."""
        from callwright_lab.verify.budget import Budget

        return Budget(self.calls, self.model_calls, self.minutes)


async def run_verify_sweep(
    stage: str,
    about: JsonObject,
    rows: Sequence[Row[T]],
    judge: Judge[T],
    extent: ModelExtent,
    levels: Levels[T] | None = None,
    told_as: str = "",
) -> Sweep:
    """Judge the rows within the extent, with progress on stderr. ``about``: all settings that
    findings depend on. ``told_as``: what the progress is called.

    Raises ConfigError for a journal of other settings, ModelError where no model answers.
    """
    from callwright_lab.verify.sweep import open_journal, run_sweep

    whole = {"stage": stage, **about}
    path = get_journal_path(stage, about, extent)
    budget = extent.budget
    with (
        redirect_stdout(sys.stderr),  # what tools print is no part of a report
        open_journal(path, whole, anew=extent.anew) as journal,
        _show_progress(told_as or f"verify {stage}", len(rows)) as told,
    ):
        told.begin(
            sum(row.key in journal.findings and journal.findings[row.key].kept for row in rows)
        )
        try:
            made = await run_sweep(
                rows,
                judge,
                journal,
                budget=budget,
                concurrency=extent.concurrency,
                progress=told,
                levels=levels,
            )
        except BaseException:
            done = sum(row.key in journal.findings for row in rows)
            print(
                f"{done} of {len(rows)} are judged; the same command goes on from {path}",
                file=sys.stderr,
            )
            raise
    print(f"journal: {path}", file=sys.stderr)
    return made


def print_report(
    made: Sweep,
    extent: ModelExtent,
    report: Callable[[], Report] | None = None,
    tables: Sequence[Table] = (),
) -> None:
    """Print the report: ``tables`` and that of the categories, or every finding as a line of JSON;
    and write it where that was asked for, as Markdown or as the page of ``report``. Raises
    ConfigError where it cannot be written.
    """
    from callwright.nouns.errors import ConfigError
    from callwright.viewer import render_report_page
    from callwright_lab.verify.reporting.report import render_markdown

    if extent.as_json:
        _print_lines(made)
    else:
        for table in tables:
            _print_plain_table(table)
        _print_table(made)
    if extent.report is None:
        return
    if extent.wants_page and report is None:
        raise ConfigError(
            f"there is no page of this stage for {extent.report}", hint="--report FILE.md"
        )
    text = (
        render_report_page(report())
        if extent.wants_page and report is not None
        else render_markdown(made, tables) + "\n"
    )
    try:
        extent.report.parent.mkdir(parents=True, exist_ok=True)
        extent.report.write_text(
            text, encoding="utf-8", errors="replace"
        )  # a reply may hold lone surrogates
    except OSError as error:
        raise ConfigError(
            f"cannot write the report {extent.report}: {error.strerror}",
            hint="choose another --report",
        ) from None
    print(f"report: {extent.report}", file=sys.stderr)


def print_agreement(rows: Sequence[Mapping[str, str]]) -> None:
    """Say on stderr how far the judges of these rows agree, where several voted."""
    from callwright_lab.verify.committee import measure_agreement

    if any(len(row) > 1 for row in rows):
        print(f"judges: {measure_agreement(rows)}", file=sys.stderr)


def get_journal_path(stage: str, about: JsonObject, extent: ModelExtent) -> Path:
    """Return the path of the journal in which the stage keeps its findings."""
    from callwright.storage.database import state_dir

    if extent.journal is not None:
        return extent.journal
    return state_dir() / "verify" / f"{stage}-{compute_digest({'stage': stage, **about})}.jsonl"


def read_recording(paths: Sequence[Path]) -> Recording:
    """Return the recording of these files, and print a note on stderr for each problem. Raises
    ConfigError and whatever else reading the files raises.
    """
    from callwright.simulation.recording import Recording

    recording = Recording.read(*paths)
    for problem in recording.problems:
        print(f"note: {one_line(problem)}", file=sys.stderr)
    return recording


@contextmanager
def _show_progress(stage: str, rows: int) -> Iterator[_Progress]:
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    from callwright.cli.terminal.console import build_console as our_console

    console = our_console(stderr=True)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    bar = Progress(
        *columns,
        TextColumn("{task.fields[said]}"),
        console=console,
        disable=not console.is_terminal,
    )
    with bar:
        yield _Progress(bar, bar.add_task(stage, total=rows, said=""), rows, console.is_terminal)


class _Progress:
    """A bar in a terminal; elsewhere a line for every tenth of the rows."""

    def __init__(self, bar: object, task: int, rows: int, moving: bool) -> None:
        self._bar, self._task, self._rows, self._moving = bar, task, rows, moving
        self._kept = 0
        self._said = 0

    def begin(self, kept: int) -> None:
        """So many rows were kept by an earlier sweep."""
        self._kept = kept

    def __call__(self, finding: Finding, done: int, cost: Cost) -> None:
        self._kept += finding.kept
        said = f"kept {self._kept}; {cost}"
        if self._moving:
            self._bar.update(self._task, completed=done, said=said)  # type: ignore[attr-defined]
        elif done * 10 // self._rows > self._said:
            self._said = done * 10 // self._rows
            print(f"{done} of {self._rows} judged: {said}", file=sys.stderr)


def _print_table(made: Sweep) -> None:
    from callwright.cli.terminal.console import print_table, shorten_text
    from callwright_lab.verify.reporting.report import count_categories, summarize_sweep

    rows = [
        (
            one.verdict,
            one.category or "—",
            str(one.rows),
            f"{one.share:.1%}",
            shorten_text(one.example, 160),
        )
        for one in count_categories(made.findings)
    ]
    if rows:
        print_table(("Verdict", "Category", "Rows", "Share", "For example"), rows)
    print(summarize_sweep(made))


def _print_plain_table(told: Table) -> None:
    from callwright.cli.terminal.console import print_table

    print_table(told.heads, told.rows, title=told.title)
    print(f"{told.note}\n")


def _print_lines(made: Sweep) -> None:
    import orjson

    from callwright.nouns.types import to_json

    for finding in made.findings:
        print(orjson.dumps(to_json(finding)).decode())
