"""Making error cases: from the desk, from files of verified trajectories, from the published
samples.
"""

from __future__ import annotations

import sys
import tempfile
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from callwright.nouns.protocols import ChatModel
from callwright.nouns.trajectory import Step, Trajectory
from callwright.nouns.types import Tool, ToolCall, to_canonical_json
from callwright.tools.catalog import Catalog, open_catalog
from callwright.tools.trust import TrustStore
from callwright_lab.benchmarks.comparison.report import render_table
from callwright_lab.benchmarks.desk.tasks import Desk, DeskTask
from callwright_lab.benchmarks.recovery.cases import ErrorCase, read_published
from callwright_lab.benchmarks.recovery.continuation import Live
from callwright_lab.benchmarks.recovery.inject import (
    OF_PART,
    Dropped,
    classify_part,
    inject_error,
    observe_case,
)
from callwright_lab.benchmarks.recovery.live import Answering, LiveTools, as_offered, live_world
from callwright_lab.benchmarks.recovery.pairs import NoPair, iter_pairs
from callwright_lab.benchmarks.recovery.world import World, build_simulated_world
from callwright_lab.transcripts import number_names, read_files

if TYPE_CHECKING:
    from callwright.tools.sources import SourceSpec

Made = ErrorCase | Dropped


@dataclass(frozen=True)
class Building:
    """Settings for building cases. ``by`` writes the errors (None: rules). ``simulator`` imitates
    tools that are absent; ``live`` are those that are present. ``each``: attempts for each
    trajectory and kind.
    """

    by: ChatModel | None = None
    simulator: ChatModel | None = None
    live: LiveTools | None = None
    each: int = 1
    strict: bool = True  # published samples are filtered as well


async def iter_file_cases(path: Path, how: Building) -> AsyncIterator[Made]:
    """Every attempt on the trajectories of a file or folder, in any format that transcripts
    read.
    """
    read = [made for _, made in read_files(path).transcripts if not made.cut]
    # cases are named after their runs, and rows of results after their cases
    names = number_names(made.trajectory.id for made in read)
    found = [replace(made.trajectory, id=name) for name, made in zip(names, read, strict=True)]
    if how.live is not None:
        sources = how.live.answering([step for run in found for step in run.steps])
        async with open_catalog(sources, trust=TrustStore()) as catalog:
            _warn_unused_overlay(catalog)
            world = live_world(catalog, sources)
            runs = [as_offered(run, catalog) for run in found]
            async for one in _iter_attempts(runs, lambda _: world, how):
                yield one
        return

    def simulated(run: Trajectory) -> World:
        return build_simulated_world(run.tools, run.steps, how.simulator)

    async for one in _iter_attempts(found, simulated, how):
        yield one


async def iter_catalogue_cases(
    live: LiveTools, author: ChatModel, how: Building
) -> AsyncIterator[Made]:
    """Single calls of a catalogue's tools, those that work and, imitated, those that are dead.
    ``author`` writes the request of each (:mod:`callwright_lab.benchmarks.recovery.pairs`).
    """
    sources = live.answering()
    async with open_catalog(sources, trust=TrustStore()) as catalog:
        _warn_unused_overlay(catalog)
        world = live_world(catalog, sources)
        async for pair in iter_pairs(catalog.tools, world, author, how.each):
            if isinstance(pair, NoPair):
                yield Dropped(pair.id, "request", pair.reason)
                continue
            async for one in _iter_attempts([pair], lambda _: world, replace(how, each=1)):
                yield one


def _warn_unused_overlay(catalog: Catalog) -> None:
    for said in catalog.unlaid:  # an overlay that fits no tool would leave the dead alive
        sys.stderr.write(f"warning: {said}\n")


async def iter_published_cases(folder: Path, how: Building) -> AsyncIterator[Made]:
    """The published samples with what their calls bring here. Without a simulator their tools give
    nothing.
    """
    for case in read_published(folder):
        steps = [*case.before, case.wrong]
        world = build_simulated_world(case.tools, steps, how.simulator)
        yield await observe_case(case, world, strict=how.strict)


async def iter_desk_cases(desk: Desk, how: Building) -> AsyncIterator[Made]:
    """The desk's tasks whose gold only reads, its tools alive: several calls are I3, one is I1."""
    source = desk.faulty([])
    reading = Answering(source, LiveTools(()), ())
    tools = {tool.name: tool for tool in await source.open()}
    with tempfile.TemporaryDirectory(prefix="desk-") as folder:
        desk.fresh(Path(folder) / "desk")
        world = World(tuple(tools.values()), reading.call, live=True)
        for task in desk.tasks:
            run = await _build_gold_trajectory(task, tools, world)
            if run is not None:
                async for one in _iter_attempts([run], lambda _: world, how):
                    yield one
    await source.aclose()


def make_desk_live(desk: Desk) -> Live:
    """The desk's own tools for a case, on a fresh desk that is gone afterwards."""

    @contextmanager
    def live(case: ErrorCase) -> Iterator[Sequence[SourceSpec]]:
        with tempfile.TemporaryDirectory(prefix="desk-") as folder:
            desk.fresh(Path(folder) / "desk")
            yield desk.sources(tool.name for tool in case.tools)

    return live


def render_build_report(made: Sequence[Made]) -> str:
    """Return a table of the cases by part and kind, and of the reasons for dropped attempts."""
    cases = [one for one in made if isinstance(one, ErrorCase)]
    kept = Counter((case.part, case.kind) for case in cases)
    lines = [
        ["part", "kind", "cases"],
        *([part, kind, str(n)] for (part, kind), n in sorted(kept.items())),
    ]
    why = Counter((one.kind, one.reason) for one in made if isinstance(one, Dropped))
    rows = [
        ["kind", "dropped because", "attempts"],
        *([k, reason, str(n)] for (k, reason), n in sorted(why.items())),
    ]
    return f"{len(cases)} cases of {len(made)} attempts.\n\n{render_table(lines)}\n\n{render_table(rows)}"


async def _iter_attempts(
    runs: Sequence[Trajectory], world_of: Callable[[Trajectory], World], how: Building
) -> AsyncIterator[Made]:
    for run in runs:
        world, before = world_of(run), set[str]()
        for kind in OF_PART[classify_part(run, world)]:
            for seed in range(how.each):
                made = await inject_error(run, world, kind, seed=seed, model=how.by)
                if isinstance(made, ErrorCase):
                    error = to_canonical_json(
                        [made.call.tool, made.call.arguments, len(made.before)]
                    )
                    if error in before:
                        made = Dropped(made.id, kind, "another attempt gave the same error")
                    before.add(error)
                yield made


async def _build_gold_trajectory(
    task: DeskTask, tools: dict[str, Tool], world: World
) -> Trajectory | None:
    """A task's gold calls as a trajectory; None where one writes, fails or goes to another
    server.
    """
    calls = [
        ToolCall(f"g{n}", call["tool"], call["arguments"])
        for n, call in enumerate(task.gold_calls, 1)
    ]
    if (
        task.faults
        or not calls
        or any(c.tool not in tools or tools[c.tool].effects.may_write for c in calls)
    ):
        return None
    steps = [Step("", (call,), (await world.carry_out(call),)) for call in calls]
    offered = tuple(tools[name] for name in task.tools if name in tools)
    run = Trajectory(task.id, task.query, offered, tuple(steps), task.gold_answer)
    return run if all(step.ok for step in steps) else None
