"""The desk's frozen tasks: read and digested; and the example itself, loaded from its folder."""

from __future__ import annotations

import importlib
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from callwright.jsontext import JsonError, parse
from callwright.nouns.errors import ConfigError, convert_errors
from callwright.nouns.installation import render_install_hint
from callwright.nouns.protocols import ToolSource
from callwright.nouns.types import JsonObject, compute_digest
from callwright_lab.benchmarks.comparison.task_sets import Half, Stage
from callwright_lab.benchmarks.desk.score import CallSeen, Expectation, Snapshot, score_run

if TYPE_CHECKING:
    from callwright.agent.orchestrator import Run


@dataclass(frozen=True, slots=True)
class DeskTask:
    """One frozen task. ``gold_calls`` are ``{"tool", "arguments"}`` in a right order, with
    ``"fails"`` where an error comes of one. ``faults`` say where the desk is not what its
    documentation says.
    """

    id: str
    half: Half
    kind: str
    query: str
    tools: tuple[str, ...]
    gold_calls: tuple[JsonObject, ...]
    gold_answer: str
    expect: Expectation
    faults: tuple[JsonObject, ...] = ()

    @classmethod
    def from_row(cls, row: Mapping[str, Any]) -> DeskTask:
        """Raises ConfigError naming the task whose row cannot be read."""
        with convert_errors(ConfigError, f"desk task {row.get('id')!r}"):
            wanted = row["expect"]
            expect = Expectation(
                facts=tuple(wanted["facts"]),
                forbidden=tuple(wanted["forbidden"]),
                must=tuple(tuple(group) for group in wanted["must"]),
                must_not=tuple(wanted["must_not"]),
                limitation=wanted["limitation"],
                change=wanted["change"],
                note_facts=wanted["note_facts"],
            )
            return cls(
                id=row["id"],
                half=row["half"],
                kind=row["kind"],
                query=row["query"],
                tools=tuple(row["tools"]),
                gold_calls=tuple(row["gold_calls"]),
                gold_answer=row["gold_answer"],
                expect=expect,
                faults=tuple(row.get("faults", ())),
            )


@dataclass(frozen=True, slots=True)
class Desk:
    """The example of one folder: its tasks, their digest, and how to make and look at a fresh
    desk.
    """

    folder: Path
    tasks: tuple[DeskTask, ...]
    digest: str
    functions: frozenset[str]
    fresh: Callable[[Path], Path]
    snapshot: Callable[[Path], Snapshot]
    faulty: Callable[[Sequence[JsonObject]], ToolSource]
    answered: Callable[[Sequence[JsonObject], str, JsonObject], bool]

    def sources(
        self, tools: Iterable[str], faults: Sequence[JsonObject] = ()
    ) -> list[str | ToolSource]:
        """The tool sources that hold these tools, as the catalogue takes them; no server is started
        for nothing.

        With ``faults`` the functions are served as the task's faults have it, by a source that is
        opened once.
        """
        renamed = {str(fault["to"]) for fault in faults if "to" in fault}
        served = [name for name in tools if name not in self.functions | renamed]
        functions = self.faulty(faults) if faults else str(self.folder / "tools.py")
        return [functions, *([str(self.folder / "mcp.json")] if served else [])]

    @contextmanager
    def stage(self, task: DeskTask) -> Iterator[Stage]:
        """A desk of its own for one run; what the run leaves behind is compared with what was there
        before.
        """
        with tempfile.TemporaryDirectory(prefix="desk-") as folder:
            home = self.fresh(Path(folder) / "desk")
            before = self.snapshot(home)

            def judge(run: Run) -> Sequence[str]:
                told = (
                    event.data for event in run.events if event.kind == "result"
                )  # dead branches included
                seen = [CallSeen(result["tool"], result["failure"] is None) for result in told]
                return score_run(
                    task.expect, run.answer.text, seen, before, self.snapshot(home)
                ).reasons

            yield Stage(self.sources(task.tools, task.faults), judge, only=task.tools)


def load_desk(folder: Path | str | None = None) -> Desk:
    """The example in ``folder``; by default ``examples/desk`` of this checkout or of the working
    directory.

    Raises ConfigError where it is not found or its libraries (extra ``desk``) are missing.
    """
    found = _find_folder(folder)
    parent = str(found.parent)
    if parent not in sys.path:
        sys.path.append(parent)
    hint = f"run from a clone, after: {render_install_hint('desk')}"
    with convert_errors(ConfigError, f"the desk in {found} cannot be loaded", hint=hint):
        world = importlib.import_module("desk.world")
        gold = importlib.import_module("desk.gold")
        faults = importlib.import_module("desk.faults")
    try:
        rows = parse((found / "tasks.json").read_bytes())
    except (OSError, JsonError) as error:
        raise ConfigError(f"{found / 'tasks.json'} cannot be read: {error}") from error
    return Desk(
        folder=found,
        tasks=tuple(map(DeskTask.from_row, rows)),
        digest=digest_tasks(rows),
        functions=frozenset(gold.BY_NAME),
        fresh=gold.fresh,
        snapshot=world.snapshot,
        faulty=faults.faulty,
        answered=faults.answered,
    )


def _find_folder(folder: Path | str | None) -> Path:
    checkout = Path(__file__).resolve().parents[6]
    places = [Path(folder)] if folder else [checkout / "examples" / "desk", Path("examples/desk")]
    for place in places:
        if (place / "tasks.json").exists():
            return place.resolve()
    raise ConfigError(
        f"there is no desk in {places[-1]}",
        hint="run from a checkout, or name the folder with --desk",
    )


def digest_tasks(rows: Sequence[JsonObject]) -> str:
    """The digest of tasks and gold: what docs/lab.md records before anything is tuned."""
    return compute_digest(sorted(rows, key=lambda row: str(row["id"])))
