"""Decides whether a request needs more calls than a reply has, and joins a second reading of the
request to the first.

Asked freely, a small model answers "the weather in Oslo and in Rome" with one call. Held to a
schema of calls, it writes both, but on other questions it adds unrequested calls. So the first
reading stands, and the second may only add: calls whose values were stated and that no call serves
yet.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, pairwise

from callwright.dataflow.flow import STOP, content_words, split_words
from callwright.language import ENGLISH
from callwright.language.tokens import squash_name
from callwright.nouns.thresholds import threshold
from callwright.nouns.types import Json, JsonObject, Tool, ToolCall, iter_scalars, to_canonical_json
from callwright.repair.context import RepairContext, call_print
from callwright.repair.provenance.conversation_text import ConversationText
from callwright.repair.rules.names import score_request

_JOINED = ENGLISH.pattern("wishes.joined")
_PLAINLY = ENGLISH.pattern("wishes.several")
_BETWEEN = ENGLISH.pattern("wishes.between")
_OF_THREE = ENGLISH.pattern("wishes.of_three")
_APART = ENGLISH.pattern("wishes.apart")
_COMMA = ENGLISH.pattern("wishes.comma")
_FIGURE = re.compile(r"\d+(?:\.\d+)?")
_WORD = re.compile(r"[^\W_]+")
_OPENS = re.compile(r"(?:\A|[.!?]\s+)[\"'“(]*([A-Z]\w*)")
_LUMP = 2_000  # characters of a text that may hold several things
_SPOKEN_OF = threshold("callwright.repair", "several.spoken_of")
_ASKED = threshold("callwright.repair", "several.asked")


def several(query: str, calls: Sequence[ToolCall], tools: Sequence[Tool]) -> bool:
    """Return True if the request seems to ask for more than these calls serve. The check prefers
    True in doubt. Of BFCL's parallel questions 99 % give True beside their first gold call (of
    live_parallel_multiple 83 %), of its single ones 32 %.
    """
    if (
        _PLAINLY.search(query)
        or _is_half_served(query, calls)
        or any(_is_lumped(v, query) for v in _iter_values(calls))
    ):
        return True
    if not _JOINED.search(query):
        return False
    left = chain(left_over(query, calls), _names_left_over(query, calls))
    return any(left) or _has_another_tool(query, calls, tools)


def _has_another_tool(query: str, calls: Sequence[ToolCall], tools: Sequence[Tool]) -> bool:
    """Return True if the request has a word of another tool's name that the called tools do not
    share.
    """
    called = [t for t in tools if t.name in {c.tool for c in calls}]
    known = {
        w for t in called for w in (*split_words(t.name), *content_words(t.description))
    } | STOP
    asked = content_words(query) - known
    others = (t for t in tools if t not in called)
    return any(
        asked & set(split_words(t.name)) and score_request(query, t) >= _SPOKEN_OF for t in others
    )


def left_over(query: str, calls: Sequence[ToolCall]) -> Iterator[str]:
    """Numbers and quotations of a request that no call has."""
    values = list(_iter_values(calls))
    figures = {float(n) for v in values for n in _FIGURE.findall(to_canonical_json(v))}
    talk = ConversationText(query)
    for number in talk.numbers:
        said = float(number[1].replace(",", "").replace("−", "-"))
        if not {said, abs(said), said / 100, said * 1_000, said * 1_000_000} & figures:
            yield number[0]
    yield from _iter_unplaced(talk.quoted, values)


def _names_left_over(query: str, calls: Sequence[ToolCall]) -> Iterator[str]:
    """Names of a request that no call has; capital letters that open a sentence say nothing."""
    openers = set(_OPENS.findall(query))
    yield from _iter_unplaced(
        (n for n in ConversationText(query).names if n not in openers), list(_iter_values(calls))
    )


def _iter_unplaced(texts: Iterable[str], values: Sequence[Json]) -> Iterator[str]:
    """The texts that stand in no value, and that no value stands in."""
    spelled = [s for v in values if (s := squash_name(str(v)))]
    for text in texts:
        said = squash_name(text)
        if said and not (
            said in " ".join(spelled) or any(len(s) > 2 and s in said for s in spelled)
        ):
            yield text


def _is_lumped(value: Json, query: str) -> bool:
    """Return True if one text holds two things that the request states separately:
    "ann@x.org,bob@x.org".
    """
    parts = (
        [p for p in _APART.split(value) if p.strip()]
        if isinstance(value, str) and len(value) <= _LUMP
        else []
    )
    return len(parts) > 1 and value not in query and all(p.strip() in query for p in parts)


def _is_half_served(query: str, calls: Sequence[ToolCall]) -> bool:
    """Return True if the request says "X and Y", and the calls hold one of them and not the
    other.
    """
    served = {
        w.lower()
        for v in _iter_values(calls)
        for w in _WORD.findall(v if isinstance(v, str) else to_canonical_json(v))
    }
    query = _COMMA.sub(" and ", query) if _OF_THREE.search(query) else query
    parts = [[w.lower() for w in _WORD.findall(part)] for part in _BETWEEN.split(query)]
    pairs = ((a, b) for a, b in pairwise(parts) if a and b)
    return any(
        (a[-1] in served and not served & set(b[:3]))
        or (b[0] in served and not served & set(a[-2:]))
        for a, b in pairs
    )


@dataclass(frozen=True, slots=True)
class Joint:
    """A call of the result. ``first``, ``second``: its place in either reading, -1 where it is not
    there.
    """

    call: ToolCall
    first: int = -1
    second: int = -1


def joined(
    first: Sequence[ToolCall], second: Sequence[ToolCall], situation: RepairContext
) -> list[Joint]:
    """The calls of a first reading with what a second one adds. Every call of the first is there,
    unless it lumped together what the second has apart, less the optional values that nobody said
    and the second does not have; those of the second are there if they serve a wish that no other
    serves.
    """
    lumped = {i for i, call in enumerate(first) if _is_lumping_call(call, second)}
    partner = _pair_readings(first, second, lumped)
    made = [
        Joint(c, i) for i, c in enumerate(first) if i not in lumped and i not in partner.values()
    ]
    for place, call in enumerate(second):
        if place in partner:
            made.append(
                Joint(
                    _drop_unstated_options(first[partner[place]], call, situation),
                    partner[place],
                    place,
                )
            )
        elif is_wanted_call(call, [j.call for j in made], situation):
            made.append(Joint(call, second=place))
    return made


def _pair_readings(
    first: Sequence[ToolCall], second: Sequence[ToolCall], lumped: Container[int]
) -> dict[int, int]:
    """Place in the second reading -> place in the first of the call that says the same, best
    matches first.
    """
    pairs = [
        (i, j)
        for i, a in enumerate(first)
        for j, b in enumerate(second)
        if a.tool == b.tool and i not in lumped
    ]
    ranked = sorted(
        ((_score_likeness(first[i], second[j]), -i, -j) for i, j in pairs), reverse=True
    )
    made: dict[int, int] = {}
    for score, i, j in ranked:
        if score > 0 and -j not in made and -i not in made.values():
            made[-j] = -i
    return made


def _drop_unstated_options(call: ToolCall, other: ToolCall, situation: RepairContext) -> ToolCall:
    """A call without the optional values that were not said and that the same call of another
    reading leaves out.
    """
    given, tool = _get_arguments(call), situation.by_name[call.tool]
    kept = {
        k: v
        for k, v in given.items()
        if k in tool.required
        or k in _get_arguments(other)
        or isinstance(v, bool)
        or situation.sources.holds(v)
    }
    return call if kept == given or not tool.required else replace(call, arguments=kept)


def _score_likeness(one: ToolCall, other: ToolCall) -> float:
    """The share of arguments that two calls of one tool have in common."""
    a, b = _get_arguments(one), _get_arguments(other)
    if not a and not b:
        return 1.0
    same = sum(k in b and _fold_value(a[k]) == _fold_value(b[k]) for k in a)
    return same / max(len(a), len(b))


def _is_lumping_call(call: ToolCall, apart: Sequence[ToolCall]) -> bool:
    """Return True if a call's argument joins values that two calls of the other reading hold
    separately.
    """
    for key, value in _get_arguments(call).items():
        whole = squash_name(to_canonical_json(value))
        parts = {
            squash_name(to_canonical_json(_get_arguments(c)[key]))
            for c in apart
            if c.tool == call.tool and key in _get_arguments(c)
        }
        if len({p for p in parts if p and p != whole and p in whole}) > 1:
            return True
    return False


def is_wanted_call(call: ToolCall, others: Sequence[ToolCall], situation: RepairContext) -> bool:
    """Return True if a call serves a wish that the others leave open. It has a stated value that no
    other call of its tool has. A tool without other calls must also be plainly mentioned, unless
    the value stands nowhere else, not even as a part of another.
    """
    if call_print(call.tool, call.arguments) in {call_print(c.tool, c.arguments) for c in others}:
        return False
    said = [_fold_value(v) for v in _iter_values([call]) if situation.sources.holds(v)]
    same = [c for c in others if c.tool == call.tool]
    if not said:
        return False
    if same:
        taken = {_fold_value(v) for v in _iter_values(same)}
        return any(v not in taken for v in said) or len(said) > 1
    whole = [_fold_value(v) for v in _iter_values(others)]
    if all(not _is_part_of_other(v, t) for v in said for t in whole):
        return True
    return score_request(situation.query, situation.by_name[call.tool]) >= _ASKED


def _is_part_of_other(one: str, other: str) -> bool:
    """Return True if one text is a part of the other."""
    short, long = sorted((squash_name(one), squash_name(other)), key=len)
    return short == long or (len(short) > 2 and short in long)


def _get_arguments(call: ToolCall) -> JsonObject:
    return call.arguments if isinstance(call.arguments, dict) else {}


def _iter_values(calls: Iterable[ToolCall]) -> Iterator[Json]:
    for call in calls:
        yield from (
            v
            for v in iter_scalars(call.arguments)
            if v is not None and not isinstance(v, bool) and v != ""
        )


def _fold_value(value: Json) -> str:
    return to_canonical_json(value).lower()
