"""``callwright verify trajectories``: read them, or have the Python-call agent make them; then
three checkers.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from callwright.cli.settings.options import ConfigOptions, Model, SourceOptions, group_options
from callwright.nouns.control_characters import one_line
from callwright_lab.cli.convert import Written
from callwright_lab.cli.verify_options import Extent

if TYPE_CHECKING:
    from contextlib import AsyncExitStack

    from callwright.cli.settings.settings import Settings
    from callwright.nouns.trajectory import Trajectory
    from callwright.simulation.recording import Recording
    from callwright.tools.catalog import Catalog
    from callwright.viewer import Report
    from callwright_lab.cli.solving import Solver
    from callwright_lab.verify.budget import Meter
    from callwright_lab.verify.sweep import Row, Sweep
    from callwright_lab.verify.trajectories import Checked


class Asked(StrEnum):
    """In whose words the agent is asked."""

    code = "code"
    toolmvr = "toolmvr"


Recorded = Annotated[
    list[Path] | None,
    typer.Option(
        help="With --requests: what is on record here answers, before the tools. May be repeated."
    ),
]
Simulator = Annotated[
    str | None,
    typer.Option(
        help="With --requests: no tool is called; this model answers what is not on record."
    ),
]
Imitate = Annotated[
    str | None,
    typer.Option(help="With --requests: this model answers for tools that the overlay calls dead."),
]


@dataclass(frozen=True)
class Answering:
    """Settings for answering in place of tools: recordings in ``recorded``, and a model.
    ``simulator`` answers for every tool, ``imitate`` for those that the overlay calls dead.
    """

    recorded: tuple[Path, ...] = ()
    simulator: str | None = None
    imitate: str | None = None
    overlay: str | None = None

    @property
    def model(self) -> str | None:
        return self.simulator or self.imitate

    @cached_property
    def recording(self) -> Recording:
        """Raises ConfigError and what else reading raises."""
        from callwright_lab.cli.verify_options import read_recording

        return read_recording(self.recorded)

    @property
    def about(self) -> dict[str, Any]:
        """Return the settings on which findings depend. Raises ConfigError for options that do not
        go together.
        """
        from callwright.nouns.errors import ConfigError
        from callwright.nouns.types import compute_digest

        if self.simulator and self.imitate:
            raise ConfigError(
                "--simulator answers for every tool, the dead ones too", hint="leave out --imitate"
            )
        if self.imitate and not self.overlay:
            raise ConfigError(
                "--imitate answers for tools that an overlay calls dead, and there is none",
                hint="callwright verify apis --tools SOURCE --apply FILE, then --overlay FILE",
            )
        recorded = {"recorded": compute_digest(list(self.recording))} if self.recorded else {}
        named = {"simulator": self.simulator, "imitate": self.imitate}
        return {**recorded, **{name: spec for name, spec in named.items() if spec}}

    def absent(self, catalog: Catalog, live: bool) -> frozenset[str]:
        """The tools that are not called: all of a recording's own, and with a simulator; else the
        dead ones.
        """
        from callwright_lab.verify.mock_tools import find_dead_tools

        if self.simulator or not live:
            return frozenset(tool.name for tool in catalog.tools)
        return find_dead_tools(catalog.overlays) if self.imitate else frozenset()


@dataclass(frozen=True, slots=True)
class SolvingOptions:
    """Options of the model that solves requests, and of the prompts it gets."""

    model: Model = None
    strategy: Annotated[
        Asked, typer.Option(help="With --requests: which prompt asks the agent.")
    ] = Asked.code


@dataclass(frozen=True, slots=True)
class CheckOptions:
    """Options of judging trajectories: the strictness, and the judges."""

    judge: Annotated[
        list[str] | None,
        typer.Option(
            "--judge",
            help="A model that judges what the rules let pass (Table 18). May be repeated.",
        ),
    ] = None
    strict: Annotated[
        bool, typer.Option("--strict", help="Drop what the rules only suspect, too.")
    ] = False
    prune: Annotated[
        bool,
        typer.Option(
            "--prune", help="Take out rounds that only repeat, instead of dropping for them."
        ),
    ] = False


@dataclass(frozen=True, slots=True)
class ConsentOptions:
    """Options of consent: the tools that may be called for a request."""

    allow: Annotated[
        list[str] | None,
        typer.Option("--allow", help="With --requests: tools that need no leave, like send_*."),
    ] = None
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="With --requests: nothing that may write.")
    ] = False


@dataclass(frozen=True, slots=True)
class AnsweringOptions:
    """Options of what answers in place of tools."""

    recorded: Recorded = None
    simulator: Simulator = None
    imitate: Imitate = None


@dataclass(frozen=True, slots=True)
class LayoutOptions:
    """Where the kept trajectories go, and the layouts that are read and written."""

    out: Annotated[Path | None, typer.Option(help="Write the kept ones here: .jsonl or .json.")] = (
        None
    )
    to: Annotated[Written, typer.Option("--to", help="The layout of --out.")] = Written.toolbench_vr
    layout: Annotated[
        str, typer.Option("--from", help="The layout of SOURCE; else each record's is recognised.")
    ] = ""


@group_options()
def verify_trajectories(
    source: Annotated[
        Path | None,
        typer.Argument(help="Trajectories to check: a file of records, or a folder of such files."),
    ] = None,
    requests: Annotated[
        Path | None,
        typer.Option(
            help="Or requests to solve with the tools: one a line, as text or {query, id, tools}."
        ),
    ] = None,
    *,
    sources: SourceOptions,
    solving: SolvingOptions,
    checks: CheckOptions,
    consent: ConsentOptions,
    answers: AnsweringOptions,
    files: LayoutOptions,
    extent: Extent,
    where: ConfigOptions,
) -> None:
    """Check trajectories by rule, then by model. Looks at format, execution and meaning, and gives
    the reason for each dropped one.
    """
    import asyncio

    from callwright.cli.settings.settings import Given, resolve_settings
    from callwright.nouns.errors import ConfigError
    from callwright_lab.cli.verify_options import print_report

    if (source is None) == (requests is None):
        raise ConfigError(
            "verify trajectories takes either a file of them, or requests to make them of",
            hint=(
                "callwright verify trajectories FILE; or --requests FILE --tools SOURCE --model"
                " MODEL"
            ),
        )
    given = Given({**sources.to_settings(), "model": solving.model})
    settings = resolve_settings(given, config=where.config, profile=where.profile)
    wanted = {
        "judges": checks.judge or [],
        "strict": checks.strict,
        "prune": checks.prune,
        "to": files.to.value,
    }
    recorded = tuple(answers.recorded or ())
    answering = Answering(recorded, answers.simulator, answers.imitate, settings.get("overlay"))
    if requests is None and sources.overlay is not None:
        print(
            f"warning: {sources.overlay} is of no use here: no tool is called without --requests",
            file=sys.stderr,
        )
    if requests is not None:
        if not settings.get("tools") and not recorded:
            raise ConfigError(
                "trajectories are made with tools", hint="--requests FILE --tools SOURCE"
            )
        wanted |= {
            "model": settings.get("model"),
            "strategy": solving.strategy.value,
            "allow": consent.allow or [],
            "dry_run": consent.dry_run,
            "tools": settings.sources(say=False),
        }
        wanted |= answering.about
    made = asyncio.run(
        _verify_trajectories(source, requests, files.layout, settings, wanted, answering, extent)
    )
    print_report(made, extent, lambda: _build_report(made, extent))
    _print_agreement(made)
    if files.out is not None:
        _write_kept(made, files.out)


async def _verify_trajectories(
    source: Path | None,
    requests: Path | None,
    layout: str,
    settings: Settings,
    wanted: dict[str, Any],
    answering: Answering,
    extent: Extent,
) -> Sweep:
    from contextlib import AsyncExitStack

    from callwright.models import open_model
    from callwright_lab.cli.verify_options import run_verify_sweep
    from callwright_lab.verify.committee import name_judges
    from callwright_lab.verify.trajectories import TrajectoryVerifier

    async with AsyncExitStack() as stack:
        judges = [open_model(spec) for spec in wanted["judges"]]
        for one in judges:
            stack.push_async_callback(one.aclose)
        verifier = TrajectoryVerifier(name_judges(judges), wanted["strict"], wanted["prune"])
        if requests is None:
            assert source is not None
            rows = _read_rows(source, layout, wanted["to"])
            return await run_verify_sweep("trajectories", wanted, rows, verifier.judge, extent)
        asked = _read_requests(requests)
        solver = await _open_solver(stack, settings, wanted, answering, extent)
        rows = _build_request_rows(solver, asked, requests.stem, wanted)
        made = await run_verify_sweep("trajectories", wanted, rows, verifier.judge, extent)
        solver.forget(made.findings)
        return made


def _read_rows(source: Path, layout: str, to: str) -> list[Row[Checked]]:
    """A row for every record of a file."""
    from callwright.nouns.types import to_json
    from callwright_lab.transcripts import FORMATS, read_files, write
    from callwright_lab.verify.sweep import Row, make_row_key
    from callwright_lab.verify.trajectories import Checked

    found = read_files(source, layout)
    for problem in found.left_out[:10]:
        print(f"left out: {one_line(problem)}", file=sys.stderr)
    if len(found.left_out) > 10:
        print(f"… and {len(found.left_out) - 10} more", file=sys.stderr)
    rows = []
    for _, transcript in found.transcripts:

        async def build(_meter: Meter, read: Trajectory = transcript.trajectory) -> Trajectory:
            return read

        def record(_made: Trajectory, read: Any = transcript) -> dict[str, Any]:
            return write(read, FORMATS[to])

        trajectory = transcript.trajectory
        told = (
            transcript.origin.record if transcript.origin is not None else {}
        )  # the finding keeps all of it
        key = make_row_key(to_json(trajectory), sorted(transcript.cut), told)
        rows.append(Row(trajectory.id, key, Checked(build, record, transcript.cut)))
    return rows


async def _open_solver(
    stack: AsyncExitStack,
    settings: Settings,
    wanted: dict[str, Any],
    answering: Answering,
    extent: Extent,
) -> Solver:
    """Return the solver that makes the trajectories; tools and models stay open as long as the
    stack.
    """
    from callwright.cli.opened import open_sources
    from callwright.models import open_model
    from callwright_lab.cli.solving import Solver
    from callwright_lab.cli.verify_options import get_journal_path
    from callwright_lab.verify.mock_tools import StandIn

    overlay = [answering.overlay] if answering.overlay else []
    sources: list[Any] = settings.sources(say=False) or [
        *answering.recording.tools.values(),
        *overlay,
    ]
    catalog = await stack.enter_async_context(open_sources(sources, pinned=True))
    models = [
        open_model(spec)
        for spec in (settings.get("model"), *([answering.model] if answering.model else []))
    ]
    for one in models:
        stack.push_async_callback(one.aclose)
    path = get_journal_path("trajectories", wanted, extent)
    return Solver(
        catalog,
        models[0],
        path.with_name(f"{path.name}.runs"),
        wanted["strategy"],
        wanted["allow"],
        wanted["dry_run"],
        extent.anew,
        StandIn(answering.recording, models[1] if answering.model else None),
        answering.absent(catalog, live=bool(settings.get("tools"))),
    )


def _build_request_rows(
    solver: Solver, asked: list[dict[str, Any]], name: str, wanted: dict[str, Any]
) -> list[Row[Checked]]:
    """A row for every request: the agent solves it when the row's turn comes. ConfigError where
    each of them names tools that nobody offers.
    """
    from callwright.nouns.errors import ConfigError
    from callwright_lab.transcripts import FORMATS, Transcript, write
    from callwright_lab.verify.sweep import Row, make_row_key
    from callwright_lab.verify.trajectories import Checked

    digests = {tool.name: tool.digest for tool in solver.catalog.tools}

    def record(made: Trajectory) -> dict[str, Any]:
        marks = {"simulated": list(made.simulated)} if made.simulated else {}
        return {**write(Transcript(made), FORMATS[wanted["to"]]), **marks}

    rows, all_lost = [], True
    for number, one in enumerate(asked, 1):
        id, key = str(one.get("id") or f"{name}-{number}"), make_row_key(one, digests)
        named = one.get("tools")
        if named is not None:
            listed = named if isinstance(named, list) else [named]
            one = {**one, "tools": [_get_tool_name(told) for told in listed]}
        lost = [told for told in one.get("tools") or () if told not in digests]
        all_lost = all_lost and bool(lost)
        why = f"no source offers {', '.join(lost)}" if lost else ""
        rows.append(Row(id, key, Checked(solver.of(one, id, key), record, unmade=why)))
    if all_lost:
        raise ConfigError(
            f"{rows[0].item.unmade}: no request can be solved",
            hint="--tools SOURCE, as for their check",
        )
    return rows


def _get_tool_name(tool: Any) -> str:
    """The name of a tool that a request names or, as ``verify queries`` takes them too,
    describes.
    """
    from callwright.tools.lists.tools import tool_from_wire

    return tool if isinstance(tool, str) else tool_from_wire(tool).name


def _read_requests(path: Path) -> list[dict[str, Any]]:
    """The requests of a file, each with its text under "query"."""
    from callwright.nouns.errors import ConfigError
    from callwright_lab.verify.requests import request_rows

    rows = [row for _, row in request_rows(path)]
    hint = 'a line of text, or {"query": "…"}'
    if not rows:
        raise ConfigError(f"there is no request in {path}", hint=hint)
    for number, row in enumerate(rows, 1):
        if (
            not isinstance(row, dict)
            or not isinstance(row.get("query"), str)
            or not row["query"].strip()
        ):
            raise ConfigError(f"record {number} of {path} has no query", hint=hint)
    return rows


def _build_report(made: Sweep, extent: Extent) -> Report:
    from callwright_lab.verify.reporting.evidence import (
        iter_trajectory_evidence,
        trajectory_reasons,
    )
    from callwright_lab.verify.reporting.page import Stage, build_sweep_report
    from callwright_lab.verify.trajectories import collect_votes

    stage = Stage(
        "Trajectories",
        lambda one: tuple(iter_trajectory_evidence(one)),
        trajectory_reasons,
        votes=lambda one: next(iter(collect_votes([one])), {}),
        budget=extent.budget,
    )
    return build_sweep_report(made, stage)


def _print_agreement(made: Sweep) -> None:
    from callwright_lab.cli.verify_options import print_agreement
    from callwright_lab.verify.trajectories import collect_votes

    print_agreement(collect_votes(made.findings))


def _write_kept(made: Sweep, out: Path) -> None:
    from callwright_lab.transcripts import write_records

    kept = [one.found["record"] for one in made.kept if one.found.get("record")]
    write_records(
        out, "lines" if out.suffix == ".jsonl" else "list", [("", record) for record in kept]
    )
    rest = sum("simulated" in record for record in kept)
    said = f", {rest} of them rest on simulated replies" if rest else ""
    print(f"{len(kept)} trajectories: {out}{said}", file=sys.stderr)
