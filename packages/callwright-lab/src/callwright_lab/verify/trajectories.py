"""Trajectories through three checkers (Tool-MVR, 3.2.3 and B.3): format, execution, meaning; by
rule, then by model.

Format: an answer was given, in the form that the agent was asked for. Execution: every round
contributes (:mod:`callwright_lab.verify.steps`). Meaning: the answer says what the results say, and
leaves nothing open that the request names. What a rule proves drops the trajectory; what it only
suspects is shown to the judges (Table 18: Pass, Fail or Unsure, and whether all steps are valid),
who keep it with Pass and yes. Without judges the rules stand alone.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Awaitable, Callable, Collection, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, TypeAlias

from callwright.jsontext import JsonError, parse_complete
from callwright.nouns.errors import ConfigError, JournalError
from callwright.nouns.protocols import ChatModel, ChatRequest
from callwright.nouns.trajectory import Trajectory
from callwright.nouns.types import JsonObject, Reply, Tool, ToolResult, to_canonical_json, to_json
from callwright.repair.diagnose import diagnose
from callwright.schema.normalize import closed_object
from callwright_lab import prompts
from callwright_lab.verify import steps
from callwright_lab.verify.budget import Meter
from callwright_lab.verify.committee import decide_majority, poll_judges
from callwright_lab.verify.pruning import prune_repeats
from callwright_lab.verify.sweep import Finding
from callwright_lab.verify.unused_names import find_unused_names

Status = Literal["Pass", "Fail", "Unsure"]
Checker = Literal["format", "execution", "meaning"]
CALLS = 2  # of one round, at most (Table 17)
SUSPICIONS = frozenset(
    {"unused_result", "guessed_today", "unsupported", "attribution", "left_open"}
)
"""Kinds that a rule finds and does not prove: other words may say the same, and a name may need no
call.
"""

_NEEDS_ALL = SUSPICIONS | {
    "identifier_from_nowhere",
    "day_from_nowhere",
    "contradiction",
    "repeated_call",
}
_MEANING = frozenset({"contradiction", "attribution", "unsupported", "left_open"})
_SHOWN = 1_200  # characters of one result that a judge is shown
_PROCESS = 24_000  # characters of a whole process
_TOKENS = 400
_STATUSES: tuple[Status, ...] = ("Pass", "Fail", "Unsure")
_ERROR = re.compile(r"^Traceback \(most recent call last\):\n(?:[ \t].*\n)*(\S.*)", re.M)


@dataclass(frozen=True, slots=True)
class Fault:
    """Fault that a checker found. ``proved``: no judge can overrule it. ``step``: its round, from
    0; -1 for the whole.
    """

    checker: Checker
    kind: str
    reason: str
    step: int = -1
    proved: bool = True


@dataclass(frozen=True, slots=True)
class CheckVerdict:
    """Verdict of one judge (Table 18). ``status`` is "" if its reply could not be read."""

    status: Status | Literal[""]
    steps_valid: bool = False
    why: str = ""


def find_faults(trajectory: Trajectory, cut: Collection[int] = ()) -> tuple[Fault, ...]:
    """Everything that the three checkers find by rule, format first.

    ``cut``: rounds of which the source keeps only a part. Nothing is concluded from what is not
    there.
    """
    told = steps.step_faults(trajectory)
    found = (
        *_find_format_faults(trajectory),
        *_find_execution_faults(trajectory, told),
        *_find_meaning_faults(trajectory, told),
    )
    return tuple(f for f in found if not cut or not (f.step in cut or f.kind in _NEEDS_ALL))


def _find_format_faults(t: Trajectory) -> Iterator[Fault]:
    if t.given_up:
        yield Fault(
            "format", "given_up", f"the agent gave up: {t.answer or 'without a reason'}"[:200]
        )
    elif not (t.answer or "").strip():
        yield Fault("format", "unanswered", "there is no final answer")
    if not t.calls:
        yield Fault("format", "no_call", "nothing was called")
    coded = any(step.code for step in t.steps)
    for at, step in enumerate(t.steps):
        if coded and not step.thought.strip():
            yield Fault("format", "no_thought", f"round {at + 1} has no thought", at)
        if step.code and (why := _find_syntax_error(step.code)):
            yield Fault("format", "no_python", f"round {at + 1} holds no Python: {why}", at)
        if coded and len(step.calls) > CALLS:
            yield Fault(
                "format", "too_many_calls", f"round {at + 1} makes {len(step.calls)} calls", at
            )
        if coded and not step.calls and at < len(t.steps) - 1:
            yield Fault("format", "round_without_call", f"round {at + 1} calls nothing", at)


def _find_syntax_error(code: str) -> str:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter(
                "ignore"
            )  # an invalid escape in a model's text is not this program's warning
            ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        return str(error)[:100]
    return ""


def _find_execution_faults(t: Trajectory, told: Sequence[steps.StepFault]) -> Iterator[Fault]:
    found = [f for f in told if f.kind not in _MEANING]
    for one in found:
        yield Fault("execution", one.kind, one.reason, one.step, one.kind not in SUSPICIONS)
    for at, step in enumerate(t.steps):
        printed = [
            step.shown,
            *(r.content for r in step.results if isinstance(r.content, str)),
        ]  # either holds it
        if step.code and (error := next(filter(None, map(_ERROR.search, printed)), None)):
            yield Fault(
                "execution",
                "failed_program",
                f"the program of round {at + 1} ended in {error[1][:160]}",
                at,
            )
    known = {(f.step, f.call) for f in found}
    for at, call, result in t.pairs():
        failure = (
            None
            if result is None
            else diagnose(result, t.tool(call.tool) or Tool(call.tool)).failure
        )
        if failure is not None and (at, call.id) not in known:
            said = " ".join(failure.message.split())[:160]
            yield Fault(
                "execution",
                "failed_call",
                f"{call.tool} failed and nothing made up for it: {said}",
                at,
            )


def _find_meaning_faults(t: Trajectory, told: Sequence[steps.StepFault]) -> Iterator[Fault]:
    if t.answer is None or t.given_up:
        return
    for one in told:
        if one.kind in _MEANING:
            yield Fault("meaning", one.kind, one.reason, -1, one.kind not in SUSPICIONS)
    results = [replace(r, id=f"r{n}") for n, r in enumerate(t.results)]
    if all(result.ok for result in results):
        for note in find_unused_names(t.query, results):
            yield Fault("meaning", "left_open", note, proved=False)


def ask_verdict(
    trajectory: Trajectory, doubts: Sequence[Fault] = (), *, schema: bool = True
) -> Generator[ChatRequest, Reply, CheckVerdict]:
    """Table 18's question to one judge. ``doubts`` are what the rules suspect. Without I/O."""
    doubted = "\n".join(f"- {fault.reason}" for fault in doubts)
    messages = prompts.render(
        "verify_trajectory",
        query=_escape_delimiters(trajectory.query),
        process=_escape_delimiters(render_process(trajectory)) or "(nothing)",
        answer=_escape_delimiters(trajectory.answer or "(none)"),
        doubts=(
            f"Look at this, which may be wrong or right:\n{_escape_delimiters(doubted)}"
            if doubted
            else "Your verdict:"
        ),
    )
    wanted = _reply_schema() if schema else None
    reply = yield ChatRequest(messages, "verify.trajectory", schema=wanted, max_tokens=_TOKENS)
    return read_verdict(reply.text)


