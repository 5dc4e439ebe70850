"""Gold calls and what they returned -> the plan that makes them, each value from where it comes.

A value that the request does not hold and an earlier result does is a reference where it is a whole
field of it, and left open where it only stands in a text.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from callwright.agent.safety.provenance import Provenance, iter_leaves
from callwright.nouns.plan import OPEN, Plan, Slot
from callwright.nouns.types import Json, JsonObject, ToolCall, ToolResult
from callwright.repair.provenance.sources import ProvenanceIndex


@dataclass(frozen=True, slots=True)
class Made:
    """One gold call and what it returned."""

    call: ToolCall
    content: Json


def gold_plan(query: str, made: Sequence[Made], writes: Collection[str] = ()) -> Plan:
    """The plan of calls that were carried out in this order: slot ``1`` is the first.

    A step waits for what feeds it, and for every step before it where either is of a tool that
    ``writes``.
    """
    slots = []
    for number, one in enumerate(made, 1):
        arguments, feeds = _reference_arguments(one.call, query, made[: number - 1])
        orders = {
            at
            for at, other in enumerate(made[: number - 1], 1)
            if {other.call.tool, one.call.tool} & {*writes}
        }
        after = frozenset(str(at) for at in feeds | orders)
        slots.append(Slot(str(number), one.call.tool, after, arguments=arguments))
    return Plan(tuple(slots))


def _reference_arguments(
    call: ToolCall, query: str, before: Sequence[Made]
) -> tuple[JsonObject, set[int]]:
    """The arguments with references, and the places of the steps that feed them."""
    results = [
        ToolResult(str(at), one.call.tool, {}, one.content) for at, one in enumerate(before, 1)
    ]
    seen = Provenance(ProvenanceIndex(query, results=results))
    arguments: JsonObject = {}
    feeds: set[int] = set()
    for key, value in (call.arguments if isinstance(call.arguments, dict) else {}).items():
        arguments[key], fed = _reference_value(value, seen, before)
        feeds |= fed
    return arguments, feeds


def _reference_value(
    value: Json, seen: Provenance, before: Sequence[Made]
) -> tuple[Json, set[int]]:
    """A value as the plan has it: said, referred to, or left open; and the places of the steps it
    comes from.
    """
    unsaid = [leaf for _, leaf in iter_leaves(value) if not seen.is_in_request(leaf)]
    found = {int(origin.result) for leaf in unsaid for origin in seen.all_of(leaf)[:1]}
    found |= {
        int(origin.result) for leaf in unsaid if not seen.all_of(leaf) and (origin := seen.of(leaf))
    }
    if not found:
        return value, set()
    whole = next(
        (
            f"{at}{path}"
            for at in sorted(found)
            for path in _iter_paths(before[at - 1].content, value)
        ),
        None,
    )
    return (OPEN if whole is None else "${" + whole + "}"), found


def _iter_paths(content: Json, value: Json, path: str = "") -> Iterator[str]:
    """Yield the reference paths at which a result holds exactly this value, in the order of the
    keys.
    """
    if path and type(content) is type(value) and content == value:
        yield path
    elif isinstance(content, dict):
        for key, inner in content.items():
            yield from _iter_paths(inner, value, f"{path}.{key}")
    elif isinstance(content, list):
        for at, inner in enumerate(content):
            yield from _iter_paths(inner, value, f"{path}[{at}]")
