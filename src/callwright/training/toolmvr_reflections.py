"""Reflections made by rule (Tool-MVR, Eq. (4) and (5)): a verified call is spoiled, what comes back is what the gate
says or what a recorded call returned, and the correction is the verified call.

A reflection names only what stands in the feedback, in the tools' documentation or in the task (Table 19). Two kinds,
as in 3.3.1: *calling* errors, which the gate refuses (an input missing or unknown, a wrong type, a name that no tool
has), and *planning* errors, which come back without failing and do not serve (an earlier call made once more).
"""

from __future__ import annotations

import keyword
import random
from collections.abc import Iterator
from dataclasses import dataclass, replace

from callwright.errors import Violation
from callwright.gate import Gate, Refusal
from callwright.training.corruption import corrupt
from callwright.training.toolmvr_thoughts import before_call, origins, purpose, shown
from callwright.trajectory import Step, Trajectory
from callwright.transcripts import Transcript
from callwright.transcripts.transcript import failure_in
from callwright.types import Json, JsonObject, ToolCall, ToolResult

CALLING = (
    "required_missing", "ghost_argument", "key_case", "key_prefix_lost", "name_typo", "name_suffix",
    "name_prefix_lost", "wrong_tool", "array_as_text", "scalar_for_array", "object_as_text", "locale_number",
    "enum_case", "placeholder",
)  # fmt: skip
"""The errors of :mod:`callwright.training.corruption` that a gate may refuse."""


@dataclass(frozen=True, slots=True)
class Reflection:
    """One row of R: a transcript whose last round is the reflection and the corrected call, all before it context."""

    transcript: Transcript
    error: str
    right: ToolCall


def reflections(trajectory: Trajectory, seed: int = 0) -> Iterator[Reflection]:
    """One reflection of each error that a round of the trajectory can have; rounds of one call only.

    The same trajectory and seed give the same rows.
    """
    for at, step in enumerate(trajectory.steps):
        if len(step.calls) != 1 or isinstance(step.calls[0].arguments, str):
            continue
        rng = random.Random(f"{trajectory.id} {at} {seed}")
        for kind in CALLING:
            made = corrupt([step.calls[0]], trajectory.tools, kind, rng, query=trajectory.query)
            if made is not None and made.calls and (found := _refused(trajectory, at, made.calls[0], kind)):
                yield found
        if at and (again := _repeated(trajectory, at)):
            yield again


def _refused(trajectory: Trajectory, at: int, wrong: ToolCall, kind: str) -> Reflection | None:
    """The row of a call that the gate refuses; None where it mends or passes the call."""
    verdict = Gate(trajectory.tools).check(wrong)
    right = trajectory.steps[at].calls[0]
    if not isinstance(verdict, Refusal) or not isinstance(wrong.arguments, dict):
        return None
    if not wrong.tool.isidentifier() or keyword.iskeyword(wrong.tool):  # a program that is none calls nothing
        return None
    first = verdict.violations[0]
    feedback = {"error": first.message, "response": ""}
    why = _analysis(trajectory, wrong, right, first)
    said = first.message.split(" Tools: ")[0].rstrip(". ")  # which tools there are stands in the documentation
    return _row(trajectory, at, wrong, feedback, f"The call failed: {said}. {why}", kind)


def _repeated(trajectory: Trajectory, at: int) -> Reflection | None:
    """The row of an agent that makes the call before once more in place of the next one."""
    earlier = trajectory.steps[at - 1]
    right = trajectory.steps[at].calls[0]
    if len(earlier.calls) != 1 or not earlier.results or earlier.calls[0].tool == right.tool:
        return None
    wrong = replace(earlier.calls[0], id="again")
    said = (
        f"This is what `{wrong.tool}` had returned before: the call was made already, and repeating it brings the "
        f"task no further. What is missing is {_wanted(trajectory, right)}."
    )
    return _row(trajectory, at, wrong, earlier.results[0].content, said, "repeated")


def _row(trajectory: Trajectory, at: int, wrong: ToolCall, feedback: Json, said: str, kind: str) -> Reflection:
    right = trajectory.steps[at].calls[0]
    arguments = wrong.arguments if isinstance(wrong.arguments, dict) else {}
    result = ToolResult(wrong.id, wrong.tool, arguments, feedback, failure_in(feedback))
    failed = Step(_first_thought(trajectory, at, wrong), (wrong,), (result,))
    mended = Step(f"{said} {_strategy(trajectory, at, wrong, right)}".strip(), (replace(right, id="mended"),))
    steps = (*trajectory.steps[:at], failed, mended)
    made = replace(trajectory, id=f"{trajectory.id}@{at}_{kind}_reflection", steps=steps, answer=None, given_up=False)
    return Reflection(Transcript(made, frozenset(range(at + 1))), kind, right)


def _first_thought(trajectory: Trajectory, at: int, wrong: ToolCall) -> str:
    """What an agent thinks that does not know yet that it is wrong."""
    spoiled = replace(trajectory, steps=(*trajectory.steps[:at], Step("", (wrong,))))
    return before_call(spoiled, at)


def _analysis(trajectory: Trajectory, wrong: ToolCall, right: ToolCall, violation: Violation) -> str:
    """The error's kind and cause, from the feedback and the documentation."""
    if violation.kind == "unknown_tool":
        return f"The documentation lists no `{wrong.tool}`; what it lists for this is {_wanted(trajectory, right)}."
    if wrong.tool != right.tool:
        return f"`{wrong.tool}` is the wrong API for this: what is wanted is {_wanted(trajectory, right)}."
    given, meant = _objects(wrong, right)
    lost, extra = [k for k in meant if k not in given], [k for k in given if k not in meant]
    if extra and lost:
        return f"I wrote `{extra[0]}` where the documentation of `{right.tool}` has `{lost[0]}`."
    if lost:
        return f"`{right.tool}` requires `{lost[0]}`, which I left out."
    if extra:
        return f"`{right.tool}` takes no `{extra[0]}`."
    changed = [k for k in meant if given[k] != meant[k]]
    return f"The value of `{changed[0]}` was {shown(given[changed[0]])}, which does not fit." if changed else ""


def _strategy(trajectory: Trajectory, at: int, wrong: ToolCall, right: ToolCall) -> str:
    given, meant = _objects(wrong, right)
    if wrong.tool != right.tool:
        return f"I call `{right.tool}`. {origins(trajectory, at, right)}".strip()
    changed = {k: v for k, v in meant.items() if given.get(k) != v}
    extra = [k for k in given if k not in meant]
    told = [f"`{k}` = {shown(v)}" for k, v in changed.items()] or [f"no `{k}`" for k in extra]
    return f"I call it again with {', '.join(told)}. {origins(trajectory, at, right, changed)}".strip()


def _objects(wrong: ToolCall, right: ToolCall) -> tuple[JsonObject, JsonObject]:
    given, meant = wrong.arguments, right.arguments
    return (given if isinstance(given, dict) else {}), (meant if isinstance(meant, dict) else {})


def _wanted(trajectory: Trajectory, right: ToolCall) -> str:
    said = purpose(trajectory.tool(right.tool))
    return f"`{right.tool}` ({said})" if said else f"`{right.tool}`"
