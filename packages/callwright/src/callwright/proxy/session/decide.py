"""What an answer's calls become before the client sees them. A generator without I/O: it yields the
body of a question to the upstream and is sent the reply, at most as often as the request's budget
grants.

Refine and gate first; then, of an upstream whose own calls do not work, a second reading by schema
where the first was refused or the request seems to want more; then what the client asked for
(``tool_choice``, ``parallel_tool_calls``); then loops, and writes that must not be made
(:mod:`callwright.proxy.session.guard`). What is right stays as it is, to the byte.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from callwright.agent.safety.clear import ClearedCall, Denied
from callwright.nouns.errors import Violation
from callwright.nouns.types import CheckedCall, Edit, JsonObject, Reply, ToolCall
from callwright.parsing import parse_calls
from callwright.proxy.session import followup, guard, guided, history, ids
from callwright.proxy.session.context import Context
from callwright.proxy.session.refining import (
    LEFT_OUT,
    UNASKED,
    left_open,
    read_twice,
    repair_answer,
    wants_more,
)
from callwright.proxy.session.sse import json_bytes
from callwright.repair.by_model.question import QUESTION_RULES, QuestionContext
from callwright.repair.draft import Drafts
from callwright.repair.gate import Refusal
from callwright.repair.pipeline import run_rules
from callwright.repair.provenance.sources import ProvenanceIndex
from callwright.schema.coerce import pointer_join

GUIDED = "guided_call"  # the rule of calls that a second reading brought or took away


@dataclass(frozen=True, slots=True)
class Question:
    """A question of our own to the upstream. ``guided``: the calls by schema; ``more``: the same
    and one call more; ``words``: an answer without calls; ``repair``: the arguments of a refused
    call; ``again``: the request once more, with what is wrong.
    """

    kind: Literal["guided", "more", "words", "repair", "again"]
    body: JsonObject


DecisionSteps = Generator[Question, Reply, "Decision"]


@dataclass(frozen=True, slots=True)
class Found:
    """One call of an answer. ``native``: its place among the calls that the upstream itself
    delivered, else -1.

    ``raw`` is the text it was read from; ``sound``: the upstream's own entry is well-formed.
    """

    call: ToolCall
    native: int = -1
    raw: str = ""
    dialect: str = ""
    sound: bool = True


@dataclass(frozen=True, slots=True)
class Sent:
    """One call for the client. ``same``: as the upstream delivered it, so its own entry is sent.
    ``cleared``: what lets it leave; None where it is passed through although the gate refused it.
    """

    call: ToolCall
    arguments: str
    native: int = -1
    same: bool = False
    cleared: ClearedCall | None = None


@dataclass(frozen=True, slots=True)
class Repaired:
    """A call that the gate refused as it was written, and what it said. ``id`` is that of the call
    sent for it.
    """

    id: str
    wrong: ToolCall
    refusal: str


@dataclass(slots=True)
class Decision:
    """The decision. ``text`` is added to the answer's text: refused calls, said in words or as they
    were written.
    """

    calls: list[Sent] = field(default_factory=list)
    edits: list[Edit] = field(default_factory=list)
    violations: list[Violation] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    text: list[str] = field(default_factory=list)
    repaired: list[Repaired] = field(default_factory=list)
    asked: int = 0
    dialect: str = ""
    # "stop" was said beside calls: clients that go by finish_reason would not make them
    stopped: bool = False

    @property
    def untouched(self) -> bool:
        """Whether the upstream's own bytes may go to the client."""
        return (
            not self.text
            and not self.edits
            and not self.stopped
            and all(s.same for s in self.calls)
        )

    def finish_reason(self, said: str = "", *, truncated: bool = False) -> str:
        """What the upstream said, as far as it suits these calls; ``truncated``: a call was cut off
        in the text.
        """
        if self.calls and not (said == "length" and truncated):
            return "tool_calls"
        if not self.calls and said in ("tool_calls", "function_call"):
            return "stop"
        return said or "stop"


