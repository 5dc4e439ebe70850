"""``callwright explore``: a learner's errors, or those of runs that were made anyway, as rows of
reflection.
"""

from __future__ import annotations

import sys
from contextlib import AsyncExitStack
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from callwright.cli.settings.options import (
    ConfigOptions,
    Model,
    SourceOptions,
    add_strict_option,
    group_options,
)
from callwright.nouns.control_characters import one_line
from callwright_lab.cli.verify_options import Extent

if TYPE_CHECKING:
    from callwright.nouns.protocols import ChatModel
    from callwright.nouns.trajectory import Trajectory
    from callwright.simulation.recording import Recording
    from callwright.tools.catalog import Catalog
    from callwright_lab.reflection.attempts import Trying
    from callwright_lab.reflection.privacy import Filters
    from callwright_lab.reflection.row import Reflected
    from callwright_lab.verify.sweep import Sweep


class Form(StrEnum):
    auto = "auto"
    code = "code"
    calls = "calls"


class Layout(StrEnum):
    toolbench_vr = "toolbench-vr"
    openai = "openai"
    trl = "trl"


@dataclass(frozen=True, slots=True)
class Wanted:
    """Settings of an exploration or a harvest, and the models that take part. Models by their
    names.
    """

    layout: str = "toolbench-vr"
    learner: str | None = None
    reflector: str | None = None
    judge: str | None = None
    imitator: str | None = None
    recorded: tuple[Path, ...] = ()
    sandbox: tuple[str, ...] = ()
    sampling: dict[str, Any] | None = None
    each: int | None = None
    held: float = 1 / 6


Verified = Annotated[
    list[Path] | None,
    typer.Argument(
        metavar="FILES", help="Verified trajectories, in any layout that convert reads."
    ),
]
Runs = Annotated[
    list[Path] | None,
    typer.Option(
        "--runs",
        help="Harvest FILES: journals (*.run), traces, conversations (*.jsonl), folders of them.",
    ),
]
Points = Annotated[
    int, typer.Option(help="Steps of a trajectory that are explored, at most.", min=1)
]
Samples = Annotated[int, typer.Option(help="Actions sampled at each.", min=1)]
Temperature = Annotated[float, typer.Option(help="At this temperature.", min=0)]
Seed = Annotated[int, typer.Option(help="Chooses the steps, and seeds the samples.")]
As = Annotated[Form, typer.Option("--as", help="Ask for a program, a call, or as each was made.")]
Sandbox = Annotated[
    list[str] | None,
    typer.Option(
        "--sandbox",
        help="Tools that may write and are called, like git_*: changes are thrown away.",
    ),
]
Recorded = Annotated[
    list[Path] | None,
    typer.Option(help="What is on record here answers for tools that may not be called."),
]
Imitate = Annotated[str | None, typer.Option(help="So does this model, for what is not on record.")]
Reflector = Annotated[str | None, typer.Option(help="Writes the reflections; default: a rule.")]
ServesJudge = Annotated[
    str | None, typer.Option(help="Says whether an action serves, where the rule cannot tell.")
]
Keep = Annotated[
    list[str] | None, typer.Option(help="With --runs: rows of these tools only, like find_*.")
]
Drop = Annotated[list[str] | None, typer.Option(help="With --runs: no rows with these tools.")]
Longest = Annotated[
    int, typer.Option(help="With --runs: leave out texts over so many characters.", min=1)
]
Pseudonyms = Annotated[
    bool, typer.Option(help="With --runs: rename people, addresses and numbers.")
]
Out = Annotated[Path | None, typer.Option(help="Write the rows here, as JSON lines.")]
To = Annotated[Layout, typer.Option("--to", help="The layout of the rows.")]
Each = Annotated[int | None, typer.Option(help="Write so many rows of each error, at most.", min=1)]
Held = Annotated[
    float, typer.Option(help="Share of requests whose rows are marked as test.", min=0, max=1)
]


