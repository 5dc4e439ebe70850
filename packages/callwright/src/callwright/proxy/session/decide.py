"""Decides what the client gets for an answer's calls. A generator without I/O: it yields the body
of a question to the upstream and is sent the reply. It asks at most as often as the request's
budget grants.

Refine and gate come first. If the upstream's own calls do not work, a second reading by schema may
follow. It needs a refusal, or a request that seems to need more calls. Next come the client's
settings (``tool_choice``, ``parallel_tool_calls``). Last come loops, and writes that must not be
made (:mod:`callwright.proxy.session.guard`). A correct answer stays unchanged, to the byte.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal

from callwright.agent.safety.clear import ClearedCall, Denied
from callwright.nouns.errors import Violation
from callwright.nouns.protocols import ChatRequest
from callwright.nouns.types import CheckedCall, Edit, JsonObject, Reply, ToolCall
from callwright.nouns.wire_names import EditRule, EditRules
from callwright.parsing import parse_calls
from callwright.proxy.session import followup, guard, history, ids, words
from callwright.proxy.session.answers.sse import json_bytes
from callwright.proxy.session.context import Context
from callwright.proxy.session.guarding import HeldCall
from callwright.proxy.session.leading import guided, user_question
from callwright.proxy.session.model_rule import refine_calls
from callwright.proxy.session.refining import (
    LEFT_OUT,
    UNASKED,
    count_left_open,
    may_want_more,
    merge_readings,
    repair_answer,
)
from callwright.repair.by_model.question import QUESTION_RULES, QuestionContext
from callwright.repair.draft import Draft, Drafts
from callwright.repair.gate import Refusal
from callwright.repair.pipeline import run_rules
from callwright.repair.provenance.sources import ProvenanceIndex
from callwright.schema.coerce import pointer_join
from callwright.schema.value_edits import Pointer, drop_members, get_member, render_pointer

_MOST_SHARES = 256  # that are remembered of each list of tools
if TYPE_CHECKING:
    from callwright.proxy.session.leading.option_support import Option

GUIDED = EditRules.GUIDED_CALL  # the rule of calls that a second reading brought or took away
_WITHHELD: Mapping[str, EditRule] = {
    "repeated_write": EditRules.REPEATED_WRITE,
    "unstated_value": EditRules.UNSTATED_VALUE,
    "undoing_write": EditRules.UNDOING_WRITE,
}
"""The rules for which a call may not leave, of those that need no plan and no approval: the client
asks for approval. Any other is listed as a refusal.
"""


@dataclass(frozen=True, slots=True)
class Question:
    """A question of our own to the upstream. ``guided``: the calls by schema; ``more``: the same
    and one call more; ``words``: an answer without calls; ``repair``: the arguments of a refused
    call; ``again``: the request once more, with what is wrong; ``option``: one letter, for a value
    out of a list. ``refine``: all calls, put to the refiner as ``request``; without a body.

    ``read``: where the client waits for a stream, it is given all of the reply so far, and returns
    what has become certain since of the text that the client gets.
    """

    kind: Literal["guided", "more", "words", "repair", "again", "option", "refine"]
    body: JsonObject
    read: Callable[[str], str] | None = None
    request: ChatRequest | None = None


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
    were written. ``problems``: why calls are kept back.
    """

    calls: list[Sent] = field(default_factory=list)
    edits: list[Edit] = field(default_factory=list)
    violations: list[Violation] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    text: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    held: list[HeldCall] = field(default_factory=list)
    repaired: list[Repaired] = field(default_factory=list)
    asked: int = 0
    dialect: str = ""
    # "stop" was said beside calls: clients that go by finish_reason would not make them
    stopped: bool = False

    @property
    def untouched(self) -> bool:
        """Return True if the upstream's own bytes may go to the client."""
        return (
            not self.text
            and not self.edits
            and not self.stopped
            and all(s.same for s in self.calls)
        )

    def finish_reason(self, said: str = "", *, truncated: bool = False) -> str:
        """Return the upstream's finish reason, adapted to these calls; ``truncated``: a call was
        cut off in the text. Where one of the upstream's own was, its arguments are no object.
        """
        is_cut = truncated or any(isinstance(one.call.arguments, str) for one in self.calls)
        if self.calls and not (said == "length" and is_cut):
            return "tool_calls"
        if not self.calls and said in ("tool_calls", "function_call"):
            return "stop"
        return said or "stop"