def decide(found: Sequence[Found], text: str, finish: str, context: Context) -> DecisionSteps:
    """Decide on every call of an answer; ``text`` is what else it says, ``finish`` the upstream's
    finish_reason.
    """
    made = Decision(dialect=next((f.dialect for f in found if f.dialect), ""))
    repaired = _repair_calls(_whole(found, made), made, context)
    repaired = _without_hallucinated_calls(repaired, text, made, context)
    repaired = yield from _read_again(repaired, finish, made, context)
    asked = yield from _ask_about_refused(repaired, made, context)
    work: list[AnswerCall] = _allowed(asked, made, context)
    work = _without_loops(work, made, context)
    work, problem = _without_withheld(work, made, context)
    if not work and problem:
        work = yield from _instead(problem, text, made, context)
    elif not work and not text.strip() and any(e.rule == UNASKED for e in made.edits):
        yield from _in_words(made, context)
    elif not work and (why := _wanting(text, made, context)):
        work = yield from _ask_again(why, text, finish, made, context)
    _send(work, made, context)
    made.stopped = (
        bool(made.calls) and finish == "stop" and context.choice != "named"
    )  # there it is the rule
    return made


@dataclass(slots=True)
class AnswerCall:
    """A call of the answer: what the upstream delivered, what became of it, what the gate says of
    it.
    """

    found: Found
    call: ToolCall
    verdict: CheckedCall | Refusal
    changed: bool = False
    # as it was written when the gate refused it, and why
    refused: tuple[ToolCall, str] | None = None
    cleared: ClearedCall | None = None


def _whole(found: Sequence[Found], made: Decision) -> list[Found]:
    """Each call once: some servers deliver a call and leave its text in the answer as well."""
    if all(f.native >= 0 for f in found):
        return list(found)
    kept: list[Found] = []
    native = {history.key(f.call) for f in found if f.native >= 0}
    for place, one in enumerate(found):
        if one.native < 0 and history.key(one.call) in native:
            made.edits.append(Edit(f"/{place}", one.raw, None, "repeated_call"))
        else:
            kept.append(one)
    return kept


def _repair_calls(found: Sequence[Found], made: Decision, context: Context) -> list[AnswerCall]:
    """The calls after the pipeline. What it did and said is kept."""
    drafts = repair_answer([f.call for f in found], context, leave_out=context.leave_out)
    made.edits += drafts.render_edits()
    made.violations += drafts.render_violations()
    made.notes += [f"left alone: {a.reason}" for a in drafts.render_abstentions()]
    work: list[AnswerCall] = []
    for draft in drafts:
        call = draft.call
        # one that was split off, or added, is of our own making
        origin = draft.origin if draft.id == draft.origin else None
        before = Found(call) if origin is None else found[origin]
        verdict = context.toolset.gate.check(call)
        changed = (
            origin is None
            or call.tool != before.call.tool
            or _differs(call.arguments, before.call.arguments)
        )
        work.append(AnswerCall(before, call, verdict, changed))
    return work


def _without_hallucinated_calls(
    work: list[AnswerCall], text: str, made: Decision, context: Context
) -> list[AnswerCall]:
    """Without calls of tools that nobody offered, where there is nothing else and a better answer
    can be had.
    """
    hallucinated = all(isinstance(w.verdict, Refusal) and w.verdict.tool is None for w in work)
    if (
        not work
        or not hallucinated
        or text.strip()
        or context.native
        or context.demanded
        or context.toolset.opaque
    ):
        return work
    if not context.questions:
        return work
    made.edits += [Edit(f"/{n}", _shown(w.call), None, UNASKED) for n, w in enumerate(work)]
    made.violations.clear()
    return []


def _read_again(
    work: list[AnswerCall], finish: str, made: Decision, context: Context
) -> Generator[Question, Reply, list[AnswerCall]]:
    """The calls with what a second reading by schema adds, where the first was refused, cannot be
    made yet, or seems too short. Not counted against the budget: at most one, and how such an
    upstream is asked rather than asked again.
    """
    if not work or finish == "length" or not context.schema or context.native or context.leave_out:
        return work
    good = [
        w for w in work if isinstance(w.verdict, CheckedCall) and w.call.tool not in context.waiting
    ]
    if len(good) == len(work) and not wants_more([w.call for w in good], context):
        return work
    new = yield from _by_schema(good, context)
    if not new:
        made.notes.append("read again by schema, without a usable call")
        return work
    return _joined(work, good, new, made, context)