@dataclass(frozen=True, slots=True)
class SamplingOptions:
    """Options of exploring: the steps, and the sampling of actions there."""

    points: Points = 2
    samples: Samples = 4
    temperature: Temperature = 1.0
    seed: Seed = 0
    form: As = Form.auto

    def to_sampling(self) -> dict[str, Any]:
        """Return the arguments of a ``Sampling``."""
        return {
            "points": self.points,
            "samples": self.samples,
            "temperature": self.temperature,
            "seed": self.seed,
            "form": None if self.form is Form.auto else self.form.value,
        }


@dataclass(frozen=True, slots=True)
class HelperOptions:
    """Options of what answers for tools, and of the models that reflect and judge."""

    sandbox: Sandbox = None
    recorded: Recorded = None
    imitate: Imitate = None
    reflector: Reflector = None
    judge: ServesJudge = None


@dataclass(frozen=True, slots=True)
class FilterOptions:
    """Options of the harvested rows: the ones to keep, and the names to change in them."""

    keep: Keep = None
    drop: Drop = None
    longest: Longest = 2_000
    pseudonyms: Pseudonyms = True

    def to_filters(self) -> Filters:
        from callwright_lab.reflection.privacy import Filters

        kept, dropped = tuple(self.keep or ()), tuple(self.drop or ())
        return Filters(kept, dropped, self.longest, self.pseudonyms)


@dataclass(frozen=True, slots=True)
class RowOptions:
    """Where the rows go, in which layout, and how many."""

    out: Out = None
    to: To = Layout.toolbench_vr
    each: Each = None
    held: Held = 1 / 6


@add_strict_option
@group_options()
def explore_command(
    trajectories: Verified = None,
    runs: Runs = None,
    *,
    sources: SourceOptions,
    model: Model = None,
    sampled: SamplingOptions,
    helpers: HelperOptions,
    filtered: FilterOptions,
    written: RowOptions,
    extent: Extent,
    where: ConfigOptions,
) -> None:
    """Make reflection data: error, what was wrong, right call, from a learner's own errors or from
    your runs.
    """
    import asyncio

    from callwright.cli.settings.settings import Given, resolve_settings
    from callwright.nouns.errors import ConfigError

    if not (trajectories or runs):
        raise ConfigError(
            "explore takes verified trajectories, or runs to harvest",
            hint=(
                "callwright explore FILE --tools SOURCE --model LEARNER; or callwright explore"
                " --runs FILE…"
            ),
        )
    given = Given({**sources.to_settings(), "model": model})
    settings = resolve_settings(given, config=where.config, profile=where.profile)
    wanted = Wanted(
        layout=written.to.value,
        learner=settings.get("model"),
        reflector=helpers.reflector,
        judge=helpers.judge,
        imitator=helpers.imitate,
        recorded=tuple(helpers.recorded or ()),
        sandbox=tuple(helpers.sandbox or ()),
        sampling=sampled.to_sampling(),
        each=written.each,
        held=written.held,
    )
    if runs and sources.overlay is not None:
        print(
            f"warning: {sources.overlay} is of no use here: no tool is called when runs are"
            " harvested",
            file=sys.stderr,
        )
    if runs:
        paths = [*runs, *(trajectories or ())]
        made = asyncio.run(_harvest_runs(paths, filtered.to_filters(), wanted, extent))
    else:
        found = _read_trajectories(trajectories or ())
        made = asyncio.run(_explore_trajectories(found, settings.sources(), wanted, extent))
    _write_results(made, extent, wanted, written.out)


def _read_trajectories(paths: Any) -> list[Trajectory]:
    from callwright_lab.transcripts import read_files

    found = [read_files(path) for path in paths]
    problems = [said for one in found for said in one.left_out]
    for said in problems[:10]:
        print(f"left out: {one_line(said)}", file=sys.stderr)
    if len(problems) > 10:
        print(f"… and {len(problems) - 10} more", file=sys.stderr)
    return [transcript.trajectory for one in found for _, transcript in one.transcripts]


