"""One round of a turn: the policy is carried on until calls are made, by whoever makes them.

Between the policy's decision and the calls stands what is the same for every driver. Equal calls
are made once unless they are meant again. A write to a record that the request does not name is
asked about. A call that was held because the user's words lead to another value, or may, is asked
for once more, before other tools have their turn: a small model takes one of those in the place of
the right one. What would destroy another record than the one that the request names is not called.
"""

from __future__ import annotations

import re
from collections.abc import Container, Sequence

from callwright import prompts
from callwright.agent.leading.agreement import LEAST_SHARE as LEAST_AGREEMENT
from callwright.agent.leading.agreement import SURE_SHARE as SURE_AGREEMENT
from callwright.agent.leading.agreement import ask_agreement
from callwright.agent.leading.aim import SURE_DEED, ask_aim, asks_to_know
from callwright.agent.leading.early_calls import is_plain_lookup
from callwright.agent.leading.forms import hold_to_meant
from callwright.agent.leading.led_context import LedContext
from callwright.agent.leading.mistaken import find_asked
from callwright.agent.leading.policy import LeadPolicy, make_call_key
from callwright.agent.leading.returned import Unlisted, find_unlisted
from callwright.agent.leading.unasked import Doubt, ask_share, find_doubt, list_values
from callwright.agent.safety.held_call import OTHER_RECORD, UNASKED_WRITE, HeldCall
from callwright.agent.safety.repeats import asks_user, only_thanks
from callwright.agent.step import Execute, Returned, Steps
from callwright.dataflow.prerequisites import list_reads
from callwright.language.detect import language_of
from callwright.language.questions import only_asks_to_be_told
from callwright.language.thanks import is_only_greeting
from callwright.language.tokens import holds_unparted, split_identifier, split_tokens
from callwright.nouns.types import Json, Message, Skip, Tool, ToolCall
from callwright.repair.provenance.readable import reads_english
from callwright.repair.provenance.records import (
    OtherRecord,
    find_other_record,
    is_named,
    iter_records,
    list_made,
    shorten_record,
)
from callwright.repair.provenance.sources import ProvenanceIndex

_UNASKED = "the request does not ask for it"
_SHORT = 4  # words of a message that says nothing without the one before
_TELLING = 4  # letters of a word that tells of what a record speaks
_BEFORE = 300  # characters of that one


def asks_for_nothing(query: str, conversation: Sequence[Message]) -> bool:
    """Return True if the user only greets, or only thanks, and not for the offer in a question."""
    return is_only_greeting(query) or only_thanks(query, conversation)


def take_round(policy: LeadPolicy, context: LedContext) -> Steps[bool]:
    """Carry the policy on to its next calls. Returns False where it ends without any."""
    context.begin_round()
    return (yield from carry_on(policy.steps(context), policy, context))


def carry_on(steps: Steps[None], policy: LeadPolicy, context: LedContext) -> Steps[bool]:
    """The same of steps that have begun already, or that follow a round."""
    try:
        action = next(steps)
        while True:
            if not isinstance(action, Execute):
                action = steps.send((yield action))
                continue
            if (yield from _make_calls(action, policy, context)):
                return True
            action = steps.send(Returned([]))
    except StopIteration:
        return False
    finally:
        context.offered = policy.tools
        steps.close()


def _make_calls(action: Execute, policy: LeadPolicy, context: LedContext) -> Steps[bool]:
    """Have the calls of an action made, as far as they are meant. Returns True if any was."""
    calls = context.pick_meant(action.calls)
    calls = yield from _leave_out_denied(calls, context)
    calls = yield from _leave_out_unasked(calls, policy.wanted, context)
    calls = yield from _replace_mistaken(calls, policy, context)
    calls = yield from _ask_for_returned(calls, policy, context)
    calls = yield from _ask_for_named(calls, context)
    calls = yield from context.leave_out_unlikely(calls)
    calls = _hold_unnamed(calls, context)
    if calls and (yield from _have_made(calls, action, policy, context)):
        return True
    return (yield from _ask_for_meant(action, policy, context))


def _have_made(
    calls: Sequence[ToolCall], action: Execute, policy: LeadPolicy, context: LedContext
) -> Steps[bool]:
    made: list[ToolCall] = []
    for group in context.group_calls(calls):
        came: Returned = yield action._replace(calls=group)
        context.held += came.held
        made += came.left
        made += [ToolCall(one.id, one.tool, one.arguments) for one in came.results]
    if not made:
        return False
    if len(made) >= len(context.stated):
        context.wishes = context.wishes or context.stated
    lacking = [one for one in context.held if one.is_unstated and not one.meant]
    policy.intend([(one.call, one.missing) for one in lacking], made)
    return True


