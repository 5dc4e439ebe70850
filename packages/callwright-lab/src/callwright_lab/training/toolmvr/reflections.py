"""Reflections made by rule (Tool-MVR, Eq. (4) and (5)): a verified call is spoiled, what comes back
is what the gate says or what a recorded call returned, and the correction is the verified call.

What a reflection says of it is :func:`callwright_lab.reflection.reflection.reflect_by_rule`'s, as for what
exploration finds. Two kinds, as in 3.3.1: *calling* errors, which the gate refuses (an input
missing or unknown, a wrong type, a name that no tool has), and *planning* errors, which come back
and do not serve (an earlier call made once more).
"""

from __future__ import annotations

import keyword
import random
from collections.abc import Iterator
from dataclasses import replace
from typing import Literal

from callwright.nouns.trajectory import Step, Trajectory
from callwright.nouns.types import Json, ToolCall, ToolResult
from callwright.repair.gate import Gate, Refusal
from callwright_lab.reflection.reflection import reflect_by_rule
from callwright_lab.reflection.row import Kind, Reflected
from callwright_lab.reflection.thoughts import write_call_thought
from callwright_lab.training.refiner.corruption import corrupt
from callwright_lab.transcripts.transcript import find_failure

CALLING = (
    "required_missing", "ghost_argument", "key_case", "key_prefix_lost", "name_typo", "name_suffix",
    "name_prefix_lost", "wrong_tool", "array_as_text", "scalar_for_array", "object_as_text", "locale_number",
    "enum_case", "placeholder",
)  # fmt: skip
"""The errors of :mod:`callwright_lab.training.refiner.corruption` that a gate may refuse."""
AGAIN = "repeated"  # an earlier call made once more


def classify_error(error: str) -> Kind | Literal[""]:
    """The kind of an error of ours by its name; "" for names of others."""
    if error == AGAIN:
        return "planning"
    if error in CALLING:
        return "calling"
    return ""


def iter_reflections(trajectory: Trajectory, seed: int = 0) -> Iterator[Reflected]:
    """One reflection on each error that a round of the trajectory can have; rounds of one call
    only.

    The same trajectory and seed give the same rows.
    """
    for at, step in enumerate(trajectory.steps):
        if len(step.calls) != 1 or isinstance(step.calls[0].arguments, str):
            continue
        rng = random.Random(f"{trajectory.id} {at} {seed}")
        for error in CALLING:
            made = corrupt([step.calls[0]], trajectory.tools, error, rng, query=trajectory.query)
            if (
                made is not None
                and made.calls
                and (found := _build_refused_row(trajectory, at, made.calls[0], error))
            ):
                yield found
        if at and (again := _build_repeated_row(trajectory, at)):
            yield again


def _build_refused_row(
    trajectory: Trajectory, at: int, wrong: ToolCall, error: str
) -> Reflected | None:
    """The row of a call that the gate refuses; None where it repairs or passes the call, or refuses
    the verified one too: then the feedback speaks of something else, and nothing could repair it.
    """
    gate = Gate(trajectory.tools)
    verdict = gate.check(wrong)
    if not isinstance(verdict, Refusal) or not isinstance(wrong.arguments, dict):
        return None
    if isinstance(gate.check(trajectory.steps[at].calls[0]), Refusal):
        return None
    if not wrong.tool.isidentifier() or keyword.iskeyword(
        wrong.tool
    ):  # a program that is none calls nothing
        return None
    return _build_row(
        trajectory, at, wrong, {"error": verdict.violations[0].message, "response": ""}, error
    )


def _build_repeated_row(trajectory: Trajectory, at: int) -> Reflected | None:
    """The row of an agent that makes the call before once more in place of the next one."""
    earlier, right = trajectory.steps[at - 1], trajectory.steps[at].calls[0]
    if len(earlier.calls) != 1 or not earlier.results or earlier.calls[0].tool == right.tool:
        return None
    return _build_row(
        trajectory, at, replace(earlier.calls[0], id="again"), earlier.results[0].content, AGAIN
    )


def _build_row(
    trajectory: Trajectory, at: int, wrong: ToolCall, feedback: Json, error: str
) -> Reflected:
    arguments = wrong.arguments if isinstance(wrong.arguments, dict) else {}
    result = ToolResult(wrong.id, wrong.tool, arguments, feedback, find_failure(feedback))
    failed = Step(_write_first_thought(trajectory, at, wrong), (wrong,), (result,))
    before = replace(trajectory.before(at), id=f"{trajectory.id}@{at}_{error}_reflection")
    repaired = replace(trajectory.steps[at].calls[0], id="repaired")
    row = Reflected(before, failed, "", (repaired,), classify_error(error) or "calling", error)
    return replace(row, reflection=reflect_by_rule(row))


def _write_first_thought(trajectory: Trajectory, at: int, wrong: ToolCall) -> str:
    """Return the thought of an agent that does not yet know that its call is wrong."""
    spoiled = replace(trajectory, steps=(*trajectory.steps[:at], Step("", (wrong,))))
    return write_call_thought(spoiled, at)
