"""Calls that are missing: the one tool that provides what another call takes, called first.

Never added: a tool that may write or whose effects are unknown, one of several that would do, or a
call whose own required arguments neither the request nor the other calls hold. Then it is only said
which call is missing.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import replace

from callwright.dataflow import flow
from callwright.nouns.thresholds import threshold
from callwright.nouns.types import CheckedCall, Json, Tool, ToolCall, to_json
from callwright.nouns.wire_names import EditRules
from callwright.repair.gate import Gate
from callwright.repair.location import Location
from callwright.repair.ordering.arguments import Unfilled, fill_required
from callwright.repair.ordering.call_flow import (
    CallFlow,
    find_best_feeder,
    has_output_field,
    score_feed,
)
from callwright.repair.ordering.references import (
    Labels,
    Meaning,
    Reference,
    find_call_references,
    named_outputs,
)
from callwright.repair.provenance.grounding import classify_value, is_identifier
from callwright.repair.provenance.sources import ProvenanceIndex
from callwright.repair.rules.schema_echo import is_echo, is_marked, repeats_schema
from callwright.schema.compiled import compiled_for

TOOL_FLOOR = threshold("callwright.repair", "sequence.tool_floor")
TOOL_MARGIN = threshold("callwright.repair", "sequence.tool_margin")
MAX_ADDED = 4
WAIT_FOR_RESULT = EditRules.WAIT_FOR_RESULT
_NOTHING = ProvenanceIndex()


def add_for_reference(call_flow: CallFlow, ref: Reference) -> bool:
    """Add the call a reference takes its value from, under the label it names; else report what is
    missing.
    """
    tool = _find_only_provider(call_flow, ref)
    if tool is None:
        call_flow.report(ref, f"'{ref.text}' refers to a result that no call returns.")
        return False
    made = _build_missing_call(
        call_flow,
        tool,
        ref.call,
        ref.label if ref.notation in ("variable", "braces") else "",
        ref.text,
    )
    if isinstance(made, str):
        call_flow.report(ref, f"'{ref.text}' refers to a result that no call returns; {made}")
        return False
    if any(c.tool == made.tool and c.arguments == made.arguments for c in call_flow.calls):
        call_flow.report(
            ref,
            f"'{ref.text}' refers to a result that no call returns; '{tool.name}' is called"
            " already.",
        )
        return False
    _insert_call(call_flow, made, ref, tool)
    return True


def _find_only_provider(call_flow: CallFlow, ref: Reference) -> Tool | None:
    """The one offered tool that declares the field (or plainly answers the argument, where no field
    is named).
    """
    consumer = call_flow.tool(ref.call)
    others = [t for t in call_flow.tools.values() if consumer is None or t.name != consumer.name]
    if ref.notation == "output":
        others = [t for t in others if ref.label in named_outputs(t)]
        return others[0] if len(others) == 1 else None
    if ref.field:
        others = [t for t in others if has_output_field(t, ref)]
        return others[0] if len(others) == 1 else None
    if consumer is None or not ref.whole:
        return None
    found = find_best_feeder(
        list(enumerate(others)), consumer, ref.parameter, TOOL_FLOOR, TOOL_MARGIN
    )
    return None if found is None else others[found[0]]


def _build_missing_call(
    call_flow: CallFlow, tool: Tool, before: int, label: str, referred: str
) -> ToolCall | str:
    """The missing call, or why it is not made."""
    if tool.effects.may_write:
        return (
            f"'{tool.name}' would provide it, but may change something, so it is not called"
            " unasked."
        )
    if len(call_flow.calls) - len(call_flow.references) > 64 or call_flow.added >= MAX_ADDED:
        return f"'{tool.name}' would provide it, but too many calls are missing."
    try:
        arguments = fill_required(call_flow, tool, before, referred)
    except Unfilled as missing:
        return f"'{tool.name}' would provide it, but its '{missing}' is not known."
    call = ToolCall(label or f"call_{len(call_flow.calls) + 1}", tool.name, arguments)
    if not find_call_references([call], call_flow.tools.values()) and not isinstance(
        Gate([tool]).check(call), CheckedCall
    ):
        return f"'{tool.name}' would provide it, but what is known makes no valid call of it."
    return call


def _insert_call(call_flow: CallFlow, call: ToolCall, ref: Reference, tool: Tool) -> None:
    """Append the call; the order is made later. References that bear its label now mean it."""
    at = len(call_flow.calls)
    labels = _choose_labels(call_flow, ref, tool)
    call_flow.add_call(replace(call, id=" ".join(labels)) if ref.notation == "response" else call)
    call_flow.labels = Labels(call_flow.calls, call_flow.tools, [*call_flow.labels.given, labels])
    for other, meaning in call_flow.meant.items():
        call_flow.meant[other] = meaning or call_flow.labels.meaning(other)
    if call_flow.meant[ref] is None or ref.notation == "numbered":
        call_flow.meant[ref] = Meaning(at)
    for new in find_call_references(call_flow.calls, call_flow.tools.values(), call_flow.query):
        if new.call == at:
            call_flow.references.append(new)
            call_flow.meant[new] = call_flow.labels.meaning(new)


def _choose_labels(call_flow: CallFlow, ref: Reference, tool: Tool) -> tuple[str, ...]:
    if ref.notation != "response":
        return (ref.label,)
    consumer = call_flow.tool(ref.call)
    output = score_feed(tool, consumer, ref.parameter)[1] if consumer else ""
    names = named_outputs(tool)
    first = int(re.sub(r"\D", "", ref.label)) - (names.index(output) if output in names else 0)
    return tuple(f"API_call_{max(0, first) + k}" for k in range(max(1, len(names))))


def wait_for_results(
    call_flow: CallFlow, seen: ProvenanceIndex | None, unknown: Collection[tuple[int, str]] = ()
) -> None:
    """Calls whose value only another call can give, where calls cannot refer to each other.

    A placeholder, an echoed schema, an argument of ``unknown`` (call and name), an identifier that
    nothing holds (where ``seen`` is everything said and returned so far), or one that was said as
    something else its producer takes (the password as the token), which exactly one offered tool
    provides: that tool is called (``producer_added``) unless it already is, and the call that needs
    its result is taken out for now (``wait_for_result``): it can be made once the result is there.
    """
    reads = any(
        not tool.effects.may_write for tool in call_flow.tools.values()
    )  # none else is ever added
    for i in range(len(call_flow.calls)):
        key = next((name for at, name in unknown if at == i), "")
        if not key and (
            seen is not None or _looks_unfilled(call_flow, i)
        ):  # else no index of the request is made for it
            key = _unknown_value(
                call_flow, i, seen or call_flow.sources, identifiers=seen is not None
            )
        key = key or (_find_mixed_up_argument(call_flow, i) if reads and call_flow.query else "")
        if not key:
            continue
        call_flow.dropped.add(i)
        verdict = _build_provider_call(call_flow, i, key)
        if isinstance(verdict, str):
            call_flow.dropped.remove(i)
            if verdict:
                call_flow.abstain(verdict)
            continue
        gone = call_flow.calls[i]
        place = Location(call_flow.ids[i])
        call_flow.change.list_edit(place, to_json(gone), None, WAIT_FOR_RESULT)
        if verdict is not None:
            call_flow.add_call(verdict)
            call_flow.labels = Labels(
                call_flow.calls, call_flow.tools, [*call_flow.labels.given, (verdict.id,)]
            )


def _looks_unfilled(call_flow: CallFlow, call: int) -> bool:
    """Return True if a required argument looks like a placeholder even without any context."""
    tool, arguments = call_flow.tool(call), call_flow.calls[call].arguments
    if tool is None or not isinstance(arguments, dict):
        return False
    values = [(k, arguments[k]) for k in tool.required if isinstance(arguments.get(k), str | dict)]
    return any(_is_unfilled(key, value, tool, _NOTHING) for key, value in values)


def _is_unfilled(key: str, value: Json, tool: Tool, sources: ProvenanceIndex) -> bool:
    """Return True if a value is a placeholder, by its marks. A schema also counts if the parameter
    itself does not accept it. A mere word (``string``, ``the_value``) may be meant.
    """
    part = tool.properties.get(key)
    if is_echo(value, part):
        node = compiled_for(tool).root.property(key)
        return node is None or repeats_schema(value, part) or not node.accepts(value)
    return (
        isinstance(value, str)
        and is_marked(value)
        and classify_value(key, value, None, sources) == "placeholder"
    )


def _unknown_value(
    call_flow: CallFlow, call: int, sources: ProvenanceIndex, identifiers: bool
) -> str:
    """The first required argument that is a placeholder, or (if asked) an identifier from nowhere;
    "" for none.
    """
    tool, arguments = call_flow.tool(call), call_flow.calls[call].arguments
    if tool is None or not isinstance(arguments, dict):
        return ""
    for key in tool.required:
        value: Json = arguments.get(key)
        if key not in arguments:
            continue
        if _is_unfilled(key, value, tool, sources):
            return key
        verdict = (
            classify_value(key, value, tool.properties.get(key), sources)
            if isinstance(value, str | int)
            else "held"
        )
        if verdict == "identifier" and identifiers:
            return key
    return ""


def _find_mixed_up_argument(call_flow: CallFlow, call: int) -> str:
    """The first required argument that holds what its own producer must be given under another
    name: the password where the token belongs that the password is exchanged for.
    """
    tool, arguments = call_flow.tool(call), call_flow.calls[call].arguments
    if tool is None or not isinstance(arguments, dict):
        return ""
    for key in tool.required:
        value: Json = arguments.get(key)
        maker = (
            _find_producer(call_flow, tool, key)
            if is_identifier(key, value, tool.properties.get(key))
            else None
        )
        if maker is None or maker.effects.may_write or key in maker.properties:
            continue
        call_flow.dropped.add(call)
        try:
            given = fill_required(call_flow, maker, call, "")
        except Unfilled:
            continue
        finally:
            call_flow.dropped.remove(call)
        if value in [v for k, v in given.items() if k not in arguments]:
            return key
    return ""


def _find_producer(call_flow: CallFlow, consumer: Tool, key: str) -> Tool | None:
    """The one offered tool whose output plainly answers an argument; of tools that do not say what
    they return, the one that is called after it (``get_user_token`` for a ``token``).
    """
    others = [t for t in call_flow.tools.values() if t.name != consumer.name]
    found = find_best_feeder(list(enumerate(others)), consumer, key, TOOL_FLOOR, TOOL_MARGIN)
    if found is not None:
        return others[found[0]]
    wanted = flow.split_words(key)
    named = [
        t
        for t in others
        if not named_outputs(t) and flow.split_words(t.name)[1:][-len(wanted) :] == wanted
    ]
    return (
        named[0]
        if len(named) == 1 and flow.find_verb_kind(flow.split_words(named[0].name)[0])
        else None
    )


def _build_provider_call(call_flow: CallFlow, call: int, key: str) -> ToolCall | str | None:
    """The call to add, None where the producer is called already, or why nothing is done."""
    consumer = call_flow.tool(call)
    assert consumer is not None
    tool = _find_producer(call_flow, consumer, key)
    if tool is None:
        return ""
    if any(
        c.tool == tool.name for n, c in enumerate(call_flow.calls) if n not in call_flow.dropped
    ):
        return None
    return _build_missing_call(call_flow, tool, call, "", "")