def _ask_for_meant(action: Execute, policy: LeadPolicy, context: LedContext) -> Steps[bool]:
    """Ask once more for calls with another day or number than the user's words lead to, or with one
    from nowhere where the request names a number that the call does not hold.
    """
    meant = [one for one in context.held if one.meant]
    wrong = meant or _list_misread(context)
    tools = hold_to_meant(policy.tools, meant) or _pick_tools(policy.tools, wrong)
    if not tools or context.is_asked_again:
        return False
    problem = " ".join(dict.fromkeys(one.reason for one in wrong))
    # where two days may be meant, a small model takes both
    calls = yield from _ask_again(problem, tools, context, may_decline=not meant, most=len(wrong))
    calls = _hold_unnamed((yield from context.leave_out_unlikely(calls)), context)
    return bool(calls) and (yield from _have_made(calls, action, policy, context))


def _list_misread(context: LedContext) -> list[HeldCall]:
    """The calls with a value from nowhere in whose place a number of the request may be meant."""
    from callwright.repair.rules.equal_calls import names_other_number

    return [
        one
        for one in context.held
        if one.is_unstated and names_other_number(one.call, context.query)
    ]


def _pick_tools(tools: Sequence[Tool], held: Sequence[HeldCall]) -> tuple[Tool, ...]:
    names = {one.call.tool for one in held}
    return tuple(tool for tool in tools if tool.name in names)


def _leave_out_denied(
    calls: tuple[ToolCall, ...], context: LedContext
) -> Steps[tuple[ToolCall, ...]]:
    """The calls without declared writes that the assistant asked about and to which the user's
    answer is a no. Those to which it may be one, or which it names, are held.
    """
    writes = {tool.name for tool in context.tools if tool.effects.declares_write}
    doubted = [call for call in calls if call.tool in writes and _was_asked_about(call, context)]
    if not doubted or not context.leaves_out_unasked:
        return calls
    question = _get_last_words(context)
    share = yield from ask_agreement(question, context.query, context.ask_letter)
    if share is None or share >= SURE_AGREEMENT:
        return calls
    said = ProvenanceIndex(context.query)
    for call in doubted:
        reason = f"'{call.tool}' was not called: the user did not say yes to it"
        if share >= LEAST_AGREEMENT or any(map(said.holds, list_values(call.arguments))):
            context.held.append(HeldCall(call, UNASKED_WRITE, reason))
        context.facts.skip([Skip(call.tool, reason, refused=True)])
        context.trace.add("note", text=f"left out: {reason}")
    return tuple(call for call in calls if call not in doubted)


def _leave_out_unasked(
    calls: tuple[ToolCall, ...], wanted: Container[str], context: LedContext
) -> Steps[tuple[ToolCall, ...]]:
    """The calls without the writes behind others that nobody asked for; those of which only the
    user can tell are held, unless the user only asks to be told something. A write that a stated
    wish is for was asked for. Nothing is doubted that the user answers a question about, or that
    the instructions name.
    """
    if not context.leaves_out_unasked:
        return calls
    shares: dict[str, float | None] = {}
    kept: list[ToolCall] = []
    for call in calls:
        doubt, is_told = yield from _find_doubt(call, wanted, context)
        if doubt is not None and call.tool not in shares:
            shares[call.tool] = yield from ask_share(
                doubt, _tell_request(context), context.ask_letter
            )
        share = shares.get(call.tool)
        is_unasked = is_told if share is None else doubt is not None and share < doubt.sure
        if doubt is None or not is_unasked:
            kept.append(call)
        elif is_told or (share is not None and share < doubt.least):
            _leave_out(call, _UNASKED, context)
        else:
            context.held.append(HeldCall(call, UNASKED_WRITE, doubt.render()))
            context.facts.skip([Skip(call.tool, doubt.render(), refused=True)])
    return tuple(kept)


def _find_doubt(
    call: ToolCall, wanted: Container[str], context: LedContext
) -> Steps[tuple[Doubt | None, bool]]:
    """The doubt about a call, and whether the user only asks to be told something. A request for a
    deed is doubted only where one was done.
    """
    told = find_doubt(call, context.wishes, context, is_told=True)
    if told is None or _is_beyond_doubt(call, context):
        return None, False
    if (yield from asks_to_know(context.query, context.ask_letter)):
        return told, True
    doubt = find_doubt(call, context.wishes, context) if call.tool not in wanted else None
    if doubt is not None and not doubt.is_beside:
        share = yield from ask_aim(_tell_request(context), context.ask_letter)
        doubt = doubt if share is None or share < SURE_DEED else None
    return doubt, False


