"""Where the values of a call come from (temporary shape; filled in below)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from callwright.errors import Violation
from callwright.types import Edit, JsonObject, Tool


@dataclass
class Sources:
    query: str = ""


@dataclass(frozen=True, slots=True)
class Verdict:
    arguments: JsonObject
    edits: tuple[Edit, ...] = ()
    violations: tuple[Violation, ...] = ()
    warnings: tuple[Violation, ...] = ()


def ground(arguments: JsonObject, tool: Tool, sources: Sources, accepts: Callable[[JsonObject], bool]) -> Verdict:
    return Verdict(arguments)
