"""One call, two records: the departure of one trip with the return of another, one city's latitude
in another's zone. Or the wrong one: the event that nobody spoke of, beside the one that was named.

Every value comes from a result, so each alone looks grounded; together they describe nothing that
exists, or not what was asked for.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Sequence
from itertools import combinations
from typing import NamedTuple

from callwright.language.tokens import holds_unparted, squash_text
from callwright.nouns.types import Json, JsonObject, ToolResult, iter_scalars, to_canonical_json
from callwright.repair.diagnostics import Diagnostic
from callwright.repair.location import in_arguments
from callwright.repair.provenance.sources import ProvenanceIndex

_MOST_RECORDS = 200
_MOST_ARGUMENTS = 12
_DEPTH = 4
_SHORTEST = 4  # characters of a value that can tell which record it is from


def mixed_records(
    arguments: JsonObject, sources: ProvenanceIndex, draft: int = 0
) -> Diagnostic | None:
    """Two arguments taken from two records of one kind, where either record would have given both:
    records of one list, or the results of two calls of one tool.

    Only values that one record of the list alone holds, and that nobody said, can tell. The same
    field of two records (two airports for one flight) is no mixture.
    """
    if len(arguments) < 2:
        return None
    told = {
        key: value
        for key, value in list(arguments.items())[:_MOST_ARGUMENTS]
        if isinstance(value, str | int | float)
        and not isinstance(value, bool)
        and len(str(value)) >= _SHORTEST
    }
    if len(told) < 2 or not sources.results:
        return None
    said = ProvenanceIndex(sources.query)
    told = {key: value for key, value in told.items() if not said.holds(value)}
    for records in iter_record_lists(sources.results):
        places = {
            key: place
            for key, value in told.items()
            if (place := find_place(value, records)) is not None
        }
        for one, other in combinations(places, 2):
            (i, a), (j, b) = places[one], places[other]
            if i != j and a != b and b in records[i] and a in records[j]:
                message = _render_mixture(one, other, arguments, records[i], records[j])
                at, value = in_arguments(draft, other), arguments[other]
                return Diagnostic("error", "ungrounded", at, message, "record", None, value)
    return None


class OtherRecord(NamedTuple):
    """A value of a record that nobody named, beside one of the same list that was: ``meant``."""

    key: str
    value: Json
    record: JsonObject
    meant: JsonObject


def find_other_record(
    arguments: JsonObject,
    results: Sequence[ToolResult],
    said: str,
    made: Container[str] = (),
) -> OtherRecord | None:
    """The argument that identifies a record of a result of which a message says nothing, where it
    names exactly one other record of the same list, and no other argument is of that one. A hint,
    no proof: "all but the fire drill" names what is not meant. ``made``: identifiers of
    records that calls for the same message made; they are named by nothing.
    """
    spoken = ProvenanceIndex(said)
    for key, value in list(arguments.items())[:_MOST_ARGUMENTS]:
        is_told = isinstance(value, str | int) and not isinstance(value, bool)
        if not is_told or spoken.holds(value):
            continue
        for records in iter_record_lists(results):
            place = find_place(value, records)
            if place is None or not identifies(place[1], records):
                continue
            named = [one for one in records if is_named(one, spoken) and not _is_made(one, made)]
            own = records[place[0]]
            if len(named) != 1 or named[0] is own:
                continue
            if not any(_is_of(other, named[0]) for other in arguments.values()):
                return OtherRecord(key, value, own, named[0])
    return None


def identifies(field: str, records: Sequence[JsonObject]) -> bool:
    """Return True if a field tells the records of a list apart: all have it, each another one."""
    values = [one.get(field) for one in records]
    is_told = all(isinstance(v, str | int) and not isinstance(v, bool) for v in values)
    return is_told and len({to_canonical_json(value) for value in values}) == len(records)


def _is_of(value: Json, record: JsonObject) -> bool:
    """Return True if a value is one of a record's own."""
    is_told = isinstance(value, str | int) and not isinstance(value, bool)
    return is_told and any(held == value and not isinstance(held, bool) for held in record.values())


def _is_made(record: JsonObject, made: Container[str]) -> bool:
    return any(isinstance(value, str | int) and str(value) in made for value in record.values())


def list_made(results: Sequence[ToolResult], writes: Container[str]) -> set[str]:
    """The texts and numbers that calls of ``writes`` returned and that stand in no earlier result,
    nor in the arguments of a call: identifiers of what they made.
    """
    seen: set[str] = set()
    made: set[str] = set()
    for result in results:
        seen |= _list_told(result.arguments)
        told = _list_told(result.content)
        if result.ok and result.tool in writes:
            made |= told - seen
        seen |= told
    return made


def _list_told(value: Json) -> set[str]:
    told = (one for one in iter_scalars(value) if isinstance(one, str | int))
    return {str(one) for one in told if not isinstance(one, bool)}


def is_named(record: JsonObject, spoken: ProvenanceIndex) -> bool:
    """Return True if a text of a record stands in what was said, word for word."""
    texts = (value for value in record.values() if isinstance(value, str))
    return any(_is_said(text, spoken) for text in texts)


def _is_said(text: str, spoken: ProvenanceIndex) -> bool:
    if holds_unparted(text):
        return spoken.mentions(text)
    is_telling = len(squash_text(text)) >= _SHORTEST
    return is_telling and spoken.holds_words(text) and spoken.holds_whole(text)


def iter_record_lists(results: Sequence[ToolResult]) -> Iterator[Sequence[JsonObject]]:
    """The lists of two or more objects inside the results, and what one tool returned in several
    calls.
    """
    by_tool: dict[str, list[JsonObject]] = {}
    for result in results:
        if isinstance(result.content, dict):
            by_tool.setdefault(result.tool, []).append(result.content)
    yield from (contents for contents in by_tool.values() if len(contents) > 1)
    for result in results:
        stack: list[tuple[Json, int]] = [(result.content, 0)]
        while stack:
            value, depth = stack.pop()
            if depth > _DEPTH:
                continue
            if isinstance(value, dict):
                stack.extend(
                    (inner, depth + 1) for inner in value.values() if isinstance(inner, dict | list)
                )
            elif isinstance(value, list) and value and all(isinstance(v, dict) for v in value):
                if len(value) > 1:
                    yield value[:_MOST_RECORDS]
                stack.extend((inner, depth + 1) for inner in value[:_MOST_RECORDS])


def iter_records(value: Json, depth: int = 0) -> Iterator[JsonObject]:
    """All objects inside a result, the outer ones first."""
    if depth > _DEPTH:
        return
    inner: Iterable[Json] = value if isinstance(value, list) else ()
    if isinstance(value, dict):
        yield value
        inner = value.values()
    for one in inner:
        yield from iter_records(one, depth + 1)


def find_place(value: Json, records: Sequence[JsonObject]) -> tuple[int, str] | None:
    """Record and field of a value that the list holds exactly once."""
    found = [
        (i, key)
        for i, record in enumerate(records)
        for key, held in record.items()
        if held == value
    ]
    return found[0] if len(found) == 1 else None


def _render_mixture(
    one: str, other: str, arguments: JsonObject, first: JsonObject, second: JsonObject
) -> str:
    return (
        f"'{one}' and '{other}' come from two different records:"
        f" {to_canonical_json(arguments[one])} from {shorten_record(first)},"
        f" {to_canonical_json(arguments[other])} from {shorten_record(second)}."
        " Take both from the record that the request is about."
    )


def shorten_record(record: JsonObject) -> str:
    text = to_canonical_json(record)
    return text if len(text) <= 160 else text[:159] + "…"
