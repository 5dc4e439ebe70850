"""References that name nothing, or the wrong thing: given their label back, pointed elsewhere, or
reported.

Nothing is done where two answers are possible. A field that the producer does not return is only
believed wrong if the producer declares what it returns and nothing in it, at any depth, has that
name.
"""

from __future__ import annotations

import re
from dataclasses import replace

from callwright.dataflow import flow
from callwright.language.tokens import squash_name
from callwright.nouns.thresholds import threshold
from callwright.nouns.types import Tool
from callwright.nouns.wire_names import EditRules
from callwright.repair.location import ID, Location
from callwright.repair.ordering.call_flow import (
    CallFlow,
    collect_output_keys,
    find_best_feeder,
    find_respelled_key,
    has_output_field,
)
from callwright.repair.ordering.references import (
    Labels,
    Meaning,
    Reference,
    label_number,
    strip_label_number,
)

FEED_FLOOR = threshold("callwright.repair", "sequence.reference_floor")
FEED_MARGIN = threshold("callwright.repair", "sequence.reference_margin")
WRONG_CEILING = threshold("callwright.repair", "sequence.wrong_ceiling")
WRONG_FLOOR = threshold("callwright.repair", "sequence.wrong_floor")


def label_unlabelled(call_flow: CallFlow) -> None:
    """Give a call without a label the one label that references name and nobody has (rule
    ``label_added``).
    """
    missing = _missing_labels(call_flow)
    bare = [
        i
        for i, own in enumerate(call_flow.labels.given)
        if not _of_kinds(own, {strip_label_number(m) for m in missing})
    ]
    if not missing or not bare:
        return
    groups = _assign_missing_labels(call_flow, missing, bare)
    given = list(call_flow.labels.given)
    for i, labels in groups.items():
        text = " ".join(labels)
        place = Location(call_flow.ids[i], ID)
        call_flow.change.list_edit(place, call_flow.calls[i].id, text, EditRules.LABEL_ADDED)
        call_flow.calls[i] = replace(call_flow.calls[i], id=text)
        given[i] = labels
    if groups:
        call_flow.labels = Labels(call_flow.calls, call_flow.tools, given)
        for ref, meaning in call_flow.meant.items():
            call_flow.meant[ref] = meaning or call_flow.labels.meaning(ref)


def _missing_labels(call_flow: CallFlow) -> list[str]:
    """Labels that references name and no call has, where calls do have labels of that kind, once
    each.
    """
    found: dict[str, str] = {}
    for ref, meaning in call_flow.meant.items():
        if (
            meaning is None
            and ref.notation in ("variable", "response")
            and call_flow.labels.explicit(ref)
        ):
            found.setdefault(squash_name(ref.label), ref.label)
    return sorted(found.values(), key=label_number)


def _of_kinds(labels: tuple[str, ...], stems: set[str]) -> bool:
    return any(strip_label_number(label) in stems for label in labels)


def _assign_missing_labels(
    call_flow: CallFlow, missing: list[str], bare: list[int]
) -> dict[int, tuple[str, ...]]:
    """Return the missing labels for each bare call. One bare call gets them all; several calls each
    get the one at their place.
    """
    if all(label.startswith("API_call_") for label in missing):
        run = _find_label_gap(call_flow, missing) if len(bare) == 1 else ()
        return {bare[0]: run} if run else {}
    if len(bare) == 1 and len(missing) == 1:
        return {bare[0]: (missing[0],)} if _could_be(call_flow, bare[0], missing[0]) else {}
    placed: dict[int, tuple[str, ...]] = {
        i: (m,)
        for m in missing
        for i in bare
        if label_number(m) == i + 1 and _could_be(call_flow, i, m)
    }
    return placed if len(placed) == len(missing) else {}


