"""Calls that should not go out: duplicates, tools that do not exist, calls that wait for another's
result.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from callwright.dataflow import flow
from callwright.language import ENGLISH
from callwright.language.again import asks_again
from callwright.language.detect import is_foreign
from callwright.language.tokens import split_identifier
from callwright.nouns.thresholds import threshold
from callwright.nouns.types import Json, Tool, ToolCall, iter_scalars, to_canonical_json
from callwright.nouns.wire_names import EditRule, EditRules
from callwright.repair.context import RepairContext, call_print
from callwright.repair.ordering.references import find_call_references
from callwright.repair.rules import schema_echo
from callwright.repair.rules.equal_calls import names_other_number
from callwright.repair.rules.names import score_request

DUPLICATE, GHOST, NO_CALL, WAIT = (
    EditRules.DUPLICATE_CALL,
    EditRules.HALLUCINATED_CALL,
    EditRules.NO_CALL,
    EditRules.WAIT_FOR_RESULT,
)
DONE, SURPLUS, UNASKED = (
    EditRules.ALREADY_CALLED,
    EditRules.SUPERFLUOUS_CALL,
    EditRules.UNASKED_CALL,
)
_FEEDS = threshold("callwright.repair", "needless_calls.feeds")
_MUCH_MORE = threshold("callwright.repair", "unasked_calls.much_more")
_OF_TOOLS = ENGLISH.pattern("calls.of_tools")
_OTHER_SCRIPT = re.compile(r"[^\W\d_a-zA-Z\u00c0-\u024f]")
_MEANS = ENGLISH.pattern("calls.means")
_ARTICLES = ENGLISH.words("calls.articles")
_LITTLE = ENGLISH.words("calls.little")


@dataclass(frozen=True, slots=True)
class Drop:
    rule: EditRule
    confidence: float


def _make_needless_drop(rule: EditRule) -> Drop:
    return Drop(rule, threshold("callwright.repair", f"needless_calls.{rule}"))


def _make_unasked_drop(rule: EditRule) -> Drop:
    return Drop(rule, threshold("callwright.repair", f"unasked_calls.{rule}"))


def find_duplicate_calls(
    calls: Sequence[ToolCall],
    unknown: Sequence[Sequence[str]],
    known: Sequence[bool],
    situation: RepairContext,
) -> dict[int, Drop]:
    """Position -> why that call is taken out. ``unknown[i]`` are call ``i``'s required parameters
    without a value, ``known[i]`` whether its tool exists. At least one call always stays, unless
    all say that nothing is called, or calls that nobody asked for are to go (``leave_out``,
    ``drop_unasked``).
    """
    drops: dict[int, Drop] = {}
    seen: dict[str, int] = {}
    again = len(calls) > 1 and asks_again(situation.query) is True
    for i, call in enumerate(calls):
        if not known[i] and schema_echo.is_no_tool(call.tool):
            drops[i] = _make_needless_drop(NO_CALL)
            continue
        if len(calls) == 1:
            break
        print_ = to_canonical_json([call.tool, call.arguments])
        if (
            print_ in seen
            and not (again or situation.settings.keep_equal)
            and not _are_two_writes(calls[seen[print_]], call, situation)
        ):
            drops[i] = _make_needless_drop(DUPLICATE)
        seen.setdefault(print_, i)
    _drop_repeated(calls, known, drops, situation)
    if situation.settings.leave_out or situation.settings.drop_unasked:
        drops |= {
            i: _make_unasked_drop(UNASKED)
            for i, c in enumerate(calls)
            if known[i] and is_unasked(c, situation)
        }
    if situation.settings.leave_out and not any(unknown) and all(known):
        _drop_superfluous(calls, drops, situation)
    good = [i for i in range(len(calls)) if known[i] and not unknown[i] and i not in drops]
    for i, call in enumerate(calls):
        if i in drops or not good:
            continue
        if not known[i]:
            drops[i] = _make_needless_drop(GHOST)
        elif unknown[i] and any(_is_provider(calls[j], call, unknown[i], situation) for j in good):
            drops[i] = _make_needless_drop(WAIT)
    return drops


def _are_two_writes(first: ToolCall, second: ToolCall, situation: RepairContext) -> bool:
    """True for equal calls, under ids of their own, of a tool that declares to change something.
    They may be two wishes, in whatever language the request is; one that is dropped is missed as
    much as one that is repeated. So may those of a tool that declares nothing, where it cannot be
    read whether the request asks for something twice, or where it names a number besides.
    """
    tool = situation.by_name.get(second.tool)
    own = not first.id or first.id != second.id
    if tool is None or not tool.effects.may_write or not own:
        return False
    if tool.effects.declared or asks_again(situation.query) is None:
        return True
    return names_other_number(second, situation.query)


def _drop_repeated(
    calls: Sequence[ToolCall],
    known: Sequence[bool],
    drops: dict[int, Drop],
    situation: RepairContext,
) -> None:
    """A call that the conversation already holds goes, if the reply has another that it does not
    hold.
    """
    if len(calls) - len(drops) < 2:
        return
    repeated = [
        i
        for i, c in enumerate(calls)
        if i not in drops and call_print(c.tool, c.arguments) in situation.done
    ]
    fresh = [i for i in range(len(calls)) if i not in drops and i not in repeated and known[i]]
    if repeated and fresh:
        drops.update({i: _make_needless_drop(DONE) for i in repeated})


def _drop_superfluous(
    calls: Sequence[ToolCall], drops: dict[int, Drop], situation: RepairContext
) -> None:
    """A call of another tool that says nothing new goes: every value it has from the conversation
    stands in a call whose tool the request speaks of much more. Calls that take another's result
    are left alone.
    """
    if find_call_references(calls, situation.tools, situation.query):
        return
    said = [
        {_fold_value(v) for v in _iter_leaves(c.arguments) if situation.sources.holds(v)}
        for c in calls
    ]
    asked = [score_request(situation.query, situation.by_name[c.tool]) for c in calls]
    for i, call in enumerate(calls):
        better = [
            j
            for j, other in enumerate(calls)
            if j not in drops and other.tool != call.tool and said[i] and said[i] <= said[j]
        ]
        if i not in drops and any(asked[j] >= asked[i] + _MUCH_MORE for j in better):
            drops[i] = _make_unasked_drop(SURPLUS)


def is_unasked(call: ToolCall, situation: RepairContext) -> bool:
    """Return True if a call was not requested. No message holds one of its required values, or
    speaks of its tool's purpose.

    Of 3,152 gold calls of BFCL two are such (docs/lab-calls.md). A request in another script or
    language than the tools' is never judged, because none of its words could match; nor is a call
    without required values of a tool that is declared to read: people say in other words what they
    want to see.
    """
    tool, asked = situation.by_name[call.tool], "\n".join(situation.asked)
    if (
        not situation.informed
        or not isinstance(call.arguments, dict)
        or _OTHER_SCRIPT.search(asked)
        or is_foreign(asked)
    ):
        return False
    given = {k: v for k, v in call.arguments.items() if k in tool.required} or call.arguments
    if any(_is_hinted_at(value, situation) for value in _iter_leaves(given)):
        return False
    if is_about_tools(situation.query, [tool]):
        return True
    is_plain = not any(key in tool.required for key in call.arguments)
    if is_plain and tool.effects.declared and tool.effects.read_only:
        return False
    about = {w for w in split_identifier(tool.name) if w not in flow.GENERIC} | flow.content_words(
        tool.description
    )
    for key, part in tool.properties.items():
        about |= set(split_identifier(key)) | flow.content_words(
            str((part or {}).get("description") or "")
        )
    return not (about - flow.STOP) & flow.content_words(asked)


def is_about_tools(query: str, tools: Sequence[Tool]) -> bool:
    """Return True if a question is about tools: "Which tools do you have?", "What does get_weather
    do?".
    """
    names = "|".join(re.escape(t.name) for t in tools)
    return re.search(_OF_TOOLS.pattern % names, query, _OF_TOOLS.flags) is not None


def _is_hinted_at(value: Json, situation: RepairContext) -> bool:
    """Return True if a value was stated, or a word of it."""
    if situation.sources.holds(value):
        return True
    parts = (
        [w for w in split_identifier(value) if w not in _LITTLE] if isinstance(value, str) else []
    )
    return any(situation.sources.mentions(w) for w in parts)


def _iter_leaves(value: Json) -> Iterator[Json]:
    return (leaf for leaf in iter_scalars(value) if leaf is not None and not isinstance(leaf, bool))


def _fold_value(value: Json) -> str:
    return to_canonical_json(value).lower()


def _is_provider(
    producer: ToolCall, consumer: ToolCall, keys: Sequence[str], situation: RepairContext
) -> bool:
    """Return True if one call returns a value that the other lacks. The other can then only be made
    after that result.
    """
    if producer.tool == consumer.tool:
        return False
    links = flow.find_links(
        situation.by_name[producer.tool], situation.by_name[consumer.tool], _FEEDS
    )
    if any(link.input.path[0] in keys for link in links):
        return True
    taken = {flow.split_words(k) for k in situation.by_name[producer.tool].properties}
    keys = [
        k for k in keys if flow.split_words(k) not in taken
    ]  # what a tool takes it does not provide
    made = set(flow.split_words(_MEANS.split(producer.tool)[0])) - set(flow.VERBS)
    return any((told := set(flow.split_words(k)) - _ARTICLES) and told <= made for k in keys)
