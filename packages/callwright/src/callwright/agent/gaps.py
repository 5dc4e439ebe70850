"""Finds gaps in a run after the last layer: calls that failed over a value, and names that were
never looked up.

A small model forgets the second of two names, or passes a name to a tool that needs a code. Both
are detected without a model, from the tool's error and the request. An identifier that the request
itself gives is never a gap: if trip T999 does not exist, another trip is no answer.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from callwright.dataflow.lineage import collect_inherited
from callwright.language import ENGLISH
from callwright.language.detect import is_foreign
from callwright.language.tokens import fold_text
from callwright.nouns.errors import Violation
from callwright.nouns.types import (
    CheckedCall,
    Json,
    JsonObject,
    Tool,
    ToolCall,
    ToolResult,
    iter_scalars,
    to_canonical_json,
)
from callwright.repair.diagnose import points_at_arguments
from callwright.repair.provenance.grounding import copies_example
from callwright.repair.provenance.sources import ProvenanceIndex
from callwright.schema.value_spellings import calendar_day

_TOKEN = re.compile(r"[^\W_][\w'’/.\-]*")
_POSSESSIVE = ENGLISH.pattern("requests.possessive")
_IDENTIFIER = re.compile(r"\d|[@./\\]")
_CALENDAR = ENGLISH.words("calendar.capitalised")
_ABSENT = ENGLISH.pattern("errors.absent")
_MALFORMED = ENGLISH.pattern("errors.malformed")
_DATE = ENGLISH.pattern("calendar.written")
_JOINS = ENGLISH.words("requests.joins")
NOTE = 200  # characters of an error, where it is told
_TELLING = 4  # characters of a value that can tell where it comes from


@dataclass(frozen=True, slots=True)
class Gap:
    """``note``: what is open, as the model is told; ``tool``: whose calls show it; ``named``: tools
    in an error.

    ``like``: calls that close it by analogy, made from one that succeeded. They change one thing:
    whom it is about.
    """

    note: str
    tool: str
    named: tuple[str, ...] = ()
    like: tuple[ToolCall, ...] = ()


def find_gaps(
    query: str,
    results: Sequence[ToolResult],
    tools: Sequence[Tool],
    edges: Iterable[tuple[str, str]] = (),
) -> tuple[Gap, ...]:
    """The gaps that the results of a run leave: calls that failed over a value, results of one tool
    that only some calls of the next tool took up (``edges``: pairs of tools in the plan), names
    that no call took.

    No results, no gaps: nothing was understood.
    """
    failed = _find_failed_calls(query, results, [t.name for t in tools])
    sure = (
        *(g for g in failed if g.named),
        *_find_unused_records(query, results, edges),
        *_find_unused_names(query, results),
    )
    return sure or tuple(
        failed
    )  # a failure that names no way out is often that of a call nobody needed


def failure_gap(tool: str, arguments: JsonObject, message: str, named: tuple[str, ...] = ()) -> Gap:
    """The gap that a failed call leaves."""
    return Gap(
        f"{tool}({to_canonical_json(arguments)[1:-1]}) failed: {message[:NOTE]}", tool, named
    )


def names_another(message: str, tool: str, tools: Iterable[str]) -> tuple[str, ...]:
    """The other tools that an error text names: "find it with find_airports"."""
    words = set(re.findall(r"[\w.\-]*\w", message))
    return tuple(name for name in tools if name != tool and name in words)


def unknown_keys(message: str, arguments: JsonObject) -> tuple[str, ...]:
    """The arguments of which an error says that there is no such thing; none, where it speaks of
    their form.
    """
    said = fold_text(message)
    if not _ABSENT.search(said) or _MALFORMED.search(said):
        return ()
    return tuple(
        k
        for k, v in arguments.items()
        if isinstance(v, str) and len(v) > 1 and fold_text(v) in said
    )


def _find_failed_calls(
    query: str, results: Sequence[ToolResult], tools: Sequence[str]
) -> list[Gap]:
    found: list[Gap] = []
    for result in results:
        failure = result.failure
        if failure is None or not points_at_arguments(failure) or failure.kind == "empty":
            continue
        if any(
            _IDENTIFIER.search(v) and fold_text(v) in fold_text(query)
            for v in _list_texts(result.arguments)
        ):
            continue
        named = names_another(failure.message, result.tool, tools)
        found.append(failure_gap(result.tool, result.arguments, failure.message, named))
    return found


def _find_unused_records(
    query: str, results: Sequence[ToolResult], edges: Iterable[tuple[str, str]]
) -> list[Gap]:
    """Return the gaps of results that no later call used. Example: ``find_place`` gave Oslo and
    Lisbon, and ``sun_times`` was called for Oslo only. Then Lisbon is a gap, once per tool.
    """
    told, asked = collect_inherited(results), fold_text(query)
    open_for: dict[str, dict[str, tuple[ToolCall, ...]]] = {}
    taken_for: dict[str, set[str]] = {}
    for producer, consumer in edges:
        found = [r for r in results if r.ok and r.tool == producer]
        takers = [r for r in results if r.ok and r.tool == consumer]
        own = _list_distinct_values(found)
        used = {
            i: t
            for i in range(len(found))
            for t in takers
            if own[i] & _collect_scalars(t.arguments)
        }
        for place, result in enumerate(found if used else ()):
            texts = (
                t
                for arguments in (result.arguments, *told.get(result.id, ()))
                for t in _list_texts(arguments)
            )
            for name in (text for text in texts if fold_text(text) in asked):
                if place in used:
                    taken_for.setdefault(consumer, set()).add(name)
                else:
                    like = _build_record_call(
                        found, next(iter(used)), place, next(iter(used.values()))
                    )
                    known = open_for.setdefault(consumer, {}).get(name, ())
                    open_for[consumer][name] = max(
                        known, like, key=lambda made: _count_changed_arguments(made, takers)
                    )
    gaps_found = []
    for tool, names_open in open_for.items():
        left = {
            name: like for name, like in names_open.items() if name not in taken_for.get(tool, ())
        }
        if left:
            like = tuple(call for made in left.values() for call in made)
            gaps_found.append(
                Gap(f"{tool} was not called for {', '.join(left)} yet", tool, like=like)
            )
    return gaps_found


def _build_record_call(
    found: Sequence[ToolResult], used: int, place: int, taker: ToolResult
) -> tuple[ToolCall, ...]:
    """The taker's call with every value that it took from one record replaced by the other
    record's.
    """
    one, other = found[used].content, found[place].content
    if not isinstance(one, dict) or not isinstance(other, dict):
        return ()
    fields = {key: _find_telling_field(value, one) for key, value in taker.arguments.items()}
    taken = {key: name for key, name in fields.items() if name is not None}
    if (
        not taken
        or len(set(taken.values())) < len(taken)
        or not other.keys() >= set(taken.values())
    ):
        return ()
    return (
        ToolCall(
            "", taker.tool, {**taker.arguments, **{key: other[name] for key, name in taken.items()}}
        ),
    )


def _count_changed_arguments(made: tuple[ToolCall, ...], takers: Sequence[ToolResult]) -> int:
    """Return how many arguments a call by analogy takes from the other record. If it takes all of
    them, no records are mixed.
    """
    if not takers:
        return 0
    model = takers[0].arguments
    changed = [
        sum(call.arguments[key] != value for key, value in model.items())
        for call in made
        if isinstance(call.arguments, dict) and call.arguments.keys() == model.keys()
    ]
    return max(changed, default=0)


def _find_telling_field(value: Json, record: JsonObject) -> str | None:
    """The only field of a record that holds a value which can tell."""
    names_of = [
        name
        for name, held in record.items()
        if held == value and len(to_canonical_json(value)) >= _TELLING
    ]
    return names_of[0] if len(names_of) == 1 else None


def _list_distinct_values(results: Sequence[ToolResult]) -> list[set[str]]:
    """For each result the values that no other of them holds."""
    held = [_collect_scalars(r.content) for r in results]
    return [one - set().union(*(other for other in held if other is not one)) for one in held]


def _collect_scalars(value: Json) -> set[str]:
    return {
        to_canonical_json(leaf)
        for leaf in iter_scalars(value)
        if leaf is not None and not isinstance(leaf, bool)
    }


def _find_unused_names(query: str, results: Sequence[ToolResult]) -> list[Gap]:
    """Names and days of the request that no successful call took or returned, where one of their
    form was taken.
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
            beside = {
                fold_text(said[other])
                for other in said
                if other not in left and _is_in_same_list(query, name, other)
            }
            like = _build_name_call(takers[0], siblings & beside or siblings, said[name])
            found.append(
                Gap(f"the request also speaks of {name}; no result does", takers[0].tool, like=like)
            )
    return found