def decide_calls(
    found: Sequence[Found], text: str, finish: str, context: Context, *, is_leading: bool = False
) -> DecisionSteps:
    """Decide on every call of an answer; ``text`` is what else it says, ``finish`` the upstream's
    finish_reason. ``is_leading``: where no call is left nobody is asked for another one or for
    words; whoever asked for these calls knows what comes next.
    """
    made = Decision(dialect=next((f.dialect for f in found if f.dialect), ""))
    repaired = _repair_calls(_drop_duplicates(found, made), made, context)
    if context.leave_out:
        yield from _restore_likely(repaired, made, context)
    repaired = _without_hallucinated_calls(repaired, text, made, context)
    repaired = yield from _reread_by_schema(repaired, finish, made, context)
    repaired = yield from _ask_for_open_wishes(repaired, finish, made, context)
    if finish != "length":  # a call that was cut off is never completed
        repaired = yield from _ask_refiner(repaired, made, context)
        repaired = yield from _ask_about_refused(repaired, made, context)
    work: list[AnswerCall] = _drop_disallowed(repaired, made, context)
    work = _drop_loops(work, made, context)
    _fill_from_results(work, made, context)
    _take_named_days(work, made, context)
    _leave_out_unstated(work, made, context)
    work, problem = _drop_withheld(work, made, context)
    work = _drop_further(work, made, context)
    made.problems += [problem] if problem else []
    if is_leading:
        pass
    elif not work and problem:
        work = yield from _ask_replacement(problem, text, made, context)
    elif not work and not text.strip() and any(e.rule == UNASKED for e in made.edits):
        yield from _ask_in_words(made, context)
    elif not work and (why := _explain_unusable(text, made, context)):
        work = yield from _ask_followup(why, text, finish, made, context)
    _add_calls(work, made, context)
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
    # optional arguments that no word states and that the conversation makes likelier
    likely: set[Pointer] = field(default_factory=set)

    def take(self, verdict: CheckedCall, arguments: JsonObject) -> None:
        """Have these arguments, which the gate lets through."""
        self.call, self.verdict = replace(self.call, arguments=arguments), verdict
        self.changed = True


def _drop_duplicates(found: Sequence[Found], made: Decision) -> list[Found]:
    """Each call once: some servers deliver a call and leave its text in the answer as well."""
    if all(f.native >= 0 for f in found):
        return list(found)
    kept: list[Found] = []
    native = {history.make_call_key(f.call) for f in found if f.native >= 0}
    for place, one in enumerate(found):
        if one.native < 0 and history.make_call_key(one.call) in native:
            made.edits.append(Edit(f"/{place}", one.raw, None, EditRules.REPEATED_CALL))
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
            or _is_different(call.arguments, before.call.arguments)
        )
        work.append(AnswerCall(before, call, verdict, changed))
    return work


def _fill_from_results(work: list[AnswerCall], made: Decision, context: Context) -> None:
    """Put the only identifier of the results that fits in the place of one that nothing states. Only
    where the reply was made to fill a schema: there a model writes some identifier at any rate.
    """
    if not context.leave_out or not context.state.results:
        return
    sources = context.sources
    for place, one in enumerate(work):
        grounded = context.toolset.gate.check(one.call, sources)
        if not isinstance(grounded, CheckedCall) or not isinstance(one.verdict, CheckedCall):
            continue
        fills = [edit for edit in grounded.edits if edit.rule == EditRules.FILL_FROM_RESULT]
        told = [(edit.before, edit.after) for edit in fills]
        before, after = one.verdict.arguments, grounded.arguments
        keys = [key for key in before if (before[key], after.get(key)) in told]
        filled = {**before, **{key: after[key] for key in keys}}
        if keys and (verdict := _check_with(one, filled, context)) is not None:
            one.take(verdict, filled)
            made.edits += _list_edits(place, keys, before, filled, EditRules.FILL_FROM_RESULT)


