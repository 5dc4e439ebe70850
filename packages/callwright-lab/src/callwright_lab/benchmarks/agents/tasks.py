"""The tasks: what a user asks, what is offered, and what has to be true in the end.

They stand in ``data/tasks``, one file a language. The halves are frozen: a task is of the final
half if the sha256 of ``agents`` and its id is odd. ``data/digest.toml`` holds the digest of all
that decides a score, so a changed task is noticed.
"""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal

from callwright.nouns.errors import ConfigError
from callwright.nouns.types import Json, JsonObject
from callwright_lab.benchmarks.agents.worlds.world import DATA, World

Half = Literal["dev", "final"]
SYSTEM = (
    "You work in the office of Nordwind, a supplier of office goods. Use the tools for what the"
    " user asks, and answer in the user's language. Ask the user where a value that you need is"
    " missing. Today is Thursday, 2026-03-12."
)
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
    its spellings. ``asks``: a question is right; ``refuses``: a refusal is.
    """

    facts: tuple[tuple[Json, ...], ...] = ()
    written: tuple[tuple[Json, ...], ...] = ()
    asks: bool = False
    refuses: bool = False

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

    @property
    def half(self) -> Half:
        """The half, fixed by the id alone."""
        return "final" if hash_id(self.id) % 2 else "dev"

    @property
    def gold(self) -> tuple[Call, ...]:
        """The calls of all steps in order."""
        return tuple(call for step in self.steps for call in step)

    def open_world(self) -> tuple[World, list[JsonObject]]:
        """A world as it is before the request, and the chat messages until then.

        The calls of earlier turns are made in it, then taken off its log.
        """
        world, messages = World(self.tools), [{"role": "system", "content": SYSTEM}]
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


def hash_id(task: str) -> int:
    """The number that orders and halves the tasks."""
    return int(hashlib.sha256(f"agents{task}".encode()).hexdigest(), 16)


def _replay_calls(world: World, calls: Sequence[Call], number: int) -> list[JsonObject]:
    made, results = [], []
    for place, call in enumerate(calls):
        label = f"call_{number}_{place}"
        called = world.call(call.tool, call.arguments)
        made.append({"id": label, "name": call.tool, "arguments": call.arguments})
        results.append({"role": "tool", "id": label, "name": call.tool, "content": called.text})
    return [{"role": "assistant", "content": "", "calls": made}, *results]


@cache
def load_tasks() -> tuple[Task, ...]:
    """Every task, in the order of the files."""
    sets = tomllib.loads((DATA / "toolsets.toml").read_text(encoding="utf-8"))
    found = []
    for path in sorted((DATA / "tasks").glob("*.toml")):
        rows = tomllib.loads(path.read_text(encoding="utf-8"))["task"]
        found += [_build_task(row, path.stem, sets) for row in rows]
    return tuple(found)


def _build_task(row: JsonObject, language: str, sets: dict[str, list[str]]) -> Task:
    ending = Ending(
        _read_facts(row.get("facts", [])),
        _read_facts(row.get("written", [])),
        row.get("ask", False),
        row.get("refuse", False),
    )
    return Task(
        row["id"],
        language,
        row["kind"],
        row["request"],
        tuple(sets[row["tools"]]),
        tuple(_read_calls(step) for step in row.get("steps", [])),
        row["answer"],
        ending,
        _read_calls(row.get("careless", [])),
        tuple(row.get("history", [])),
        row.get("reminder", ""),
    )


def _read_calls(rows: Sequence[JsonObject]) -> tuple[Call, ...]:
    return tuple(Call(row["call"], {k: v for k, v in row.items() if k != "call"}) for row in rows)


def _read_facts(rows: Sequence[Json]) -> tuple[tuple[Json, ...], ...]:
    return tuple(tuple(row) if isinstance(row, list) else (row,) for row in rows)


def compute_data_digest() -> str:
    """The digest of every file that decides a score."""
    made = hashlib.sha256(SYSTEM.encode())
    for path in sorted(DATA.rglob("*.toml")):
        if path.name != "digest.toml":
            made.update(path.relative_to(DATA).as_posix().encode() + b"\0" + path.read_bytes())
    return made.hexdigest()


def select_tasks(which: str, sample: int = 0, *, may_open_final: bool = False) -> tuple[Task, ...]:
    """The tasks of ``dev``, ``final``, ``all`` or of a comma-separated list of ids.

    ``sample``: only so many, the first by the hash of their ids. Raises ConfigError for an unknown
    id, and for tasks of the final half that may not be opened.
    """
    tasks = {task.id: task for task in load_tasks()}
    if which in ("dev", "final", "all"):
        chosen = [task for task in tasks.values() if which in (task.half, "all")]
    else:
        names = [name.strip() for name in which.split(",")]
        if unknown := [name for name in names if name not in tasks]:
            raise ConfigError(f"no task is called {', '.join(unknown)}", hint="dev, final or ids")
        chosen = [tasks[name] for name in names]
    if not may_open_final and any(task.half == "final" for task in chosen):
        raise ConfigError(
            "tasks of the final half are opened once, for the table", hint="add --open-final"
        )
    if sample:
        chosen = sorted(chosen, key=lambda task: hash_id(task.id))[:sample]
    return tuple(chosen)


def read_frozen_digest() -> str:
    """The digest that was frozen before the first measurement."""
    found: str = tomllib.loads((DATA / "digest.toml").read_text(encoding="utf-8"))["sha256"]
    return found
