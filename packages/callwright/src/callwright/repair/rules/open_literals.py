"""Literals of a request that no call holds: numbers, quotations, codes of a form that calls hold,
and options of the tools that are called. They are read off the text and the schemas alone, in any
language.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from callwright.language.tokens import fold_text, squash_text
from callwright.nouns.types import Json, Tool, ToolCall, iter_scalars, to_canonical_json
from callwright.repair.provenance.conversation_text import ConversationText
from callwright.repair.rules.several import left_over

_SHORTEST = 3  # letters of an option that is looked for in a text
_CLOCK = re.compile(r"(?<![\d:])\d{1,2}:\d{2}(?![\d:])")
_DAY = re.compile(r"(?<!\d)\d{4}-\d{2}-\d{2}(?!\d)")
# letters and figures that a sign joins: "A-100", "INV_2026-7"
_CODE = re.compile(
    r"(?<![A-Za-z0-9_-])(?=[A-Za-z_-]*\d)(?=[\d_-]*[A-Za-z])[A-Za-z0-9]+(?:[_-][A-Za-z0-9]+)+"
    r"(?![A-Za-z0-9_-])"
)
_MOST = 6
_SMALL = 31  # a day of a month, a span of days or weeks: a call holds what follows from it


def find_open_literals(
    query: str, calls: Sequence[ToolCall], tools: Sequence[Tool]
) -> tuple[str, ...]:
    """The literals of the request that stand in none of these calls, in order; at most six. Small
    numbers alone say nothing: "in 2 weeks" becomes a date.
    """
    found = [*_find_open_quotations(query, calls), *_find_open_codes(query, calls)]
    found += left_over(query, calls)
    found += _find_open_options(query, calls, tools)
    if all(text.isdecimal() and int(text) <= _SMALL for text in found):
        return ()
    return tuple(dict.fromkeys(found))[:_MOST]


def list_kin_tools(open_: Sequence[str], calls: Sequence[ToolCall]) -> frozenset[str]:
    """The tools whose calls hold a code of the form of those that are open; none where anything but
    codes and numbers is open.
    """
    forms = {_get_form(text.upper()) for text in open_ if _CODE.fullmatch(text)}
    if not forms or any(not _CODE.fullmatch(text) and not text.isdecimal() for text in open_):
        return frozenset()
    return frozenset(
        call.tool
        for call in calls
        for value in iter_scalars(call.arguments)
        if any(_get_form(code.upper()) in forms for code in _CODE.findall(_to_text(value)))
    )


def holds_literal(call: ToolCall, text: str) -> bool:
    """Return True if an argument of a call holds the literal."""
    wanted = fold_text(text)
    return any(wanted in fold_text(_to_text(value)) for value in iter_scalars(call.arguments))


def _find_open_quotations(query: str, calls: Sequence[ToolCall]) -> Iterator[str]:
    """Quotations, times of the clock and full dates that stand in no value."""
    given = " ".join(
        squash_text(_to_text(v)) for call in calls for v in iter_scalars(call.arguments)
    )
    for text in (*ConversationText(query).quoted, *_CLOCK.findall(query), *_DAY.findall(query)):
        if squash_text(text) not in given:
            yield text


def _find_open_codes(query: str, calls: Sequence[ToolCall]) -> Iterator[str]:
    """Codes that stand in no value, of the form of one that does: C-330 beside a call for A-100."""
    values = [_to_text(v) for call in calls for v in iter_scalars(call.arguments)]
    given = {code.upper() for value in values for code in _CODE.findall(value)}
    forms = {_get_form(code) for code in given}
    for code in _CODE.findall(query):
        if code.upper() not in given and _get_form(code) in forms:
            yield code


def _get_form(code: str) -> str:
    """The code with a letter for each run of letters and a figure for each figure."""
    return re.sub(r"\d", "0", re.sub(r"[A-Za-z]+", "A", code))


def _find_open_options(
    query: str, calls: Sequence[ToolCall], tools: Sequence[Tool]
) -> Iterator[str]:
    """Options of the called tools that the request names, where no call holds them."""
    called = {call.tool for call in calls}
    said = fold_text(query)
    given = {fold_text(_to_text(v)) for call in calls for v in iter_scalars(call.arguments)}
    for tool in tools:
        if tool.name not in called:
            continue
        for part in tool.properties.values():
            options = part.get("enum") if isinstance(part, dict) else None
            for option in options if isinstance(options, list) else ():
                folded = fold_text(option) if isinstance(option, str) else ""
                if folded not in given and _is_named(folded, said):
                    yield option


def _is_named(option: str, said: str) -> bool:
    """Return True if a text names an option as words of its own."""
    if len(option) < _SHORTEST:
        return False
    # scripts without spaces stand right beside words of another one
    letter = "[a-z0-9_]" if option.isascii() else r"\w"
    return re.search(rf"(?<!{letter}){re.escape(option)}(?!{letter})", said) is not None


def _to_text(value: Json) -> str:
    return value if isinstance(value, str) else to_canonical_json(value)