def _check_with(one: AnswerCall, arguments: JsonObject, context: Context) -> CheckedCall | None:
    """The gate's verdict on a call with other arguments; None where it refuses them."""
    verdict = context.toolset.gate.check(replace(one.call, arguments=arguments))
    return verdict if isinstance(verdict, CheckedCall) else None


def _list_edits(
    place: int, keys: Iterable[str], before: JsonObject, after: JsonObject, rule: EditRule
) -> list[Edit]:
    """The edits of these arguments of the call at a place of the answer."""
    at = f"/{place}/arguments"
    return [Edit(pointer_join(at, key), before.get(key), after.get(key), rule) for key in keys]


def _take_named_days(work: list[AnswerCall], made: Decision, context: Context) -> None:
    """Put the day that the user names by a word such as "tomorrow" in the place of another one;
    where the guard only reports, say so.
    """
    if context.guard == "off":
        return
    for place, (one, wrong) in enumerate(
        zip(work, guard.find_wrong_days(context, [w.call for w in work]), strict=True)
    ):
        if wrong is None or not isinstance(one.verdict, CheckedCall):
            continue
        if context.guard == "report":
            made.notes.append(f"would be {wrong.right}: '{wrong.key}' of '{one.call.tool}'")
            continue
        before = one.verdict.arguments
        named = {**before, wrong.key: wrong.right}
        if (verdict := _check_with(one, named, context)) is not None:
            one.take(verdict, named)
            made.edits += _list_edits(place, [wrong.key], before, named, EditRules.NAMED_DAY)


def _leave_out_unstated(work: list[AnswerCall], made: Decision, context: Context) -> None:
    """Take the optional values that nothing supports out of the calls, where their schemas hold so;
    where the guard only reports, say which.
    """
    if context.guard == "off":
        return
    unstated = guard.find_unstated_options(context, [one.call for one in work])
    gone = [_list_droppable(one, places) for one, places in zip(work, unstated, strict=True)]
    if not any(gone):
        return
    kept = [_drop(one, places) for one, places in zip(work, gone, strict=True)]
    told = {history.make_call_key(call) for m in context.messages for call in m.tool_calls}
    beside = Counter(history.make_call_key(call) for call in kept)
    for place, (one, call) in enumerate(zip(work, kept, strict=True)):
        key = history.make_call_key(call)
        if not gone[place] or key in told or beside[key] > 1:
            continue  # what tells a call from another of the same tool is meant
        _leave_out_of(one, gone[place], place, made, context)


def _list_droppable(one: AnswerCall, unstated: Iterable[Pointer]) -> list[Pointer]:
    is_valid = isinstance(one.verdict, CheckedCall)
    return [at for at in unstated if is_valid and at not in one.likely]


def _drop(one: AnswerCall, places: Sequence[Pointer]) -> ToolCall:
    """The call as the gate has it, without these values; the call itself where none goes."""
    if not places or not isinstance(one.verdict, CheckedCall):
        return one.call
    return replace(one.call, arguments=drop_members(one.verdict.arguments, places))