def _find_uncovered_siblings(
    query: str, said: dict[str, str], good: Sequence[ToolResult]
) -> list[Gap]:
    """Of names listed together, one that another tool took: what was looked up for its neighbours
    is still open.
    """
    found: list[Gap] = []
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
            like = [
                made for r in calls[:1] for made in _build_name_call(r, beside & taken, written)
            ]
            if fold_text(written) not in taken and like:
                found.append(Gap(f"{tool} was not called for {name} yet", tool, like=tuple(like)))
    return found


def _build_name_call(taker: ToolResult, siblings: set[str], written: str) -> tuple[ToolCall, ...]:
    """The taker's call with its one name replaced; two names of one form in a call could each be
    meant.

    A day is left alone: what belongs to another day is rarely the same otherwise.
    """
    keys = [
        k for k, v in taker.arguments.items() if isinstance(v, str) and fold_text(v) in siblings
    ]
    if len(keys) != 1 or _DATE.fullmatch(written):
        return ()
    return (ToolCall("", taker.tool, {**taker.arguments, keys[0]: written}),)


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


def describe_ungrounded(call: CheckedCall, sources: ProvenanceIndex) -> str:
    """Why a call should wait, or ""; see :func:`find_ungrounded`."""
    found = find_ungrounded(call, sources)
    return found.message if found is not None else ""


def find_ungrounded(call: CheckedCall, sources: ProvenanceIndex) -> Violation | None:
    """The value for which a call should wait: a required number or date that nothing seen so far
    says, or the example that the tool's own description gives. A tool may yet say it.
    """
    for warning in call.warnings:
        key = warning.path.removeprefix("/").split("/")[0]
        number = isinstance(warning.got, int | float) and not isinstance(warning.got, bool)
        day = isinstance(warning.got, str) and calendar_day(warning.got) is not None
        copied = copies_example(warning.got, call.tool.properties.get(key), sources)
        if warning.kind == "unsourced" and (number or day or copied) and key in call.tool.required:
            return warning
    return None
