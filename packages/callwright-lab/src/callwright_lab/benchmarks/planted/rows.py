"""Rows to put defects into: their arguments, and a row with some of them changed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from random import Random
from typing import Any, TypeAlias

from callwright.nouns.types import Json, JsonObject
from callwright_lab.transcripts import Transcript

Others: TypeAlias = Sequence[Transcript]
"""Rows that lend values and results."""
Made: TypeAlias = tuple[Transcript, str] | None
"""A row with a defect and the way it was put in; None where the row cannot have it."""
Planter: TypeAlias = Callable[[Transcript, Random, Others], Made]
Place: TypeAlias = tuple[int, int, str, Json]
"""Round, call in it, argument and its value."""
GONE: Any = object()
"""In place of a value: the argument is taken out."""


def replace_members(row: Transcript, **changes: Any) -> Transcript:
    """The row with other members of its trajectory."""
    return replace(row, trajectory=replace(row.trajectory, **changes))


def iter_places(row: Transcript) -> Iterator[Place]:
    """Every argument of the row's calls, where its messages are whole."""
    for at, step in enumerate(row.trajectory.steps):
        for number, call in enumerate(step.calls):
            if isinstance(call.arguments, dict) and at not in row.cut:
                for key, value in call.arguments.items():
                    yield at, number, key, value


def change_call(
    row: Transcript, at: int, number: int, given: JsonObject, tool: str = ""
) -> Transcript:
    """The row with one call's arguments set, or (None) taken out, or with another tool; its result
    goes with it.
    """
    step = row.trajectory.steps[at]
    call = step.calls[number]
    arguments = dict(call.arguments) if isinstance(call.arguments, dict) else {}
    arguments = {k: v for k, v in {**arguments, **given}.items() if k not in given or v is not GONE}
    made = replace(call, tool=tool or call.tool, arguments=arguments)
    calls = tuple(made if c is call else c for c in step.calls)
    results = tuple(
        replace(r, tool=made.tool, arguments=arguments) if r.id == call.id else r
        for r in step.results
    )
    steps = list(row.trajectory.steps)
    steps[at] = replace(step, calls=calls, results=results, code="")
    return replace_members(row, steps=tuple(steps))
