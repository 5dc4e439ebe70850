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

from collections.abc import Callable, Generator, Iterable
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
    Reply,
    Tool,
    ToolCall,
    ToolResult,
    to_canonical_json,
)
from callwright.parsing import parse_calls
from callwright.repair.diagnose import Diagnosis
from callwright.repair.draft import AFTER_CALLS, Change, Draft, Drafts, LocatedEdit
from callwright.repair.gate import Gate, Refusal
from callwright.repair.learned_overlay import OVERLAY
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

REPAIR_MODEL = "repair_model"  # the edit that lists what a model gave
_KNOWN_CHARS = 1_500
_ERROR_CHARS = 1_200
_MENDABLE = frozenset(
    {"placeholder", "record"}
)  # of what is ungrounded: a model can look it up in what is known
_HOPELESS = frozenset({"unknown_tool"})


@dataclass(frozen=True, slots=True)
class Case:
    """Case of a repair question; ``last`` is the verdict where nothing can be repaired."""

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


class Watcher(Protocol):
    """Whoever has a call repaired: says how a model is asked, and is told what comes of it."""

    def begin(self, refusal: Refusal, /) -> Iterable[Asks]:
        """The ways in which a model may be asked about a refusal, one after the other until one
        gives another call; none where it is not to be asked. Only those that are needed are taken.
        """

    def end(self, verdict: Verdict, asks: Asks | None, /) -> None:
        """Take note of what came of one way of asking; of what an error taught where that is
        None.
        """


class Plainly:
    """Asks once, plainly, about whatever is refused, and takes no note of it."""

    def begin(self, _: Refusal) -> Iterable[Asks]:
        return (PLAIN,)

    def end(self, _: Verdict, __: Asks | None) -> None:
        return


class FailedCall(NamedTuple):
    """A call that was executed and failed. It is repaired where the diagnosis points at its
    arguments.
    """

    call: CheckedCall
    result: ToolResult
    diagnosis: Diagnosis

    def learn_tool(self) -> Tool:
        """The tool as its own error describes it."""
        overlay = self.diagnosis.overlay
        return self.call.tool if overlay is None else overlay.apply(self.call.tool)


class Judged(NamedTuple):
    """What the gate says of a call, and what its rules did to it, located in the call's draft."""

    verdict: Verdict
    edits: list[LocatedEdit]


