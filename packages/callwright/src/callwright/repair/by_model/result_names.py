"""Names of results in a refiner's answer: those of the upstream, where it gave them one.

Whoever carries the calls out knows no other, and a model may have learned to write labels.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

from callwright.nouns.types import Tool, ToolCall
from callwright.repair.by_model.guard import (
    Objection,
    Upstream,
    find_right_calls,
    list_declared_writes,
)
from callwright.repair.gate import Gate
from callwright.repair.ordering.references import (
    Labels,
    Reference,
    find_call_references,
    labels_of,
    rewrite_references,
)

Change: TypeAlias = tuple[Reference, str]


def keep_result_names(
    up: Upstream, made: Sequence[ToolCall], pairs: Mapping[int, int]
) -> tuple[ToolCall, ...]:
    """The model's calls with the upstream's labels and references, where these lead to the same calls.

    ``pairs``: the place among the model's calls of a call of the upstream. A result that the model
    refers to where the upstream did not, or by another field, keeps the model's label.
    """
    tools = {tool.name: tool for tool in up.tools}
    before = {
        (pairs.get(ref.call), ref.path, pairs.get(to)): ref
        for ref, to in _follow_references(up, up.calls, tools)
    }
    mine = list(_follow_references(up, made, tools))
    changes: list[Change] = []
    by_output: list[Change] = []
    fresh: set[int] = set()
    for ref, to in mine:
        was = before.get((ref.call, ref.path, to))
        if was is None or ref.field not in ((), was.field):
            fresh.add(to)
        else:
            (by_output if was.notation == "output" else changes).append((ref, was.text))
    ids = {n: up.calls[i].id for i, n in pairs.items() if n not in fresh}
    # an output's name needs no label
    for kept, some in ((ids, [*changes, *by_output]), ({}, by_output)):
        named = [replace(call, id=kept.get(n, call.id)) for n, call in enumerate(made)]
        named = _rewrite_all(named, some)
        is_distinct = len({call.id for call in named}) == len(named)
        if is_distinct and _list_links(_follow_references(up, named, tools)) == _list_links(mine):
            return tuple(named)
    return tuple(made)


def find_relinked(
    up: Upstream, made: Sequence[ToolCall], pairs: Mapping[int, int]
) -> Iterator[Objection]:
    """The objections to arguments of right calls that refer to the result of another call than they
    did; ``pairs`` as above.
    """
    tools = {tool.name: tool for tool in up.tools}
    mine = {(ref.call, ref.path): to for ref, to in _follow_references(up, made, tools)}
    moved = [
        ref.call
        for ref, to in _follow_references(up, up.calls, tools)
        if mine.get((pairs.get(ref.call, -1), ref.path)) not in (None, pairs.get(to))
    ]
    right = find_right_calls(up, Gate(up.tools)) if moved else []
    writing = list_declared_writes(up.tools)
    for name in (up.calls[n].tool for n in moved if n in right):
        said = f"The call of '{name}' was right and takes the result of another call."
        yield Objection("write" if name in writing else "lost", said)


def _rewrite_all(calls: Sequence[ToolCall], changes: Sequence[Change]) -> list[ToolCall]:
    by_call: dict[int, list[Change]] = defaultdict(list)
    for ref, text in changes:
        by_call[ref.call].append((ref, text))
    return [rewrite_references(call, by_call[n]) for n, call in enumerate(calls)]


def _list_links(found: Iterable[tuple[Reference, int]]) -> list[tuple[object, ...]]:
    return [(ref.call, ref.path, to) for ref, to in found]


def _follow_references(
    up: Upstream, calls: Sequence[ToolCall], tools: Mapping[str, Tool]
) -> Iterator[tuple[Reference, int]]:
    """References that are a whole value, each with the place of the call that it leads to."""
    labels = Labels(calls, tools, labels_of(calls, tools))
    for ref in find_call_references(calls, up.tools, up.query):
        if ref.whole and (meaning := labels.meaning(ref)) is not None:
            yield ref, meaning.call