def _reply_schema() -> JsonObject:
    return closed_object(
        content={"type": "string", "maxLength": 400},
        answer_status={"enum": [*_STATUSES]},
        all_steps_validity={"enum": ["yes", "no"]},
    )


def read_verdict(text: str) -> CheckVerdict:
    """Return the verdict in a judge's reply."""
    try:
        value = parse_complete(text)
    except JsonError:
        value = None
    if not isinstance(value, dict):
        return CheckVerdict("", why="the reply is no JSON object")
    said = str(value.get("answer_status", "")).strip().capitalize()
    status = next((known for known in _STATUSES if said == known), None)
    if status is None:
        return CheckVerdict("", why=f"the reply has no answer_status: {said[:40]}")
    valid = str(value.get("all_steps_validity", "")).strip().lower() in ("yes", "true")
    return CheckVerdict(status, valid, str(value.get("content", ""))[:400])


def render_process(trajectory: Trajectory) -> str:
    """Return the agent's thoughts, calls and results as text for a judge. Long results and the
    middle of a long process are cut.
    """
    lines: list[str] = []
    for at, step in enumerate(trajectory.steps, 1):
        lines.append(f"Step {at}")
        if step.thought:
            lines.append(f"Thought: {step.thought}")
        for call, result in step.pairs:
            given = (
                call.arguments
                if isinstance(call.arguments, str)
                else to_canonical_json(call.arguments)
            )
            lines += [f"Call: {call.tool}({given})", f"Result: {_render_result(result)}"]
        if step.shown and not step.results:
            lines.append(f"Printed: {_truncate_text(step.shown)}")
    text = "\n".join(lines)
    if len(text) > _PROCESS:
        half = _PROCESS // 2
        text = f"{text[:half]}\n… ({len(text) - 2 * half} characters more)\n{text[-half:]}"
    return text