@dataclass(slots=True)
class QuestionContext:
    """The context of both rules: the gate, where values may come from, and whom to ask within what.

    ``grant`` spends one of the run's budget B before each question. The check is the gate's:
    ``is_grounding`` says whether values of a call as it comes need a source too; what a model gives
    always does. With ``failed``, the calls are those of a call that was executed: right is only
    what the gate accepts and what differs from it. ``judged`` holds the verdict on every draft.
    """

    gate: Gate
    sources: ProvenanceIndex | None
    grant: Grant
    watcher: Watcher = field(default_factory=Plainly)
    is_grounding: bool = False
    failed: FailedCall | None = None
    questions: int = 1
    judged: dict[int, Judged] = field(default_factory=dict)

    @property
    def has(self) -> frozenset[Need]:
        """The schemas and a model, and the result of a call that failed."""
        return NEEDS_MODEL if self.failed is None else NEEDS_MODEL | NEEDS_RESULT

    def is_right(self, draft: Draft) -> bool:
        """Whether the gate lets the call through, and a failed one is another one now."""
        self.judged.pop(draft.id, None)
        verdict = self.verdict_on(draft).verdict
        return isinstance(verdict, CheckedCall) and (
            self.failed is None or verdict.arguments != self.failed.call.arguments
        )

    def is_open(self, _: Draft) -> bool:
        """Every draft: what matters is whether it is right."""
        return True

    def verdict_on(self, draft: Draft) -> Judged:
        """What the gate says of a draft, asked once."""
        if draft.id in self.judged:
            return self.judged[draft.id]
        if self.failed is not None and not self.failed.diagnosis.points_at_arguments:
            return self._keep_refusal(draft, self.failed)
        sources = self.sources if self.is_grounding else None
        return self._judge(draft.id, draft.call, sources, self._edits_before())

    def judge_answer(self, id: int, case: Case, arguments: JsonObject | str) -> Judged:
        """What the gate says of the arguments that a model gave."""
        changed = arguments != case.arguments
        marks = (Edit("", case.arguments, arguments, REPAIR_MODEL),) if changed else ()
        answered = replace(case.call, arguments=arguments)
        return self._judge(id, answered, self.sources, (*case.last.edits, *marks))

    def build_case(self, draft: Draft) -> Case | None:
        """What a model can be asked about a refused draft; None where it could not mend it: for an
        unknown tool, and for identifiers that nothing contains, since the answer could only be
        another invention.
        """
        verdict = self.verdict_on(draft).verdict
        if self.failed is not None:
            is_askable = self.failed.diagnosis.points_at_arguments
            return self._build_failed_case(self.failed, draft, verdict) if is_askable else None
        if isinstance(verdict, CheckedCall) or verdict.tool is None:
            return None
        if not _is_askable(verdict.violations):
            return None
        given = verdict.call.arguments if verdict.arguments is None else verdict.arguments
        return Case(verdict.call, verdict.tool, given, verdict.message, verdict)

    def _build_failed_case(self, failed: FailedCall, draft: Draft, verdict: Verdict) -> Case:
        diagnosis, tool = failed.diagnosis, failed.learn_tool()
        found = (_build_violation(diagnosis),)
        last = Refusal(draft.call, tool, failed.call.arguments, found, self._edits_before())
        failure = failed.result.failure
        text = diagnosis.message or (failure.message if failure else "")
        if isinstance(verdict, Refusal) and verdict.violations:
            text = f"{text}\n{verdict.message}"
        return Case(draft.call, tool, failed.call.arguments, text, last)

    def _keep_refusal(self, draft: Draft, failed: FailedCall) -> Judged:
        """No other arguments mend what is not their fault."""
        found = (_build_violation(failed.diagnosis),)
        refusal = Refusal(draft.call, failed.call.tool, failed.call.arguments, found)
        self.judged[draft.id] = Judged(refusal, [])
        return self.judged[draft.id]

    def _edits_before(self) -> tuple[Edit, ...]:
        """The edits of a failed call, and of its schema, before it became a draft."""
        if self.failed is None:
            return ()
        call, overlay = self.failed.call, self.failed.diagnosis.overlay
        return (*call.edits, *(() if overlay is None else overlay.edits(call.tool)))

    def _judge(
        self,
        id: int,
        call: ToolCall,
        sources: ProvenanceIndex | None,
        edits: tuple[Edit, ...],
    ) -> Judged:
        draft = Draft(id, call)
        verdict = self.gate.judge(draft, sources, edits)
        self.judged[id] = Judged(verdict, draft.edits)
        return self.judged[id]


class Answer(NamedTuple):
    """What came of one question: the verdict, and what the model gave where it was judged."""

    verdict: Verdict
    given: JsonObject | str | None = None


def check_call(call: ToolCall, context: QuestionContext) -> Repair:
    """The gate's verdict on a call of a run, after the rules of a run. Asks a model within the
    context's budget; whatever it is given instead passes the gate.
    """
    drafts = Drafts((call,))
    yield from run_rules(RUN_RULES, drafts, context)
    return context.verdict_on(drafts[0]).verdict