def _by_schema(
    good: list[AnswerCall], context: Context
) -> Generator[Question, Reply, list[AnswerCall]]:
    """The usable calls of a reading by schema. Where numbers or quotations of the request are still
    in no call, it is asked for one call more, because a small model stops too early; that is taken
    only if fewer are left then.
    """
    reply = yield Question("guided", guided.body(context))
    new = _usable(reply, context)
    if not new or not context.parallel or context.waiting:
        return new
    left = _open(good, new, context)
    if not left:
        return new
    reply = yield Question("more", guided.body(context, least=len(new) + 1))
    more = _usable(reply, context)
    return more if more and _open(good, more, context) < left else new


def _open(good: list[AnswerCall], new: list[AnswerCall], context: Context) -> int:
    """How much of the request stays open once these readings are joined."""
    joints = read_twice([w.call for w in good], [w.call for w in new], context)
    return left_open([j.call for j in joints], context)


def _usable(reply: Reply, context: Context) -> list[AnswerCall]:
    """The calls of a reply by schema, without what nobody asked for, that the gate takes."""
    calls = guided.calls_of(reply.text, context.toolset.names)
    found = [Found(c, dialect="guided") for c in calls or ()]
    work = _repair_calls(found, Decision(), replace(context, leave_out=True))
    return [w for w in work if isinstance(w.verdict, CheckedCall)]


def _joined(
    work: list[AnswerCall],
    good: list[AnswerCall],
    new: list[AnswerCall],
    made: Decision,
    context: Context,
) -> list[AnswerCall]:
    """What was good, what the second reading adds, and what was refused if nothing took its
    place.
    """
    joints = read_twice([w.call for w in good], [w.call for w in new], context)
    both = [
        _agreed(good[j.first], j.call, n, made) if j.first >= 0 else new[j.second]
        for n, j in enumerate(joints)
    ]
    both = both or new  # better than what was refused
    added = {w.call.tool for w in both if w in new}
    replaced = {*added, *(context.waiting if added else ())}
    kept = [w for w in work if w not in good and w.call.tool not in replaced]
    made.edits += [
        Edit(f"/{n}", None, _shown(w.call), GUIDED) for n, w in enumerate(both) if w in new
    ]
    gone = [w for w in work if w not in both and w not in kept]
    for one in both:
        if one in new:
            one.refused = next((_as_refused(w) for w in gone if w.call.tool == one.call.tool), None)
    made.edits += [Edit(f"/{work.index(w)}", _shown(w.call), None, GUIDED) for w in gone]
    if gone:  # what was said of calls that are no longer there
        made.violations = [
            v for w in kept if isinstance(w.verdict, Refusal) for v in w.verdict.violations
        ]
    return both + kept


def _agreed(one: AnswerCall, call: ToolCall, place: int, made: Decision) -> AnswerCall:
    """A call of the first reading without the optional values that neither the second nor anybody
    else has.
    """
    before, after = one.call.arguments, call.arguments
    if isinstance(before, dict) and isinstance(after, dict) and after != before:
        gone = [key for key in before if key not in after]
        made.edits += [
            Edit(pointer_join(f"/{place}/arguments", k), before[k], None, LEFT_OUT) for k in gone
        ]
        one.call, one.changed = replace(one.call, arguments=after), True
    return one


def _in_words(
    made: Decision, context: Context, problem: str = ""
) -> Generator[Question, Reply, None]:
    """An answer in words in place of calls that nobody asked for, or that are not made because of a
    ``problem``. That is told where nothing else is said.
    """
    if not context.grant():
        made.notes.append("no budget to ask for an answer in words")
        made.text += [problem] if problem else []
        return
    reply = yield Question("words", guided.body_in_words(context, problem))
    parsed = parse_calls(reply.text, context.toolset.tools)
    if parsed.calls and parsed.text.strip():
        made.text.append(parsed.text)
    else:
        made.text.append(
            problem if problem and (parsed.calls or not reply.text.strip()) else reply.text
        )