def _replace_mistaken(
    calls: tuple[ToolCall, ...], policy: LeadPolicy, context: LedContext
) -> Steps[tuple[ToolCall, ...]]:
    """The calls without a declared write in the place of another one that the request surely asks
    for, as long as nothing was written. Where the user only asks to be told something, the right
    lookup is called in the place of a first wrong one.
    """
    if not context.leaves_out_unasked or context.has_written():
        return calls
    is_told = only_asks_to_be_told(context.query) and not context.facts.results
    writes = tuple(tool for tool in policy.tools if tool.effects.declares_write)
    reads = list_reads(policy.tools) if is_told else set[str]()
    lookups = tuple(tool for tool in policy.tools if tool.name in reads)
    kept: list[ToolCall] = []
    better: dict[str, Tool] = {}
    for call in calls:
        group = next((g for g in (writes, lookups) if call.tool in {t.name for t in g}), ())
        asked = None
        if group and not _is_beyond_doubt(call, context):
            called = next(tool for tool in group if tool.name == call.tool)
            text, wishes = _tell_request(context), context.stated
            asked = yield from find_asked(called, group, text, wishes, context.ask_letter)
        if asked is None:
            kept.append(call)
        else:
            _leave_out(call, f"the request asks for '{asked.name}'", context)
            better.setdefault(asked.name, asked)
    for tool in better.values():
        if tool in lookups and tool.name not in {call.tool for call in kept}:
            kept += yield from _look_up(tool, context)
    return tuple(kept)


def _look_up(tool: Tool, context: LedContext) -> Steps[tuple[ToolCall, ...]]:
    if is_plain_lookup(tool):
        return (ToolCall("", tool.name, {}),)
    return (yield from _ask_again(f"The request asks for {tool.name}.", (tool,), context))


def _leave_out(call: ToolCall, reason: str, context: LedContext) -> None:
    context.facts.skip([Skip(call.tool, reason)])
    context.trace.add("note", text=f"left out: a call of '{call.tool}': {reason}")


def _is_beyond_doubt(call: ToolCall, context: LedContext) -> bool:
    """Return True if the user answers a question about a call, or the instructions name its tool."""
    return _was_asked_about(call, context) or _is_ordered(call, context)


def _is_ordered(call: ToolCall, context: LedContext) -> bool:
    """Return True if the instructions of the conversation name the call's tool: they may ask for it
    whatever the user says.
    """
    told = (message.content for message in context.conversation if message.role == "system")
    return any(_stands_in(call.tool, text) for text in told)


def _was_asked_about(call: ToolCall, context: LedContext) -> bool:
    """Return True if the user answers a question that names the call's tool, or all that the call
    holds: each value or, of an identifier, a text of its record. Yes, no and longer texts name
    nothing.
    """
    if not asks_user(context.conversation):
        return False
    words = _get_last_words(context)
    if _stands_in(call.tool, words):
        return True
    asked, values = ProvenanceIndex(words), list_values(call.arguments)
    naming = [v for v in values if not isinstance(v, str) or 0 < len(split_tokens(v)) <= _SHORT]
    return bool(naming) and all(_is_in_question(value, asked, context) for value in naming)


def _is_in_question(value: Json, asked: ProvenanceIndex, context: LedContext) -> bool:
    if _stands_in(str(value), _get_last_words(context)):
        return True
    results = (*context.facts.state.earlier, *context.facts.results)
    records = (one for result in results for one in iter_records(result.content))
    return any(is_named(one, asked) for one in records if value in one.values())


def _stands_in(text: str, words: str) -> bool:
    """Return True if a text stands in words as it is, no part of a longer word, number or time."""
    if holds_unparted(text):
        return text in words
    return re.search(rf"(?<![\w:.]){re.escape(text)}(?![\w:])", words, re.IGNORECASE) is not None


def _tell_request(context: LedContext) -> str:
    """The request as the one question about it shows it: an answer, and a message of few words,
    with what was said before it.
    """
    is_short = len(split_tokens(context.query)) <= _SHORT
    before = _get_last_words(context)[-_BEFORE:]
    is_answer = is_short or asks_user(context.conversation)
    return f"{before}\n{context.query}" if before and is_answer else context.query


def _get_last_words(context: LedContext) -> str:
    said = [m.content for m in context.conversation if m.role == "assistant" and m.content]
    return said[-1] if said else ""