def _find_label_gap(call_flow: CallFlow, missing: list[str]) -> tuple[str, ...]:
    """The run of free numbers around the missing labels: what a call of several outputs must have
    been called.
    """
    used = {
        label_number(label)
        for own in call_flow.labels.given
        for label in own
        if label.startswith("API_call_")
    }
    low = high = label_number(missing[0])
    while low - 1 >= 0 and low - 1 not in used:
        low -= 1
    top = max([*used, *map(label_number, missing)])
    while high + 1 <= top and high + 1 not in used:
        high += 1
    run = tuple(f"API_call_{k}" for k in range(low, high + 1))
    return run if set(missing) <= set(run) else ()


def _could_be(call_flow: CallFlow, call: int, label: str) -> bool:
    """Return True if a call may bear a label: it does not refer to the label itself, and returns
    the fields taken from it.
    """
    tool = call_flow.tool(call)
    taken = [r for r in call_flow.references if squash_name(r.label) == squash_name(label)]
    if any(r.call == call for r in taken) or any(
        call not in call_flow.independent(r.call) for r in taken
    ):
        return False
    keys = collect_output_keys(tool) if tool else frozenset()
    return not keys or all(not r.field or r.field[-1] in keys for r in taken)


def repair_reference(call_flow: CallFlow, ref: Reference) -> bool:
    """Repair one reference that names nothing, its own call, or a field that is not there. True
    where that worked.
    """
    meaning = call_flow.meant[ref]
    if meaning is not None and meaning.call != ref.call:
        tool = call_flow.tool(meaning.call)
        if (
            tool is None
            or not ref.field
            or not collect_output_keys(tool)
            or has_output_field(tool, ref)
        ):
            _point_away(call_flow, ref, meaning)
            return True
        spelled = find_respelled_key(tool, ref)
        if spelled:
            call_flow.point(
                ref, meaning, ref.with_field(ref.field[-1], spelled), EditRules.FIELD_RESPELLED
            )
            return True
    target = _by_field(call_flow, ref) if ref.field else _by_flow(call_flow, ref)
    if target is None:
        return False
    label = _label_for(call_flow, target, ref)
    if not label:
        return False
    call_flow.point(ref, target, ref.renamed(label), EditRules.REFERENCE_RELABELLED)
    return True


def _point_away(call_flow: CallFlow, ref: Reference, meaning: Meaning) -> None:
    """A reference without a field to a call that gives nothing of the kind, while another call
    plainly does.

    References to an earlier call are left alone unless their call declares outputs and none of them
    answers at all.
    """
    producer, consumer = call_flow.tool(meaning.call), call_flow.tool(ref.call)
    if ref.field or producer is None or consumer is None or not collect_output_keys(producer):
        return
    if _score_reference(producer, consumer, ref.parameter, meaning.output) > WRONG_CEILING:
        return
    target = _by_flow(call_flow, ref, WRONG_FLOOR)
    place = _list_label_numbers(call_flow) or range(len(call_flow.calls))
    label = (
        _label_for(call_flow, target, ref)
        if target is not None and place[target.call] < place[ref.call]
        else ""
    )
    if target is not None and label and target.call != meaning.call:
        call_flow.point(ref, target, ref.renamed(label), EditRules.REFERENCE_RELABELLED)


def doubt_forward(call_flow: CallFlow) -> None:
    """References to a call numbered later, where one numbered earlier returns the same: either the
    order or the label is wrong and nobody can tell which, so they are left as they were written and
    reported.

    The numbers of the labels decide, not the places: a list gets the same doubts again once it has
    been sorted.
    """
    numbers = _list_label_numbers(call_flow)
    for ref, meaning in list(call_flow.meant.items()) if numbers else ():
        if (
            meaning is None
            or numbers[meaning.call] <= numbers[ref.call]
            or not call_flow.labels.explicit(ref)
        ):
            continue
        earlier = (i for i, number in enumerate(numbers) if number < numbers[ref.call])
        if any(
            (t := call_flow.tool(i)) is not None and _may_answer(call_flow, t, ref) for i in earlier
        ):
            call_flow.restore_reference(
                ref,
                f"'{ref.text}' takes the result of a later call, and an earlier one returns the"
                " same.",
            )


