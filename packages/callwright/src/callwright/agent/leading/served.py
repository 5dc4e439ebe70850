"""Tells which of the wishes that a model stated are served, and a later reply that asks for what
was done already.

After results a small model is asked whether something is left to do. Often it states its first wish
once more and fills a schema with what it knows: the weather in Oslo is told, and it looks for a
contact of that name and mails him. Such a reply is known by three things at once, none of which
reads a language:

* it states the wishes that the first reply of the turn stated, no other;
* each of those had its call, and all results of the turn hold something;
* its calls hold nothing new: no value that stands in a result and was not said, and none that was
  said and that no call of the turn was made with.

Texts of more than a few words are no evidence either way: a mail may tell a result nobody asked to
be mailed.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Container, Iterator, Sequence

from callwright.agent.step import NamedWish
from callwright.jsontext import JsonError, parse_lenient
from callwright.language.tokens import fold_text, squash_text
from callwright.nouns.types import (
    Json,
    JsonObject,
    Tool,
    ToolCall,
    ToolResult,
    is_number,
    iter_scalars,
)
from callwright.repair.empty_result import is_empty_result
from callwright.repair.provenance.echoes import has_argument
from callwright.repair.provenance.sources import ProvenanceIndex
from callwright.schema.value_spellings import calendar_day

_WORD = re.compile(r"\w+")
_MOST_WORDS = 3  # of a text that can name something
_MANY = 3  # tools: two may well be meant both
_ALIKE = 0.8  # the shorter of two wishes in the longer one, in signs
_CALL = re.compile(r"([\w.\-]+)\s*(?:\(|$)")  # a wish that is written as a call
_CLOCK = re.compile(r"\d:\d\d")


def read_wishes(text: str) -> tuple[str, ...]:
    """The wishes that a guided reply states; () where it states none."""
    try:
        value = parse_lenient(text).value
    except JsonError:
        return ()
    wishes = value.get("wishes") if isinstance(value, dict) else None
    found = wishes if isinstance(wishes, list) else []
    return tuple(wish for wish in found if isinstance(wish, str) and wish.strip())


def reads_out_names(text: str, tools: Sequence[Tool]) -> bool:
    """Return True if the wishes of a reply are the names of all tools, three or more: a small model
    reads them out of the question and calls one after the other, and says nothing of the request.
    """
    return len(tools) >= _MANY and {*read_wishes(text)} == {tool.name for tool in tools}


def list_unserved(
    wishes: Sequence[str], called: Sequence[str], names: Container[str], reads: Container[str]
) -> tuple[NamedWish, ...]:
    """The wishes written as calls of tools that were not called: "delete_event(event_id: 'V-3')".
    ``called``: the tools of the calls of a turn; ``names``: the tools that count; ``reads``: those
    that may be called as often as they were named.
    """
    left = Counter(called)
    found = []
    for wish in wishes:
        tool = _read_tool(wish)
        if tool not in names:
            continue
        if left[tool] <= 0:
            found.append(NamedWish(tool, wish))
        elif tool in reads:
            left[tool] -= 1
    return tuple(found)


def list_open(
    wishes: Sequence[str], calls: Sequence[ToolResult], names: Container[str]
) -> tuple[str, ...]:
    """The wishes in words, where these are more than the calls, in which no value of the calls
    stands. Those written as calls of tools of ``names`` are left out, and so are their calls.
    """
    tools = {wish: _read_tool(wish) for wish in wishes}
    named = {tool for tool in tools.values() if tool in names}
    wishes = [wish for wish in wishes if tools[wish] not in named]
    calls = [call for call in calls if call.tool not in named]
    if len(wishes) <= len(calls):
        return ()
    values = [value for call in calls for value in iter_scalars(call.arguments)]
    return tuple(wish for wish in wishes if not _holds_any(wish, values))


def _holds_any(wish: str, values: Sequence[Json]) -> bool:
    said = ProvenanceIndex(wish)
    return any(is_said(value, said) for value in values)


def is_said(value: Json, said: ProvenanceIndex) -> bool:
    """Return True for a text that stands in what was said in one piece, and for a number in it."""
    if isinstance(value, str):
        return bool(value.strip()) and said.holds_whole(value)
    return is_number(value) and said.holds(value)


def _read_tool(wish: str) -> str:
    """The name in a wish that is written as a call; "" where it is none."""
    match = _CALL.match(wish.strip())
    return match.group(1) if match else ""


def asks_for_nothing_new(
    wishes: Sequence[str],
    calls: Sequence[ToolCall],
    first: Sequence[str],
    results: Sequence[ToolResult],
    said: ProvenanceIndex,
) -> bool:
    """Return True if a later reply of a turn only asks for what was done. ``first``: the wishes of
    the first reply, if each of them had its call; ``results``: of the turn; ``said``: what was
    said, without any result.
    """
    if not (wishes and calls and first and results):
        return False
    if any(
        not result.ok or is_empty_result(result.content, result.arguments) for result in results
    ):
        return False  # another way may be tried
    if not all(any(_are_alike(wish, other) for other in first) for wish in wishes):
        return False
    given = ProvenanceIndex(results=results)
    return all(_holds_nothing_new(call, results, said, given) for call in calls)


def _are_alike(one: str, other: str) -> bool:
    """Return True for two wordings of a wish that differ in a word, such as an article."""
    short, long = sorted((squash_text(one), squash_text(other)), key=len)
    if short and short in long and len(short) >= _ALIKE * len(long):
        return True
    words = [{*_WORD.findall(fold_text(text))} for text in (one, other)]
    return len(words[0] ^ words[1]) <= 1 < len(words[0] & words[1])


def _holds_nothing_new(
    call: ToolCall, results: Sequence[ToolResult], said: ProvenanceIndex, given: ProvenanceIndex
) -> bool:
    if not isinstance(call.arguments, dict):
        return False
    idle = 0  # values that were used before, and identifiers from nowhere
    for value in _iter_naming(call.arguments):
        if any(has_argument(result.arguments, value) for result in results):
            idle += 1
        elif not isinstance(value, str) or said.holds_whole(value) or given.holds_whole(value):
            return False
        elif any(sign.isdigit() for sign in value):
            if calendar_day(value[:10]) is not None or _CLOCK.search(value):
                return False  # it may be derived from what was said
            idle += 1
    return idle > 0


def _iter_naming(arguments: JsonObject) -> Iterator[Json]:
    """The numbers and the short texts of arguments."""
    for value in iter_scalars(arguments):
        if isinstance(value, str):
            if value.strip() and len(_WORD.findall(value)) <= _MOST_WORDS:
                yield value
        elif is_number(value):
            yield value
