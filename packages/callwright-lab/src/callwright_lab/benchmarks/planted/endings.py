"""Defects of what an agent did, as against what a source calls right: endings, failures, steps too
many.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from random import Random
from typing import Any

from callwright.nouns.trajectory import Step
from callwright.nouns.types import JsonObject, ToolCall, ToolResult, to_canonical_json
from callwright_lab.benchmarks.planted.rows import (
    Made,
    Others,
    Planter,
    iter_places,
    replace_members,
)
from callwright_lab.benchmarks.planted.texts import (
    ADMISSIONS,
    FAILURES,
    QUESTIONS,
    SURRENDERS,
    UNHEARD,
)
from callwright_lab.transcripts import Transcript
from callwright_lab.verify.dataset.account import DefectKind


def _is_answered(row: Transcript) -> bool:
    return (
        bool(row.trajectory.answer) and bool(row.trajectory.calls) and not row.trajectory.given_up
    )


def _make_ending_planter(
    change: Callable[[Transcript, Random], tuple[JsonObject, str] | None],
) -> Planter:
    """A planter of rows that end in an answer."""

    def planted(row: Transcript, rng: Random, _: Others) -> Made:
        made = change(row, rng) if _is_answered(row) else None
        return None if made is None else (replace_members(row, **made[0]), made[1])

    return planted


def _make_text_planter(texts: Sequence[str], *, alone: bool = True) -> Planter:
    def change(row: Transcript, rng: Random) -> tuple[JsonObject, str]:
        how = rng.choice(texts)
        return {"answer": how if alone else f"{row.trajectory.answer} {how}"}, how

    return _make_ending_planter(change)


def _no_call(row: Transcript, _rng: Random, _: Others) -> Made:
    return (
        (replace(replace_members(row, steps=()), cut=frozenset()), "calls taken out")
        if _is_answered(row)
        else None
    )


def _plant_surrender(_row: Transcript, rng: Random) -> tuple[Any, str]:
    how = rng.choice(SURRENDERS)
    return {"answer": how, "given_up": True}, "said by the layout"


def _plant_contradiction(row: Transcript, rng: Random) -> tuple[Any, str] | None:
    answer = str(row.trajectory.answer)
    came = to_canonical_json([r.content for r in row.trajectory.results])
    numbers = [
        m for m in re.finditer(r"(?<![\w.,:/-])\d+(?:\.\d+)?(?![\w,:/-])", answer) if m[0] in came
    ]
    if not numbers:
        return None
    one = rng.choice(numbers)
    how = rng.choice(("much", "little"))
    made = float(one[0]) * 2 + 7 if how == "much" else float(one[0]) + 1
    told = f"{made:g}" if "." in one[0] else str(int(made))
    return {"answer": answer[: one.start()] + told + answer[one.end() :]}, how


def _all_failed(row: Transcript, rng: Random, _: Others) -> Made:
    if not _is_answered(row) or not row.trajectory.results or row.cut:
        return None
    how = rng.choice(list(FAILURES))
    steps = tuple(
        replace(
            s,
            results=tuple(replace(r, content=FAILURES[how], failure=None) for r in s.results),
            shown="",
        )
        for s in row.trajectory.steps
    )
    return replace_members(row, steps=steps), how


def _plant_repeated_step(row: Transcript, rng: Random, _: Others) -> Made:
    steps = row.trajectory.steps
    if not steps or row.cut or not steps[0].calls:
        return None
    at, how = rng.randrange(len(steps)), rng.choice(("at once", "at the end"))
    if not steps[at].calls:
        return None
    again = _rename_ids(steps[at], "again")
    place = at + 1 if how == "at once" else len(steps)
    return replace_members(row, steps=(*steps[:place], again, *steps[place:])), how


def _rename_ids(step: Step, id: str) -> Step:
    names = {call.id: f"{id}_{n}" for n, call in enumerate(step.calls)}
    calls = tuple(replace(c, id=names[c.id]) for c in step.calls)
    return replace(
        step, calls=calls, results=tuple(replace(r, id=names.get(r.id, r.id)) for r in step.results)
    )


def _plant_unused_step(row: Transcript, rng: Random, others: Others) -> Made:
    if not _is_answered(row) or row.cut:
        return None
    mine = {call.tool for call in row.trajectory.calls}
    lent = [
        (t, s) for t in others for s in t.trajectory.steps if s.ok and s.calls[0].tool not in mine
    ]
    if not lent:
        return None
    other, step = rng.choice(lent)
    known = {tool.name for tool in row.trajectory.tools}
    more = [
        t
        for c in step.calls
        if c.tool not in known and (t := other.trajectory.tool(c.tool)) is not None
    ]
    place = rng.randrange(len(row.trajectory.steps) + 1)
    steps = row.trajectory.steps
    made = (*steps[:place], _rename_ids(step, "beside"), *steps[place:])
    return replace_members(
        row, steps=made, tools=(*row.trajectory.tools, *more)
    ), "another task's call"


def get_arguments(step: Step) -> JsonObject:
    """The arguments of a round's only call."""
    arguments = step.calls[0].arguments
    return arguments if isinstance(arguments, dict) else {}


def _plant_failed_attempt(row: Transcript, rng: Random, _: Others) -> Made:
    if row.cut or not row.trajectory.results:
        return None
    options = [
        p
        for p in iter_places(row)
        if len(row.trajectory.steps[p[0]].calls) == 1 and row.trajectory.steps[p[0]].ok
    ]
    if not options:
        return None
    at, _number, key, value = rng.choice(options)
    step, how = row.trajectory.steps[at], rng.choice(("left out", "another value"))
    given = {k: v for k, v in get_arguments(step).items() if k != key}
    if how == "another value":
        given[key] = f"{value}x" if isinstance(value, str) else "?"
    content = rng.choice(list(FAILURES.values()))
    call = ToolCall("tried", step.calls[0].tool, given)
    tried = Step(step.thought, (call,), (ToolResult("tried", call.tool, given, content),))
    return replace_members(
        row, steps=(*row.trajectory.steps[:at], tried, *row.trajectory.steps[at:])
    ), how


ENDINGS: Mapping[DefectKind, Planter] = {
    "asks_back": _make_text_planter(QUESTIONS),
    "given_up": _make_ending_planter(_plant_surrender),
    "no_call": _no_call,
    "no_answer": _make_ending_planter(lambda _row, _rng: ({"answer": None}, "taken out")),
    "admitted_failure": _make_text_planter(ADMISSIONS),
    "failure_as_success": _all_failed,
    "unsupported": _make_text_planter(UNHEARD, alone=False),
    "contradiction": _make_ending_planter(_plant_contradiction),
    "repeated_call": _plant_repeated_step,
    "unused_result": _plant_unused_step,
    "trial_and_error": _plant_failed_attempt,
}
"""By class: how it is put into a row."""