def _list_label_numbers(call_flow: CallFlow) -> list[int]:
    """The number of each call's first label; empty where labels are missing, of several kinds or
    given twice.
    """
    firsts = [own[0] for own in call_flow.labels.given if own]
    numbers = [label_number(x) for x in firsts]
    if (
        len(firsts) < len(call_flow.calls)
        or len({strip_label_number(x) for x in firsts}) > 1
        or len(set(numbers)) < len(numbers)
    ):
        return []
    return numbers


def _may_answer(call_flow: CallFlow, producer: Tool, ref: Reference) -> bool:
    """Return True if a tool returns what a reference takes: its field, or an output that fits its
    argument.
    """
    if ref.field:
        return has_output_field(producer, ref)
    consumer = call_flow.tool(ref.call)
    return (
        consumer is not None
        and _score_reference(producer, consumer, ref.parameter, "") >= FEED_FLOOR
    )


def _score_reference(producer: Tool, consumer: Tool, parameter: str, output: str) -> float:
    """Return the suitability for its argument of the output that a reference takes; without a
    stated output, the best one.
    """
    wanted = [f for f in flow.get_profile(consumer).inputs if f.path and f.path[0] == parameter]
    given = [f for f in flow.get_profile(producer).outputs if not output or f.path[0] == output]
    target = flow.get_profile(consumer)
    return max((flow.score_similarity(g, w, target) for g in given for w in wanted), default=0.0)


def _by_field(call_flow: CallFlow, ref: Reference) -> Meaning | None:
    """The one call that may come before and declares the field; not if a tool that was never called
    does as well.
    """
    makers = [
        i
        for i in call_flow.independent(ref.call)
        if (t := call_flow.tool(i)) is not None and has_output_field(t, ref)
    ]
    if len(makers) != 1 or (call_flow.meant[ref] is None and _was_removed(call_flow, ref)):
        return None
    return Meaning(makers[0])


def _was_removed(call_flow: CallFlow, ref: Reference) -> bool:
    """Return True if the label is a gap between the labels in use. Then the call is missing, and
    the reference is right.
    """
    numbers = {
        label_number(label)
        for own in call_flow.labels.given
        for label in own
        if strip_label_number(label) == strip_label_number(ref.label)
    }
    return (
        bool(numbers)
        and label_number(ref.label) not in numbers
        and label_number(ref.label) < max(numbers)
    )


def _by_flow(call_flow: CallFlow, ref: Reference, floor: float = FEED_FLOOR) -> Meaning | None:
    """The one call whose output plainly answers the argument."""
    consumer = call_flow.tool(ref.call)
    if (
        consumer is None
        or not ref.whole
        or ref.notation == "output"
        or _was_removed(call_flow, ref)
    ):
        return None
    makers = [
        (i, t) for i in call_flow.independent(ref.call) if (t := call_flow.tool(i)) is not None
    ]
    found = find_best_feeder(makers, consumer, ref.parameter, floor, FEED_MARGIN)
    return None if found is None else Meaning(found[0], found[1])


def _label_for(call_flow: CallFlow, target: Meaning, ref: Reference) -> str:
    """Return the target's label in the reference's notation; "" if it has none."""
    own = [
        x
        for x in call_flow.labels.given[target.call]
        if strip_label_number(x) == strip_label_number(ref.label)
    ]
    if ref.notation == "response":
        outputs = [
            x
            for x in own
            if (m := call_flow.labels.meaning(replace(ref, label=x))) and m.output == target.output
        ]
        return outputs[0] if outputs else ""
    if own:
        return own[0].strip("$")
    if ref.notation == "braces":
        return call_flow.calls[target.call].id
    if call_flow.labels.explicit(ref):
        return ""
    return re.sub(r"\d+", str(target.call + 1), ref.label)
