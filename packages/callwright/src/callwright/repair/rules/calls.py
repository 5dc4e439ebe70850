"""The rules of calls: one call at a time made right by its tool's schema and the conversation, then
the calls among each other, without a model.

Check comes first. A call that the gate accepts and no trigger hits (unknown name, placeholder,
echoed schema, unsourced value) comes back as the same object. Otherwise every rule may change it,
each change is an edit with its rule, and what cannot be decided is reported. A call whose arguments
stop in the middle is never completed.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Collection
from dataclasses import replace

from callwright.nouns.thresholds import threshold_group
from callwright.nouns.types import ToolCall, to_canonical_json
from callwright.nouns.wire_names import EditRules
from callwright.repair import ranker
from callwright.repair.diagnostics import Diagnostic
from callwright.repair.draft import AFTER_CALLS, BEFORE_CALLS, Change, Draft, Drafts
from callwright.repair.location import ID, NAME, Location, in_arguments
from callwright.repair.pipeline import order_rules
from callwright.repair.provenance.doubts import find_doubts
from callwright.repair.result import describe_call
from callwright.repair.rule import Rule, call_rule, reply_rule
from callwright.repair.rules import argument_matching, names, split
from callwright.repair.rules.arguments.argument_rules import ARGUMENT_RULES
from callwright.repair.rules.duplicate_calls import WAIT, find_duplicate_calls
from callwright.repair.rules.lossless import read_arguments
from callwright.repair.rules.reference_placeholders import replace_references
from callwright.repair.rules.reply_context import INFORMED, ReplyContext, SetAside

FRESH_ID = EditRules.FRESH_ID
_HINTS = threshold_group("callwright.repair", "hints")


# ---------------------------------------------------------------- one call


def name_tool(draft: Draft, context: ReplyContext) -> Change | None:
    """Give the call the name of the tool that is meant; close it where that cannot be told."""
    call, situation = draft.call, context.situation
    if call.tool in situation.by_name:
        return None
    found, likely = names.match_name(call.tool, call.arguments, situation.tools, situation.query)
    found = found or ranker.match_by_ranker(
        call.tool, call.arguments, situation.tools, situation.query
    )
    place, change = Location(draft.id, NAME), Change()
    if found is not None and found.confidence >= situation.settings.least:
        change.list_edit(place, call.tool, found.tool.name, found.rule, found.confidence)
        change.calls[draft.id] = replace(call, tool=found.tool.name)
        return change
    change.diagnostics += situation.gate.repair(call, id=draft.id).errors
    change.closed = frozenset({draft.id})
    likely = found or likely
    if likely is not None and likely.confidence >= _HINTS["tool_name"]:
        why = (
            "may write or its effects are unknown"
            if likely.tool.effects.may_write
            else "is not sure enough"
        )
        said = f"'{call.tool}' is no tool; the nearest is '{likely.tool.name}', which {why}."
        change.hint(place, said, likely.confidence, likely.tool.name)
    return change


def set_references_aside(draft: Draft, context: ReplyContext) -> Change | None:
    """Let the schema judge something else in the place of references and nulls. No edit is listed:
    :func:`put_references_back` undoes it.
    """
    tool = context.situation.by_name[draft.call.tool]
    aside = replace_references(draft.arguments, tool, context.references_of(draft))
    context.asides[draft.id] = SetAside(draft.call, aside, len(draft.edits))
    if aside.arguments is draft.call.arguments:
        return None
    return Change(calls={draft.id: replace(draft.call, arguments=aside.arguments)})


def find_tool_by_arguments(draft: Draft, context: ReplyContext) -> Change | None:
    """Give a call to the tool whose arguments it has, if that tool is known not to write; else
    report it.
    """
    situation, call = context.situation, draft.call
    other = argument_matching.find_intended_tool(
        draft.arguments, situation.by_name[call.tool], situation
    )
    if other is None:
        return None
    place, change = Location(draft.id, NAME), Change()
    if not other.effects.may_write and situation.settings.least <= argument_matching.CONFIDENCE:
        change.list_edit(
            place, call.tool, other.name, argument_matching.RULE, argument_matching.CONFIDENCE
        )
        change.calls[draft.id] = replace(call, tool=other.name)
        return change
    said = f"These arguments are those of '{other.name}', not of '{call.tool}'."
    change.hint(place, said, argument_matching.CONFIDENCE, other.name)
    as_read = context.asides[draft.id].call
    change.diagnostics += situation.gate.repair(as_read, id=draft.id).errors
    change.closed = frozenset({draft.id})
    return change


def doubt_values(draft: Draft, context: ReplyContext) -> Change | None:
    """Say which values nobody said, and whether the request speaks of another tool."""
    situation, arguments = context.situation, draft.arguments
    tool = situation.by_name[draft.call.tool]
    shown = (d for d in draft.diagnostics if d.severity in ("error", "hint"))
    reported = {d.location.argument for d in shown}
    known = frozenset(k for k in arguments if (k,) in reported) | context.referring(draft)
    doubtful = find_doubts(arguments, tool, situation, known)
    renamed = any(e.rule == argument_matching.RULE for e in draft.edits)
    better = (
        None if renamed else argument_matching.find_better_asked_tool(arguments, tool, situation)
    )
    if not doubtful and better is None:
        return None
    change = Change()
    for key, why in doubtful:
        change.hint(in_arguments(draft.id, key), why)
    if better is not None:
        said = (
            f"The request speaks much more of '{better.name}', which takes these arguments as well."
        )
        change.hint(Location(draft.id, NAME), said, _HINTS["better_tool"], better.name)
    return change


def put_references_back(drafts: Drafts, context: ReplyContext) -> Change | None:
    """References and nulls back in their places, and the very call where nothing was done to its
    arguments.
    """
    calls: dict[int, ToolCall] = {}
    for draft in drafts:
        aside = context.asides.get(draft.id)
        if aside is None or (draft.call is aside.call and len(draft.edits) == aside.edits):
            continue
        edits = [e for e in draft.edits[aside.edits :] if e.location.argument is not None]
        call = aside.call
        if edits:
            restored = aside.placeholders.restored(draft.arguments, edits)
            call = replace(draft.call, arguments=restored)
        elif draft.call.tool != call.tool:
            call = replace(call, tool=draft.call.tool)
        if call is not draft.call:
            calls[draft.id] = call
    return Change(calls=calls) if calls else None


def warn_of_values(draft: Draft, context: ReplyContext) -> Change | None:
    """Report what the schema does not allow and was left as it is."""
    aside = context.asides[draft.id].placeholders
    if not aside.own_text and not aside.nulls:
        return None
    change = Change()
    for key, (text, value) in aside.own_text.items():
        said = (
            f"'{key}' is {to_canonical_json(value)} where the schema wants the text '{text}'; left as"
            " it is."
        )
        place = in_arguments(draft.id, key)
        change.diagnostics.append(Diagnostic("error", "schema", place, said, "enum", text, value))
    for key in aside.nulls:
        said = (
            f"'{key}' is null, which its schema does not allow; taken as not given and left as"
            " it is."
        )
        change.report("schema", in_arguments(draft.id, key), said, "null")
    return change if change else None


# ---------------------------------------------------------------- calls among each other


def name_bare_references(_: Drafts, context: ReplyContext) -> Change | None:
    """Say which ``$1`` and ``{x}`` may mean another call of a list without labels: who executes it
    must know them.
    """
    if not context.references or any(call.slot for call in context.calls):
        return None
    change = Change()
    for ref in context.references:
        if ref.notation in ("numbered", "braces"):
            said = (
                f"'{ref.text[:80]}' is taken for the result of another call of the reply, not for"
                " a value."
            )
            change.hint(in_arguments(ref.call, *ref.path), said, _HINTS["bare_reference"])
    return change if change else None


def drop_calls(drafts: Drafts, context: ReplyContext) -> Change | None:
    """Drop the calls that should not go out."""
    every = list(drafts)
    dropped = find_duplicate_calls(
        drafts.calls, [d.missing for d in every], [d.has_tool for d in every], context.situation
    )
    if not dropped:
        return None
    change = Change(order=[d.id for i, d in enumerate(every) if i not in dropped])
    for i, drop in dropped.items():
        draft = every[i]
        whole = Location(draft.id)
        change.list_edit(whole, describe_call(draft.call), None, drop.rule, drop.confidence)
        change.withdrawn |= {draft.id}
        change.diagnostics += [
            d._replace(location=whole) for d in draft.errors if d.rule == "unknown_tool"
        ]
        if drop.rule == WAIT:
            lacks = ", ".join(draft.missing)
            said = (
                f"'{draft.call.tool}' can be called once another call has returned what it lacks:"
                f" {lacks}."
            )
            change.hint(whole, said, drop.confidence)
    return change


def split_calls(drafts: Drafts, context: ReplyContext) -> Change | None:
    """Make as many calls as a list in the place of one value has members."""
    wrong = [draft for draft in drafts if draft.errors]
    if not wrong:
        return None
    change, order = Change(), list(drafts.order)
    for draft in wrong:
        listed = split.split_list_call(draft.call, context.situation.gate)
        if listed is None:
            continue
        key, several = listed
        place = in_arguments(draft.id, key)
        if context.situation.by_name[draft.call.tool].effects.may_write:
            said = (
                f"{len(several)} calls seem to be meant, but '{draft.call.tool}' may write or its"
                " effects are unknown."
            )
            change.hint(place, said, split.CONFIDENCE)
            continue
        before = draft.arguments[key]
        change.list_edit(place, before, several[0][key], split.RULE, split.CONFIDENCE)
        change.calls[draft.id] = replace(draft.call, arguments=several[0])
        change.withdrawn |= {draft.id}
        for n, arguments in enumerate(several[1:], 1):
            id, call = drafts.new_id(), replace(draft.call, arguments=arguments)
            change.calls[id], change.origins[id] = call, draft.origin
            change.list_edit(Location(id), None, describe_call(call), split.RULE, split.CONFIDENCE)
            order.insert(order.index(draft.id) + n, id)
        change.order = order
    return change if change else None


def tell_calls_apart(drafts: Drafts, _: ReplyContext) -> Change | None:
    """Give a call whose id an earlier one has a fresh id: results are matched to calls by it."""
    every = {draft.call.id for draft in drafts}
    if len(every) == len(drafts):
        return None
    seen: set[str] = set()
    change = Change()
    for draft in drafts:
        call = draft.call
        if call.id and call.id in seen:
            fresh = _make_fresh_id(call.id, every)
            change.calls[draft.id] = replace(call, id=fresh)
            change.list_edit(Location(draft.id, ID), call.id, fresh, FRESH_ID)
            every.add(fresh)
        seen.add(call.id)
    return change if change else None


def _make_fresh_id(id: str, taken: Collection[str]) -> str:
    """The next free id of the same form: its number counted on, else a number after it."""
    digits = re.search(r"\d{1,9}\Z", id)
    stem, number = (id[: digits.start()], int(digits[0])) if digits else (id + "_", 1)
    width = len(digits[0]) if digits else 0
    return next(
        new for n in itertools.count(number + 1) if (new := f"{stem}{n:0{width}d}") not in taken
    )


def name_repeated_calls(drafts: Drafts, _: ReplyContext) -> Change | None:
    """Name equal calls that were kept: the request speaks of doing something again, or their tool
    may write.
    """
    if len(drafts) < 2:
        return None
    seen: set[str] = set()
    change = Change()
    for draft in drafts:
        text = to_canonical_json([draft.call.tool, draft.call.arguments])
        if text in seen:
            said = (
                f"'{draft.call.tool}' is called again with the same arguments; both may be meant."
            )
            change.hint(Location(draft.id), said, _HINTS["repeated_call"])
        seen.add(text)
    return change if change else None


def name_tools_passed_over(drafts: Drafts, context: ReplyContext) -> Change | None:
    """Name tools that the request speaks of, that take a call's arguments and that no call is
    of.
    """
    if len(context.situation.tools) < 2:
        return None
    change, calls = Change(), drafts.calls
    named = {
        draft.origin
        for draft in drafts.every
        for d in draft.diagnostics
        if d.severity == "hint" and d.location.pointer == NAME
    }
    for draft in drafts:
        other = argument_matching.find_passed_over_tool(draft.call, calls, context.situation)
        if other is not None and draft.origin not in named:
            why = (
                f"The request speaks of '{other.name}', which takes these arguments too and is not"
                " called."
            )
            change.hint(Location(draft.id, NAME), why, _HINTS["better_tool"], other.name)
    return change if change else None


# ---------------------------------------------------------------- the configuration

CALL_RULES: tuple[Rule[ReplyContext], ...] = order_rules(
    (
        reply_rule("bare_reference", 0, name_bare_references, BEFORE_CALLS),
        call_rule("tool_name", 10, name_tool),
        call_rule("arguments_as_text", 20, read_arguments),
        call_rule("references_aside", 30, set_references_aside),
        call_rule("tool_by_arguments", 40, find_tool_by_arguments),
        *ARGUMENT_RULES,
        call_rule("unsaid_value", 200, doubt_values, needs=INFORMED),
        reply_rule("references_back", 210, put_references_back),
        call_rule("value_left", 220, warn_of_values),
        reply_rule("needless_call", 300, drop_calls),
        reply_rule("split_call", 310, split_calls),
        reply_rule("fresh_id", 320, tell_calls_apart, AFTER_CALLS),
        reply_rule("repeated_call", 330, name_repeated_calls, AFTER_CALLS),
        reply_rule("tool_passed_over", 340, name_tools_passed_over, AFTER_CALLS, INFORMED),
    )
)
"""The rules of ``refine`` without those of the sequence."""
