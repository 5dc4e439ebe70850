"""Algorithm 1 of RETO (section 3.4): the error-driven repair operator R, as rules of the pipeline.

Tier 1 is deterministic and free: the gate's own lossless edits, and what a tool's error allows to
be edited (an unexpected key dropped, an option respelled). Tier 2 asks the model once, with the
paper's repair prompt (A.6), if the budget grants it. Whatever comes back passes the gate again.
Differs from the paper in one point: the prompt also says what is known (query and results), because
a missing value cannot be found in the error.

The check of these configurations is the gate, asked once about every call that there is: a run has
both rules (:func:`check_call`), the proxy the question alone.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple, Protocol, TypeAlias

from callwright import prompts
from callwright.jsontext import JsonError, parse_lenient
from callwright.nouns.errors import Violation
from callwright.nouns.protocols import ChatRequest
from callwright.nouns.types import (
    CheckedCall,
    Edit,
    JsonObject,
    Message,
    Reply,
    Tool,
    ToolCall,
    ToolResult,
    to_canonical_json,
)
from callwright.nouns.wire_names import EditRules
from callwright.parsing import parse_calls
from callwright.prompts.run_prompt import RunPrompt
from callwright.repair.diagnose import Diagnosis
from callwright.repair.draft import AFTER_CALLS, Change, Draft, Drafts, LocatedEdit
from callwright.repair.gate import Gate, Refusal
from callwright.repair.learned_overlay import OVERLAY, SchemaOverlay
from callwright.repair.location import in_arguments
from callwright.repair.pipeline import order_rules, run_rules
from callwright.repair.provenance.grounding import examples_in
from callwright.repair.provenance.sources import ProvenanceIndex
from callwright.repair.rule import (
    UNANSWERED,
    Need,
    Rule,
    Steps,
    is_valid_draft,
    reply_rule,
    select_drafts,
)
from callwright.schema.summary import reply_schema, schema_summary

Grant: TypeAlias = Callable[[], bool]
Verdict: TypeAlias = CheckedCall | Refusal
Repair: TypeAlias = Generator[ChatRequest, Reply, Verdict]

REPAIR_MODEL = EditRules.REPAIR_MODEL  # the edit that lists what a model gave
_KNOWN_CHARS = 1_500
_ERROR_CHARS = 1_200
_MENDABLE = frozenset(
    {"placeholder", "record"}
)  # of what is ungrounded: a model can look it up in what is known
_HOPELESS = frozenset({"unknown_tool"})


@dataclass(frozen=True, slots=True)
class Case:
    """Case of a repair question; ``last`` is the verdict where nothing can be repaired. ``prompt``:
    what all questions of the run share, where the call is of a run.
    """

    call: ToolCall
    tool: Tool
    arguments: JsonObject | str
    error: str
    last: Refusal
    warned: bool = False  # that an error's example is no value
    prompt: RunPrompt | None = None

    def ask(self, name: str, sources: ProvenanceIndex | None, **more: str) -> tuple[Message, ...]:
        """The messages of the repair prompt ``name``: behind what the run's questions share, or
        alone, with what is known.
        """
        values = {"tool_name": self.tool.name, **render_value(self), **more}
        if self.prompt is not None:
            return self.prompt.ask(f"ask_{name}", **values)
        known = "(nothing beyond the arguments)"
        known = known if sources is None else sources.brief(_KNOWN_CHARS)
        return prompts.render(name, known=known, **values)


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
        messages = case.ask("repair", sources)
        return ChatRequest(messages, purpose="repair", schema=reply_schema(case.tool))

    def read(self, reply: Reply, tool: Tool) -> JsonObject | str | Violation:
        return read_reply(reply, tool)


PLAIN = Plain()


class Watcher:
    """Says how a model is asked about a call, and is told what comes of it. This one has it asked
    once, plainly, and takes no note; a run has its own.
    """

    def begin(self, _: Refusal) -> Iterable[Asks]:
        """The ways in which a model may be asked about a refusal, one after the other until one
        gives another call; none where it is not to be asked. Only those that are needed are taken.
        """
        return (PLAIN,)

    def end(self, verdict: Verdict, asks: Asks | None) -> None:
        """Take note of what came of one way of asking; of what an error taught where that is
        None.
        """


class FailedCall(NamedTuple):
    """A call that was executed and failed. It is repaired where the diagnosis points at its
    arguments.
    """

    call: CheckedCall
    result: ToolResult
    diagnosis: Diagnosis

    @property
    def overlay(self) -> SchemaOverlay:
        """The overlay that the tool's own error states."""
        return self.diagnosis.overlay or SchemaOverlay((), "")

    @property
    def edits(self) -> tuple[Edit, ...]:
        """The changes before the call is checked again: in it, and in its tool's schema."""
        return (*self.call.edits, *self.overlay.edits(self.call.tool))


