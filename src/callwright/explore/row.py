"""The rows of ToolBench-R: y = (Q, T, S_<t, wa, wo, (ref, ra)) (Tool-MVR, Eq. (5)).

A row is a record of any layout that :mod:`callwright.transcripts` writes: the rounds before, the wrong one with what
came back, and last the reflection with the right call, which alone carries loss (Eq. (7)). What the layouts have no
word for stands in its member ``reflection``.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

from callwright.errors import ConfigError
from callwright.trajectory import Step, Trajectory
from callwright.transcripts import FORMATS, Transcript, read_record, spoken, write
from callwright.types import JsonObject, ToolCall

Kind = Literal["calling", "planning"]
"""What was wrong (3.3.1): the call could not be carried out so, or it was and does not serve the request."""

MEMBER = "reflection"


@dataclass(frozen=True, slots=True)
class Reflected:
    """One row. ``before`` is (Q, T, S_<t), ``wrong`` wa with its results wo, ``reflection`` ref, ``right`` ra.

    ``error`` says which one of its kind it is, ``by`` who wrote the reflection ("rule", a model's name, or "run": the
    model of a harvested run, while it ran).
    """

    before: Trajectory
    wrong: Step
    reflection: str
    right: tuple[ToolCall, ...]
    kind: Kind
    error: str
    by: str = "rule"

    @property
    def trajectory(self) -> Trajectory:
        """All rounds, the right one last and without results."""
        return replace(self.before, steps=(*self.before.steps, self.wrong, Step(self.reflection, self.right)))


def record(row: Reflected, layout: str = "toolbench-vr") -> JsonObject:
    """The row as a record. ConfigError where the layout cannot say it."""
    whole = row.trajectory if layout == "toolbench-vr" else spoken(row.trajectory)  # which numbers the calls
    last = len(whole.steps) - 1
    made = write(Transcript(whole, frozenset(range(last))), FORMATS[layout])
    return {**made, MEMBER: {"kind": row.kind, "error": row.error, "by": row.by}}


def row_of(found: JsonObject) -> Reflected:
    """The row that :func:`record` wrote. ConfigError where the record is none."""
    told: Any = found.get(MEMBER)
    if not isinstance(told, dict) or told.get("kind") not in ("calling", "planning"):
        raise ConfigError(f"a record without a member {MEMBER!r} that says what kind of error it is")
    read = read_record({k: v for k, v in found.items() if k != MEMBER}).trajectory
    if len(read.steps) < 2 or not read.steps[-1].calls or not read.steps[-2].calls:
        raise ConfigError("a row ends with a wrong call and the right one", hint="callwright explore writes rows")
    *before, wrong, right = read.steps
    rest = replace(read, steps=tuple(before), answer=None, given_up=False)
    return Reflected(
        rest, wrong, right.thought, right.calls, told["kind"], str(told.get("error", "")), str(told.get("by", ""))
    )
