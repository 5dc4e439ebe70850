"""Runs that others published, as recordings. Readers of their layouts are registered as entry
points.

A reader is a callable ``Path -> Runs`` in the group ``callwright.recordings``. It returns no tools
for a file that is not in its layout, and raises ConfigError for one that is and cannot be read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from callwright.nouns.plugins import load_plugins
from callwright.nouns.types import JsonObject, Tool, ToolOutput

GROUP = "callwright.recordings"


@dataclass(frozen=True, slots=True)
class RunCall:
    """One call of a published run. ``output`` holds the reply as it was published."""

    tool: str
    arguments: JsonObject
    output: ToolOutput


@dataclass(frozen=True, slots=True)
class Runs:
    """The calls whose replies are whole, each with its tool; every tool that was on offer; and how
    many calls were left out: of a reply that is ``cut``, of an ``unknown`` tool.
    """

    calls: tuple[tuple[RunCall, Tool], ...] = ()
    tools: tuple[Tool, ...] = ()
    cut: int = 0
    unknown: int = 0

    def __add__(self, other: Runs) -> Runs:
        return Runs(
            self.calls + other.calls,
            self.tools + other.tools,
            self.cut + other.cut,
            self.unknown + other.unknown,
        )

    def problems(self, name: str) -> Iterator[str]:
        """Yield messages about the parts that were left out of the file or folder of this name."""
        if self.cut:
            yield (
                f"{name}: {self.cut} replies left out: they are cut off, or their arguments are no"
                " JSON object"
            )
        if self.unknown:
            yield f"{name}: {self.unknown} calls left out: of tools that were not on offer"


def has_readers() -> bool:
    """Return True if an installed package reads any layout of published runs."""
    return bool(load_plugins(GROUP))


def read_published_runs(path: Path) -> Runs:
    """The runs of a file by the first registered reader that knows its layout."""
    return first_known(path, load_plugins(GROUP))


def first_known(path: Path, readers: Iterable[Callable[[Path], Runs]]) -> Runs:
    """The runs by the first reader that finds tools; none where no reader does."""
    return next((found for read in readers if (found := read(path)).tools), Runs())
