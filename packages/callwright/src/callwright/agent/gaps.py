"""Finds gaps in a run after the last layer: calls that failed over a value, and results that no
later call took up.

A small model forgets the second of two records, or passes a name to a tool that needs a code. Both
are detected without a model and without reading the request's language: from the calls, what came
of them, and the edges of the plan. An identifier that the request itself gives is never a gap: if
trip T999 does not exist, another trip is no answer.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from callwright.dataflow.lineage import collect_inherited
from callwright.language import ENGLISH
from callwright.language.tokens import fold_text
from callwright.nouns.errors import Violation
from callwright.nouns.types import (
    CheckedCall,
    Json,
    JsonObject,
    Tool,
    ToolResult,
    iter_scalars,
    to_canonical_json,
)
from callwright.repair.diagnose import points_at_arguments
from callwright.repair.provenance.grounding import copies_example
from callwright.repair.provenance.readable import speaks_of_one
from callwright.repair.provenance.sources import ProvenanceIndex
from callwright.repair.provenance.value_judge import ValueJudge
from callwright.schema.compiled import compiled_for
from callwright.schema.value_spellings import calendar_day

_IDENTIFIER = re.compile(r"\d|[@./\\]")
_ABSENT = ENGLISH.pattern("errors.absent")
_MALFORMED = ENGLISH.pattern("errors.malformed")
NOTE = 200  # characters of an error, where it is told


@dataclass(frozen=True, slots=True)
class Gap:
    """``note``: what is open, as the model is told; ``tool``: whose calls show it; ``named``: tools
    in an error.
    """

    note: str
    tool: str
    named: tuple[str, ...] = ()


def find_gaps(
    query: str,
    results: Sequence[ToolResult],
    tools: Sequence[Tool],
    edges: Iterable[tuple[str, str]] = (),
) -> tuple[Gap, ...]:
    """The gaps that the results of a run leave: calls that failed over a value, and results of one
    tool that only some calls of the next tool took up (``edges``: pairs of tools in the plan).

    No results, no gaps: nothing was understood.
    """
    failed = _find_failed_calls(query, results, [t.name for t in tools])
    sure = (
        *(g for g in failed if g.named),
        *_find_unused_records(query, results, edges),
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


def is_identified(query: str, arguments: JsonObject) -> bool:
    """Return True if an argument is an identifier that stands in the request itself."""
    asked = fold_text(query)
    return any(
        _IDENTIFIER.search(text) and fold_text(text) in asked for text in _list_texts(arguments)
    )


def _find_failed_calls(
    query: str, results: Sequence[ToolResult], tools: Sequence[str]
) -> list[Gap]:
    found: list[Gap] = []
    for result in results:
        failure = result.failure
        if failure is None or not points_at_arguments(failure) or failure.kind == "empty":
            continue
        if is_identified(query, result.arguments):
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
    open_for: dict[str, dict[str, None]] = {}
    taken_for: dict[str, set[str]] = {}
    for producer, consumer in edges:
        found = [r for r in results if r.ok and r.tool == producer]
        takers = [r for r in results if r.ok and r.tool == consumer]
        used = _find_used_results(found, takers)
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
                    open_for.setdefault(consumer, {})[name] = None
    left = {
        tool: [name for name in names if name not in taken_for.get(tool, ())]
        for tool, names in open_for.items()
    }
    return [
        Gap(f"{tool} was not called for {', '.join(names)} yet", tool)
        for tool, names in left.items()
        if names
    ]


def _find_used_results(found: Sequence[ToolResult], takers: Sequence[ToolResult]) -> set[int]:
    """The places of the results of which a call took a value that no other of them holds."""
    own = _list_distinct_values(found)
    taken = [_collect_scalars(taker.arguments) for taker in takers]
    return {place for place in range(len(found)) if any(own[place] & held for held in taken)}


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


def _list_texts(value: Json) -> list[str]:
    """Every text inside a JSON value."""
    return [leaf for leaf in iter_scalars(value) if isinstance(leaf, str)]


def find_ungrounded(
    call: CheckedCall, sources: ProvenanceIndex, said: Sequence[str] = ()
) -> Violation | None:
    """The value for which a call should wait: a required number or date that nothing seen so far
    says, or the example that the tool's own description gives. A tool may yet say it. ``said``: the
    user's words; what these lead to need not stand there.
    """
    for warning in call.warnings:
        key = warning.path.removeprefix("/").split("/")[0]
        number = isinstance(warning.got, int | float) and not isinstance(warning.got, bool)
        day = isinstance(warning.got, str) and calendar_day(warning.got) is not None
        copied = copies_example(warning.got, call.tool.properties.get(key), sources)
        is_judged = warning.kind == "unsourced" and key in call.tool.required
        if not is_judged or not (number or day or copied):
            continue
        if not _is_meant(call, key, sources, said):
            return warning
    return None


def _is_meant(call: CheckedCall, key: str, sources: ProvenanceIndex, said: Sequence[str]) -> bool:
    """Return True if the user's words surely lead to an argument: one thing is spoken of, or a day
    is counted from another.
    """
    value, node = call.arguments.get(key), compiled_for(call.tool).root.property(key)
    if not said or node is None:
        return False
    if not isinstance(value, str):
        return value == 1 and speaks_of_one(said)
    judge = ValueJudge(sources, said, tool=call.tool, call=call.arguments)
    return value in judge.list_meant(value, node, call.arguments)
