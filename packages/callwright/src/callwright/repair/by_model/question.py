"""Algorithm 1 of RETO (section 3.4): the error-driven repair operator R, as a generator without
I/O.

Tier 1 is deterministic and free: the gate's own lossless edits, and what a tool's error allows to
be edited (an unexpected key dropped, an option respelled). Tier 2 asks the model once, with the
paper's repair prompt (A.6), if the budget grants it. Whatever comes back passes the gate again.
Differs from the paper in one point: the prompt also says what is known (query and results), because
a missing value cannot be found in the error.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable
from dataclasses import dataclass, replace
from typing import Protocol, TypeAlias

from callwright import prompts
from callwright.jsontext import JsonError, parse_lenient
from callwright.nouns.errors import Violation
from callwright.nouns.protocols import ChatRequest
from callwright.nouns.types import (
    CheckedCall,
    Edit,
    JsonObject,
    Reply,
    Tool,
    ToolCall,
    ToolResult,
    to_canonical_json,
)
from callwright.nouns.wire_names import EditRules
from callwright.parsing import parse_calls
from callwright.repair.diagnose import Diagnosis
from callwright.repair.draft import AFTER_CALLS, Change, Draft, Drafts
from callwright.repair.gate import Gate, Refusal
from callwright.repair.location import in_arguments
from callwright.repair.provenance.grounding import examples_in
from callwright.repair.provenance.sources import ProvenanceIndex
from callwright.repair.rule import Need, Rule, Steps, select_drafts
from callwright.schema.summary import reply_schema, schema_summary

Grant: TypeAlias = Callable[[], bool]
Repair: TypeAlias = Generator[ChatRequest, Reply, CheckedCall | Refusal]
Answer: TypeAlias = tuple[CheckedCall | Refusal, JsonObject | str | None]
"""What the gate says of a repaired call, and the arguments as the model gave them."""

REPAIR_MODEL = EditRules.REPAIR_MODEL  # the rule of what a model gave
_KNOWN_CHARS = 1_500
_ERROR_CHARS = 1_200
_MENDABLE = frozenset(
    {"placeholder", "record"}
)  # of what is ungrounded: a model can look it up in what is known
_HOPELESS = frozenset({"unknown_tool"})


@dataclass(frozen=True, slots=True)
class Case:
    """Case of a repair question; ``last`` is returned if nothing can be repaired."""

    call: ToolCall
    tool: Tool
    arguments: JsonObject | str
    error: str
    last: Refusal
    warned: bool = False  # that an error's example is no value


class Asks(Protocol):
    """Protocol of a repair question to a model: plain, or with a reflection first
    (:mod:`callwright.repair.by_model.reflection`).
    """

    def question(self, case: Case, sources: ProvenanceIndex | None) -> ChatRequest: ...

    def read(self, reply: Reply, tool: Tool) -> JsonObject | str | Violation:
        """The arguments that a reply gives, or why it gives none."""


class Plain:
    """The paper's repair prompt (RETO, A.6)."""

    def question(self, case: Case, sources: ProvenanceIndex | None) -> ChatRequest:
        messages = prompts.render("repair", tool_name=case.tool.name, **render_value(case, sources))
        return ChatRequest(messages, purpose="repair", schema=reply_schema(case.tool))

    def read(self, reply: Reply, tool: Tool) -> JsonObject | str | Violation:
        return read_reply(reply, tool)


PLAIN = Plain()


def repair_refusal(
    refusal: Refusal,
    gate: Gate,
    sources: ProvenanceIndex | None,
    grant: Grant,
    *,
    questions: int = 1,
    asks: Asks = PLAIN,
) -> Repair:
    """Repair a call that the gate refused; returns what the gate says of the repaired call, or the
    last refusal.

    ``grant`` spends one of the run's budget B before each question; when it refuses, the refusal is
    returned. Not asked at all: what no model can repair (unknown tool, unusable schema), and a call
    refused only for identifiers that nothing contains, since the answer could only be another
    invention.
    """
    case = _case_of(refusal)
    if case is None:
        return refusal
    return (yield from _ask_model(case, gate, sources, grant, questions, asks))[0]


def _case_of(refusal: Refusal) -> Case | None:
    """Return the question to a model about a refusal; None where it could not repair the call."""
    if refusal.tool is None or not _is_askable(refusal.violations):
        return None
    given = refusal.call.arguments if refusal.arguments is None else refusal.arguments
    return Case(refusal.call, refusal.tool, given, refusal.message, refusal)


