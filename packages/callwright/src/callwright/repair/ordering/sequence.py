"""The order of calls and what flows between them: references mended, missing producers added,
sorted.

What is right stays: a list of calls without a broken reference, a later reference or a value only
another call can give comes back as the same objects. Where two answers are possible nothing is
done, and that is said.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from callwright.nouns.errors import Violation
from callwright.nouns.types import Edit, Tool, ToolCall
from callwright.repair.ordering.draft import Draft
from callwright.repair.ordering.producer import add_for_reference, wait_for_results
from callwright.repair.ordering.references import (
    Labels,
    Reference,
    label_number,
    labels_of,
    named_outputs,
    references,
    rewritten,
    stem,
)
from callwright.repair.ordering.references_repair import (
    doubt_forward,
    label_unlabelled,
    mend_reference,
)
from callwright.repair.provenance.sources import ProvenanceIndex

MAX_CALLS = 256  # a longer list is left as it is


@dataclass(frozen=True, slots=True)
class OrderedCalls:
    """The calls in an order in which each comes after those it takes something from.

    ``edits``: paths point into the list as given ("/2/arguments/id"; "/3" with ``before`` None: a
    call added at this place of the result; "" the order itself, as positions). ``problems`` are
    references nobody answers, ``abstained`` why nothing was done about something. ``layers`` are
    positions in ``calls``: those of one layer do not need each other and may run at once.
    """

    calls: tuple[ToolCall, ...]
    edits: tuple[Edit, ...] = ()
    problems: tuple[Violation, ...] = ()
    abstained: tuple[str, ...] = ()
    layers: tuple[tuple[int, ...], ...] = ()


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
    """Mend the data flow between calls and sort them, moving as little as possible.

    Where calls must move and bear the numbered labels that references use, calls that do not need
    each other follow their numbers: whoever wrote the labels counted in the order that was meant.
    ``labels[i]`` name the results of call ``i`` (default: its id). ``chained``: whether whoever
    executes the calls replaces references by results; by default it does if the calls hold any
    reference. Otherwise a call that needs another's result is taken out until that is there;
    ``seen``, everything said and returned so far, lets it tell an invented identifier from a known
    one; ``unknown`` names arguments (call, name) that are known to be made up. Deterministic, no
    I/O, never raises for what a model wrote.
    """
    calls = tuple(calls)
    if not calls or len(calls) > MAX_CALLS:
        return OrderedCalls(calls, layers=tuple((i,) for i in range(len(calls))))
    by_name = {tool.name: tool for tool in tools}
    found = references(calls, tools, query)
    given = [tuple(x) for x in labels] if len(labels) == len(calls) else labels_of(calls, by_name)
    names = Labels(calls, by_name, given)
    draft = Draft(list(calls), by_name, query, names, found, {r: names.meaning(r) for r in found})
    if found:
        label_unlabelled(draft)
        for ref in tuple(found):
            if not mend_reference(draft, ref):
                _unanswered(draft, ref)
        doubt_forward(draft)
    if not (bool(found) if chained is None else chained):
        wait_for_results(draft, seen, unknown)
    return _sorted(draft, calls)


def _unanswered(draft: Draft, ref: Reference) -> None:
    """A reference that could not be mended: a missing call, or one whose producer lacks the
    field.
    """
    meaning = draft.meant[ref]
    if meaning is None:
        add_for_reference(draft, ref)
    elif meaning.call == ref.call:
        draft.meant[ref] = None
        draft.report(ref, f"'{ref.text}' refers to the result of its own call.")
    else:
        producer = draft.calls[meaning.call].tool
        draft.report(
            ref, f"'{ref.text}' takes a field that '{producer}' does not declare to return."
        )


def _sorted(draft: Draft, calls: tuple[ToolCall, ...]) -> OrderedCalls:
    """The finished list: sorted, references written anew, edits at their final places."""
    kept = [i for i in range(len(draft.calls)) if i not in draft.dropped]
    needs = {i: {j for j in draft.needs()[i] if j in kept} for i in kept}
    places = _topological(_counted(draft, kept, needs), needs, len(calls))
    if places is None:
        said = (
            "These calls wait for each other: "
            + ", ".join(draft.calls[i].tool for i in _stuck(kept, needs))
            + "."
        )
        draft.problems.append(Violation("ungrounded", said, "", "cycle"))
        draft.abstained.append(said)
        places, needs = kept, {i: {j for j in needs[i] if j < i} for i in kept}
    if places == list(range(len(calls))) and not draft.edits:
        return OrderedCalls(
            calls, (), tuple(draft.problems), tuple(draft.abstained), _layers(places, needs)
        )
    moved = [i for i in places if i < len(calls)]
    if moved != sorted(moved):
        draft.edits.append(Edit("", sorted(moved), moved, "topological_order"))
    _renumber(draft, places)
    made = tuple(_finished(draft, i) for i in places)
    return OrderedCalls(
        made,
        _placed(draft, places),
        tuple(draft.problems),
        tuple(draft.abstained),
        _layers(places, needs),
    )


def _counted(draft: Draft, kept: list[int], needs: dict[int, set[int]]) -> list[int]:
    """The calls as given, or by their labels' numbers where they must move and all bear such
    labels, each once.
    """
    if all(j < i for i in kept for j in needs[i]):
        return kept
    used = {stem(r.label) for r in draft.references if draft.labels.explicit(r)}
    numbers = {i: [label_number(x) for x in draft.labels.given[i] if stem(x) in used] for i in kept}
    firsts = [own[0] for own in numbers.values() if own]
    if len(used) != 1 or len(set(firsts)) < len(kept):
        return kept
    return sorted(kept, key=lambda i: numbers[i][0])


def _topological(kept: list[int], needs: dict[int, set[int]], given: int) -> list[int] | None:
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


def _stuck(kept: list[int], needs: dict[int, set[int]]) -> list[int]:
    """The calls of a cycle and those behind it."""
    done: set[int] = set()
    while True:
        free = {i for i in kept if i not in done and needs[i] <= done}
        if not free:
            return [i for i in kept if i not in done]
        done |= free


def _layers(places: list[int], needs: dict[int, set[int]]) -> tuple[tuple[int, ...], ...]:
    depth: dict[int, int] = {}
    for i in places:
        depth[i] = 1 + max((depth[j] for j in needs[i] if j in depth), default=-1)
    rows: list[list[int]] = [[] for _ in range(max(depth.values(), default=-1) + 1)]
    for at, i in enumerate(places):
        rows[depth[i]].append(at)
    return tuple(tuple(row) for row in rows)


def _finished(draft: Draft, call: int) -> ToolCall:
    return rewritten(draft.calls[call], [(r, t) for r, t in draft.texts.items() if r.call == call])


def _placed(draft: Draft, places: list[int]) -> tuple[Edit, ...]:
    """Edits that add a call point to where it now stands."""
    where = {f"/{i}": f"/{at}" for at, i in enumerate(places)}
    return tuple(
        replace(e, path=where.get(e.path, e.path)) if e.rule == "producer_added" else e
        for e in draft.edits
    )


def _renumber(draft: Draft, places: list[int]) -> None:
    """References that count calls ($1) follow the calls they mean to their new places."""
    at = {call: n for n, call in enumerate(places)}
    for ref in draft.references:
        meaning = draft.meant.get(ref)
        if meaning is None or meaning.call not in at or draft.labels.explicit(ref):
            continue
        if ref.notation not in ("variable", "numbered", "response"):
            continue
        number = (
            at[meaning.call] + 1
            if ref.notation != "response"
            else _output_number(draft, places, ref)
        )
        before = draft.texts.get(ref, ref.text)
        after = re.sub(r"\d+", str(number), before, count=1)
        if after != before:
            draft.texts[ref] = after
            draft.edits.append(Edit(ref.pointer, before, after, "reference_renumbered"))


def _output_number(draft: Draft, places: list[int], ref: Reference) -> int:
    """The running number of an output (``API_call_k``) after the calls have moved."""
    meaning = draft.meant[ref]
    assert meaning is not None
    count = 0
    for call in places:
        tool = draft.tool(call)
        outputs = named_outputs(tool) if tool else ()
        if call == meaning.call:
            return count + (outputs.index(meaning.output) if meaning.output in outputs else 0)
        count += max(1, len(outputs))
    return count
