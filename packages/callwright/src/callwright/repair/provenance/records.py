"""One call, two records: the departure of one trip with the return of another, one city's latitude
in another's zone.

Every value comes from a result, so each alone looks grounded; together they describe nothing that
exists.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

from callwright.nouns.types import Json, JsonObject, ToolResult, to_canonical_json
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
    for records in _iter_record_lists(sources.results):
        places = {
            key: place
            for key, value in told.items()
            if (place := _find_place(value, records)) is not None
        }
        for one, other in combinations(places, 2):
            (i, a), (j, b) = places[one], places[other]
            if i != j and a != b and b in records[i] and a in records[j]:
                message = _render_mixture(one, other, arguments, records[i], records[j])
                at, value = in_arguments(draft, other), arguments[other]
                return Diagnostic("error", "ungrounded", at, message, "record", None, value)
    return None


def _iter_record_lists(results: Sequence[ToolResult]) -> Iterator[Sequence[JsonObject]]:
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


def _find_place(value: Json, records: Sequence[JsonObject]) -> tuple[int, str] | None:
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
        f" {to_canonical_json(arguments[one])} from {_shorten_record(first)},"
        f" {to_canonical_json(arguments[other])} from {_shorten_record(second)}."
        " Take both from the record that the request is about."
    )


def _shorten_record(record: JsonObject) -> str:
    text = to_canonical_json(record)
    return text if len(text) <= 160 else text[:159] + "…"
