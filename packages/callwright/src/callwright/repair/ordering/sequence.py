"""The order of calls and what flows between them: references repaired, missing producers added,
sorted.

What is right stays: a list of calls without a broken reference, a later reference or a value only
another call can give comes back as the same objects. Where two answers are possible nothing is
done, and that is said.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from callwright.nouns.errors import Violation
from callwright.nouns.types import Edit, Tool, ToolCall
from callwright.nouns.wire_names import EditRules
from callwright.repair.draft import AFTER_CALLS, Change, Drafts
from callwright.repair.location import REPLY, Location
from callwright.repair.ordering.call_flow import CallFlow
from callwright.repair.ordering.producer import add_for_reference, wait_for_results
from callwright.repair.ordering.references import (
    Labels,
    Reference,
    find_call_references,
    label_number,
    labels_of,
    named_outputs,
    rewrite_references,
    strip_label_number,
)
from callwright.repair.ordering.references_repair import (
    doubt_forward,
    label_unlabelled,
    repair_reference,
)
from callwright.repair.provenance.sources import ProvenanceIndex

MAX_CALLS = 256  # a longer list is left as it is

Layers: TypeAlias = tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True)
class OrderedCalls:
    """The calls in an order in which each comes after those it takes something from.

    ``layers`` are positions in ``calls``: those of one layer do not need each other and may run at
    once.
    """

    drafts: Drafts
    layers: tuple[tuple[int, ...], ...] = ()

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        """The calls in order."""
        return self.drafts.calls

    @property
    def edits(self) -> tuple[Edit, ...]:
        """The edits that were made. Paths point into the list as given ("/2/arguments/id"; "/3"
        with ``before`` None: a call added at this place of the result; "" the order itself, as
        positions).
        """
        return self.drafts.render_edits()

    @property
    def problems(self) -> tuple[Violation, ...]:
        """References nobody answers."""
        return self.drafts.render_violations()

    @property
    def suggestions(self) -> tuple[str, ...]:
        """Why nothing was done about something."""
        return tuple(found.reason for found in self.drafts.render_abstentions())


@dataclass(frozen=True, slots=True)
class SequenceContext:
    """The input of ordering calls: see :func:`order`. ``labels`` and ``unknown`` are by call_flow
    id.
    """

    tools: Sequence[Tool]
    query: str = ""
    labels: Mapping[int, Sequence[str]] = field(default_factory=dict)
    chained: bool | None = None
    seen: ProvenanceIndex | None = None
    unknown: Collection[tuple[int, str]] = ()


def order(
    calls: Sequence[ToolCall],
    tools: Sequence[Tool],
    *,
    query: str = "",
    labels: Sequence[Sequence[str]] = (),
    chained: bool | None = None,
    seen: ProvenanceIndex | None = None,
    unknown: Collection[tuple[int, str]] = (),
) -> OrderedCalls:
    """Repair the data flow between calls and sort them, moving as little as possible.

    Where calls must move and bear the numbered labels that references use, calls that do not need
    each other follow their numbers: whoever wrote the labels counted in the order that was meant.
    ``labels[i]`` name the results of call ``i`` (default: its id). ``chained``: whether whoever
    executes the calls replaces references by results; by default it does if the calls hold any
    reference. Otherwise a call that needs another's result is taken out until that is there;
    ``seen``, everything said and returned so far, lets it tell an invented identifier from a known
    one; ``unknown`` names arguments (call, name) that are known to be made up. Deterministic, no
    I/O, never raises for what a model wrote.
    """
    drafts = Drafts(calls, turn=AFTER_CALLS)
    given = dict(enumerate(labels)) if len(labels) == len(calls) else {}
    context = SequenceContext(tools, query, given, chained, seen, unknown)
    change, layers = order_drafts(drafts, context)
    if change is not None:
        drafts.apply(change)
    return OrderedCalls(drafts, layers)


def order_drafts(drafts: Drafts, context: SequenceContext) -> tuple[Change | None, Layers]:
    """The change that repairs the data flow between the drafts and sorts them, and the layers."""
    calls, ids = drafts.calls, list(drafts.order)
    if not calls or len(calls) > MAX_CALLS:
        return None, tuple((i,) for i in range(len(calls)))
    by_name = {tool.name: tool for tool in context.tools}
    found = find_call_references(calls, context.tools, context.query)
    given = labels_of(calls, by_name)
    if context.labels:
        given = [tuple(context.labels[id]) for id in ids]
    names = Labels(calls, by_name, given)
    meant = {r: names.meaning(r) for r in found}
    flow = CallFlow(list(calls), ids, drafts.new_id, by_name, context.query, names, found, meant)
    if found:
        label_unlabelled(flow)
        for ref in tuple(found):
            if not repair_reference(flow, ref):
                _handle_unanswered(flow, ref)
        doubt_forward(flow)
    if not (bool(found) if context.chained is None else context.chained):
        unknown = [(ids.index(id), key) for id, key in context.unknown if id in ids]
        wait_for_results(flow, context.seen, unknown)
    layers = _finish_order(flow, calls, [drafts[id].origin for id in drafts.order])
    return flow.change if flow.change else None, layers


def _handle_unanswered(call_flow: CallFlow, ref: Reference) -> None:
    """A reference that could not be repaired: a missing call, or one whose producer lacks the
    field.
    """
    meaning = call_flow.meant[ref]
    if meaning is None:
        add_for_reference(call_flow, ref)
    elif meaning.call == ref.call:
        call_flow.meant[ref] = None
        call_flow.report(ref, f"'{ref.text}' refers to the result of its own call.")
    else:
        producer = call_flow.calls[meaning.call].tool
        call_flow.report(
            ref, f"'{ref.text}' takes a field that '{producer}' does not declare to return."
        )


def _finish_order(
    call_flow: CallFlow, calls: tuple[ToolCall, ...], read_at: Sequence[int | None]
) -> Layers:
    """Finish the change: sorted, and references written again."""
    kept = [i for i in range(len(call_flow.calls)) if i not in call_flow.dropped]
    every = call_flow.needs()
    needs = {i: every[i].intersection(kept) for i in kept}
    places = _sort_topologically(_order_by_number(call_flow, kept, needs), needs, len(calls))
    change = call_flow.change
    if places is None:
        said = (
            "These calls wait for each other: "
            + ", ".join(call_flow.calls[i].tool for i in _find_cycle(kept, needs))
            + "."
        )
        change.report("ungrounded", Location(REPLY), said, "cycle")
        call_flow.abstain(said)
        places, needs = kept, {i: {j for j in needs[i] if j < i} for i in kept}
    if places == list(range(len(calls))) and not change.edits:
        return _build_layers(places, needs)
    moved = [i for i in places if i < len(calls)]
    if moved != sorted(moved):
        before, after = ([read_at[i] for i in side] for side in (sorted(moved), moved))
        change.list_edit(Location(REPLY), before, after, EditRules.TOPOLOGICAL_ORDER)
    _renumber_references(call_flow, places)
    change.calls = {call_flow.ids[i]: _rewrite_call(call_flow, i) for i in places}
    change.order = [call_flow.ids[i] for i in places]
    return _build_layers(places, needs)


def _order_by_number(call_flow: CallFlow, kept: list[int], needs: dict[int, set[int]]) -> list[int]:
    """The calls as given, or by their labels' numbers where they must move and all bear such
    labels, each once.
    """
    if all(j < i for i in kept for j in needs[i]):
        return kept
    used = {
        strip_label_number(r.label) for r in call_flow.references if call_flow.labels.explicit(r)
    }
    numbers = {
        i: [label_number(x) for x in call_flow.labels.given[i] if strip_label_number(x) in used]
        for i in kept
    }
    firsts = [own[0] for own in numbers.values() if own]
    if len(used) != 1 or len(set(firsts)) < len(kept):
        return kept
    return sorted(kept, key=lambda i: numbers[i][0])


def _sort_topologically(
    kept: list[int], needs: dict[int, set[int]], given: int
) -> list[int] | None:
    """A stable order: always the first call, as given, that waits for nothing; added calls as late
    as possible.
    """
    done: list[int] = []
    left = list(kept)
    at = {i: n for n, i in enumerate(kept)}
    wanted_by = {
        i: min((at[j] for j in kept if i in needs[j]), default=at[i]) for i in kept if i >= given
    }
    left.sort(key=lambda i: (wanted_by.get(i, at[i]), i < given))
    while left:
        free = next((i for i in left if needs[i] <= set(done)), None)
        if free is None:
            return None
        done.append(free)
        left.remove(free)
    return done


def _find_cycle(kept: list[int], needs: dict[int, set[int]]) -> list[int]:
    """The calls of a cycle and those behind it."""
    done: set[int] = set()
    while True:
        free = {i for i in kept if i not in done and needs[i] <= done}
        if not free:
            return [i for i in kept if i not in done]
        done |= free


def _build_layers(places: list[int], needs: dict[int, set[int]]) -> Layers:
    depth: dict[int, int] = {}
    for i in places:
        depth[i] = 1 + max((depth[j] for j in needs[i] if j in depth), default=-1)
    rows: list[list[int]] = [[] for _ in range(max(depth.values(), default=-1) + 1)]
    for at, i in enumerate(places):
        rows[depth[i]].append(at)
    return tuple(tuple(row) for row in rows)


def _rewrite_call(call_flow: CallFlow, call: int) -> ToolCall:
    return rewrite_references(
        call_flow.calls[call], [(r, t) for r, t in call_flow.texts.items() if r.call == call]
    )


def _renumber_references(call_flow: CallFlow, places: list[int]) -> None:
    """References that count calls ($1) follow the calls they mean to their new places."""
    at = {call: n for n, call in enumerate(places)}
    for ref in call_flow.references:
        meaning = call_flow.meant.get(ref)
        if meaning is None or meaning.call not in at or call_flow.labels.explicit(ref):
            continue
        if ref.notation not in ("variable", "numbered", "response"):
            continue
        number = (
            at[meaning.call] + 1
            if ref.notation != "response"
            else _output_number(call_flow, places, ref)
        )
        before = call_flow.texts.get(ref, ref.text)
        after = re.sub(r"\d+", str(number), before, count=1)
        if after != before:
            call_flow.texts[ref] = after
            call_flow.change.list_edit(
                call_flow.place(ref), before, after, EditRules.REFERENCE_RENUMBERED
            )


def _output_number(call_flow: CallFlow, places: list[int], ref: Reference) -> int:
    """The running number of an output (``API_call_k``) after the calls have moved."""
    meaning = call_flow.meant[ref]
    assert meaning is not None
    count = 0
    for call in places:
        tool = call_flow.tool(call)
        outputs = named_outputs(tool) if tool else ()
        if call == meaning.call:
            return count + (outputs.index(meaning.output) if meaning.output in outputs else 0)
        count += max(1, len(outputs))
    return count