class Judged(NamedTuple):
    """The gate's verdict on a call, and the findings of its rules, located in the call's draft.
    ``given``: the arguments as a model gave them.
    """

    verdict: Verdict
    edits: Sequence[LocatedEdit] = ()
    given: JsonObject | str | None = None


@dataclass(slots=True)
class QuestionContext:
    """The context of both rules: the gate, where values may come from, and whom to ask within what.

    ``grant`` spends one of the run's budget B before each question. The check is the gate's:
    ``is_grounding`` says whether values of a call as it comes need a source too; what a model gives
    always does. ``prompt``: what all questions of the run share. With ``failed``, the calls are
    those of a call that was executed: right is only what the gate accepts and what differs from it.
    ``judged`` holds the verdict on every draft that was checked.
    """

    gate: Gate
    sources: ProvenanceIndex | None
    grant: Grant
    watcher: Watcher = field(default_factory=Watcher)
    is_grounding: bool = False
    failed: FailedCall | None = None
    questions: int = 1
    prompt: RunPrompt | None = None
    judged: dict[int, Judged] = field(default_factory=dict)

    @property
    def has(self) -> frozenset[Need]:
        """The schemas and a model, and the result of a call that failed."""
        return NEEDS_MODEL if self.failed is None else NEEDS_MODEL | NEEDS_RESULT

    def is_right(self, draft: Draft) -> bool:
        """Return True if the gate lets the call through, and a failed one is another one now."""
        sources, failed = self.sources if self.is_grounding else None, self.failed
        edits = () if failed is None else failed.edits
        verdict = self.judge(draft.id, draft.call, sources, edits).verdict
        return isinstance(verdict, CheckedCall) and (
            failed is None or verdict.arguments != failed.call.arguments
        )

    def is_open(self, _: Draft) -> bool:
        """Every draft: what matters is whether it is right."""
        return True

    def judge(
        self, id: int, call: ToolCall, sources: ProvenanceIndex | None, edits: tuple[Edit, ...]
    ) -> Judged:
        """The gate's verdict on a draft's call. ``edits`` led to it."""
        draft = Draft(id, call)
        self.judged[id] = Judged(self.gate.judge(draft, sources, edits), draft.edits)
        return self.judged[id]


def check_call(call: ToolCall, context: QuestionContext) -> Repair:
    """The gate's verdict on a call of a run, after the rules of a run. Asks a model within the
    context's budget; whatever it is given instead passes the gate.
    """
    failed = context.failed
    if failed is not None and not failed.diagnosis.points_at_arguments:
        found = (_build_violation(failed.diagnosis),)
        return Refusal(call, failed.call.tool, failed.call.arguments, found)
    drafts = Drafts((call,))
    yield from run_rules(RUN_RULES, drafts, context)
    return context.judged[drafts.order[0]].verdict


def _build_case(verdict: Verdict, failed: FailedCall | None) -> Case | None:
    """The question to a model about a draft that is not right; None where it could not repair it:
    for an unknown tool, and for identifiers that nothing contains, since the answer could only be
    another invention.
    """
    if failed is not None:
        return _build_failed_case(verdict, failed)
    if isinstance(verdict, CheckedCall) or verdict.tool is None:
        return None
    if not _is_askable(verdict.violations):
        return None
    given = verdict.call.arguments if verdict.arguments is None else verdict.arguments
    return Case(verdict.call, verdict.tool, given, verdict.message, verdict)


def _build_failed_case(verdict: Verdict, failed: FailedCall) -> Case:
    call, failure = failed.call, failed.result.failure
    again = ToolCall(call.id, call.tool.name, call.arguments, call.slot)
    tool, found = failed.overlay.apply(call.tool), (_build_violation(failed.diagnosis),)
    text = failed.diagnosis.message or (failure.message if failure else "")
    if isinstance(verdict, Refusal) and verdict.violations:
        text = f"{text}\n{verdict.message}"
    last = Refusal(again, tool, call.arguments, found, failed.edits)
    return Case(again, tool, call.arguments, text, last)


