"""StableToolBench's tasks, and the virtual server that answers in their tools' place (Guo et al.
2024).

What is on record comes first, by the tool's name and the arguments; then a model imitates the tool,
and its reply is kept in a file, so that every strategy, and every later run, is answered alike:
their cache, written as it is used.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from callwright.jsontext import JsonError, parse
from callwright.nouns.errors import ConfigError, Failure
from callwright.nouns.protocols import ChatModel
from callwright.nouns.trajectory import Trajectory
from callwright.nouns.types import (
    JsonObject,
    Tool,
    ToolOutput,
    compute_digest,
    to_canonical_json,
    to_json,
)
from callwright.simulation.recording import Recorded, Recording
from callwright.simulation.simulator import SimulatedSource, Simulator
from callwright.tools.wrapped import WrappedSource
from callwright_lab.benchmarks.comparison.rows import append_row, read_rows
from callwright_lab.benchmarks.comparison.task_sets import Half, Stage, hash_text
from callwright_lab.datasets.toolbench_tools import tool_from_toolbench
from callwright_lab.training.ranker.retrieval_data import STABLETOOLBENCH_WHERE
from callwright_lab.transcripts import Transcript, read_files
from callwright_lab.transcripts.tooleval import TOOLEVAL

if TYPE_CHECKING:
    from callwright.agent.orchestrator import Run


@dataclass(frozen=True)
class StableTask:
    """One request with the tools on offer. ``solvable``: StableToolBench's own vote says that it
    can be solved; only over such tasks is there a solvable pass rate.
    """

    id: str  # group/query id
    group: str
    query: str
    tools: tuple[Tool, ...]
    solvable: bool = True

    @property
    def kind(self) -> str:
        return self.group

    @property
    def half(self) -> Half:
        return "final"


def read_queries(folder: Path) -> tuple[StableTask, ...]:
    """The solvable queries: ``solvable_queries/test_instruction/*.json``, a file a group.
    ConfigError without any.
    """
    tasks = []
    for path in sorted(folder.glob("*.json")):
        try:
            rows = parse(path.read_bytes())
        except JsonError as error:
            raise ConfigError(f"{path} is not JSON: {error}", hint=STABLETOOLBENCH_WHERE) from None
        for row in rows if isinstance(rows, list) else ():
            tools = {tool.name: tool for tool in map(tool_from_toolbench, row["api_list"])}
            tasks.append(
                StableTask(
                    f"{path.stem}/{row['query_id']}", path.stem, row["query"], (*tools.values(),)
                )
            )
    if not tasks:
        raise ConfigError(f"{folder} holds no StableToolBench queries", hint=STABLETOOLBENCH_WHERE)
    return tuple(tasks)


def read_answers(path: Path, format: str = "") -> dict[str, Trajectory]:
    """Somebody's answer files, ToolEval's or any other that transcripts read: ``group/query id`` ->
    what was done.

    ``path`` is a file, or a folder with one file a group. A run of ToolEval's that never called
    Finish has no answer, whatever it said last. Raises ConfigError where nothing can be read; what
    is left out is said on stderr.
    """
    read, found = read_files(path, format), {}
    for _, made in read.transcripts:
        group, _, key = made.trajectory.id.rpartition("-")
        answer = made.trajectory.answer if _is_finished(made) else None
        found[f"{group}/{key}"] = replace(made.trajectory, id=f"{group}/{key}", answer=answer)
    for why in read.left_out:
        sys.stderr.write(f"left out: {why}\n")
    return found


def _is_finished(made: Transcript) -> bool:
    """Return True if a record has the final answer that ToolEval judges; records of other layouts
    always count as finished.
    """
    if made.origin is None or made.format != TOOLEVAL.name:
        return True
    return bool(made.origin.record["answer"].get("final_answer"))


def build_tasks(
    answers: dict[str, Trajectory], solvable: Iterable[str] = ()
) -> tuple[StableTask, ...]:
    """The requests of answer files as tasks. Which of them can be solved is known only of those
    listed.
    """
    listed = frozenset(solvable)
    return tuple(
        StableTask(key, key.partition("/")[0], run.query, run.tools, key in listed)
        for key, run in answers.items()
    )


def sample_tasks(
    tasks: Sequence[StableTask], groups: Sequence[str] = (), each: int = 0
) -> tuple[StableTask, ...]:
    """The first ``each`` tasks of every group (all: 0) in the order of their ids' sha256.
    ConfigError for a group that does not exist.
    """
    there = dict.fromkeys(task.group for task in tasks)
    if unknown := [group for group in groups if group not in there]:
        raise ConfigError(f"there is no group {unknown[0]!r}", hint="groups: " + ", ".join(there))
    chosen: list[StableTask] = []
    for group in groups or there:
        mine = sorted(
            (task for task in tasks if task.group == group), key=lambda task: hash_text(task.id)
        )
        chosen += mine[: each or None]
    return tuple(chosen)


class VirtualServer:
    """Recorded replies, then a model that imitates tools and whose replies are kept in ``kept``."""

    def __init__(
        self,
        recorded: Recording | None = None,
        model: ChatModel | None = None,
        kept: Path | None = None,
    ) -> None:
        told = [replace(call, digest="") for call in recorded or ()]
        made = [_parse_recorded(row) for row in read_rows(kept)] if kept else []
        self.model, self._kept = model, kept
        self._written: set[str] = set()
        self._simulator = Simulator(Recording([*made, *told]), model)

    def source(self, tools: Sequence[Tool]) -> _Keeping:
        """The tools of one task, answered by this server."""
        return _Keeping(SimulatedSource(tools, self._simulator, name="stabletoolbench"), self)

    def keep(self, tool: Tool, arguments: JsonObject, output: ToolOutput) -> None:
        """Write down what the model made up, once for each call."""
        key = to_canonical_json([tool.name, arguments])
        if self._kept is not None and key not in self._written:
            self._written.add(key)
            append_row(
                self._kept, {"tool": tool.name, "arguments": arguments, "output": to_json(output)}
            )


class _Keeping(WrappedSource):
    """Keeps what was made up; replies that could not be made are no replies."""

    def __init__(self, source: SimulatedSource, server: VirtualServer) -> None:
        super().__init__(source)
        self._server = server

    async def call(self, tool: Tool, arguments: JsonObject) -> ToolOutput:
        output = await super().call(tool, arguments)
        real = output.failure is None or output.failure.kind == "tool_error"
        if output.simulated == "model" and real:
            self._server.keep(tool, arguments, output)
        return output


@dataclass(frozen=True)
class StableToolBench:
    """The tasks behind a virtual server, as a task set. What a run is worth a judge says, not
    this.
    """

    tasks: tuple[StableTask, ...]
    server: VirtualServer = field(default_factory=VirtualServer)

    @property
    def digest(self) -> str:
        rows = [
            [task.id, task.query, task.solvable, [tool.digest for tool in task.tools]]
            for task in self.tasks
        ]
        return compute_digest([rows, self.server.model.name if self.server.model else ""])

    async def aclose(self) -> None:
        """Close the model that imitates tools; asked again it opens again."""
        if self.server.model is not None:
            await self.server.model.aclose()

    @contextmanager
    def stage(self, task: StableTask) -> Iterator[Stage]:
        def judge(run: Run) -> Sequence[str]:
            return (
                ()
                if run.status != "abstained"
                else ("there is no answer; whether it serves a judge says",)
            )

        def facts(run: Run) -> JsonObject:
            return {
                "group": task.group,
                "solvable": task.solvable,
                "answered": run.status != "abstained",
            }

        yield Stage([self.server.source(task.tools)], judge, facts=facts)


def _parse_recorded(row: JsonObject) -> Recorded:
    said = row["output"]
    failure = None if said["failure"] is None else Failure(**said["failure"])
    return Recorded(
        row["tool"], row["arguments"], ToolOutput(said["content"], failure, said["simulated"])
    )