def _leave_out_of(
    one: AnswerCall, places: Sequence[Pointer], place: int, made: Decision, context: Context
) -> None:
    """Make the call what is kept of it, where its schema holds so."""
    if not isinstance(one.verdict, CheckedCall):
        return
    before = one.verdict.arguments
    after = drop_members(before, places)
    verdict = _check_with(one, after, context)
    if verdict is None:
        return
    if context.guard == "report":
        named = [".".join(map(str, at)) for at in places]
        made.notes += [f"would be left out: '{name}' of '{one.call.tool}'" for name in named]
        return
    one.take(verdict, after)
    made.edits += [
        Edit(f"/{place}/arguments{render_pointer(at)}", get_member(before, at), None, LEFT_OUT)
        for at in places
    ]


def _restore_likely(
    work: list[AnswerCall], made: Decision, context: Context
) -> Generator[Question, Reply, None]:
    """Put optional values of a list back that were left out because no word states them, where the
    conversation makes them likelier. Only an upstream that states probabilities can tell.
    """
    model = str(context.body.get("model"))
    is_left = "options" in context.settings.without or model in context.toolset.silent
    gone = {edit.path: edit for edit in made.edits if edit.rule == LEFT_OUT and edit.after is None}
    if not gone or is_left or context.holds_media:
        return
    from callwright.proxy.session.leading import option_support

    tools = {tool.name: tool for tool in context.toolset.tools}
    for place, one in enumerate(work):
        tool = tools.get(one.call.tool)
        at = f"/{place}/arguments/"
        left = {path.removeprefix(at): gone[path].before for path in gone if path.startswith(at)}
        if not left or tool is None or not isinstance(one.verdict, CheckedCall):
            continue
        for option in option_support.find_options(left, tool):
            gain = yield from _ask_gain(option, context)
            if gain is None:
                context.toolset.silent.add(model)
                return
            if gain >= option_support.LEAST_GAIN:
                _restore(one, option, made, gone.pop(at + option.key), context)


def _restore(one: AnswerCall, option: Option, made: Decision, edit: Edit, context: Context) -> None:
    given = {**one.verdict.arguments} if isinstance(one.verdict, CheckedCall) else {}
    restored = {**given, option.key: option.value}
    if (verdict := _check_with(one, restored, context)) is not None:
        one.take(verdict, restored)
        one.likely.add((option.key,))
        made.edits.remove(edit)
        made.notes.append(f"kept: '{option.key}' of '{one.call.tool}', which the request implies")


def _ask_gain(option: Option, context: Context) -> Generator[Question, Reply, float | None]:
    """The gain of a value by the conversation; None where the upstream states no probabilities."""
    from callwright.proxy.session.leading import option_support

    body = option_support.build_body(option, context, is_told=True)
    told = option_support.read_share((yield Question("option", body)), option)
    if told is None:
        return None
    body = option_support.build_body(option, context, is_told=False)
    key, known = f"{json_bytes(body).decode()} {option.value!r}", context.toolset.shares
    if key not in known:
        untold = option_support.read_share((yield Question("option", body)), option)
        if untold is None:
            return None
        while len(known) >= _MOST_SHARES:
            known.pop(next(iter(known)))
        known[key] = untold
    return option_support.compute_gain(told, known[key])


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
    made.edits += [
        Edit(f"/{n}", _serialize_call(w.call), None, UNASKED) for n, w in enumerate(work)
    ]
    made.violations.clear()
    return []


