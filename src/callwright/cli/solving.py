"""How the Python-call agent solves the requests of ``verify trajectories``: with tools that are open already, each
request in a run of its own that survives a crash, so that no question is asked and no call made a second time."""

from __future__ import annotations

import shutil
from collections.abc import Awaitable, Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from callwright.errors import Failure, JournalError
from callwright.execution.journal import Journal
from callwright.limits import Limits
from callwright.redaction import in_every_form
from callwright.types import Tool, ToolOutput
from callwright.verify.budget import BudgetSpent, Meter

if TYPE_CHECKING:
    from callwright.catalog import Catalog
    from callwright.orchestrator import Orchestrator, Run
    from callwright.overlay import Overlay
    from callwright.protocols import ChatModel
    from callwright.trajectory import Trajectory
    from callwright.verify.sweep import Finding

Caller = Callable[[str, dict[str, Any]], Awaitable[ToolOutput]]


@dataclass(frozen=True, slots=True)
class Solver:
    """Has the agent solve requests. ``runs`` is the folder of their journals, one below it for each row; with
    ``anew`` what was begun there is forgotten. ``imitator`` answers for the tools that ``overlay`` calls dead."""

    catalog: Catalog
    model: ChatModel
    runs: Path
    strategy: str = "code"
    allow: Sequence[str] = ()
    dry_run: bool = False
    anew: bool = False
    imitator: ChatModel | None = None
    overlay: Overlay | None = None

    def of(self, asked: dict[str, Any], name: str, key: str) -> Callable[[Meter], Awaitable[Trajectory]]:
        """What solves one request, each question and call charged before it is made."""
        from callwright.execution.simulate import patient
        from callwright.orchestrator import Orchestrator
        from callwright.verify.rounds import trajectory_of

        async def build(meter: Meter) -> Trajectory:
            only, source = asked.get("tools"), Shared(self.catalog, meter, self._caller(meter))
            folder = self.runs / key
            setup = Orchestrator(
                [source],
                model=meter.metered(self.model),
                strategy=self.strategy,
                only=only if isinstance(only, list) else None,
                allow=self.allow,
                dry_run=self.dry_run,
                journal=folder,
                limits=Limits() if self.imitator is None else patient(Limits()),
            )
            run = await self._run(setup, folder, str(asked["query"]))
            if source.spent is not None:
                shutil.rmtree(folder, ignore_errors=True)  # it is on record there that a tool could not be called
                raise source.spent
            return trajectory_of(run.events, self.catalog.tools, name)

        return build

    async def _run(self, setup: Orchestrator, folder: Path, query: str) -> Run:
        if self.anew:
            shutil.rmtree(folder, ignore_errors=True)
        begun = _begun(folder)
        if begun is None:
            return await setup.run(query)
        try:
            return await setup.resume(begun)
        except JournalError as error:
            error.add_note(f"its journal is {begun}")
            raise

    def _caller(self, meter: Meter) -> Caller:
        if self.imitator is None or self.overlay is None:
            return self.catalog.call
        from callwright.execution.simulate import Simulator
        from callwright.verify.stand_ins import with_stand_ins

        simulator = Simulator(model=meter.metered(self.imitator))
        return with_stand_ins(self.catalog.tools, self.catalog.call, self.overlay, simulator)

    def forget(self, findings: Iterable[Finding]) -> None:
        """Remove the journals of the rows that are judged for good."""
        for finding in findings:
            if finding.lasting:
                shutil.rmtree(self.runs / finding.key, ignore_errors=True)
        with suppress(OSError):  # others are left in it, or it never was
            self.runs.rmdir()


def _begun(folder: Path) -> Path | None:
    """The journal of a run that began in this folder."""
    for path in sorted(folder.glob("*.run"), reverse=True):
        with Journal.reopen(path) as journal:
            if journal.events():
                return path
    return None


class Shared:
    """Tools that are open already, for one run more. Its calls are charged; none is made where nothing is left."""

    name = "verify"

    def __init__(self, catalog: Catalog, meter: Meter, caller: Caller) -> None:
        self._catalog, self._meter, self._caller = catalog, meter, caller
        self.secrets = catalog.secrets
        self.spent: BudgetSpent | None = None

    async def open(self) -> Sequence[Tool]:
        return self._catalog.tools

    async def call(self, tool: Tool, arguments: dict[str, Any]) -> ToolOutput:
        meter, once = self._meter, not tool.effects.may_repeat  # of these the run's journal holds the intent
        try:
            meter.call(known=not once and meter.knows_call(tool.name, arguments))
        except BudgetSpent as spent:
            self.spent = spent
            return ToolOutput(failure=Failure("not_executable", str(spent)))
        if once:
            return await self._caller(tool.name, arguments)
        return await meter.called(tool.name, arguments, self._caller, secrets=in_every_form(self.secrets))

    async def aclose(self) -> None:
        """The tools belong to the sweep."""
