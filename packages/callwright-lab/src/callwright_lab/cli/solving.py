"""Solves the requests of ``verify trajectories`` with the Python-call agent and tools that are
already open. Each request has its own run, which survives a crash: no question is asked and no call
made a second time.
"""

from __future__ import annotations

import shutil
from collections.abc import Awaitable, Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from callwright.agent.journal.store import Journal
from callwright.nouns.errors import Failure, JournalError, ModelError
from callwright.nouns.limits import Limits
from callwright.nouns.redaction import select_redactable
from callwright.nouns.types import Tool, ToolOutput
from callwright_lab.verify.budget import BudgetSpent, Meter, may_repeat_call
from callwright_lab.verify.mock_tools import StandIn

if TYPE_CHECKING:
    from callwright.agent.orchestrator import Orchestrator, Run
    from callwright.nouns.protocols import ChatModel
    from callwright.nouns.trajectory import Trajectory
    from callwright.tools.catalog import Catalog
    from callwright_lab.verify.sweep import Finding


@dataclass(frozen=True, slots=True)
class Solver:
    """Has the agent solve requests. ``runs`` is the folder of their journals, one below it for each
    row; with ``anew`` what was begun there is forgotten. ``stand_in`` answers what it has on
    record, and everything for the tools that are ``absent``.
    """

    catalog: Catalog
    model: ChatModel
    runs: Path
    strategy: str = "code"
    allow: Sequence[str] = ()
    dry_run: bool = False
    anew: bool = False
    stand_in: StandIn = field(default_factory=StandIn)
    absent: frozenset[str] = frozenset()

    def of(
        self, asked: dict[str, Any], name: str, key: str
    ) -> Callable[[Meter], Awaitable[Trajectory]]:
        """Return the function that solves one request; every question and call is charged before it
        is made.
        """
        from callwright.agent.options import Persistence, Safety, ToolSelection
        from callwright.agent.orchestrator import Orchestrator
        from callwright.simulation.simulator import extend_limits
        from callwright_lab.verify.rounds import build_trajectory

        async def build(meter: Meter) -> Trajectory:
            query, only, folder = str(asked["query"]), asked.get("tools"), self.runs / key
            source = SolverServices(self.catalog, meter, self.stand_in, self.absent, query)
            setup = Orchestrator(
                [source],
                model=meter.metered(self.model),
                strategy=self.strategy,
                selection=ToolSelection(only=only if isinstance(only, list) else None),
                safety=Safety(allow=self.allow, dry_run=self.dry_run),
                persistence=Persistence(journal=folder),
                limits=extend_limits(Limits()) if self.stand_in.imitates else Limits(),
            )
            run = await self._run(setup, folder, query)
            if source.stopped is not None:
                shutil.rmtree(
                    folder, ignore_errors=True
                )  # it is on record there that a tool could not be called
                raise source.stopped
            return build_trajectory(run.events, self.catalog.tools, name)

        return build

    async def _run(self, setup: Orchestrator, folder: Path, query: str) -> Run:
        if self.anew:
            shutil.rmtree(folder, ignore_errors=True)
        begun = _find_journal(folder)
        if begun is None:
            return await setup.run(query)
        try:
            return await setup.resume(begun)
        except JournalError as error:
            error.add_note(f"its journal is {begun}")
            raise

    def forget(self, findings: Iterable[Finding]) -> None:
        """Remove the journals of the rows that are judged for good."""
        for finding in findings:
            if finding.lasting:
                shutil.rmtree(self.runs / finding.key, ignore_errors=True)
        with suppress(OSError):  # others are left in it, or it never was
            self.runs.rmdir()


def _find_journal(folder: Path) -> Path | None:
    """The journal of a run that began in this folder."""
    for path in sorted(folder.glob("*.run"), reverse=True):
        with Journal.reopen(path) as journal:
            if journal.events():
                return path
    return None


class SolverServices:
    """Tools that are open already, for one run more. Its calls are charged; none is made where
    nothing is left.
    """

    name = "verify"

    def __init__(
        self,
        catalog: Catalog,
        meter: Meter,
        stand_in: StandIn,
        absent: frozenset[str] = frozenset(),
        query: str = "",
    ) -> None:
        self._tools = {tool.name: tool for tool in catalog.tools}
        self._caller, self._meter, self._stand_in, self._absent = (
            catalog.call,
            meter,
            stand_in,
            absent,
        )
        self._query = query
        self.secrets = catalog.secrets
        self.stopped: BudgetSpent | ModelError | None = None

    async def open(self) -> Sequence[Tool]:
        return [
            _mark_idempotent(tool) if tool.name in self._absent else tool
            for tool in self._tools.values()
        ]

    async def call(self, tool: Tool, arguments: dict[str, Any]) -> ToolOutput:
        tool = self._tools[tool.name]
        try:
            return await self._answered(tool, arguments)
        except (BudgetSpent, ModelError) as stopped:
            self.stopped = stopped
            return ToolOutput(failure=Failure("not_executable", str(stopped)))

    async def _answered(self, tool: Tool, arguments: dict[str, Any]) -> ToolOutput:
        meter = self._meter
        if known := self._stand_in.recorded(tool, arguments):
            return known
        if tool.name in self._absent:
            return await self._stand_in.answer(tool, arguments, meter, self._query)
        if not may_repeat_call(tool):  # of these the run's journal holds the intent
            meter.call()
            return await self._caller(tool.name, arguments)
        meter.call(known=meter.knows_call(tool.name, arguments))
        return await meter.called(
            tool, arguments, self._caller, secrets=select_redactable(self.secrets)
        )

    async def aclose(self) -> None:
        """The tools belong to the sweep."""


def _mark_idempotent(tool: Tool) -> Tool:
    """The tool where somebody answers in its place: a call of it that was under way is never in
    doubt.
    """
    return replace(tool, effects=replace(tool.effects, idempotent=True))
