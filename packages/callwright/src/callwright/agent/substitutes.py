"""A tool that may stand in for one that failed: it gives the same, takes what is at hand, and does
no more harm.

A reading tool is never replaced by one that may write, and nothing by one that may destroy. Whether
what it gives is what was wanted is judged by words: those of the outputs that both declare, of
their names, of their descriptions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from callwright.agent.gaps import names_another
from callwright.agent.origins import Failed
from callwright.dataflow.flow import Field, Profile, get_profile, is_type_compatible
from callwright.nouns.thresholds import threshold
from callwright.nouns.types import Effects, JsonObject, Tool, ToolCall
from callwright.repair.diagnose import is_replaced
from callwright.repair.provenance.sources import ProvenanceIndex
from callwright.tools.evidence.prior import UNKNOWN, Known, compute_weight

# score from which a tool is offered to the model in its place: 35 of the desk's 2,862 pairs reach
# it
FITS = threshold("callwright.agent", "substitute_fits")
# score from which its call is made without a question, if the arguments fit as they are: 2 of
# them
SURE = threshold("callwright.agent", "substitute_sure")
_MOST = 3  # tools offered in place of one


@dataclass(frozen=True, slots=True)
class Substitute:
    """A tool in place of another. ``call`` is the failed call in its terms, where no question is
    needed.
    """

    tool: Tool
    score: float
    call: ToolCall | None = None


def find_substitutes(
    failed: Failed,
    tools: Sequence[Tool],
    spent: frozenset[str],
    sources: ProvenanceIndex,
    known: Known | None = None,
) -> list[Substitute]:
    """The tools that may stand in for the failed one, best first. ``spent`` are those that failed
    themselves; ``known`` says how often tools work.

    What the failed tool itself names as having taken its place is as like it as can be.
    """
    tool = next((t for t in tools if t.name == failed.call.tool), None)
    if tool is None:
        return []
    gone = is_replaced(failed.message, tool.name)
    named = names_another(failed.message, tool.name, [t.name for t in tools]) if gone else ()
    found = []
    for other in tools:
        if (
            other.name == tool.name
            or other.name in spent
            or other.compensates  # to undo is no substitute for doing
            or not is_no_worse(other.effects, tool.effects)
        ):
            continue
        score = 1.0 if other.name in named else compute_likeness(tool, other)
        if score < FITS or not _is_obtainable(failed, other, sources):
            continue
        arguments = _map_arguments(failed.arguments, tool, other) if score >= SURE else None
        call = ToolCall("", other.name, arguments) if arguments is not None else None
        found.append(Substitute(other, score, call))
    rates = known or {}
    return sorted(
        found,
        key=lambda s: (-s.score * compute_weight(rates.get(s.tool.name, UNKNOWN)), s.tool.name),
    )[:_MOST]


def is_no_worse(other: Effects, than: Effects) -> bool:
    """Return True if the one may be called in place of the other. A tool with undeclared effects
    may replace another such tool; both count as writes and need the same approval.
    """
    if other.read_only:
        return True
    if than.read_only:
        return False
    return not other.destructive or (not other.declared and not than.declared)


def compute_likeness(one: Tool, other: Tool) -> float:
    """Return the degree to which the second tool gives the results of the first, 0..1."""
    a, b = get_profile(one), get_profile(other)
    parts = [_compare_subjects(a, b), _compare_descriptions(a, b)]
    if a.declares_output and b.declares_output:
        parts = [_compare_outputs(a, b), _compare_outputs(a, b), *parts]
    return sum(parts) / len(parts)


def _compare_outputs(a: Profile, b: Profile) -> float:
    """The share of what the first returns, beyond what it was given, that the second returns
    too.
    """
    wanted = {f.name for f in a.outputs if f.name not in a.echoed} or {f.name for f in a.outputs}
    names = {f.name for f in b.outputs}
    return len(wanted & names) / len(wanted)


def _compare_subjects(a: Profile, b: Profile) -> float:
    """The words of what two tools are about; another kind of verb halves it: to find is not to
    count.

    A word that only one of them has counts: the zone of an airport is no airport.
    """
    one, other = (a.subject, b.subject) if a.subject and b.subject else (a.called, b.called)
    alike = len(one & other) / max(len(one), len(other), 1)
    return alike if a.verb == b.verb or not (a.verb and b.verb) else alike / 2


def _compare_descriptions(a: Profile, b: Profile) -> float:
    """The share of the words of the shorter description that the other one has."""
    fewer = min(len(a.about), len(b.about))
    return len(a.about & b.about) / fewer if fewer else 0.0


def _is_obtainable(failed: Failed, other: Tool, sources: ProvenanceIndex) -> bool:
    """Return True if every required input can be obtained: from the failed call, from a result
    under that name, or from the model.
    """
    known = {f.name for f in get_profile(_build_stub(failed)).inputs}
    return all(
        f.name in known or not f.identifies or sources.under(f.path[-1])
        for f in get_profile(other).inputs
        if f.required
    )


def _build_stub(failed: Failed) -> Tool:
    return Tool(
        failed.call.tool,
        "",
        {"type": "object", "properties": {key: {} for key in failed.arguments}},
    )


def _map_arguments(arguments: JsonObject, tool: Tool, other: Tool) -> JsonObject | None:
    """The failed call's arguments under the other tool's names; None where one has no place or one
    is lacking.
    """
    wanted = {f.name: f for f in get_profile(other).inputs if len(f.path) == 1}
    given = {f.path[0]: f for f in get_profile(tool).inputs if len(f.path) == 1}
    made: JsonObject = {}
    for key, value in arguments.items():
        place = wanted.get(given[key].name) if key in given else None
        if place is None or not _is_compatible(place, given[key]):
            return None
        made[place.path[0]] = value
    return made if made.keys() >= {*other.required} else None


def _is_compatible(place: Field, given: Field) -> bool:
    return is_type_compatible(given.type, place.type)