def _reread_by_schema(
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
    if len(good) == len(work) and not may_want_more([w.call for w in good], context):
        return work
    new = yield from _ask_by_schema(good, context)
    if not new:
        made.notes.append("read again by schema, without a usable call")
        return work
    return _join_readings(work, good, new, made, context)


def _ask_for_open_wishes(
    work: list[AnswerCall], finish: str, made: Decision, context: Context
) -> Generator[Question, Reply, list[AnswerCall]]:
    """The calls with what an upstream that is led by its own calls adds, where the request seems to
    want more than they serve. Like the second reading by schema it may only add, and is not counted
    against the budget.
    """
    is_asked = context.is_led_natively and "wishes" not in context.settings.without
    if not work or not is_asked or finish == "length":
        return work
    good = [w for w in work if isinstance(w.verdict, CheckedCall)]
    if len(good) < len(work) or not may_want_more([w.call for w in good], context):
        return work
    told = json_bytes([_serialize_call(w.call) for w in good]).decode()
    why = f"These calls serve only a part of the request: {told}. Call all that it needs now."
    reply = yield Question("more", followup.build_followup(why, "", context))
    new = _keep_accepted(followup.read_calls(reply, context), Decision(), context)
    if not new:
        made.notes.append("asked for more calls, without a usable one")
        return work
    return _join_readings(work, good, new, made, context)


def _ask_by_schema(
    good: list[AnswerCall], context: Context
) -> Generator[Question, Reply, list[AnswerCall]]:
    """The usable calls of a reading by schema. Where numbers or quotations of the request are still
    in no call, it is asked for one call more, because a small model stops too early; that is taken
    only if fewer are left then.
    """
    reply = yield Question("guided", guided.build_body(context))
    new = _read_usable_calls(reply, context)
    if not new or not context.parallel or context.waiting:
        return new
    left = _count_open(good, new, context)
    if not left:
        return new
    reply = yield Question("more", guided.build_body(context, least=len(new) + 1))
    more = _read_usable_calls(reply, context)
    return more if more and _count_open(good, more, context) < left else new


def _count_open(good: list[AnswerCall], new: list[AnswerCall], context: Context) -> int:
    """Return how much of the request stays open once these readings are joined."""
    joints = merge_readings([w.call for w in good], [w.call for w in new], context)
    return count_left_open([j.call for j in joints], context)


def _read_usable_calls(reply: Reply, context: Context) -> list[AnswerCall]:
    """The calls of a reply by schema, without what nobody asked for, that the gate takes."""
    calls = guided.read_guided_calls(reply.text, context.toolset.names)
    found = [Found(c, dialect="guided") for c in calls or ()]
    work = _repair_calls(found, Decision(), replace(context, leave_out=True))
    return [w for w in work if isinstance(w.verdict, CheckedCall)]


def _join_readings(
    work: list[AnswerCall],
    good: list[AnswerCall],
    new: list[AnswerCall],
    made: Decision,
    context: Context,
) -> list[AnswerCall]:
    """Return the good calls, those that the second reading adds, and the refused ones that nothing
    replaced.
    """
    joints = merge_readings([w.call for w in good], [w.call for w in new], context)
    both = [
        _drop_unsupported(good[j.first], j.call, n, made) if j.first >= 0 else new[j.second]
        for n, j in enumerate(joints)
    ]
    both = both or new  # better than what was refused
    added = {w.call.tool for w in both if w in new}
    replaced = {*added, *(context.waiting if added else ())}
    kept = [w for w in work if w not in good and w.call.tool not in replaced]
    made.edits += [
        Edit(f"/{n}", None, _serialize_call(w.call), GUIDED) for n, w in enumerate(both) if w in new
    ]
    gone = [w for w in work if w not in both and w not in kept]
    for one in both:
        if one in new:
            one.refused = next(
                (_get_refused_call(w) for w in gone if w.call.tool == one.call.tool), None
            )
    made.edits += [Edit(f"/{work.index(w)}", _serialize_call(w.call), None, GUIDED) for w in gone]
    if gone:  # what was said of calls that are no longer there
        made.violations = [
            v for w in kept if isinstance(w.verdict, Refusal) for v in w.verdict.violations
        ]
    return both + kept


def _drop_unsupported(one: AnswerCall, call: ToolCall, place: int, made: Decision) -> AnswerCall:
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


def _ask_in_words(
    made: Decision, context: Context, problem: str = ""
) -> Generator[Question, Reply, None]:
    """An answer in words in place of calls that nobody asked for, or that are not made because of a
    ``problem``. That is told where nothing else is said.
    """
    if not context.grant():
        made.notes.append("no budget to ask for an answer in words")
        made.text += [problem] if problem else []
        return
    unstated = [one for one in made.held if one.rule == "unstated_value"]
    if unstated and context.schema:  # held to a question, a reply cannot claim what was not done
        reply = yield Question("words", user_question.build_question(context, unstated))
        made.text.append(user_question.read_question(reply.text, context, unstated) or problem)
        return
    live = words.LiveWords(context)
    reply = yield Question("words", guided.build_body_in_words(context, problem), live.read)
    if live.said:
        made.text.append(live.close(reply.text))
        return
    parsed = parse_calls(reply.text, context.toolset.tools)
    if parsed.calls and parsed.text.strip():
        made.text.append(parsed.text)
    else:
        made.text.append(
            problem if problem and (parsed.calls or not reply.text.strip()) else reply.text
        )


def _get_refused_call(one: AnswerCall) -> tuple[ToolCall, str] | None:
    return (one.found.call, one.verdict.message) if isinstance(one.verdict, Refusal) else None


def _is_different(after: JsonObject | str, before: JsonObject | str) -> bool:
    if isinstance(after, dict) and isinstance(before, str):
        return history.make_call_key(ToolCall("", "", before)) != history.make_call_key(
            ToolCall("", "", after)
        )
    return after != before


def _ask_refiner(
    work: list[AnswerCall], made: Decision, context: Context
) -> Generator[Question, Reply, list[AnswerCall]]:
    """The calls after the pipeline's rule of a refiner, where the settings have one."""
    if context.settings.refiner is None or not work or context.choice == "none":
        return work
    steps = refine_calls([one.call for one in work], context)
    drafts = Drafts(())
    try:
        request = next(steps)
        while True:
            reply = yield Question("refine", {}, request=request)
            request = steps.send(reply)
    except StopIteration as end:
        drafts = end.value
    made.notes += [f"left alone: {a.reason}" for a in drafts.render_abstentions()]
    edits = drafts.render_edits()
    if not edits:
        return work
    made.edits += edits
    return [_take_draft(draft, work, context) for draft in drafts]


def _take_draft(draft: Draft, work: Sequence[AnswerCall], context: Context) -> AnswerCall:
    """The call of a draft that the refiner left; the one that it was made of, if that is the same."""
    call = draft.call
    before = work[draft.id] if draft.origin is not None else None
    if before is not None and (call.tool, call.arguments) == (
        before.call.tool,
        before.call.arguments,
    ):
        return before
    made = AnswerCall(
        before.found if before else Found(call), call, context.toolset.gate.check(call)
    )
    made.changed = True
    made.refused = None if before is None else _get_refused_call(before)
    return made


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
            reply = yield Question("repair", followup.build_question_body(request, context))
            request = steps.send(reply)
    except StopIteration:
        made.edits += drafts.render_edits()
    for one, draft in zip(work, drafts, strict=True):
        if draft.call is not one.call:
            one.refused = _get_refused_call(one)
            one.call, one.verdict, one.changed = draft.call, gate.check(draft.call), True
    return work


def _drop_disallowed(work: list[AnswerCall], made: Decision, context: Context) -> list[AnswerCall]:
    """Return the calls that the client's ``tool_choice`` allows."""
    kept: list[AnswerCall] = []
    for place, one in enumerate(work):
        if context.choice == "none":
            rule = EditRules.TOOL_CHOICE_NONE
        elif context.named and one.call.tool != context.named:
            rule = EditRules.TOOL_CHOICE_NAMED
        else:
            kept.append(one)
            continue
        made.edits.append(Edit(f"/{place}", _serialize_call(one.call), None, rule))
    return kept


def _drop_further(work: list[AnswerCall], made: Decision, context: Context) -> list[AnswerCall]:
    """Return the first call, where ``parallel_tool_calls`` allows no more. Those that are not made
    for another reason are gone by then.
    """
    if context.parallel:
        return work
    made.edits += [
        Edit(f"/{n}", _serialize_call(one.call), None, EditRules.NO_PARALLEL_CALLS)
        for n, one in enumerate(work[1:], 1)
    ]
    return work[:1]


def _drop_loops(work: list[AnswerCall], made: Decision, context: Context) -> list[AnswerCall]:
    """Without calls that were made before with the same arguments and failed every time."""
    stuck = {loop.call: loop for loop in context.loops}
    if not stuck:
        return work
    kept = []
    for place, one in enumerate(work):
        loop = stuck.get(history.make_call_key(one.call))
        if loop is None:
            kept.append(one)
            continue
        said = (
            f"The call of '{one.call.tool}' with these arguments has failed {loop.times} times in a"
            f" row and was not made again: {loop.said}"
        )
        made.edits.append(Edit(f"/{place}", _serialize_call(one.call), None, EditRules.LOOP))
        made.notes.append(said)
        made.text.append(said)
    return kept


def _drop_withheld(
    work: list[AnswerCall], made: Decision, context: Context
) -> tuple[list[AnswerCall], str]:
    """Without the writes that must not be made, and why they are not."""
    kept, problems = [], []
    cleared = guard.clear_calls(context, [w.call for w in work], [w.verdict for w in work])
    for place, (one, verdict) in enumerate(zip(work, cleared, strict=True)):
        if isinstance(verdict, Denied):
            is_sent = context.guard == "report"
            why = verdict.rule, verdict.reason, is_sent, verdict.meant, verdict.missing
            made.held.append(HeldCall(one.call, *why))
        if isinstance(verdict, Denied) and context.guard == "report":
            made.notes.append(f"would be kept back: {verdict.reason}")
        elif isinstance(verdict, Denied):
            rule = _WITHHELD.get(verdict.rule, EditRules.REFUSED)
            made.edits.append(Edit(f"/{place}", _serialize_call(one.call), None, rule))
            problems.append(verdict.reason)
            continue
        one.cleared = (
            verdict if not isinstance(verdict, Denied) else guard.pass_through(one.verdict)
        )
        kept.append(one)
    made.notes += problems
    return kept, " ".join(dict.fromkeys(problems))


def list_withheld(held: Iterable[HeldCall]) -> list[Edit]:
    """Return the edits for calls that were kept back in decisions that left no call."""
    return [
        Edit("", _serialize_call(one.call), None, _WITHHELD.get(one.rule, EditRules.REFUSED))
        for one in held
        if not one.is_sent
    ]


def _ask_replacement(
    problem: str, text: str, made: Decision, context: Context
) -> Generator[Question, Reply, list[AnswerCall]]:
    """Another call where the client insists on one, else an answer in words; where neither comes,
    the reason.
    """
    if not context.demanded:
        work = yield from _ask_for_meant(problem, made, context)
        if not work:
            yield from _ask_in_words(made, context, problem)
        return work
    if context.grant():
        made.asked += 1
        if context.schema:
            reply = yield Question("guided", guided.build_body(context, problem=problem))
            work = _read_usable_calls(reply, context)
        else:
            reply = yield Question("again", followup.build_followup(problem, text, context))
            work = _keep_accepted(followup.read_calls(reply, context), Decision(), context)
        trial = Decision()
        work, _ = _drop_withheld(_drop_disallowed(work, trial, context), trial, context)
        work = _drop_further(work, trial, context)
        made.held += trial.held
        made.edits += _list_asked_again(work)
        if work:
            return work
    made.text.append(problem)
    return []


def _ask_for_meant(
    problem: str, made: Decision, context: Context
) -> Generator[Question, Reply, list[AnswerCall]]:
    """The calls once more, where the user's words lead to other values; none where that does not
    help.
    """
    tools = guided.hold_to_meant(context.toolset.tools, made.held)
    if not tools or not context.schema or not context.grant():
        return []
    made.asked += 1
    body = guided.build_body(context, problem=problem, tools=tools, may_decline=False)
    work = _read_usable_calls((yield Question("guided", body)), context)
    trial = Decision()
    work, _ = _drop_withheld(_drop_disallowed(work, trial, context), trial, context)
    made.edits += _list_asked_again(work)
    return work


def _list_asked_again(work: Sequence[AnswerCall]) -> list[Edit]:
    """The edits for calls that came of a second question."""
    return [
        Edit(f"/{n}", None, _serialize_call(one.call), EditRules.ASKED_AGAIN)
        for n, one in enumerate(work)
    ]


def _explain_unusable(text: str, made: Decision, context: Context) -> str:
    """Return the reason why the present answer is not acceptable, or ""."""
    if any(e.rule == EditRules.LOOP for e in made.edits):
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


def _ask_followup(
    why: str, text: str, finish: str, made: Decision, context: Context
) -> Generator[Question, Reply, list[AnswerCall]]:
    """One question in the conversation itself; its calls are taken only if the gate lets them
    through.
    """
    if finish == "length" or not context.grant():
        made.notes.append(f"not asked again, no budget: {why}")
        return []
    made.asked += 1
    reply = yield Question("again", followup.build_followup(why, text, context))
    if context.choice == "none":
        made.text.append(reply.text)
        return []
    trial = Decision()
    work = _drop_disallowed(
        _keep_accepted(followup.read_calls(reply, context), trial, context), trial, context
    )
    work, _ = _drop_withheld(_drop_loops(work, trial, context), trial, context)
    work = _drop_further(work, trial, context)
    made.held += trial.held
    if not work:
        made.notes.append("asked again, without a usable call")
        return []
    made.edits += trial.edits
    made.edits += _list_asked_again(work)
    made.text.clear()
    return work


def _keep_accepted(calls: Sequence[ToolCall], made: Decision, context: Context) -> list[AnswerCall]:
    """The calls of a second answer that the gate takes."""
    work = _repair_calls([Found(c) for c in calls], made, context)
    return [w for w in work if isinstance(w.verdict, CheckedCall)]


def _add_calls(work: list[AnswerCall], made: Decision, context: Context) -> None:
    """Calls as the client gets them; what is no call of an offered tool, or no JSON object, is said
    in words.
    """
    taken: set[str] = set()
    for one in work:
        if _refuse_call(one, made, context):
            continue
        index = len(made.calls)
        same = one.found.native >= 0 and one.found.sound and not one.changed and not made.asked
        given = one.found.call.id if one.found.native >= 0 and not made.asked else ""
        own = bool(given) and given not in taken
        called = given if own else ids.make_call_id(context.seed, index, asked=bool(made.asked))
        taken.add(called)
        text = one.found.call.arguments if same else one.call.arguments
        text = text if isinstance(text, str) else json_bytes(text).decode()
        call = one.call if one.call.id == called else replace(one.call, id=called)
        made.calls.append(Sent(call, text, one.found.native, same and own, one.cleared))
        if one.refused is not None:
            made.repaired.append(Repaired(called, *one.refused))


def _refuse_call(one: AnswerCall, made: Decision, context: Context) -> bool:
    """Return True if a call is not sent to the client. A call that only its schema forbids is sent
    with a warning unless the settings differ. Its schema may be wrong, and the client's own check
    answers the model.
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
        made.edits.append(Edit("", _serialize_call(one.call), None, EditRules.UNKNOWN_TOOL))
        made.text.append(said)
        return True
    if context.settings.refused == "text" or (
        one.found.native < 0 and isinstance(one.call.arguments, str)
    ):
        made.edits.append(Edit("", _serialize_call(one.call), None, EditRules.REFUSED))
        made.text.append(f"The call of '{one.call.tool}' was refused. {one.verdict.message}")
        return True
    return False


def _serialize_call(call: ToolCall) -> JsonObject:
    return {"name": call.tool, "arguments": call.arguments}
