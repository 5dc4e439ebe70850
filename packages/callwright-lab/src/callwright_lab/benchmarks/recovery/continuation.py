"""Any strategy goes on from an error that was put in: as history that it sees, or as a call of its
own.

``result``, as in the paper: what was done before and the wrong call with what came of it are
results that the run begins with. ``call``: the wrong call is handed to the executor as if the model
had just made it, so that the gate and the repair (and whatever reflects there) have their turn;
what is caught before it leaves counts as caught.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from callwright.agent.safety.freeze import Level
from callwright.agent.strategies import REFLECT, Job, Strategy, open_strategy
from callwright.agent.strategies.reflecting import wrap_with_repair
from callwright.nouns.protocols import ChatModel
from callwright.nouns.trajectory import Step, Trajectory
from callwright.nouns.types import JsonObject, ToolCall, ToolResult
from callwright_lab.benchmarks.comparison.task_sets import Stage
from callwright_lab.benchmarks.desk.facts import normalise_text
from callwright_lab.benchmarks.desk.score import LIMITATION
from callwright_lab.benchmarks.recovery.cases import ErrorCase, digest_cases
from callwright_lab.benchmarks.recovery.world import build_simulated_source
from callwright_lab.recovery import Recovery, judge_recovery
from callwright_lab.transcripts.run_trajectory import build_trajectory

if TYPE_CHECKING:
    from callwright.agent.orchestrator import Run
    from callwright.tools.sources import SourceSpec

Entry = Literal["result", "call"]
Live = Callable[[ErrorCase], AbstractContextManager["Sequence[SourceSpec]"]]


class Continued:
    """A strategy that begins in the middle. ``wrong``: a call to make first, as the model's own."""

    freezes: tuple[Level, ...] = ()

    def __init__(
        self, inner: Strategy, results: Sequence[ToolResult], wrong: ToolCall | None = None
    ) -> None:
        self._inner, self._results, self._wrong = inner, tuple(results), wrong

    @property
    def name(self) -> str:
        return self._inner.name

    @property
    def planner(self) -> str | None:
        """The planner that the strategy asks for, where it asks for one."""
        found: str | None = getattr(self._inner, "planner", None)
        return found

    async def run(self, job: Job) -> None:
        prepare = getattr(self._inner, "prepare", None)
        if prepare is not None:  # what takes the repair away takes it from the first call too
            prepare(job)
        job.executor.take_results(self._results)
        if self._wrong is not None:
            await job.executor.execute([self._wrong], {tool.name for tool in job.tools})
        await self._inner.run(job)


def open_continuation(name: str, results: Sequence[ToolResult], wrong: ToolCall | None) -> Strategy:
    """A strategy by name that begins in the middle. What repairs its calls (``+reflect``) repairs
    the first one too.
    """
    base, _, repair = name.partition("+")
    begun = Continued(open_strategy(base), results, wrong)
    return wrap_with_repair(begun, REFLECT[repair]) if repair in REFLECT else begun


@dataclass(frozen=True)
class ErrorCases:
    """Error cases as a task set. ``model`` imitates tools where nothing is on record (None: such
    calls fail); ``live`` opens the tools themselves for a case instead.
    """

    tasks: tuple[ErrorCase, ...]
    entry: Entry = "result"
    model: ChatModel | None = None
    live: Live | None = None

    @property
    def digest(self) -> str:
        by = ["live"] if self.live else []
        by += [self.model.name] if self.model else []
        return "-".join([digest_cases(self.tasks), self.entry, *by])

    async def aclose(self) -> None:
        """Close the model that imitates tools; asked again it opens again."""
        if self.model is not None:
            await self.model.aclose()

    @contextmanager
    def stage(self, task: ErrorCase) -> Iterator[Stage]:
        """The case's tools, and the strategy as it begins after the error."""

        def enter(name: str) -> Strategy:
            history = [result for step in task.before for result in step.results]
            wrong = task.call if self.entry == "call" else None
            return open_continuation(
                name, history if wrong else [*history, *task.wrong.results], wrong
            )

        def judge(run: Run) -> Sequence[str]:
            return () if self.recovered(task, run).corrected else ("the error is not corrected",)

        def facts(run: Run) -> JsonObject:
            return {"part": task.part, **self.recovered(task, run).facts()}

        names = tuple(tool.name for tool in task.tools)
        if self.live is not None:
            with self.live(task) as sources:
                yield Stage(sources, judge, only=names, enter=enter, facts=facts)
        else:
            yield Stage([self._source(task)], judge, enter=enter, facts=facts)

    def recovered(self, task: ErrorCase, run: Run) -> Recovery:
        """Return the recovery from the task's error in a run, decided by code."""
        after = build_trajectory(run.events, task.id)
        told = after.given_up or LIMITATION.search(normalise_text(after.answer or "")) is not None
        return judge_recovery(task.call, [task.gold], after.steps, told=told)

    def _source(self, task: ErrorCase) -> SourceSpec:
        gold = ToolResult("", task.gold.tool, task.gold.arguments, task.gold.content)
        there = [] if task.gold.content is None else [Step(results=(gold,))]
        return build_simulated_source(task.tools, [*task.before, task.wrong, *there], self.model)


def trim_trajectory(case: ErrorCase, run: Trajectory, entry: Entry) -> Trajectory:
    """Return the part of a run after the error, as a judge reads it. The wrong call is left out if
    the run was made to begin with exactly that call. A call that the gate changed stays: the change
    is already an answer to the error.
    """
    first = run.steps[0].calls[0] if run.steps and run.steps[0].calls else None
    own = entry == "call" and first is not None and first.arguments == case.call.arguments
    steps = run.steps[1:] if own else run.steps
    return Trajectory(case.id, case.query, case.tools, steps, run.answer, run.given_up)
