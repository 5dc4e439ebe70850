"""The tasks: what a user asks, what is offered, and what has to be true in the end.

They stand in ``tasks`` of their set's folder, one file a language. The halves are frozen: a task
is of the final half if the sha256 of its set's salt and its id is odd.
"""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Literal

from callwright.nouns.errors import ConfigError
from callwright.nouns.types import Json, JsonObject
from callwright_lab.benchmarks.agents.task_set import OFFICE, SETS, TaskSet
from callwright_lab.benchmarks.agents.worlds.world import World

Half = Literal["dev", "final"]
SAMPLE = 16


@dataclass(frozen=True, slots=True)
class Call:
    """A call of gold: what is made, or what a careless model makes instead."""

    tool: str
    arguments: JsonObject


@dataclass(frozen=True, slots=True)
class Ending:
    """The conditions that hold in the end, beside gold's writes.

    ``facts`` stand in the answer and ``written`` in the free text of the writes: of each, one of
    its spellings. ``asks``: a question is right; ``refuses``: a refusal is. ``allowed`` are writes
    that are as right as none.
    """

    facts: tuple[tuple[Json, ...], ...] = ()
    written: tuple[tuple[Json, ...], ...] = ()
    asks: bool = False
    refuses: bool = False
    allowed: tuple[Call, ...] = ()

    @property
    def is_open(self) -> bool:
        """Return True if the task has all that is needed: who asks or refuses is wrong."""
        return not (self.asks or self.refuses)


@dataclass(frozen=True, slots=True)
class Task:
    """One job. ``history`` are earlier messages and calls; ``steps`` gold's calls, those of a step
    in one reply; ``careless`` what a model would call that invents what is missing.
    """

    id: str
    language: str
    kind: str
    request: str
    tools: tuple[str, ...]
    steps: tuple[tuple[Call, ...], ...]
    answer: str
    ending: Ending
    careless: tuple[Call, ...] = ()
    history: tuple[JsonObject, ...] = ()
    reminder: str = ""
    task_set: TaskSet = OFFICE

    @property
    def half(self) -> Half:
        """The half, fixed by the set and the id alone."""
        return "final" if self.task_set.hash_id(self.id) % 2 else "dev"

    @property
    def gold(self) -> tuple[Call, ...]:
        """The calls of all steps in order."""
        return tuple(call for step in self.steps for call in step)

    def offer_all(self) -> Task:
        """The same task with every tool of its set on offer."""
        return replace(self, tools=tuple(self.task_set.declarations))

    def open_world(self) -> tuple[World, list[JsonObject]]:
        """A world as it is before the request, and the chat messages until then.

        The calls of earlier turns are made in it, then taken off its log.
        """
        world = World(self.tools, self.task_set, self.language)
        messages: list[JsonObject] = [{"role": "system", "content": self.task_set.system}]
        for number, part in enumerate(self.history):
            if "calls" in part:
                messages += _replay_calls(world, _read_calls(part["calls"]), number)
            else:
                role = "user" if "user" in part else "assistant"
                messages.append({"role": role, "content": self._add_reminder(role, part[role])})
        world.log.clear()
        return world, [*messages, {"role": "user", "content": self._add_reminder("user")}]

    def _add_reminder(self, role: str, text: str = "") -> str:
        said = text or self.request
        return f"{said}\n\n{self.reminder}" if self.reminder and role == "user" else said


def _replay_calls(world: World, calls: Sequence[Call], number: int) -> list[JsonObject]:
    made, results = [], []
    for place, call in enumerate(calls):
        label = f"call_{number}_{place}"
        called = world.call(call.tool, call.arguments)
        made.append({"id": label, "name": call.tool, "arguments": call.arguments})
        results.append({"role": "tool", "id": label, "name": call.tool, "content": called.text})
    return [{"role": "assistant", "content": "", "calls": made}, *results]


@cache
def load_tasks(task_set: TaskSet = OFFICE) -> tuple[Task, ...]:
    """Every task of a set, in the order of the files."""
    found = []
    for path in sorted((task_set.folder / "tasks").glob("*.toml")):
        rows = tomllib.loads(path.read_text(encoding="utf-8"))["task"]
        found += [_build_task(row, path.stem, task_set) for row in rows]
    return tuple(found)


def _build_task(row: JsonObject, language: str, task_set: TaskSet) -> Task:
    ending = Ending(
        _read_facts(row.get("facts", [])),
        _read_facts(row.get("written", [])),
        row.get("ask", False),
        row.get("refuse", False),
        _read_calls(row.get("allowed", [])),
    )
    return Task(
        row["id"],
        language,
        row["kind"],
        row["request"],
        tuple(task_set.read_data("toolsets")[row["tools"]]),
        tuple(_read_calls(step) for step in row.get("steps", [])),
        row["answer"],
        ending,
        _read_calls(row.get("careless", [])),
        tuple(row.get("history", [])),
        row.get("reminder", ""),
        task_set,
    )


def _read_calls(rows: Sequence[JsonObject]) -> tuple[Call, ...]:
    return tuple(Call(row["call"], {k: v for k, v in row.items() if k != "call"}) for row in rows)


def _read_facts(rows: Sequence[Json]) -> tuple[tuple[Json, ...], ...]:
    return tuple(tuple(row) if isinstance(row, list) else (row,) for row in rows)


def select_tasks(which: str, sample: int = 0, *, may_open_final: bool = False) -> tuple[Task, ...]:
    """The tasks of ``dev``, ``final``, ``all`` or of a comma-separated list of ids.

    A half may have the name of its set before it, as in ``home-dev``. ``sample``: only so many, the
    first by the hash of their ids. Raises ConfigError for an unknown id, and for tasks of the final
    half that may not be opened.
    """
    name, _, half = which.rpartition("-")
    if half in ("dev", "final", "all") and name in ("", *SETS):
        of_set = load_tasks(SETS[name or OFFICE.name])
        chosen = [task for task in of_set if half in (task.half, "all")]
    else:
        tasks = {task.id: task for one in SETS.values() for task in load_tasks(one)}
        names = [name.strip() for name in which.split(",")]
        if unknown := [name for name in names if name not in tasks]:
            raise ConfigError(
                f"no task is called {', '.join(unknown)}", hint="dev, final, home-dev or ids"
            )
        chosen = [tasks[name] for name in names]
    if not may_open_final and any(task.half == "final" for task in chosen):
        raise ConfigError(
            "tasks of the final half are opened once, for the table", hint="add --open-final"
        )
    if sample:
        chosen = sorted(chosen, key=lambda task: task.task_set.hash_id(task.id))[:sample]
    return tuple(chosen)
