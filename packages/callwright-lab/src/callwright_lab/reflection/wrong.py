"""Decides whether an action unlike the verified one is an error: only if it fails or does not serve
the request. Pure.

Serving is decided by rule. The values that later rounds and the answer take from the verified
result must be in the action's own result. If they take no recognisable values, the action is not an
error.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from callwright.jsontext import parse_tool_text
from callwright.nouns.types import (
    CheckedCall,
    Json,
    Tool,
    ToolCall,
    ToolResult,
    iter_scalars,
    to_canonical_json,
)
from callwright.repair.diagnose import diagnose, points_at_arguments
from callwright.repair.gate import Gate, Refusal
from callwright.repair.provenance.sources import ProvenanceIndex
from callwright_lab.reflection.learner import Point
from callwright_lab.reflection.row import Kind

Serves = Literal["equal", "serves", "lacks", "untold"]

_MISNAMED = frozenset(
    {"rename_key", "drop_unknown"}
)  # edits that guess: all others keep what was meant
_BY_KEYWORD = {"required": "missing argument", "dependentRequired": "missing argument", "type": "wrong type",
               "additionalProperties": "wrong argument name", "unevaluatedProperties": "wrong argument name",
               "enum": "value not allowed", "const": "value not allowed"}  # fmt: skip
_LONG = 60  # characters from which a text is words and figures rather than a value
_TELLING = re.compile(r"\d[\d.,:\-/]*\d|\d+|[A-Z][\w'’-]{2,}")
_SMALL = 10  # numbers below it stand in many a text by chance


@dataclass(frozen=True, slots=True)
class Wrong:
    """An error and what one is told of it. ``error`` names it within its kind; ``refused``: it did
    not leave.
    """

    kind: Kind
    error: str
    feedback: str = ""
    refused: bool = False


def check_call(gate: Gate, call: ToolCall) -> CheckedCall | Wrong:
    """The call as it may leave, or what is wrong with it before it does.

    What the gate repairs without loss is no error; a key that it would have to drop or rename is
    one.
    """
    verdict = gate.check(call)
    if isinstance(verdict, Refusal):
        first = verdict.violations[0] if verdict.violations else None
        if first is not None and first.kind == "unknown_tool":
            return Wrong("calling", "unknown tool", verdict.message, refused=True)
        keyword = first.keyword if first is not None else ""
        return Wrong(
            "calling", _BY_KEYWORD.get(keyword, "invalid argument"), verdict.message, refused=True
        )
    misnamed = [edit.path.removeprefix("/") for edit in verdict.edits if edit.rule in _MISNAMED]
    if misnamed:
        known = ", ".join(verdict.tool.properties) or "none"
        said = f"{call.tool} has no argument {', '.join(misnamed)}; its arguments are: {known}"
        return Wrong("calling", "wrong argument name", said, refused=True)
    return verdict


def classify_failure(results: Sequence[ToolResult], tools: Sequence[Tool]) -> Wrong | str:
    """The error that a failed result is; "" where none failed, else why the failure says nothing of
    the action.
    """
    by_name = {tool.name: tool for tool in tools}
    for result in results:
        failure = diagnose(result, by_name.get(result.tool, Tool(result.tool))).failure
        if failure is None or failure.kind == "empty":
            continue
        if failure.kind == "not_executable":
            return f"not carried out: {failure.message}"
        if not points_at_arguments(failure):
            return f"it failed for another reason than its arguments: {failure.message}"
        return Wrong("calling", "execution failure", failure.message)
    return ""


def is_empty_outcome(results: Sequence[ToolResult], tools: Sequence[Tool]) -> bool:
    """Return True if all results are empty."""
    by_name = {tool.name: tool for tool in tools}
    found = [diagnose(r, by_name.get(r.tool, Tool(r.tool))).failure for r in results]
    return bool(found) and all(f is not None and f.kind == "empty" for f in found)


def is_same_action(one: Sequence[ToolCall], other: Sequence[ToolCall], gate: Gate) -> bool:
    """Return True if two actions are the same calls, apart from lossless repairs of the gate."""
    return sorted(_normalize_call(call, gate) for call in one) == sorted(
        _normalize_call(call, gate) for call in other
    )


def _normalize_call(call: ToolCall, gate: Gate) -> str:
    verdict = check_call(gate, call)
    arguments = verdict.arguments if isinstance(verdict, CheckedCall) else call.arguments
    return to_canonical_json([call.tool, arguments])


def find_needed_values(point: Point) -> tuple[Json, ...]:
    """Return the values that later rounds and the answer can only have taken from the right round's
    results.
    """
    t, before = point.trajectory, point.before
    known = ProvenanceIndex(t.query, results=before.results)
    for call in (*before.calls, *point.right.calls):
        known.add_text(to_canonical_json(call.arguments))
    later = ProvenanceIndex(t.answer or "")
    for step in t.steps[point.at + 1 :]:
        later.add_text(
            " ".join([step.code, *(to_canonical_json(call.arguments) for call in step.calls)])
        )
    found = {
        to_canonical_json(v): v
        for r in point.right.results
        for v in _iter_telling_values(r.content)
    }
    used = [v for v in found.values() if later.holds(v) and not known.holds(v)]
    return tuple([v for v in used if not _is_small_integer(v)] or used)


def judge_results(results: Sequence[ToolResult], point: Point, needed: Sequence[Json]) -> Serves:
    """Return True if what came back serves as the verified result does. ``needed``:
    :func:`find_needed_values`.
    """
    right = {to_canonical_json(r.content) for r in point.right.results}
    if right <= {to_canonical_json(r.content) for r in results}:
        return "equal"
    if not needed:
        return "untold"
    held = ProvenanceIndex(results=[r for r in results if r.ok])
    return "serves" if all(held.holds(value) for value in needed) else "lacks"


def classify_planning_error(action: Sequence[ToolCall], point: Point, nothing: bool) -> Wrong:
    """The planning error of a call that succeeded and does not serve."""
    if {call.tool for call in action} != {call.tool for call in point.right.calls}:
        return Wrong("planning", "another tool")
    return Wrong("planning", "nothing found" if nothing else "other argument values")


def _iter_telling_values(content: Json) -> Iterator[Json]:
    """The scalars of a result; of a text that is no value its figures and names."""
    for value in iter_scalars(parse_tool_text(content)):
        if isinstance(value, str) and len(value) > _LONG:
            yield from _TELLING.findall(value)
        elif value is not None and not isinstance(value, bool) and value != "":
            yield value


def _is_small_integer(value: Json) -> bool:
    return isinstance(value, int | float) and abs(value) < _SMALL and float(value).is_integer()