def _as_refused(one: AnswerCall) -> tuple[ToolCall, str] | None:
    return (one.found.call, one.verdict.message) if isinstance(one.verdict, Refusal) else None


def _differs(after: JsonObject | str, before: JsonObject | str) -> bool:
    if isinstance(after, dict) and isinstance(before, str):
        return history.key(ToolCall("", "", before)) != history.key(ToolCall("", "", after))
    return after != before


def _ask_about_refused(
    work: list[AnswerCall], made: Decision, context: Context
) -> Generator[Question, Reply, list[AnswerCall]]:
    """The calls after the pipeline's question about those that are refused: each question goes to
    the upstream.
    """
    if all(isinstance(one.verdict, CheckedCall) for one in work):
        return work
    drafts, gate = Drafts(one.call for one in work), context.toolset.gate
    sources = ProvenanceIndex(context.query, context.messages)
    steps = run_rules(QUESTION_RULES, drafts, QuestionContext(gate, sources, context.grant))
    try:
        request = next(steps)
        while True:
            made.asked += 1
            reply = yield Question("repair", followup.body_of(request, context))
            request = steps.send(reply)
    except StopIteration:
        made.edits += drafts.render_edits()
    for one, draft in zip(work, drafts, strict=True):
        if draft.call is not one.call:
            one.refused = _as_refused(one)
            one.call, one.verdict, one.changed = draft.call, gate.check(draft.call), True
    return work


def _allowed(work: list[AnswerCall], made: Decision, context: Context) -> list[AnswerCall]:
    """What the client's ``tool_choice`` and ``parallel_tool_calls`` allow."""
    kept: list[AnswerCall] = []
    for place, one in enumerate(work):
        if context.choice == "none":
            rule = "tool_choice_none"
        elif context.named and one.call.tool != context.named:
            rule = "tool_choice_named"
        elif not context.parallel and kept:
            rule = "no_parallel_calls"
        else:
            kept.append(one)
            continue
        made.edits.append(Edit(f"/{place}", _shown(one.call), None, rule))
    return kept


def _without_loops(work: list[AnswerCall], made: Decision, context: Context) -> list[AnswerCall]:
    """Without calls that were made before with the same arguments and failed every time."""
    stuck = {loop.call: loop for loop in context.loops}
    if not stuck:
        return work
    kept = []
    for place, one in enumerate(work):
        loop = stuck.get(history.key(one.call))
        if loop is None:
            kept.append(one)
            continue
        said = (
            f"The call of '{one.call.tool}' with these arguments has failed {loop.times} times in a"
            f" row and was not made again: {loop.said}"
        )
        made.edits.append(Edit(f"/{place}", _shown(one.call), None, "loop"))
        made.notes.append(said)
        made.text.append(said)
    return kept


def _without_withheld(
    work: list[AnswerCall], made: Decision, context: Context
) -> tuple[list[AnswerCall], str]:
    """Without the writes that must not be made, and why they are not."""
    kept, problems = [], []
    cleared = guard.of(context, [w.call for w in work], [w.verdict for w in work])
    for place, (one, verdict) in enumerate(zip(work, cleared, strict=True)):
        if isinstance(verdict, Denied):
            made.edits.append(Edit(f"/{place}", _shown(one.call), None, verdict.rule))
            problems.append(verdict.reason)
            continue
        one.cleared = verdict
        kept.append(one)
    made.notes += problems
    return kept, " ".join(dict.fromkeys(problems))


def _instead(
    problem: str, text: str, made: Decision, context: Context
) -> Generator[Question, Reply, list[AnswerCall]]:
    """Another call where the client insists on one, else an answer in words; where neither comes,
    the reason.
    """
    if not context.demanded:
        yield from _in_words(made, context, problem)
        return []
    if context.grant():
        made.asked += 1
        if context.schema:
            reply = yield Question("guided", guided.body(context, problem=problem))
            work = _usable(reply, context)
        else:
            reply = yield Question("again", followup.question(problem, text, context))
            work = _taken(followup.calls_of(reply, context), Decision(), context)
        work, _ = _without_withheld(_allowed(work, Decision(), context), Decision(), context)
        made.edits += [
            Edit(f"/{n}", None, _shown(w.call), "asked_again") for n, w in enumerate(work)
        ]
        if work:
            return work
    made.text.append(problem)
    return []


