"""One round of a turn: the policy is carried on until calls are made, by whoever makes them.

Between the policy's decision and the calls stands what is the same for every driver. Equal calls
are made once unless they are meant again. A write that nobody asked for is left out
(:mod:`callwright.agent.leading.asked_for`). A write to a record that the request does not name is
asked about. A call that was held because the user's words lead to another value, or may, is asked
for once more, before other tools have their turn: a small model takes one of those in the place of
the right one. What would destroy another record than the one that the request names is not called.
"""

from __future__ import annotations

from collections.abc import Sequence

from callwright.agent.call_key import CallKey, make_call_key
from callwright.agent.leading.asked_for import (
    hold,
    hold_forbidden,
    leave_out_denied,
    leave_out_unasked,
    replace_mistaken,
)
from callwright.agent.leading.forms import hold_to_meant
from callwright.agent.leading.led_context import LedContext
from callwright.agent.leading.policy import LeadPolicy
from callwright.agent.leading.returned import Unlisted, find_unlisted
from callwright.agent.leading.wanted import TAKEN_UP_SHARE, find_wanted
from callwright.agent.safety.held_call import OTHER_RECORD, HeldCall
from callwright.agent.safety.repeats import asks_user
from callwright.agent.step import Execute, Returned, Steps
from callwright.dataflow.prerequisites import list_reads
from callwright.language.detect import language_of
from callwright.language.forbidding import remove_forbidding
from callwright.language.tokens import split_identifier, split_tokens, stands_apart
from callwright.nouns.types import Skip, Tool, ToolCall
from callwright.repair.provenance.readable import reads_english
from callwright.repair.provenance.records import (
    OtherRecord,
    find_other_record,
    is_named,
    list_made,
    shorten_record,
)
from callwright.repair.provenance.sources import ProvenanceIndex

_TELLING = 4  # letters of a word that tells of what a record speaks


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


def take_up(told: str, policy: LeadPolicy, context: LedContext) -> Steps[bool]:
    """Have the call made that words mean which are themselves a call, ``told``, of a tool that
    nobody offered. One letter tells which tool the request is for; where that declares to read,
    who meant to call it may not decline again. Returns False where no call comes of that.
    """
    if context.is_asked_again or not policy.tools:
        return False
    name = yield from find_wanted(
        context.query, policy.tools, context.ask_letter, least=TAKEN_UP_SHARE
    )
    # a small model that may not decline writes "the sum of 17 and 25" as a reminder
    meant = [tool for tool in policy.tools if tool.name == name and tool.effects.read_only]
    if not meant:
        return False
    return (yield from carry_on(_ask_for_offered(meant[0], told, policy, context), policy, context))


def _ask_for_offered(tool: Tool, told: str, policy: LeadPolicy, context: LedContext) -> Steps[None]:
    problem = f"Nobody offered the tool of {told}. Call {tool.name}, which was offered."
    calls = yield from context.ask_again(problem, (tool,), may_decline=False)
    yield from policy.call_when_ready(calls, (tool,), context)


def _make_calls(action: Execute, policy: LeadPolicy, context: LedContext) -> Steps[bool]:
    """Have the calls of an action made, as far as they are meant. Returns True if any was."""
    calls = context.pick_meant(action.calls)
    calls = yield from leave_out_denied(calls, context)
    calls = hold_forbidden(calls, context)
    calls = yield from leave_out_unasked(calls, policy.wanted, context)
    calls = yield from replace_mistaken(calls, policy, context)
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
    calls = yield from context.ask_again(problem, tools, may_decline=not meant, most=len(wrong))
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


def _ask_for_returned(
    calls: tuple[ToolCall, ...], policy: LeadPolicy, context: LedContext
) -> Steps[tuple[ToolCall, ...]]:
    """The calls with identifiers that lookups of this turn returned: that of the record which the
    call names, or the one that the model takes of all.
    """
    kept: list[ToolCall] = []
    wrong: dict[CallKey, Unlisted] = {}
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
    found = yield from context.ask_again(problem, tools, most=len(wrong))
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
    return (yield from context.ask_again(problem, (writes[name],))) or calls


def _hold_unnamed(calls: tuple[ToolCall, ...], context: LedContext) -> tuple[ToolCall, ...]:
    """The calls without writes to records of which the request says nothing, beside one to the
    record of the same list that it names, and without one that destroys such a record: whether that
    is meant, the user is asked. Several alone may be all that are meant, and who answers a question
    has been asked.
    """
    writes = {tool.name for tool in context.tools if tool.effects.declares_write}
    found = [
        (call, other)
        for call in calls
        if call.tool in writes
        and (other := _find_unnamed(call, context)) is not None
        and not _was_asked_which(call, other, context)
    ]
    beside = [call for call, other in found if any(_is_for(one, call, other) for one in calls)]
    for call in beside:
        hold(call, f"'{call.tool}' was not called for a record that is not named", context)
    if beside:
        return tuple(one for one in calls if one not in beside)
    destroying = {tool.name for tool in context.tools if tool.effects.declares_destruction}
    found = [pair for pair in found if pair[0].tool in destroying]
    if len(found) != 1:
        return calls
    call, other = found[0]
    reason = f"'{call.tool}' was not called with {_render_unnamed(other)}"
    records = (shorten_record(other.record), shorten_record(other.meant))
    context.held.append(HeldCall(call, OTHER_RECORD, reason, missing=(other.key,), records=records))
    context.facts.skip([Skip(call.tool, reason, refused=True)])
    return tuple(one for one in calls if one is not call)


def _is_for(one: ToolCall, call: ToolCall, other: OtherRecord) -> bool:
    """Return True if a call does for the named record what another does for one that is not."""
    given = one.arguments if isinstance(one.arguments, dict) else {}
    return one.tool == call.tool and given.get(other.key) in other.meant.values()


def _was_asked_which(call: ToolCall, other: OtherRecord, context: LedContext) -> bool:
    """Return True if the user may answer a question about such a call. One in English says a word of
    its tool's name or of its records; one of no known language names the tool or a record.
    """
    asked = context.last_words
    if not asks_user(context.conversation):
        return False
    said, records = ProvenanceIndex(asked), (other.record, other.meant)
    if stands_apart(call.tool, asked) or any(is_named(record, said) for record in records):
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
    # "all but the dentist" names the one that is not meant
    said = remove_forbidding(context.query)
    return find_other_record(call.arguments, shown, said, list_made(results, writes))


def _render_unnamed(other: OtherRecord) -> str:
    return (
        f"{other.key} {other.value}, which is {shorten_record(other.record)}."
        f" The request names {shorten_record(other.meant)}."
    )