async def _explore_trajectories(
    trajectories: list[Trajectory], sources: list[Any], wanted: Wanted, extent: Extent
) -> Sweep:
    from callwright.cli.opened import open_sources
    from callwright.nouns.types import compute_digest
    from callwright_lab.cli.verify_options import read_recording, run_verify_sweep
    from callwright_lab.reflection.exploration import VERSION, Explorer, Sampling

    async with AsyncExitStack() as stack:
        catalog = (
            await stack.enter_async_context(open_sources(sources, problems=True, pinned=True))
            if sources
            else None
        )
        learner, reflector, judge = (
            _open_model(stack, n)
            for n in (wanted.learner or "local", wanted.reflector, wanted.judge)
        )
        assert learner is not None
        sampling, recording = Sampling(**(wanted.sampling or {})), read_recording(wanted.recorded)
        explorer = Explorer(
            learner,
            _build_trying(stack, catalog, recording, wanted),
            catalog.tools if catalog is not None else (),
            sampling,
            reflector,
            judge,
        )
        names = {"learner": learner.name, "reflector": wanted.reflector, "judge": wanted.judge}
        about = {
            **names,
            "imitator": wanted.imitator,
            "sandbox": list(wanted.sandbox),
            **(wanted.sampling or {}),
        }
        about["tools"] = {tool.name: tool.digest for tool in explorer.tools}
        about["rows"] = VERSION
        about |= {"recorded": compute_digest(list(recording))} if wanted.recorded else {}
        about.pop("points")  # more of them are more rows, not other ones
        rows = explorer.rows(trajectories)
        return await run_verify_sweep(
            "explore", about, rows, explorer.judge, extent, told_as="explore"
        )


def _build_trying(
    stack: AsyncExitStack, catalog: Catalog | None, recording: Recording, wanted: Wanted
) -> Trying:
    """Return the executor of the actions that the learner proposes."""
    from callwright.agent.probing import TrialPolicy
    from callwright_lab.reflection.attempts import Trying
    from callwright_lab.verify.mock_tools import StandIn

    imitator = _open_model(stack, wanted.imitator)
    stand_in = StandIn(recording, imitator) if wanted.recorded or imitator is not None else None
    call, secrets = (None, ()) if catalog is None else (catalog.call, tuple(catalog.secrets))
    return Trying(call, TrialPolicy(sandbox=wanted.sandbox), stand_in, secrets=secrets)


def _open_model(stack: AsyncExitStack, spec: str | None) -> ChatModel | None:
    from callwright.models import open_model

    if spec is None:
        return None
    model = open_model(spec)
    stack.push_async_callback(model.aclose)
    return model


async def _harvest_runs(
    paths: list[Path], filters: Filters, wanted: Wanted, extent: Extent
) -> Sweep:
    from callwright.nouns.types import to_json
    from callwright_lab.cli.verify_options import run_verify_sweep
    from callwright_lab.reflection.exploration import VERSION, Harvested
    from callwright_lab.reflection.privacy import Privacy

    privacy = Privacy(filters)
    rows = privacy.clean(*_harvest_rows(paths))
    print(privacy.report(), file=sys.stderr)
    async with AsyncExitStack() as stack:
        judged = Harvested(_open_model(stack, wanted.reflector))
        about = {"rows": VERSION, "reflector": wanted.reflector, "filters": to_json(filters)}
        return await run_verify_sweep(
            "harvest", about, judged.rows(rows), judged.judge, extent, told_as="harvest"
        )


