"""Defines task sets on which strategies are compared: tasks split into halves, with a fresh setup
for every run.

A new benchmark is a :class:`TaskSet`: its tasks, their digest, and a :class:`Stage` for one run of
one of them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol, TypeVar

from callwright.nouns.errors import ConfigError
from callwright.nouns.types import JsonObject, Message

if TYPE_CHECKING:
    from callwright.agent.orchestrator import Run
    from callwright.agent.strategies import Strategy
    from callwright.tools.sources import SourceSpec

Half = Literal["dev", "final"]


class Task(Protocol):
    """One task. ``kind`` is what the report counts it under; ``final`` tasks are for the last table
    only.
    """

    @property
    def id(self) -> str: ...
    @property
    def half(self) -> Half: ...
    @property
    def kind(self) -> str: ...
    @property
    def query(self) -> str: ...


T = TypeVar("T", bound=Task)


@dataclass(frozen=True, slots=True)
class Stage:
    """One task set up for one run: its tools, what was said before, and the judge of what came of
    it.

    ``judge`` returns every reason why the run is no success; none means that it is one. ``only``:
    the tools that may be seen, where the sources hold more. ``enter``: the strategy as it begins
    here, where a run does not begin with nothing; ``facts``: what else of a run goes into its row.
    """

    sources: Sequence[SourceSpec]
    judge: Callable[[Run], Sequence[str]]
    only: tuple[str, ...] | None = None
    conversation: tuple[Message, ...] = ()
    enter: Callable[[str], Strategy] | None = None
    facts: Callable[[Run], JsonObject] | None = None


class TaskSet(Protocol[T]):
    """Tasks and their worlds. ``digest`` covers tasks and gold."""

    @property
    def digest(self) -> str: ...
    @property
    def tasks(self) -> Sequence[T]: ...
    def stage(self, task: T) -> AbstractContextManager[Stage]:
        """A fresh world for one run, gone afterwards: nothing that one run does is seen by
        another.
        """
        ...


def select_tasks(tasks: Iterable[T], half: str = "all", ids: Sequence[str] = ()) -> tuple[T, ...]:
    """The tasks of one half (dev, final, all), or those named. Raises ConfigError for what does not
    exist.
    """
    tasks = tuple(tasks)
    if half not in ("dev", "final", "all"):
        raise ConfigError(f"there is no half {half!r}", hint="--half dev, final or all")
    known = {task.id for task in tasks}
    if unknown := [name for name in ids if name not in known]:
        raise ConfigError(
            f"there is no task {unknown[0]!r}", hint="tasks: " + ", ".join(sorted(known))
        )
    return tuple(t for t in tasks if half in ("all", t.half) and (not ids or t.id in ids))


def split_halves(tasks: Iterable[tuple[str, str]]) -> dict[str, Half]:
    """(id, kind) of every task -> its half. Within a kind, by sha256 of the id, places alternate
    dev and final.

    Kinds take turns in who begins, so that the halves are equal in size but for one.
    """
    kinds: dict[str, list[str]] = {}
    for name, kind in tasks:
        kinds.setdefault(kind, []).append(name)
    split: dict[str, Half] = {}
    for kind in sorted(kinds):
        for name in sorted(kinds[kind], key=hash_text):
            split[name] = "final" if len(split) % 2 else "dev"
    return split


def hash_text(text: str) -> str:
    """The order in which tasks are drawn: by digest, so that nobody chooses."""
    return hashlib.sha256(text.encode()).hexdigest()
