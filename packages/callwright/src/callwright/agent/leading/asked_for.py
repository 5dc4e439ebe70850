"""Leaves out the writes that the user did not ask for, before they are made.

A small model that has looked something up goes on and changes it, takes the write that is offered
for the one that is meant, and hears a yes in "No, not yet.". Which of it the user wants, the
schemas and the values of the calls do not tell; the model itself does, asked with one letter apart
from the conversation. Where it cannot the user is asked.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import replace
from typing import Final

from callwright.agent.leading.agreement import LEAST_SHARE as LEAST_AGREEMENT
from callwright.agent.leading.agreement import SURE_SHARE as SURE_AGREEMENT
from callwright.agent.leading.agreement import ask_agreement
from callwright.agent.leading.aim import SURE_DEED, ask_aim, asks_to_know
from callwright.agent.leading.early_calls import is_plain_lookup
from callwright.agent.leading.forbidden import find_forbidden
from callwright.agent.leading.led_context import LedContext
from callwright.agent.leading.mistaken import find_asked
from callwright.agent.leading.policy import LeadPolicy
from callwright.agent.leading.unasked import (
    Doubt,
    ask_share,
    find_doubt,
    list_new_values,
    list_values,
)
from callwright.agent.safety.held_call import UNASKED_WRITE, HeldCall
from callwright.agent.safety.repeats import asks_user
from callwright.agent.step import Steps
from callwright.dataflow.prerequisites import list_reads
from callwright.language.forbidding import remove_forbidding
from callwright.language.questions import only_asks_to_be_told, remove_questions
from callwright.language.tokens import split_tokens, stands_apart
from callwright.nouns.types import Json, Skip, Tool, ToolCall
from callwright.repair.ordering.call_flow import score_feed
from callwright.repair.provenance.records import is_named, iter_records
from callwright.repair.provenance.sources import ProvenanceIndex

_UNASKED: Final = "the request does not ask for it"
_SHORT = 4  # words of a message that says nothing without the one before
_SURE_FEED = 0.9  # of an output that is what an argument asks for
_BEFORE = 300  # characters of that one


def leave_out_denied(
    calls: tuple[ToolCall, ...], context: LedContext
) -> Steps[tuple[ToolCall, ...]]:
    """The calls without declared writes that the assistant asked about and to which the user's
    answer is a no. Those to which it may be one, or which it names, are held.
    """
    writes = {tool.name for tool in context.tools if tool.effects.declares_write}
    doubted = [call for call in calls if call.tool in writes and _was_asked_about(call, context)]
    if not doubted or not context.leaves_out_unasked:
        return calls
    question = context.last_words
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


def hold_forbidden(calls: tuple[ToolCall, ...], context: LedContext) -> tuple[ToolCall, ...]:
    """The calls without declared writes to what the request only forbids. Only the user can tell
    that such a write is meant after all, and is asked, unless another one is made.
    """
    writes = {tool.name for tool in context.tools if tool.effects.declares_write}
    kept: list[ToolCall] = []
    forbidden: list[tuple[ToolCall, str]] = []
    for call in calls:
        is_doubted = call.tool in writes and context.leaves_out_unasked
        clause = find_forbidden(call, context) if is_doubted else ""
        if clause and not _was_asked_about(call, context):
            forbidden.append((call, f"the request says {clause!r}"))
        else:
            kept.append(call)
    is_served = context.has_written() or any(call.tool in writes for call in kept)
    for call, reason in forbidden:
        if is_served:
            _leave_out(call, reason, context)
        else:
            hold(call, f"'{call.tool}' was not called: {reason}", context)
    return tuple(kept)


def leave_out_unasked(
    calls: tuple[ToolCall, ...], wanted: Container[str], context: LedContext
) -> Steps[tuple[ToolCall, ...]]:
    """The calls without the writes behind others that nobody asked for; those of which only the
    user can tell are held, unless the user only asks to be told something. A write that a stated
    wish is for was asked for, and so was one that the user answers a question about.
    """
    if not context.leaves_out_unasked:
        return calls
    shares: dict[str, float | None] = {}
    kept: list[ToolCall] = []
    for call in calls:
        doubt, is_told = yield from _find_doubt(call, wanted, context)
        if doubt is None:
            doubt = _find_doubt_beside(call, calls, context)
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
            hold(call, doubt.render(), context)
    return tuple(kept)


def _find_doubt(
    call: ToolCall, wanted: Container[str], context: LedContext
) -> Steps[tuple[Doubt | None, bool]]:
    """The doubt about a call, and whether the user only asks to be told something. A request for a
    deed is doubted only where one was done.
    """
    told = find_doubt(call, context.wishes, context, is_told=True)
    if told is None or _was_asked_about(call, context):
        return None, False
    is_ordered = _is_ordered(call, context)
    if not is_ordered and (yield from asks_to_know(context.query, context.ask_letter)):
        return told, True
    doubt = find_doubt(call, context.wishes, context)
    if doubt is not None and call.tool in wanted:  # by a wish that the model may have made up
        return (replace(doubt, is_wanted=True) if doubt.is_beside else None), False
    if doubt is not None and not doubt.is_beside:
        share = yield from ask_aim(_tell_request(context), context.ask_letter)
        doubt = doubt if share is None or share < SURE_DEED else None
    return doubt, False


def _find_doubt_beside(
    call: ToolCall, calls: Sequence[ToolCall], context: LedContext
) -> Doubt | None:
    """The doubt about a call beside another write of the same reply: only what nothing asks for is
    left out, for a reply to two wishes has two writes.
    """
    if len(calls) == 1 or _was_asked_about(call, context) or _is_ordered(call, context):
        return None
    doubt = find_doubt(call, context.wishes, context, beside=calls)
    return replace(doubt, is_wanted=True) if doubt is not None and doubt.is_beside else None


def replace_mistaken(
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
    judged = {tool.name: tool for tool in (*writes, *lookups)}
    kept: list[ToolCall] = []
    better: dict[str, Tool] = {}
    names = {call.tool for call in calls}
    for call in calls:
        called, asked = judged.get(call.tool), None
        is_right = _was_asked_about(call, context) or _is_ordered(call, context)
        if called in lookups:  # the request names what is looked up
            is_right = is_right or bool(list_new_values(call, context))
        if called and not is_right:
            group = writes if called in writes else lookups
            text, wishes = _tell_request(context), context.stated
            asked = yield from find_asked(called, group, text, wishes, context.ask_letter)
        if asked is None or asked.name in names or _is_step_to(call.tool, asked, policy.tools):
            kept.append(call)
        else:
            _leave_out(call, f"the request asks for '{asked.name}'", context)
            better.setdefault(asked.name, asked)
    for tool in better.values():
        if tool in lookups and tool.name not in {call.tool for call in kept}:
            kept += yield from _look_up(tool, context)
    return tuple(kept)


def _is_step_to(name: str, asked: Tool, tools: Sequence[Tool]) -> bool:
    """Return True if a tool returns what the asked one requires, and no lookup does."""
    reads = list_reads(tools)
    for key in asked.required:
        givers = {one.name for one in tools if score_feed(one, asked, key)[0] >= _SURE_FEED}
        if name in givers and givers.isdisjoint(reads - {name}):
            return True
    return False


def _look_up(tool: Tool, context: LedContext) -> Steps[tuple[ToolCall, ...]]:
    if is_plain_lookup(tool):
        return (ToolCall("", tool.name, {}),)
    return (yield from context.ask_again(f"The request asks for {tool.name}.", (tool,)))


def hold(call: ToolCall, reason: str, context: LedContext) -> None:
    """Keep a call until the user says that it is meant."""
    context.held.append(HeldCall(call, UNASKED_WRITE, reason))
    context.facts.skip([Skip(call.tool, reason, refused=True)])


def _leave_out(call: ToolCall, reason: str, context: LedContext) -> None:
    context.facts.skip([Skip(call.tool, reason)])
    context.trace.add("note", text=f"left out: a call of '{call.tool}': {reason}")


def _is_ordered(call: ToolCall, context: LedContext) -> bool:
    """Return True if the instructions of the conversation name the call's tool and not all others:
    they may want it called whatever the user says.
    """
    told = "\n".join(one.content for one in context.conversation if one.role == "system")
    named = [tool.name for tool in context.tools if stands_apart(tool.name, told)]
    return call.tool in named and len(named) < len(context.tools)


def _was_asked_about(call: ToolCall, context: LedContext) -> bool:
    """Return True if the user answers a question that names the call's tool, or all that the call
    holds: each value or, of an identifier, a text of its record. Yes, no and longer texts name
    nothing.
    """
    if not asks_user(context.conversation):
        return False
    words = context.last_words
    if stands_apart(call.tool, words):
        return True
    asked, values = ProvenanceIndex(words), list_values(call.arguments)
    naming = [v for v in values if not isinstance(v, str) or 0 < len(split_tokens(v)) <= _SHORT]
    return bool(naming) and all(_is_in_question(value, asked, context) for value in naming)


def _is_in_question(value: Json, asked: ProvenanceIndex, context: LedContext) -> bool:
    if stands_apart(str(value), context.last_words):
        return True
    results = (*context.facts.state.earlier, *context.facts.results)
    records = (one for result in results for one in iter_records(result.content))
    return any(is_named(one, asked) for one in records if value in one.values())


def _tell_request(context: LedContext) -> str:
    """The request as the one question about it shows it: without what asks for no deed, and an
    answer, or a message of few words, with what was said before it.
    """
    query = remove_forbidding(remove_questions(context.query))
    is_short = len(split_tokens(context.query)) <= _SHORT
    before = context.last_words[-_BEFORE:]
    is_answer = is_short or asks_user(context.conversation)
    return f"{before}\n{context.query}" if before and is_answer else query
