"""Values of an answer's calls that are put right or left out: identifiers that only the results
know, days that the user names, optional values that nothing supports.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator, Iterable, Sequence
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING

from callwright.agent.call_key import make_call_key
from callwright.nouns.types import (
    CheckedCall,
    Edit,
    Json,
    JsonObject,
    Reply,
    Tool,
    ToolCall,
    is_number,
)
from callwright.nouns.wire_names import EditRule, EditRules
from callwright.proxy.session import guard
from callwright.proxy.session.answers.sse import json_bytes
from callwright.proxy.session.context import Context
from callwright.proxy.session.decision.decision import AnswerCall, Decision, Question
from callwright.proxy.session.refining import LEFT_OUT
from callwright.repair.provenance.sources import ProvenanceIndex
from callwright.schema.coerce import pointer_join
from callwright.schema.compiled import Node, compiled_for
from callwright.schema.value_edits import Pointer, drop_members, get_member, render_pointer

_LISTING = ("enum", "const", "$ref")  # what is referred to may be a list

if TYPE_CHECKING:
    from callwright.agent.leading.option_support import Option


def restore_likely(
    work: list[AnswerCall], made: Decision, context: Context
) -> Generator[Question, Reply, None]:
    """Put optional values of a list back that were left out because no word states them, where the
    conversation makes them likelier. Only an upstream that states probabilities can tell.
    """
    gone = {edit.path: edit for edit in made.edits if edit.rule == LEFT_OUT and edit.after is None}
    if not gone or not _may_ask_for_gains(context):
        return
    from callwright.agent.leading import option_support

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
    """The gain of a value by the conversation; None where the upstream states no probabilities, and
    then it is not asked again for those of values that were left out.
    """
    from callwright.agent.leading.option_support import ask_gain
    from callwright.proxy.session.leading.option_support import build_body

    def ask(is_told: bool) -> Generator[Question, Reply, Reply]:
        return (yield Question("option", build_body(option, context, is_told=is_told)))

    alone = json_bytes(build_body(option, context, is_told=False)).decode()
    key = f"{alone} {option.value!r}"
    gain = yield from ask_gain(option, ask, context.toolset.shares, key)
    if gain is None:
        context.toolset.silent.add(str(context.body.get("model")))
    return gain


def _may_ask_for_gains(context: Context) -> bool:
    """Return True if the upstream may be asked how likely it holds a value, and may tell."""
    return context.may_ask_for_shares and "options" not in context.settings.without


def fill_from_results(work: list[AnswerCall], made: Decision, context: Context) -> None:
    """Put the only identifier of the results that fits in the place of one that nothing states.
    Only where the reply was made to fill a schema: there a model writes some identifier at any
    rate.
    """
    if not context.leave_out or not context.state.results:
        return
    sources = context.sources
    destroying = {t.name for t in context.toolset.tools if t.effects.declares_destruction}
    for place, one in enumerate(work):
        grounded = context.toolset.gate.check(one.call, sources)
        if not isinstance(grounded, CheckedCall) or not isinstance(one.verdict, CheckedCall):
            continue
        fills = [edit for edit in grounded.edits if edit.rule == EditRules.FILL_FROM_RESULT]
        told = [(edit.before, edit.after) for edit in fills]
        before, after = one.verdict.arguments, grounded.arguments
        keys = [key for key in before if (before[key], after.get(key)) in told]
        if one.call.tool in destroying:  # another record may be meant, that there is not
            keys = [key for key in keys if _is_searched_for(after[key], context)]
        filled = {**before, **{key: after[key] for key in keys}}
        if keys and (verdict := _check_with(one, filled, context)) is not None:
            one.take(verdict, filled)
            made.edits += _list_edits(place, keys, before, filled, EditRules.FILL_FROM_RESULT)


def _is_searched_for(value: Json, context: Context) -> bool:
    """Return True if an identifier is of a record that the request names, or that a lookup with
    arguments found.
    """
    from callwright.repair.provenance.records import is_named, iter_records

    spoken = ProvenanceIndex(context.query)
    for result in (*context.state.earlier, *context.state.results):
        found = [one for one in iter_records(result.content) if value in one.values()]
        if found and (result.arguments or any(is_named(one, spoken) for one in found)):
            return True
    return False


def take_named_days(work: list[AnswerCall], made: Decision, context: Context) -> None:
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


def leave_out_unstated(
    work: list[AnswerCall], made: Decision, context: Context
) -> Generator[Question, Reply, None]:
    """Take the optional values that nothing supports out of the calls, where their schemas hold so;
    where the guard only reports, say which.
    """
    if context.guard == "off":
        return
    unstated = guard.find_unstated_options(context, [one.call for one in work])
    gone = [
        _list_droppable(one, places, context) for one, places in zip(work, unstated, strict=True)
    ]
    for one, flagged, places in zip(work, unstated, gone, strict=True):
        places += yield from _find_unlikely(one, flagged, places, context)
    if not any(gone):
        return
    kept = [_drop(one, places) for one, places in zip(work, gone, strict=True)]
    writes = {tool.name for tool in context.toolset.tools if tool.effects.declares_write}
    called = [call for message in context.messages for call in message.tool_calls]
    told = {make_call_key(call) for call in called if call.tool not in writes}
    beside = Counter(make_call_key(call) for call in kept)
    for place, (one, call) in enumerate(zip(work, kept, strict=True)):
        key = make_call_key(call)
        if not gone[place] or key in told or beside[key] > 1:
            continue  # what tells a call from another of the same tool is meant
        _leave_out_of(one, gone[place], place, made, context)


def _find_unlikely(
    one: AnswerCall, unstated: Sequence[Pointer], gone: Sequence[Pointer], context: Context
) -> Generator[Question, Reply, list[Pointer]]:
    """The optional values of a list that the conversation makes less likely, in a call that the
    upstream wrote itself; in one that fills a schema, those that it makes no likelier. Where its
    words can be read, only those of which it says none.
    """
    tool = next((tool for tool in context.toolset.tools if tool.name == one.call.tool), None)
    given = one.verdict.arguments if isinstance(one.verdict, CheckedCall) else {}
    is_judged = tool is not None and tool.effects.declared and context.guard == "act"
    is_written = not context.leave_out and context.settings.guided != "off"
    if tool is None or not is_judged or not (is_written or context.leave_out):
        return []
    if context.holds_media or "options" in context.settings.without:
        return []
    from callwright.agent.leading.option_support import LEAST_GAIN, find_options
    from callwright.repair.provenance.readable import reads_english

    if not find_options(given, tool):
        return []  # before the conversation is indexed
    if reads_english([context.query]):
        if context.leave_out:
            return []  # these are judged by its words
        given = {key: value for key, value in given.items() if (key,) in unstated}
    said, reads = context.sources, tool.effects.read_only
    unsaid = {  # a yes may be what keeps a write from being one: a rehearsal
        key: value
        for key, value in given.items()
        if (reads if isinstance(value, bool) else not said.holds(value))
    }
    options = [one for one in find_options(unsaid, tool) if (one.key,) not in gone]
    least = -LEAST_GAIN if is_written else LEAST_GAIN
    found: list[Pointer] = []
    for option in options:
        if is_written and not context.grant():
            break
        gain = yield from _ask_gain(option, context)
        if gain is None:
            break
        if gain < least:
            found.append((option.key,))
    return found


def _list_droppable(
    one: AnswerCall, unstated: Iterable[Pointer], context: Context
) -> list[Pointer]:
    """The places of values that go. In a call that the upstream wrote itself, one of a few is often
    meant by other words ("change nothing yet": a rehearsal), and so is a number for a tool of which
    nobody says what it does: these stay.
    """
    tool = next((tool for tool in context.toolset.tools if tool.name == one.call.tool), None)
    if tool is None or not isinstance(one.verdict, CheckedCall):
        return []
    given = one.verdict.arguments
    return [
        at
        for at in unstated
        if at not in one.likely
        and (context.leave_out or not _may_be_meant(at, get_member(given, at), tool))
    ]


def _may_be_meant(at: Pointer, value: Json, tool: Tool) -> bool:
    if isinstance(value, bool) or _is_listed(at, tool):
        return True
    return is_number(value) and not tool.effects.declared


def _is_listed(at: Pointer, tool: Tool) -> bool:
    """Return True if a place's schema lists the values that it may hold, or refers to a list."""
    node: Node | None = compiled_for(tool).root
    for part in at:
        node = node.resolved() if node is not None else None
        node = node.property(part) if node is not None and isinstance(part, str) else None
    return node is not None and _lists_values(node.resolved().schema)


def _lists_values(schema: Json) -> bool:
    if not isinstance(schema, dict):
        return False
    branches = chain.from_iterable(schema.get(key) or () for key in ("anyOf", "oneOf", "allOf"))
    nested = (*branches, schema.get("items"))
    return any(key in schema for key in _LISTING) or any(map(_lists_values, nested))


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