def _harvest_rows(paths: list[Path]) -> tuple[list[Reflected], list[Trajectory]]:
    """The rows of all runs, and the runs; what cannot be read is named and left out."""
    from callwright.nouns.errors import CallwrightError, ConfigError

    files = [
        f
        for p in paths
        for f in (sorted([*p.rglob("*.run"), *p.rglob("*.jsonl")]) if p.is_dir() else [p])
    ]
    found: list[Reflected] = []
    whole: list[Trajectory] = []
    unread = []
    for file in files:
        try:
            rows, runs = (
                _harvest_run_file(file) if _is_run_file(file) else _harvest_conversations(file)
            )
        except CallwrightError as error:
            unread.append(f"{file}: {error.message}")
            continue
        found += rows
        whole += runs
    for said in unread:
        print(f"left out: {one_line(said)}", file=sys.stderr)
    if len(unread) == len(files):
        raise ConfigError(
            "there is no run to harvest",
            hint="callwright runs lists journals; --trace writes traces",
        )
    print(f"{len(whole)} runs hold {len(found)} errors that were put right", file=sys.stderr)
    return found, whole


def _is_run_file(file: Path) -> bool:
    """Return True if a file is a journal or a trace of ours, False if it holds conversations."""
    if file.suffix == ".run":
        return True
    try:
        with file.open(encoding="utf-8", errors="replace") as lines:
            return '"kind"' in lines.readline(100_000)
    except OSError:
        return True  # whoever reads it says why not


def _harvest_run_file(file: Path) -> tuple[list[Reflected], list[Trajectory]]:
    from callwright.agent.journal.store import read_journal
    from callwright.nouns.trace import read_jsonl
    from callwright_lab.reflection.harvest import harvest_run
    from callwright_lab.transcripts.run_trajectory import build_trajectory

    events = read_journal(file)[1] if file.suffix == ".run" else read_jsonl(file)
    return harvest_run(events, file.stem), [build_trajectory(events)]


def _harvest_conversations(file: Path) -> tuple[list[Reflected], list[Trajectory]]:
    from callwright_lab.reflection.harvest import drop_conversation_prefixes, harvest_conversation
    from callwright_lab.transcripts import read_files

    found = drop_conversation_prefixes(
        transcript.trajectory for _, transcript in read_files(file).transcripts
    )
    return [row for one in found for row in harvest_conversation(one)], found


def _write_results(made: Sweep, extent: Extent, wanted: Wanted, out: Path | None) -> None:
    """The report, and the rows in their layout."""
    from callwright_lab.cli.verify_options import print_report
    from callwright_lab.reflection.exploration import collect_rows, split_by_action
    from callwright_lab.reflection.page import build_exploration_report
    from callwright_lab.reflection.profile import profile_errors
    from callwright_lab.reflection.selection import balance_errors, deduplicate_rows

    found = profile_errors(made)
    tables = [found.table] if found.lines else []
    print_report(
        split_by_action(made), extent, lambda: build_exploration_report(made, extent.budget), tables
    )
    if out is None:
        return
    rows = collect_rows(made.findings)
    different = deduplicate_rows(rows)
    chosen = balance_errors(different, wanted.each)
    if len(different) < len(rows):
        print(
            f"{len(rows) - len(different)} rows teach what another one does, and are left out",
            file=sys.stderr,
        )
    if len(chosen) < len(different):
        print(
            f"{len(different) - len(chosen)} rows are left out by --each {wanted.each}",
            file=sys.stderr,
        )
    _write_rows(chosen, wanted, out)


def _write_rows(rows: list[Reflected], wanted: Wanted, out: Path) -> None:
    from callwright.nouns.errors import ConfigError
    from callwright.storage import lines
    from callwright_lab.reflection.selection import select_rows

    made, refused = [], []
    for row in rows:
        try:
            made.append(select_rows(row, wanted.layout, wanted.held))
        except ConfigError as error:
            refused.append(f"{row.before.id}: {error.message}")
    for said in refused[:10]:
        print(f"not written: {one_line(said)}; another --to has words for it", file=sys.stderr)
    lines.save_rows(out, made)
    held = sum(record["part"] == "test" for record in made)
    print(f"{len(made)} of {len(rows)} rows written to {out}, {held} of them test", file=sys.stderr)
