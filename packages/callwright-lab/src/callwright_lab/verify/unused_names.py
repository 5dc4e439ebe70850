"""Finds names of a request that no call of a run took: a suspicion about a recorded run, for a judge.

It goes by how a request in English is written, and a name is not a wish: of "Not in Oslo, I know
that already" it names Oslo. So nothing is called, refused or marked as wrong for it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from callwright.language import ENGLISH
from callwright.language.detect import is_foreign
from callwright.language.tokens import fold_text
from callwright.nouns.types import Json, ToolResult, iter_scalars
from callwright.schema.value_spellings import calendar_day

_TOKEN = re.compile(r"[^\W_][\w'’/.\-]*")
_POSSESSIVE = ENGLISH.pattern("requests.possessive")
_CALENDAR = ENGLISH.words("calendar.capitalised")
_DATE = ENGLISH.pattern("calendar.written")
_JOINS = ENGLISH.words("requests.joins")


def find_unused_names(query: str, results: Sequence[ToolResult]) -> tuple[str, ...]:
    """Return a note for each name and day of the request that no successful call took or returned,
    where one of its form was taken.
    """
    good = [r for r in results if r.ok]
    taken_or_returned = [value for r in good for value in (r.arguments, r.content)]
    seen = fold_text(" ".join(text for value in taken_or_returned for text in _list_texts(value)))
    said = {**{name: name for name in find_names(query)}, **dict(_list_dates(query))}
    left = [name for name, written in said.items() if fold_text(written) not in seen]
    found = _find_uncovered_siblings(query, {n: w for n, w in said.items() if n not in left}, good)
    for name in left:
        siblings = {
            fold_text(w)
            for other, w in said.items()
            if other not in left and _classify_form(other) == _classify_form(name)
        }
        takers = [
            r for r in good if siblings & {fold_text(text) for text in _list_texts(r.arguments)}
        ]
        if takers:
            found.append(f"the request also speaks of {name}; no result does")
    return tuple(found)


def _find_uncovered_siblings(
    query: str, said: dict[str, str], good: Sequence[ToolResult]
) -> list[str]:
    """Of names listed together, one that another tool took: what was looked up for its neighbours
    is still open.
    """
    found: list[str] = []
    for tool in dict.fromkeys(r.tool for r in good):
        calls = [r for r in good if r.tool == tool]
        taken = {fold_text(text) for r in calls for text in _list_texts(r.arguments)}
        for name, written in said.items():
            beside = {
                fold_text(said[other])
                for other in said
                if other != name
                and _classify_form(other) == _classify_form(name)
                and _is_in_same_list(query, name, other)
            }
            alike = _takes_one_name(calls[0], beside & taken, written)
            if fold_text(written) not in taken and alike:
                found.append(f"{tool} was not called for {name} yet")
    return found


def _takes_one_name(taker: ToolResult, siblings: set[str], written: str) -> bool:
    """Return True if one argument of a call holds a name like this one: of two each could be meant.

    A day is left alone: what belongs to another day is rarely the same otherwise.
    """
    keys = [
        k for k, v in taker.arguments.items() if isinstance(v, str) and fold_text(v) in siblings
    ]
    return len(keys) == 1 and not _DATE.fullmatch(written)


def _is_in_same_list(query: str, one: str, other: str) -> bool:
    """Return True if two names stand in one list: nothing between them but names, commas and
    "and".
    """
    start, end = sorted((query.find(one), query.find(other)))
    first = one if query.find(one) <= query.find(other) else other
    between = query[start + len(first) : end]
    return start >= 0 and all(
        word in _JOINS or word[:1].isupper() or not word
        for word in re.split(r"[\s,;/()]+", between)
    )


def _list_dates(query: str) -> list[tuple[str, str]]:
    """The full dates of a request: as written, and as ISO 8601."""
    found = ((match[0], calendar_day(match[0])) for match in _DATE.finditer(query))
    return [(text, day.isoformat()) for text, day in found if day is not None]


def find_names(query: str) -> tuple[str, ...]:
    """The proper names, codes and zones of a request, in order: ``Madrid Barajas``, ``OSL``,
    ``Africa/Nairobi``.

    A single capitalised word at the start of a sentence is none; nor are months, weekdays and
    single letters. Of a request that is not English only codes and zones are taken: there a capital
    letter may stand on any word.
    """
    found: list[str] = []
    run: list[str] = []
    end, at_start = 0, True
    for match in _TOKEN.finditer(query):
        before, joined = (
            query[: match.start()].rstrip(" \t\"'(«“"),
            query[end : match.start()] == " ",
        )
        word = _POSSESSIVE.sub("", match[0].rstrip(".'’-/"))
        upper = word[:1].isupper() and word.lower() not in _CALENDAR and len(word) > 1
        if run and not (upper and joined and not _is_code(word) and not _is_code(run[-1])):
            _close_name(run, found, at_start)
        if upper:
            at_start = at_start if run else not before or before[-1] in ".!?:\n"
            run.append(word)
        end = match.end()
        if run and match[0] != word:  # a possessive or a full stop ends the name
            _close_name(run, found, at_start)
    if run:
        _close_name(run, found, at_start)
    if is_foreign(query):
        found = [name for name in found if _is_code(name) or "/" in name]
    return tuple(dict.fromkeys(found))


def _close_name(run: list[str], found: list[str], at_start: bool) -> None:
    if len(run) > 1 or not at_start or _is_code(run[0]) or "/" in run[0]:
        found.append(" ".join(run))
    run.clear()


def _is_code(word: str) -> bool:
    return len(word) > 1 and word.isupper()


def _classify_form(name: str) -> tuple[int, bool, bool]:
    """Names of one form are likely of one kind; a date is a kind of its own."""
    if _DATE.fullmatch(name):
        return 0, False, False
    return len(name.split()), _is_code(name), "/" in name


def _list_texts(value: Json) -> list[str]:
    """Every text inside a JSON value."""
    return [leaf for leaf in iter_scalars(value) if isinstance(leaf, str)]
