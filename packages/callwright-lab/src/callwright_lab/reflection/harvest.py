"""Errors, reflections and corrections from runs that were made anyway, journals, traces and
conversations: Eq. (5) without sampling.

Each call that went wrong and was put right is a row: repaired by the gate, made again,
replaced by another, or made again by the model itself. What the model thought before it repaired is
the reflection where the run asked for one; the rule writes the others. Pure.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from callwright.nouns.errors import Failure
from callwright.nouns.trace import Event
from callwright.nouns.trajectory import Step, Trajectory
from callwright.nouns.types import Tool, ToolCall, ToolResult, to_canonical_json
from callwright.repair.diagnose import diagnose
from callwright.repair.gate import Gate, Refusal
from callwright_lab.reflection.reflection import reflect_by_rule
from callwright_lab.reflection.row import Kind, Reflected
from callwright_lab.transcripts.run_trajectory import build_trajectory
from callwright_lab.verify.steps import step_faults


@dataclass(slots=True)
class _Tried:
    """One attempt at a call. ``at``: how many rounds of the run stand before it."""

    call: ToolCall
    at: int
    result: ToolResult | None = None  # None where it was refused before it left
    refusal: str = ""
    reflection: str = ""  # what the model thought of it before it repaired it

    @property
    def ok(self) -> bool:
        return self.result is not None and self.result.ok


@dataclass(slots=True)
class _Way:
    """One call of a run, from what was written to what came of it."""

    tried: list[_Tried] = field(default_factory=list)

    @property
    def good(self) -> _Tried | None:
        return next((one for one in self.tried if one.ok), None)


def harvest_run(events: Sequence[Event], id: str = "") -> list[Reflected]:
    """The rows of one run whose correction served: a later call or the answer takes something of
    its result.

    Nothing of what they say is checked yet: :func:`callwright_lab.reflection.sourced.explain_unsourced`.
    """
    run = build_trajectory(events, id)
    ways = _collect_ways(events)
    rows = [row for way in ways.values() for row in _iter_repaired_rows(way, run)]
    rows += _iter_recovery_rows(events, ways, run)
    known = {_make_row_key(row) for row in rows}
    rows += [row for row in _iter_self_corrections(run) if _make_row_key(row) not in known]
    return _keep_used_corrections(rows, run)


def harvest_conversation(conversation: Trajectory) -> list[Reflected]:
    """The rows of a conversation that somebody else kept (a client's log in front of the proxy,
    another agent's): a call that failed, and was made better in a later round. As for
    :func:`harvest_run`, nothing is checked yet.
    """
    said = [
        step.thought for step in conversation.steps if not step.calls and not step.code
    ]  # answers of earlier turns
    answers = "\n".join(text for text in (*said, conversation.answer) if text)
    return _keep_used_corrections(
        list(_iter_self_corrections(conversation)), replace(conversation, answer=answers or None)
    )


def drop_conversation_prefixes(conversations: Iterable[Trajectory]) -> list[Trajectory]:
    """The conversations without those that another one only goes on with: who keeps every request
    keeps the beginning of each again and again. Of equal ones the last.
    """
    last = {_make_conversation_key(one): one for one in conversations}
    begun = {steps[:size] for steps in last for size in range(len(steps))}
    return [one for steps, one in last.items() if steps not in begun]


def _make_conversation_key(conversation: Trajectory) -> tuple[str, ...]:
    """The request, and each round whose calls have come back."""
    done = [step for step in conversation.steps if len(step.results) == len(step.calls)]
    rounds = [
        [step.thought, [(c.tool, c.arguments, r and r.content) for c, r in step.pairs]]
        for step in done
    ]
    return (conversation.query, *map(to_canonical_json, rounds))


def _keep_used_corrections(rows: Iterable[Reflected], run: Trajectory) -> list[Reflected]:
    """The rows of whose correction something was taken, each with a reflection."""
    idle = {found.call for found in step_faults(run) if found.kind == "unused_result"}
    idle = {to_canonical_json([c.tool, c.arguments]) for c in run.calls if c.id in idle}
    served = [
        row
        for row in rows
        if not any(to_canonical_json([c.tool, c.arguments]) in idle for c in row.right)
    ]
    return [replace(row, reflection=row.reflection or reflect_by_rule(row)) for row in served]


def _collect_ways(events: Sequence[Event]) -> dict[str, _Way]:
    """Every call of the run with its attempts, refused ones included."""
    ways: dict[str, _Way] = {}
    rounds = 0
    carried_out = {event.data["id"] for event in events if event.kind == "result"}
    for event in events:
        data = event.data
        if event.kind == "call.raw":
            call = ToolCall(data["id"], data["tool"], data["arguments"])
            ways[call.id] = _Way([_Tried(call, rounds)])
            rounds += call.id not in carried_out  # a round of the trajectory all the same
        elif data.get("id") in ways:
            rounds += _record_attempt(event, ways[data["id"]], rounds)
    for way in ways.values():  # what was neither refused nor carried out is no attempt
        way.tried = [one for one in way.tried if one.result is not None or one.refusal]
    return ways


def _record_attempt(event: Event, way: _Way, rounds: int) -> bool:
    """Take in an event of a call; whether it is a round of the run."""
    data, last = event.data, way.tried[-1]
    if event.kind == "call.refused":
        last.refusal = "\n".join(str(v.get("message", "")) for v in data["violations"])
    elif event.kind == "reflection":
        last.reflection = f"{data['analysis']} {data['strategy']}".strip()
    elif event.kind == "result":
        result = _parse_result(data)
        if last.refusal or last.result is not None:
            way.tried.append(_Tried(last.call, rounds))
            last = way.tried[-1]
        last.at = rounds
        last.call = ToolCall(f"{data['id']}.{data['attempt']}", data["tool"], data["arguments"])
        last.result = replace(result, id=last.call.id)
        return True
    return False


def _parse_result(data: Mapping[str, Any]) -> ToolResult:
    failure = None if data["failure"] is None else Failure(**data["failure"])
    simulated = data.get("simulated", "")  # runs of earlier versions do not say
    return ToolResult(
        data["id"], data["tool"], data["arguments"], data["content"], failure, simulated=simulated
    )


def _iter_repaired_rows(way: _Way, run: Trajectory) -> Iterator[Reflected]:
    """Attempts before the one that succeeded."""
    good = way.good
    for one in way.tried if good is not None else ():
        if one is good:
            return
        assert good is not None
        yield _build_row(one, good, run, "mended")


def _iter_recovery_rows(
    events: Iterable[Event], ways: Mapping[str, _Way], run: Trajectory
) -> Iterator[Reflected]:
    """Calls that another call made good: a substitute, or the same call with a value that was
    looked up again.
    """
    failed: Mapping[str, Any] | None = None
    for event in events:
        if event.kind == "recovery" and event.data.get("failed") in ways:
            failed = event.data
        elif (
            event.kind == "stale"
            and failed is not None
            and failed["failed"] in event.data["results"]
        ):
            yield from _iter_replaced_rows(
                ways[failed["failed"]], ways.get(event.data["by"]), run, failed["step"]
            )
            failed = None


def _iter_replaced_rows(
    bad: _Way, by: _Way | None, run: Trajectory, step: str
) -> Iterator[Reflected]:
    good = by.good if by is not None else None
    if bad.good is None and bad.tried and good is not None:
        yield _build_row(
            bad.tried[-1], good, run, "substituted" if step == "substitute" else "recovered"
        )


def _iter_self_corrections(run: Trajectory) -> Iterator[Reflected]:
    """Failed calls that the model made again by itself, with other arguments, in a later round."""
    tools = {tool.name: tool for tool in run.tools}
    for found in (f for f in step_faults(run) if f.kind == "trial_and_error"):
        step = _diagnose_step(run.steps[found.step], tools)
        wrong, result = next(((c, r) for c, r in step.pairs if c.id == found.call), (None, None))
        later = [
            c
            for s in run.steps[found.step + 1 :]
            for c, r in _diagnose_step(s, tools).pairs
            if r and r.ok
        ]
        right = next((c for c in later if wrong is not None and c.tool == wrong.tool), None)
        if wrong is not None and right is not None and result is not None:
            kind, error = _classify_error(Gate(run.tools), wrong, result, "corrected")
            yield Reflected(run.before(found.step), step, "", (_strip_slot(right),), kind, error)


def _diagnose_step(step: Step, tools: Mapping[str, Tool]) -> Step:
    """The round, each result with the failure that it tells of."""
    each = (
        replace(r, failure=diagnose(r, tools.get(r.tool, Tool(r.tool))).failure)
        for r in step.results
    )
    return replace(step, results=tuple(each))


def _build_row(wrong: _Tried, good: _Tried, run: Trajectory, how: str) -> Reflected:
    result, right = wrong.result, good.call
    if result is None:
        given = wrong.call.arguments if isinstance(wrong.call.arguments, dict) else {}
        result = ToolResult(
            wrong.call.id, wrong.call.tool, given, failure=Failure("tool_error", wrong.refusal)
        )
    kind, error = _classify_error(Gate(run.tools), wrong.call, result, how)
    if (
        to_canonical_json(wrong.call.arguments) == to_canonical_json(right.arguments)
        and wrong.call.tool == right.tool
    ):
        error = "made again"
    step = Step("", (wrong.call,), (replace(result, id=wrong.call.id),))
    by = "run" if wrong.reflection else "rule"
    rests = (good.result.simulated,) if good.result is not None and good.result.simulated else ()
    before = run.before(wrong.at)
    return Reflected(
        before, step, wrong.reflection, (_strip_slot(right),), kind, error, by, simulated=rests
    )


def _classify_error(gate: Gate, call: ToolCall, result: ToolResult, how: str) -> tuple[Kind, str]:
    """Return the kind of an error, and the way in which it was corrected."""
    failure = result.failure
    if failure is None or failure.kind == "empty":
        return "planning", how
    refused = isinstance(gate.check(call), Refusal)
    return "calling", f"{how}, refused" if refused and how == "mended" else how


def _strip_slot(call: ToolCall) -> ToolCall:
    return ToolCall(call.id, call.tool, call.arguments)


def _make_row_key(row: Reflected) -> str:
    wrong = [(c.tool, c.arguments) for c in row.wrong.calls]
    return to_canonical_json([wrong, [(c.tool, c.arguments) for c in row.right]])