def _wanting(text: str, made: Decision, context: Context) -> str:
    """Why the answer will not do as it is now, or ""."""
    if any(e.rule == "loop" for e in made.edits):
        return (
            f"{made.notes[-1]} Do something else: other arguments, another tool, or tell the user"
            " what is wrong."
        )
    if context.choice == "named":
        return f"You must call the tool '{context.named}' now."
    if context.choice == "required":
        return "You must call at least one of the tools now."
    if context.choice == "none" and made.edits and not text.strip():
        return "Tools must not be called now: answer in words."
    return ""


def _ask_again(
    why: str, text: str, finish: str, made: Decision, context: Context
) -> Generator[Question, Reply, list[AnswerCall]]:
    """One question in the conversation itself; its calls are taken only if the gate lets them
    through.
    """
    if finish == "length" or not context.grant():
        made.notes.append(f"not asked again, no budget: {why}")
        return []
    made.asked += 1
    reply = yield Question("again", followup.question(why, text, context))
    if context.choice == "none":
        made.text.append(reply.text)
        return []
    trial = Decision()
    work = _allowed(_taken(followup.calls_of(reply, context), trial, context), trial, context)
    work, _ = _without_withheld(_without_loops(work, trial, context), trial, context)
    if not work:
        made.notes.append("asked again, without a usable call")
        return []
    made.edits += trial.edits
    made.edits += [Edit(f"/{n}", None, _shown(w.call), "asked_again") for n, w in enumerate(work)]
    made.text.clear()
    return work


def _taken(calls: Sequence[ToolCall], made: Decision, context: Context) -> list[AnswerCall]:
    """The calls of a second answer that the gate takes."""
    work = _repair_calls([Found(c) for c in calls], made, context)
    return [w for w in work if isinstance(w.verdict, CheckedCall)]


def _send(work: list[AnswerCall], made: Decision, context: Context) -> None:
    """Calls as the client gets them; what is no call of an offered tool, or no JSON object, is said
    in words.
    """
    taken: set[str] = set()
    for one in work:
        if _refuse(one, made, context):
            continue
        index = len(made.calls)
        same = one.found.native >= 0 and one.found.sound and not one.changed and not made.asked
        given = one.found.call.id if one.found.native >= 0 and not made.asked else ""
        own = bool(given) and given not in taken
        called = given if own else ids.call_id(context.seed, index, asked=bool(made.asked))
        taken.add(called)
        text = one.found.call.arguments if same else one.call.arguments
        text = text if isinstance(text, str) else json_bytes(text).decode()
        call = one.call if one.call.id == called else replace(one.call, id=called)
        made.calls.append(Sent(call, text, one.found.native, same and own, one.cleared))
        if one.refused is not None:
            made.repaired.append(Repaired(called, *one.refused))


def _refuse(one: AnswerCall, made: Decision, context: Context) -> bool:
    """Whether a call does not go out. One that only its schema forbids goes out with a warning
    unless told otherwise: its schema may be wrong, and the client's own check answers the model.
    """
    if isinstance(one.verdict, CheckedCall):
        return False
    made.violations += [
        v for v in one.verdict.violations if v.message not in {m.message for m in made.violations}
    ]
    if one.verdict.tool is None:
        if context.toolset.opaque:
            return False
        names = ", ".join(sorted(context.toolset.names))
        said = f"The model called '{one.call.tool}', which is not among the offered tools: {names}."
        made.edits.append(Edit("", _shown(one.call), None, "unknown_tool"))
        made.text.append(said)
        return True
    if context.settings.refused == "text" or (
        one.found.native < 0 and isinstance(one.call.arguments, str)
    ):
        made.edits.append(Edit("", _shown(one.call), None, "refused"))
        made.text.append(f"The call of '{one.call.tool}' was refused. {one.verdict.message}")
        return True
    return False


def _shown(call: ToolCall) -> JsonObject:
    return {"name": call.tool, "arguments": call.arguments}
