"""The rows of ToolBench-R: y = (Q, T, S_<t, wa, wo, (ref, ra)) (Tool-MVR, Eq. (5)).

A row is a record of any layout that :mod:`callwright_lab.transcripts` writes: the rounds before,
the wrong one with what came back, and last the reflection with the right call, which alone carries
loss (Eq. (7)). What the layouts have no word for stands in its member ``reflection``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from callwright.nouns.errors import ConfigError, Failure
from callwright.nouns.trajectory import Step, Trajectory
from callwright.nouns.types import (
    JsonObject,
    Simulated,
    ToolCall,
    ToolResult,
    to_canonical_json,
    to_json,
)
from callwright.parsing.formats.program import has_computed_argument
from callwright.tools.lists.tools import tool_from_wire, tool_to_openai
from callwright_lab.transcripts import FORMATS, Transcript, normalize_trajectory, read_record, write

Kind = Literal["calling", "planning"]
"""What was wrong (3.3.1): the call could not be carried out so, or it was and does not serve the
request.
"""

MEMBER = "reflection"


@dataclass(frozen=True, slots=True)
class Reflected:
    """One row. ``before`` is (Q, T, S_<t), ``wrong`` wa with its results wo, ``reflection`` ref,
    ``right`` ra.

    ``error`` says which one of its kind it is, ``by`` who wrote the reflection ("rule", a model's
    name, or "run": the model of a harvested run, while it ran). ``program``: the right action is a
    program that computes arguments of its calls, "" where the calls say it all. ``simulated``: how
    some of the results were made up, of a record that does not say it of each.
    """

    before: Trajectory
    wrong: Step
    reflection: str
    right: tuple[ToolCall, ...]
    kind: Kind
    error: str
    by: str = "rule"
    program: str = ""
    simulated: tuple[Simulated, ...] = ()

    @property
    def trajectory(self) -> Trajectory:
        """All rounds, the right one last and without results."""
        last = Step(self.reflection, self.right, code=self.program)
        return replace(self.before, steps=(*self.before.steps, self.wrong, last))

    @property
    def only_code(self) -> str:
        """Return the reason why only a layout with programs can express the row; "" if calls and
        results express it.
        """
        if self.program:
            return "the right action is a program that computes its arguments"
        told = self.kind == "planning" or any(not result.ok for result in self.wrong.results)
        return "the error is the program's own" if self.wrong.code and not told else ""

    @property
    def lesson(self) -> str:
        """Equal for rows that teach the same: the same calls or program that went wrong, and the
        same right ones.
        """
        wrong = [(c.tool, c.arguments) for c in self.wrong.calls]
        right = [(c.tool, c.arguments) for c in self.right]
        return to_canonical_json(
            [wrong, self.wrong.code if self.only_code else "", right, self.program]
        )


def record(row: Reflected, layout: str = "toolbench-vr") -> JsonObject:
    """The row as a record. ConfigError where the layout cannot say it."""
    if layout != "toolbench-vr" and row.only_code:
        raise ConfigError(
            f"{row.only_code}, and {layout} has no programs", hint="--to toolbench-vr"
        )
    whole = (
        row.trajectory if layout == "toolbench-vr" else normalize_trajectory(row.trajectory)
    )  # which numbers the calls
    last = len(whole.steps) - 1
    made = write(Transcript(whole, frozenset(range(last))), FORMATS[layout])
    said: JsonObject = {"kind": row.kind, "error": row.error, "by": row.by}
    if simulated := {*row.simulated, *row.trajectory.simulated}:
        said["simulated"] = sorted(simulated)
    return {**made, MEMBER: said}


def row_of(found: JsonObject) -> Reflected:
    """The row that :func:`record` wrote. ConfigError where the record is none."""
    told: Any = found.get(MEMBER)
    if not isinstance(told, dict) or told.get("kind") not in ("calling", "planning"):
        raise ConfigError(
            f"a record without a member {MEMBER!r} that says what kind of error it is"
        )
    read = read_record({k: v for k, v in found.items() if k != MEMBER}).trajectory
    if (
        len(read.steps) < 2
        or not read.steps[-1].calls
        or not (read.steps[-2].calls or read.steps[-2].code)
    ):
        raise ConfigError(
            "a row ends with a wrong call and the right one", hint="callwright explore writes rows"
        )
    *before, wrong, right = read.steps
    rest = replace(read, steps=tuple(before), answer=None, given_up=False)
    names = {tool.name for tool in read.tools}
    program = right.code if has_computed_argument(right.code, names) else ""
    said = str(told.get("error", "")), str(told.get("by", ""))
    simulated = tuple(told.get("simulated", ()))
    return Reflected(
        rest, wrong, right.thought, right.calls, told["kind"], *said, program, simulated
    )


def serialize_row(row: Reflected) -> JsonObject:
    """The row with all that is known of it, as a journal keeps it; :func:`parse_row` reads it."""
    before = row.before
    return {
        "id": before.id,
        "query": before.query,
        "tools": [tool_to_openai(tool) for tool in before.tools],
        "steps": [to_json(step) for step in (*before.steps, row.wrong)],
        "right": to_json(row.right),
        "simulated": list(row.simulated),
        **{name: getattr(row, name) for name in _SAID},
    }


_SAID = ("reflection", "kind", "error", "by", "program")


def parse_row(found: Mapping[str, Any]) -> Reflected:
    """The row that :func:`serialize_row` wrote. ConfigError where it is none."""
    try:
        tools = tuple(tool_from_wire(tool) for tool in found["tools"])
        *before, wrong = (_parse_step(step) for step in found["steps"])
        right = tuple(ToolCall(**call) for call in found["right"])
        said = {name: found[name] for name in _SAID} | {
            "simulated": tuple(found.get("simulated", ()))
        }
        return Reflected(
            Trajectory(found["id"], found["query"], tools, tuple(before)),
            wrong,
            right=right,
            **said,
        )
    except (KeyError, TypeError, ValueError) as error:
        hint = "--fresh judges everything again"
        raise ConfigError(
            f"the journal holds a row that cannot be read ({error})", hint=hint
        ) from None


def _parse_step(told: Mapping[str, Any]) -> Step:
    calls = tuple(ToolCall(**call) for call in told["calls"])
    results = tuple(
        ToolResult(**{**one, "failure": _parse_failure(one["failure"])}) for one in told["results"]
    )
    return Step(told["thought"], calls, results, told["code"], told["shown"])


def _parse_failure(told: Mapping[str, Any] | None) -> Failure | None:
    return None if told is None else Failure(**told)
