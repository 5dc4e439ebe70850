"""The calls of an answer as they are read: after the pipeline, and by a second reading."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import replace

from callwright.agent.call_key import make_call_key
from callwright.agent.leading.forms import read_guided_calls
from callwright.nouns.types import CheckedCall, Edit, JsonObject, Reply, ToolCall
from callwright.nouns.wire_names import EditRules
from callwright.proxy.session import followup
from callwright.proxy.session.answers.sse import json_bytes
from callwright.proxy.session.context import Context
from callwright.proxy.session.decision.decision import (
    AnswerCall,
    Decision,
    Found,
    Question,
    serialize_call,
)
from callwright.proxy.session.guard import make_meaning_key
from callwright.proxy.session.leading import guided
from callwright.proxy.session.refining import (
    LEFT_OUT,
    count_left_open,
    may_want_more,
    merge_readings,
    repair_answer,
)
from callwright.repair.gate import Refusal
from callwright.schema.coerce import pointer_join


def drop_duplicates(found: Sequence[Found], made: Decision) -> list[Found]:
    """Each call once: some servers deliver a call and leave its text in the answer as well."""
    if all(f.native >= 0 for f in found):
        return list(found)
    kept: list[Found] = []
    native = {make_call_key(f.call) for f in found if f.native >= 0}
    for place, one in enumerate(found):
        if one.native < 0 and make_call_key(one.call) in native:
            made.edits.append(Edit(f"/{place}", one.raw, None, EditRules.REPEATED_CALL))
        else:
            kept.append(one)
    return kept


def repair_calls(found: Sequence[Found], made: Decision, context: Context) -> list[AnswerCall]:
    """The calls after the pipeline. What it did and said is kept."""
    keep_equal = all(one.native >= 0 for one in found)
    drafts = repair_answer(
        [f.call for f in found], context, leave_out=context.leave_out, keep_equal=keep_equal
    )
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


def drop_restated(work: list[AnswerCall], made: Decision, context: Context) -> list[AnswerCall]:
    """Each call once, as the pipeline has made it. A call in the text goes if the upstream delivers
    the same call itself, or if the text holds it before in another format. In two formats a model
    states one call, unless the request surely asks for it more than once.
    """
    if all(one.found.native >= 0 for one in work):
        return work
    native = {make_meaning_key(one.call, one.verdict) for one in work if one.found.native >= 0}
    written: dict[str, str] = {}  # a call in the text -> the format in which it stands first
    kept: list[AnswerCall] = []
    for place, one in enumerate(work):
        if not one.found.dialect:
            kept.append(one)
            continue
        key = make_meaning_key(one.call, one.verdict)
        is_restated = written.setdefault(key, one.found.dialect) != one.found.dialect
        if key in native or (is_restated and _is_asked_once(one.call, context)):
            made.edits.append(Edit(f"/{place}", one.found.raw, None, EditRules.REPEATED_CALL))
        else:
            kept.append(one)
    return kept


def _is_asked_once(call: ToolCall, context: Context) -> bool:
    """Return True unless the request surely asks for a call more than once."""
    from callwright.repair.rules.equal_calls import count_asked

    return count_asked(call, context.query) == 1


def _is_different(after: JsonObject | str, before: JsonObject | str) -> bool:
    if isinstance(after, dict) and isinstance(before, str):
        return make_call_key(ToolCall("", "", before)) != make_call_key(ToolCall("", "", after))
    return after != before


def reread_by_schema(
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


def ask_for_open_wishes(
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
    told = json_bytes([serialize_call(w.call) for w in good]).decode()
    why = f"These calls serve only a part of the request: {told}. Call all that it needs now."
    reply = yield Question("more", followup.build_followup(why, "", context))
    new = keep_accepted(followup.read_calls(reply, context), Decision(), context)
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
    new = read_usable_calls(reply, context)
    if not new or not context.parallel or context.waiting:
        return new
    left = _count_open(good, new, context)
    if not left:
        return new
    reply = yield Question("more", guided.build_body(context, least=len(new) + 1))
    more = read_usable_calls(reply, context)
    return more if more and _count_open(good, more, context) < left else new


def _count_open(good: list[AnswerCall], new: list[AnswerCall], context: Context) -> int:
    """Return how much of the request stays open once these readings are joined."""
    joints = merge_readings([w.call for w in good], [w.call for w in new], context)
    return count_left_open([j.call for j in joints], context)


def read_usable_calls(reply: Reply, context: Context) -> list[AnswerCall]:
    """The calls of a reply by schema, without what nobody asked for, that the gate takes."""
    calls = read_guided_calls(reply.text, context.toolset.names)
    found = [Found(c, dialect="guided") for c in calls or ()]
    work = repair_calls(found, Decision(), replace(context, leave_out=True))
    return [w for w in work if isinstance(w.verdict, CheckedCall)]


def keep_accepted(calls: Sequence[ToolCall], made: Decision, context: Context) -> list[AnswerCall]:
    """The calls of a second answer that the gate takes."""
    work = repair_calls([Found(c) for c in calls], made, context)
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
        Edit(f"/{n}", None, serialize_call(w.call), EditRules.GUIDED_CALL)
        for n, w in enumerate(both)
        if w in new
    ]
    gone = [w for w in work if w not in both and w not in kept]
    for one in both:
        if one in new:
            one.refused = next(
                (get_refused_call(w) for w in gone if w.call.tool == one.call.tool), None
            )
    made.edits += [
        Edit(f"/{work.index(w)}", serialize_call(w.call), None, EditRules.GUIDED_CALL) for w in gone
    ]
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


def get_refused_call(one: AnswerCall) -> tuple[ToolCall, str] | None:
    return (one.found.call, one.verdict.message) if isinstance(one.verdict, Refusal) else None