def _ask_model(
    id: int, case: Case, context: QuestionContext, asks: Asks
) -> Generator[ChatRequest, Reply, Answer]:
    last, left = case.last, context.questions
    while left:
        left -= 1
        if not context.grant():
            return Answer(last)
        reply = yield asks.question(case, context.sources)
        if reply is UNANSWERED:
            return Answer(case.last)
        arguments = asks.read(reply, case.tool)
        if isinstance(arguments, Violation):
            return Answer(replace(last, violations=(*last.violations, arguments)))
        copied = _copied_example(case, arguments, context.sources)
        if copied is not None:
            last = replace(last, violations=(*last.violations, copied))
            if not case.warned:
                said = f"{case.error}\n{copied.message}"
                case, left = replace(case, error=said, warned=True), left + 1
            continue
        verdict = context.judge_answer(id, case, arguments).verdict
        if isinstance(verdict, CheckedCall):
            return Answer(verdict, arguments)
        last = verdict
        given = arguments if last.arguments is None else last.arguments
        case = replace(case, arguments=given, error=last.message)
    return Answer(last)


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


# ---------------------------------------------------------------- the rules

NEEDS_MODEL: frozenset[Need] = frozenset({"schema", "model"})
NEEDS_RESULT: frozenset[Need] = frozenset({"schema", "results"})


def follow_error(drafts: Drafts, context: QuestionContext) -> Change | None:
    """Check a call that failed by the schema as the tool's own error describes it (tier 1)."""
    failed = context.failed
    if failed is None:
        return None
    overlay, change = failed.diagnosis.overlay, Change()
    context.gate = context.gate.with_tool(failed.learn_tool())
    for draft in drafts:
        for key, before, after in [] if overlay is None else overlay.changed_keys(failed.call.tool):
            change.list_edit(in_arguments(draft.id, key), before, after, OVERLAY)
        if is_valid_draft(draft, context):
            verdict, edits = context.verdict_on(draft)
            context.watcher.end(verdict, None)
            change.edits += edits
            _take_verdict(change, draft, verdict)
    return change if change else None


def ask_about_refused(drafts: Drafts, context: QuestionContext) -> Steps:
    """Ask about the arguments of each call that the check refuses, in order, as long as the budget
    grants it.
    """
    change = Change()
    for draft in select_drafts(drafts, context, "wrong"):
        yield from _ask_in_ways(draft, context, change)
    return change if change else None


def _ask_in_ways(
    draft: Draft, context: QuestionContext, change: Change
) -> Generator[ChatRequest, Reply, None]:
    """Ask about one draft, in one way after the other until one gives another call."""
    refused, edits = context.verdict_on(draft)
    case = context.build_case(draft)
    if case is None:
        if isinstance(refused, Refusal):
            context.watcher.begin(refused)
        return
    ways, answer = context.watcher.begin(case.last), Answer(case.last)
    for asks in ways:
        answer = yield from _ask_model(draft.id, case, context, asks)
        context.watcher.end(answer.verdict, asks)
        if isinstance(answer.verdict, CheckedCall) and (
            answer.verdict.arguments != case.last.arguments
        ):
            break
    made = context.verdict_on(draft).edits
    context.judged[draft.id] = Judged(answer.verdict, made)
    if isinstance(answer.verdict, CheckedCall):
        change.edits += edits
        if answer.given != case.arguments:
            place = in_arguments(draft.id)
            change.list_edit(place, case.arguments, answer.given, REPAIR_MODEL)
        change.edits += made
        _take_verdict(change, draft, answer.verdict)


def _take_verdict(change: Change, draft: Draft, verdict: Verdict) -> None:
    """Let a draft be the call that the gate let through."""
    if isinstance(verdict, CheckedCall):
        change.calls[draft.id] = replace(draft.call, arguments=verdict.arguments)
        change.right.add(draft.id)


QUESTION_RULES: tuple[Rule[QuestionContext], ...] = (
    Rule("repair_question", 600, ask_about_refused, NEEDS_MODEL, "wrong", AFTER_CALLS),
)
"""One question about what is still refused: what the proxy adds to its configuration."""
RUN_RULES: tuple[Rule[QuestionContext], ...] = order_rules(
    (reply_rule("learned_overlay", 500, follow_error, needs=NEEDS_RESULT), *QUESTION_RULES)
)
"""The configuration of a run: the gate's check, what a tool's own error taught, the question."""