def repair_failure(
    call: CheckedCall,
    result: ToolResult,
    diagnosis: Diagnosis,
    gate: Gate,
    sources: ProvenanceIndex | None,
    grant: Grant,
    *,
    questions: int = 1,
    asks: Asks = PLAIN,
) -> Repair:
    """Repair a call that was executed and failed, where the diagnosis points at its arguments.

    The error may know more than the schema: its overlay is applied to the tool first, which alone
    may repair the call (tier 1). The CheckedCall returned then carries the overlaid tool and an
    Edit of rule ``overlay``.
    """
    again = ToolCall(call.id, call.tool.name, call.arguments, call.slot)
    if not diagnosis.points_at_arguments:
        return Refusal(again, call.tool, call.arguments, (_build_violation(diagnosis),))
    tool, marks = call.tool, tuple[Edit, ...]()
    if diagnosis.overlay is not None:
        tool = diagnosis.overlay.apply(call.tool)
        marks = diagnosis.overlay.edits(call.tool)
    overlaid = gate.with_tool(tool)
    verdict = overlaid.check(again, sources)
    if isinstance(verdict, CheckedCall) and verdict.arguments != call.arguments:
        return replace(verdict, edits=(*call.edits, *marks, *verdict.edits))
    last = Refusal(
        again, tool, call.arguments, (_build_violation(diagnosis),), (*call.edits, *marks)
    )
    text = diagnosis.message or (result.failure.message if result.failure else "")
    if isinstance(verdict, Refusal) and verdict.violations:
        text = f"{text}\n{verdict.message}"
    case = Case(again, tool, call.arguments, text, last)
    return (yield from _ask_model(case, overlaid, sources, grant, questions, asks))[0]


def repair_in_ways(
    last: Refusal,
    dialogue: Callable[[Asks], Repair],
    ways: Iterable[Asks],
    answered: Callable[[CheckedCall | Refusal], object],
) -> Repair:
    """Ask in one way after the other until one gives another call; returns what the last one gave.
    ``answered`` is told what came of each. Takes from an iterator only the ways that it needs.
    """
    outcome: CheckedCall | Refusal = last
    for asks in ways:
        outcome = yield from dialogue(asks)
        answered(outcome)
        if isinstance(outcome, CheckedCall) and outcome.arguments != last.arguments:
            break
    return outcome


def _ask_model(
    case: Case,
    gate: Gate,
    sources: ProvenanceIndex | None,
    grant: Grant,
    questions: int,
    asks: Asks,
) -> Generator[ChatRequest, Reply, Answer]:
    last = case.last
    left = questions
    while left:
        left -= 1
        if not grant():
            return last, None
        reply = yield asks.question(case, sources)
        arguments = asks.read(reply, case.tool)
        if isinstance(arguments, Violation):
            return replace(last, violations=(*last.violations, arguments)), None
        copied = _copied_example(case, arguments, sources)
        if copied is not None:
            last = replace(last, violations=(*last.violations, copied))
            if not case.warned:
                case, left = (
                    replace(case, error=f"{case.error}\n{copied.message}", warned=True),
                    left + 1,
                )
            continue
        changed = arguments != case.arguments
        marks = (Edit("", case.arguments, arguments, REPAIR_MODEL),) if changed else ()
        verdict = gate.check(replace(case.call, arguments=arguments), sources)
        edits = (*case.last.edits, *marks, *verdict.edits)
        if isinstance(verdict, CheckedCall):
            return replace(verdict, edits=edits), arguments
        last = replace(verdict, edits=edits)
        given = arguments if last.arguments is None else last.arguments
        case = replace(case, arguments=given, error=last.message)
    return last, None


def _copied_example(
    case: Case, arguments: JsonObject | str, sources: ProvenanceIndex | None
) -> Violation | None:
    """A changed value that only the error's own example says: "use a code such as NO" does not mean
    NO.
    """
    if not isinstance(arguments, dict) or not isinstance(case.arguments, dict) or sources is None:
        return None
    examples = examples_in(case.error)
    for key, value in arguments.items():
        before = case.arguments.get(key)
        if (
            isinstance(value, str)
            and value != before
            and value in examples
            and not sources.holds(value)
        ):
            said = (
                f"'{value}' is only the error's example. Give the value of '{key}' for"
                f" {to_canonical_json(before)}."
            )
            return Violation("ungrounded", said, f"/{key}", "example", None, value)
    return None