def _ask_for_returned(
    calls: tuple[ToolCall, ...], policy: LeadPolicy, context: LedContext
) -> Steps[tuple[ToolCall, ...]]:
    """The calls with identifiers that lookups of this turn returned: that of the record which the
    call names, or the one that the model takes of all.
    """
    kept: list[ToolCall] = []
    wrong: dict[str, Unlisted] = {}
    for call in calls:
        unlisted = find_unlisted(call, context)
        meant = unlisted.resolve() if unlisted is not None else None
        is_twice = meant is not None and make_call_key(meant) in map(make_call_key, kept)
        kept += [] if is_twice else [meant or call]
        if unlisted is not None and meant is None and not context.is_said(unlisted.value):
            wrong[make_call_key(call)] = unlisted
    if not wrong or context.is_asked_again:
        return tuple(kept)
    held = [
        HeldCall(one.call, "", one.render(), meant=one.ids, missing=(one.key,))
        for one in wrong.values()
    ]
    problem = " ".join(one.reason for one in held)
    tools = hold_to_meant(policy.tools, held)
    found = yield from _ask_again(problem, tools, context, most=len(wrong))
    if not found:
        return tuple(kept)
    return (*(call for call in kept if make_call_key(call) not in wrong), *found)


def _ask_for_named(calls: tuple[ToolCall, ...], context: LedContext) -> Steps[tuple[ToolCall, ...]]:
    """The calls, but for a write to a record that the request does not name, beside one that it
    names: what the model makes of that, or the call as it is where it keeps to it.
    """
    reads = list_reads(context.tools)
    writes = {tool.name: tool for tool in context.tools if tool.name not in reads}
    given = [call for call in calls if call.tool in writes]
    if len(given) != 1 or context.is_asked_again:
        return calls
    other = _find_unnamed(given[0], context)
    if other is None:
        return calls
    name = given[0].tool
    problem = (
        f"{name} was called with {_render_unnamed(other)}"
        " Call it for the record that the request is about."
    )
    return (yield from _ask_again(problem, (writes[name],), context)) or calls


def _hold_unnamed(calls: tuple[ToolCall, ...], context: LedContext) -> tuple[ToolCall, ...]:
    """The calls without one that destroys a record of which the request says nothing, where it
    names another one of the same list: whether that is meant, the user is asked. Several such calls
    are all but the named one, and who answers a question has been asked.
    """
    destroying = {tool.name for tool in context.tools if tool.effects.declares_destruction}
    found = [
        (call, other)
        for call in calls
        if call.tool in destroying and (other := _find_unnamed(call, context)) is not None
    ]
    if len(found) != 1 or _was_asked_which(*found[0], context):
        return calls
    call, other = found[0]
    reason = f"'{call.tool}' was not called with {_render_unnamed(other)}"
    records = (shorten_record(other.record), shorten_record(other.meant))
    context.held.append(HeldCall(call, OTHER_RECORD, reason, missing=(other.key,), records=records))
    context.facts.skip([Skip(call.tool, reason, refused=True)])
    return tuple(one for one in calls if one is not call)


def _was_asked_which(call: ToolCall, other: OtherRecord, context: LedContext) -> bool:
    """Return True if the user may answer a question about such a call. One in English says a word of
    its tool's name or of its records; one of no known language names the tool or a record.
    """
    asked = _get_last_words(context)
    if not asks_user(context.conversation):
        return False
    said, records = ProvenanceIndex(asked), (other.record, other.meant)
    if _stands_in(call.tool, asked) or any(is_named(record, said) for record in records):
        return True
    if not reads_english([asked]):
        return bool(language_of(asked))
    words = [*split_identifier(call.tool), *split_tokens(" ".join(map(shorten_record, records)))]
    return any(map(said.mentions, {word for word in words if len(word) >= _TELLING}))


def _find_unnamed(call: ToolCall, context: LedContext) -> OtherRecord | None:
    if not isinstance(call.arguments, dict):
        return None
    results, reads = context.facts.results, list_reads(context.tools)
    shown = (*context.facts.state.earlier, *results)
    writes = {tool.name for tool in context.tools} - reads
    return find_other_record(call.arguments, shown, context.query, list_made(results, writes))


def _render_unnamed(other: OtherRecord) -> str:
    return (
        f"{other.key} {other.value}, which is {shorten_record(other.record)}."
        f" The request names {shorten_record(other.meant)}."
    )


def _ask_again(
    problem: str,
    tools: tuple[Tool, ...],
    context: LedContext,
    *,
    may_decline: bool = True,
    most: int = 1,
) -> Steps[tuple[ToolCall, ...]]:
    """The calls of the one question that follows on calls, ``most`` at most."""
    context.is_asked_again = True
    question = prompts.render("again", problem=problem)
    reply = yield from context.ask_for_calls(tools, question, may_decline=may_decline, most=most)
    return context.read_calls(reply, tools)[:most]