def _render_result(result: ToolResult | None) -> str:
    if result is None:
        return "(none)"
    if result.content is None and result.failure is not None:
        return f"failed: {_truncate_text(result.failure.message)}"
    return _truncate_text(
        result.content if isinstance(result.content, str) else to_canonical_json(result.content)
    )


def _truncate_text(text: str) -> str:
    return (
        text if len(text) <= _SHOWN else f"{text[:_SHOWN]}… ({len(text) - _SHOWN} characters more)"
    )


def _escape_delimiters(text: str) -> str:
    """A text that cannot end the part that is data."""
    return text.replace("===", "= = =")


Build: TypeAlias = Callable[[Meter], Awaitable[Trajectory]]
"""Makes the trajectory of a row: reads it, or has the agent solve the request, and charges what
that costs.
"""


@dataclass(frozen=True, slots=True)
class Checked:
    """Trajectory to be judged: its source, and what its finding records of it.

    ``cut``: rounds that are present only in part. ``unmade``: the reason why there can be no
    trajectory (yet).
    """

    build: Build
    record: Callable[[Trajectory], JsonObject] | None = None
    cut: frozenset[int] = frozenset()
    unmade: str = ""


@dataclass(frozen=True, slots=True)
class TrajectoryVerifier:
    """Judges trajectories. ``judges`` by name, none for rules alone; ``strict``: suspicion is
    enough to drop one; ``prune``: rounds that only repeat are taken out first, where the trajectory
    is there whole.
    """

    judges: Mapping[str, ChatModel] = field(default_factory=dict)
    strict: bool = False
    prune: bool = False

    async def judge(self, item: Checked, meter: Meter) -> Finding:
        """The finding of one row, for :func:`callwright_lab.verify.sweep.run_sweep`; none lasts of a
        run that is stuck, or that there cannot be.
        """
        if item.unmade:
            return Finding(False, "tools not offered", item.unmade, lasting=False)
        try:
            trajectory = await item.build(meter)
        except JournalError as error:  # a write of an earlier process may have been done or not
            return Finding(
                False,
                "unsettled",
                "; ".join([str(error), *getattr(error, "__notes__", ())]),
                lasting=False,
            )
        gone: tuple[int, ...] = ()
        if self.prune and not item.cut:
            trajectory, gone = prune_repeats(trajectory)
        found = find_faults(trajectory, item.cut)
        facts: JsonObject = {"faults": to_json(found)} | (
            {"pruned": [at + 1 for at in gone]} if gone else {}
        )
        if simulated := [r for r in trajectory.results if r.simulated]:
            facts["simulated"] = [
                f"{r.tool}({to_canonical_json(r.arguments)}): {r.simulated}" for r in simulated
            ]
        if item.record is not None:
            try:
                facts["record"] = item.record(trajectory)
            except ConfigError as error:
                found = (*found, Fault("format", "unwritten", error.message))
        if dropping := [fault for fault in found if fault.proved or self.strict]:
            first = dropping[0]
            return Finding(False, f"{first.checker}: {first.kind}", first.reason, facts)
        if not self.judges:
            return Finding(True, "by rule", "; ".join(fault.reason for fault in found), facts)
        return await self._by_model(trajectory, found, facts, meter)

    async def _by_model(
        self, trajectory: Trajectory, doubts: Sequence[Fault], facts: JsonObject, meter: Meter
    ) -> Finding:
        told = await poll_judges(
            self.judges,
            lambda constrained, _: ask_verdict(trajectory, doubts, schema=constrained),
            meter.metered,
        )
        status = decide_majority({name: one.status for name, one in told.items()})
        valid = decide_majority({name: _render_validity(one) for name, one in told.items()})
        facts = {**facts, "votes": {name: to_json(one) for name, one in told.items()}}
        why = next(
            (one.why for one in told.values() if one.status == (status.label or one.status)), ""
        )
        if not status.cast:
            why = next((one.why for one in told.values()), "")
            return Finding(False, "unsettled: no reply could be read", why, facts, lasting=False)
        if status.label == "Pass" and valid.label == "yes":
            return Finding(True, "Pass", why, facts)
        if status.label == "Pass":
            return Finding(False, "judged: steps not valid", why, facts)
        return Finding(False, f"judged: {status.label or 'no majority'}", why, facts)


def _render_validity(verdict: CheckVerdict) -> str:
    if not verdict.status:
        return ""
    if verdict.steps_valid:
        return "yes"
    return "no"


def collect_votes(findings: Sequence[Finding]) -> list[dict[str, str]]:
    """Each judged row's votes on the answer, for
    :func:`callwright_lab.verify.committee.measure_agreement`.
    """
    told = (one.found.get("votes") for one in findings)
    return [
        {name: vote["status"] for name, vote in row.items()}
        for row in told
        if isinstance(row, dict)
    ]
