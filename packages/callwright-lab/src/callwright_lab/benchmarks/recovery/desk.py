"""The desk's tasks with faults as a task set: what became of the error is worked out of every run's
trace.

An error is met where a call went to a faulty tool and the fault answered it. Corrected: a later,
different call gave what one of gold's calls after the failing one gives, worked out on a desk of
its own before any run.
"""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from callwright.nouns.trajectory import Trajectory
from callwright.nouns.types import JsonObject, Tool, compute_digest
from callwright_lab.benchmarks.comparison.task_sets import Stage
from callwright_lab.benchmarks.desk.facts import normalise_text
from callwright_lab.benchmarks.desk.score import LIMITATION
from callwright_lab.benchmarks.desk.tasks import Desk, DeskTask
from callwright_lab.benchmarks.recovery.faults import inject_faults
from callwright_lab.recovery import Gold, Recovery, judge_recovery
from callwright_lab.transcripts.run_trajectory import build_trajectory

if TYPE_CHECKING:
    from callwright.agent.orchestrator import Run


@dataclass(frozen=True)
class FaultyTasks:
    """Desk tasks that have a fault, and for each the gold calls that repair it (none where nothing
    does).
    """

    desk: Desk
    tasks: tuple[DeskTask, ...]
    gold: Mapping[str, tuple[Gold, ...]]

    @property
    def digest(self) -> str:
        rows = [
            [t.id, t.half, t.kind, t.query, t.tools, t.gold_calls, t.faults] for t in self.tasks
        ]
        return compute_digest([self.desk.digest, rows])

    @contextmanager
    def stage(self, task: DeskTask) -> Iterator[Stage]:
        """The desk's own stage, with what became of the error in the row."""
        with self.desk.stage(task) as stage:
            yield replace(stage, facts=lambda run: self.facts(task, run))

    def facts(self, task: DeskTask, run: Run) -> JsonObject:
        """The fields that a run's row gets."""
        return self.recovered(task, build_trajectory(run.events, task.id)).facts()

    def met_at(self, task: DeskTask, run: Trajectory) -> int | None:
        """The first round whose call a fault answered."""
        for at, _, result in run.pairs():
            if result is not None and self.desk.answered(
                task.faults, result.tool, result.arguments
            ):
                return at
        return None

    def recovered(self, task: DeskTask, run: Trajectory) -> Recovery:
        """Return the recovery from the task's error in a run."""
        at = self.met_at(task, run)
        gold = self.gold[task.id]
        if at is None:
            return Recovery(False, repairable=bool(gold))
        wrong = run.steps[at].calls[0]
        told = run.given_up or LIMITATION.search(normalise_text(run.answer or "")) is not None
        return judge_recovery(wrong, gold, run.steps[at + 1 :], told=told)


def build_faulty_tasks(desk: Desk, which: str = "all") -> FaultyTasks:
    """The tasks that were written with a fault (``written``), those it was put into (``injected``),
    or both.

    Works out their gold on desks of its own; not to be called inside a running event loop.
    """
    return asyncio.run(_build_tasks(desk, which))


async def _build_tasks(desk: Desk, which: str) -> FaultyTasks:
    source = desk.faulty([])
    tools: dict[str, Tool] = {tool.name: tool for tool in await source.open()}
    await source.aclose()
    chosen = select_faulty_tasks(desk, which, tools)
    return FaultyTasks(desk, chosen, {task.id: await _collect_gold(desk, task) for task in chosen})


def select_faulty_tasks(desk: Desk, which: str, tools: Mapping[str, Tool]) -> tuple[DeskTask, ...]:
    """The tasks of :func:`build_faulty_tasks`, the written ones first. ``tools``: the desk's functions,
    by name.
    """
    written = tuple(task for task in desk.tasks if task.faults)
    return (
        *(written if which != "injected" else ()),
        *(inject_faults(desk.tasks, tools) if which != "written" else ()),
    )


async def _collect_gold(desk: Desk, task: DeskTask) -> tuple[Gold, ...]:
    """Gold's calls after the last that the fault answers, with what they give on a fresh desk."""
    with tempfile.TemporaryDirectory(prefix="desk-") as folder:
        desk.fresh(Path(folder) / "desk")
        source = desk.faulty(task.faults)
        tools = {tool.name: tool for tool in await source.open()}
        contents = [
            (
                (await source.call(tools[call["tool"]], call["arguments"])).content
                if call["tool"] in tools
                else None
            )
            for call in task.gold_calls
        ]
        await source.aclose()
    failing = _find_last_failing(desk, task.faults, task.gold_calls)
    after = list(zip(task.gold_calls, contents, strict=True))[failing + 1 :]
    return tuple(
        Gold(call["tool"], call["arguments"], content)
        for call, content in after
        if not call.get("fails")
    )


def _find_last_failing(
    desk: Desk, faults: Sequence[JsonObject], calls: Sequence[JsonObject]
) -> int:
    met = [
        at
        for at, call in enumerate(calls)
        if desk.answered(faults, call["tool"], call["arguments"])
    ]
    return max(met, default=-1)