def _ask_model(
    id: int, case: Case, context: QuestionContext, asks: Asks
) -> Generator[ChatRequest, Reply, Judged]:
    last, left = case.last, context.questions
    while left:
        left -= 1
        if not context.grant():
            break
        reply = yield asks.question(case, context.sources)
        if reply is UNANSWERED:
            return Judged(case.last)
        arguments = asks.read(reply, case.tool)
        if isinstance(arguments, Violation):
            return Judged(replace(last, violations=(*last.violations, arguments)))
        copied = _copied_example(case, arguments, context.sources)
        if copied is not None:
            last = replace(last, violations=(*last.violations, copied))
            if not case.warned:
                said = f"{case.error}\n{copied.message}"
                case, left = replace(case, error=said, warned=True), left + 1
            continue
        changed = arguments != case.arguments
        marks = (Edit("", case.arguments, arguments, REPAIR_MODEL),) if changed else ()
        answered = replace(case.call, arguments=arguments)
        judged = context.judge(id, answered, context.sources, (*case.last.edits, *marks))
        if isinstance(judged.verdict, CheckedCall):
            return judged._replace(given=arguments)
        last = judged.verdict
        given = arguments if last.arguments is None else last.arguments
        case = replace(case, arguments=given, error=last.message)
    return Judged(last)


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


def render_value(case: Case) -> dict[str, str]:
    """Return the prompt variables that all repair prompts share."""
    return {
        "schema_summary": schema_summary(case.tool),
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


# ---------------------------------------------------------------- the rules

NEEDS_MODEL: frozenset[Need] = frozenset({"schema", "model"})
NEEDS_RESULT: frozenset[Need] = frozenset({"schema", "results"})


def follow_error(drafts: Drafts, context: QuestionContext) -> Change | None:
    """Check a call that failed by the schema as the tool's own error describes it (tier 1)."""
    failed, change = context.failed, Change()
    if failed is None:
        return None
    context.gate = context.gate.with_tool(failed.overlay.apply(failed.call.tool))
    for draft in drafts:
        for key, before, after in failed.overlay.changed_keys(failed.call.tool):
            change.list_edit(in_arguments(draft.id, key), before, after, OVERLAY)
        if is_valid_draft(draft, context):
            judged = context.judged[draft.id]
            context.watcher.end(judged.verdict, None)
            _take_verdict(change, draft, judged)
    return change if change else None


def ask_about_refused(drafts: Drafts, context: QuestionContext) -> Steps:
    """Ask about the arguments of each call that the check refuses, in order, as long as the budget
    grants it.
    """
    change = Change()
    for draft in select_drafts(drafts, context, "wrong"):
        before = context.judged[draft.id]
        case = _build_case(before.verdict, context.failed)
        if case is None:
            continue
        case = replace(case, prompt=context.prompt)
        judged = yield from _ask_in_ways(draft.id, case, context)
        context.judged[draft.id] = judged
        if isinstance(judged.verdict, CheckedCall):
            change.edits += before.edits
            if judged.given is not None and judged.given != case.arguments:
                place = in_arguments(draft.id)
                change.list_edit(place, case.arguments, judged.given, REPAIR_MODEL)
            _take_verdict(change, draft, judged)
    return change if change else None


def _ask_in_ways(
    id: int, case: Case, context: QuestionContext
) -> Generator[ChatRequest, Reply, Judged]:
    """Ask in one way after the other until one gives another call; what the last one gave."""
    judged = Judged(case.last)
    for asks in context.watcher.begin(case.last):
        judged = yield from _ask_model(id, case, context, asks)
        context.watcher.end(judged.verdict, asks)
        if judged.given is not None and judged.verdict.arguments != case.last.arguments:
            break
    return judged


def _take_verdict(change: Change, draft: Draft, judged: Judged) -> None:
    """Let a draft be the call that the gate let through."""
    change.edits += judged.edits
    if isinstance(judged.verdict, CheckedCall):
        change.calls[draft.id] = replace(draft.call, arguments=judged.verdict.arguments)
        change.right |= {draft.id}


QUESTION_RULES: tuple[Rule[QuestionContext], ...] = (
    Rule("repair_question", 600, ask_about_refused, NEEDS_MODEL, "wrong", AFTER_CALLS),
)
"""One question about what is still refused: what the proxy adds to its configuration."""
RUN_RULES: tuple[Rule[QuestionContext], ...] = order_rules(
    (reply_rule("learned_overlay", 500, follow_error, needs=NEEDS_RESULT), *QUESTION_RULES)
)
"""The configuration of a run: the gate's check, what a tool's own error taught, the question."""