def render_value(case: Case, sources: ProvenanceIndex | None) -> dict[str, str]:
    """Return the prompt variables that all repair prompts share."""
    return {
        "schema_summary": schema_summary(case.tool),
        "known": (
            sources.brief(_KNOWN_CHARS) if sources is not None else "(nothing beyond the arguments)"
        ),
        "prev_args_json": (
            case.arguments if isinstance(case.arguments, str) else to_canonical_json(case.arguments)
        ),
        "tool_error_text": case.error[:_ERROR_CHARS],
    }


def read_reply(reply: Reply, tool: Tool) -> JsonObject | str | Violation:
    """The arguments that a repair reply gives for the tool: a native call, the format asked for,
    any other call format, or the bare arguments. A Violation where it gives none, or calls
    something else.
    """
    calls = reply.tool_calls or parse_calls(reply.text, [tool]).calls
    if calls:
        mine = next((c for c in calls if c.tool == tool.name), None)
        if mine is not None:
            return mine.arguments
        said = f"The repair called '{calls[0].tool}' instead of '{tool.name}'."
        return Violation("unknown_tool", said, "", "", tool.name, calls[0].tool)
    try:
        found = parse_lenient(reply.text)
    except JsonError:
        return Violation(
            "not_json", "The repair gave no arguments.", "", "", "object", reply.text[:200]
        )
    if found.truncated or reply.finish_reason == "length":
        return Violation(
            "truncated", "The repair stops in the middle.", "", "", "object", reply.text[:200]
        )
    if not isinstance(found.value, dict) or _is_refusal_to_call(found.value, tool):
        return Violation("not_json", "The repair gave no arguments.", "", "", "object", found.value)
    inner = found.value.get("arguments")
    return inner if isinstance(inner, dict) and "arguments" not in tool.properties else found.value


def _is_refusal_to_call(value: JsonObject, tool: Tool) -> bool:
    """An empty list of calls is a refusal to call, unless the tool has such a parameter."""
    return any(
        value.get(key) == [] and key not in tool.properties for key in ("tool_calls", "calls")
    )


def _is_askable(violations: tuple[Violation, ...]) -> bool:
    if any(v.kind in _HOPELESS for v in violations):
        return False
    return not violations or any(
        v.kind != "ungrounded" or v.keyword in _MENDABLE for v in violations
    )


def _build_violation(diagnosis: Diagnosis) -> Violation:
    """A failed execution, said as a violation so that it can be shown and logged like any other."""
    return Violation("schema", diagnosis.message, diagnosis.path, "execution", None, None)


# ---------------------------------------------------------------- the rule

NEEDS_MODEL: frozenset[Need] = frozenset({"schema", "model"})


@dataclass(frozen=True, slots=True)
class QuestionContext:
    """Whom to ask about refused calls, and within what. The check is the gate's, of the schema
    alone; what a model gives must also come from somewhere (``sources``).
    """

    gate: Gate
    sources: ProvenanceIndex | None
    grant: Grant

    @property
    def has(self) -> frozenset[Need]:
        """The schemas and a model."""
        return NEEDS_MODEL

    def is_right(self, draft: Draft) -> bool:
        """Return True if the gate lets the call through."""
        return isinstance(self.gate.check(draft.call), CheckedCall)

    def is_open(self, _: Draft) -> bool:
        """Every draft: what matters is whether it is right."""
        return True


def ask_about_refused(drafts: Drafts, context: QuestionContext) -> Steps:
    """Ask about the arguments of each call that the gate refuses, in order, as long as the budget
    grants it.
    """
    change = Change()
    for draft in select_drafts(drafts, context, "wrong"):
        refusal = context.gate.check(draft.call)
        case = _case_of(refusal) if isinstance(refusal, Refusal) else None
        if case is None:
            continue
        steps = _ask_model(case, context.gate, context.sources, context.grant, 1, PLAIN)
        verdict, given = yield from steps
        if isinstance(verdict, CheckedCall) and given is not None:
            change.edits += context.gate.repair(draft.call, id=draft.id).edits
            if given != case.arguments:
                place = in_arguments(draft.id)
                change.list_edit(place, case.arguments, given, REPAIR_MODEL)
            answered = replace(draft.call, arguments=given)
            change.edits += context.gate.repair(answered, context.sources, draft.id).edits
            change.calls[draft.id] = replace(draft.call, arguments=verdict.arguments)
    return change if change else None


QUESTION_RULES: tuple[Rule[QuestionContext], ...] = (
    Rule("repair_question", 600, ask_about_refused, NEEDS_MODEL, "wrong", AFTER_CALLS),
)
"""One question about what is still refused."""
