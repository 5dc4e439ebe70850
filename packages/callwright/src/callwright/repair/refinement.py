"""The ladder: read, check, rules, sequence. Each rung is optional; a reply that is right passes all
as it is.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from callwright.jsontext import unwritable
from callwright.nouns.errors import ConfigError, Violation
from callwright.nouns.types import Edit, Message, Tool, ToolCall
from callwright.repair.context import RepairContext
from callwright.repair.ordering.references import labels_of
from callwright.repair.ordering.sequence import OrderedCalls, order
from callwright.repair.reading import Reading, read
from callwright.repair.result import Abstention, Refinement, Settings
from callwright.repair.rules.calls import RuledCalls, apply_rules

RUNGS = ("rules", "sequence")
UNMARKED = frozenset(
    {"json", "fenced", "pythonic", "xlam", "llama_json", "nestful", "nestools", "refinetoolbench"}
)
"""Dialects whose calls begin with nothing but a bracket, a name or a fence."""
SEQUENCE_CONFIDENCE = {"producer_added": 0.85}  # 189 of 222 on public gold sequences


def refine(
    source: str | Mapping[str, Any] | Sequence[ToolCall] | Sequence[Mapping[str, Any]],
    tools: Sequence[Tool],
    *,
    query: str = "",
    messages: Sequence[Message] = (),
    rungs: Collection[str] = RUNGS,
    settings: Settings | None = None,
) -> Refinement:
    """Make the calls of a reply right, without a model: no I/O, deterministic, never raises for
    what a model wrote.

    ``source``: a text, an OpenAI or Anthropic message, or a list of calls. ``query`` is the user's
    request, ``messages`` the conversation before the reply (either may do; without both, no value
    is filled in or doubted). ``rungs``: "rules", "sequence", both or none (then the reply is only
    read). A reply without calls has none afterwards. Raises ConfigError for an unknown rung or a
    source of another form.
    """
    unknown = set(rungs) - set(RUNGS)
    if unknown:
        raise ConfigError(
            f"there is no rung {sorted(unknown)[0]!r}", hint=f"rungs: {', '.join(RUNGS)}"
        )
    reading = read(source, tools)
    if not reading.calls:
        return Refinement((), reading.text, dialect=reading.dialect, truncated=reading.truncated)
    strange = _unreadable(reading)
    if strange:
        return replace(_finished(reading, _as_read_calls(reading), None), violations=strange)
    situation = RepairContext(tools, query, messages, settings)
    ruled = _as_read_calls(reading)
    if "rules" in rungs:
        ruled = apply_rules(reading.calls, situation)
        if isinstance(source, str | Mapping) and _reads_as_prose(reading, ruled):
            said = (
                f"'{reading.calls[0].tool}' is no tool; what looks like a call of it was left in"
                " the text"
            )
            return Refinement((), reading.whole, abstained=(Abstention("", said + "."),))
    if "sequence" not in rungs:
        return _finished(reading, ruled, None)
    asked = "\n".join(
        dict.fromkeys((*situation.asked, situation.query))
    )  # not a prompt that shows the notation
    labelled = [replace(call, id=call.slot) if call.slot else call for call in ruled.calls]
    labels = (
        labels_of(labelled, situation.by_name) if any(call.slot for call in ruled.calls) else ()
    )
    ordered = order(ruled.calls, tools, query=asked, labels=labels, unknown=_made_up(ruled))
    return _finished(reading, ruled, _with_slots(ordered, ruled.calls))


def _as_read_calls(reading: Reading) -> RuledCalls:
    return RuledCalls(list(reading.calls), list(range(len(reading.calls))))


def _unreadable(reading: Reading) -> tuple[Violation, ...]:
    """Why a reply is left alone: arguments that no JSON can say, or that are nested too deep to be
    walked along.
    """
    found = []
    for i, call in enumerate(reading.calls):
        why = "" if isinstance(call.arguments, str) else unwritable(call.arguments)
        if why:
            said = (
                f"The arguments of '{call.tool}' cannot be read: {why}. The calls were left as they"
                " are."
            )
            found.append(Violation("schema", said, f"/{i}/arguments"))
    return tuple(found)


def _made_up(ruled: RuledCalls) -> list[tuple[int, str]]:
    """The arguments that the rules found to come from nowhere: (position among the calls that are
    left, name).
    """
    places = {position: n for n, position in enumerate(ruled.positions)}
    found = []
    for violation in ruled.violations:
        parts = violation.path.split("/")
        if (
            violation.kind == "ungrounded"
            and len(parts) == 4
            and parts[1].isdigit()
            and int(parts[1]) in places
        ):
            found.append((places[int(parts[1])], parts[3].replace("~1", "/").replace("~0", "~")))
    return found


def _with_slots(ordered: OrderedCalls, before: Sequence[ToolCall]) -> OrderedCalls:
    """In a labelled list, calls that were given a label or added bear it as the others do: as their
    slot.
    """
    slots, ids = [c.slot for c in before if c.slot], {c.id for c in before}
    if not slots:
        return ordered
    mark = "$" if slots[0].startswith("$") else ""
    calls = tuple(
        c if c.slot or c.id in ids else replace(c, slot=mark + c.id.strip("$"))
        for c in ordered.calls
    )
    return replace(ordered, calls=calls)


def _reads_as_prose(reading: Reading, ruled: RuledCalls) -> bool:
    """Whether unmarked JSON or code amid other text names only tools that do not exist: an example,
    not a call.
    """
    unknown = {v.path.split("/")[1] for v in ruled.violations if v.kind == "unknown_tool"}
    nobody = len(unknown) == len(ruled.calls)  # whatever else the rules made of its arguments
    return (
        nobody
        and bool(reading.calls)
        and reading.dialect in UNMARKED
        and bool(reading.text.strip())
    )


def _finished(reading: Reading, ruled: RuledCalls, ordered: OrderedCalls | None) -> Refinement:
    made = Refinement(
        calls=tuple(ruled.calls),
        text=reading.text,
        edits=tuple(ruled.edits),
        violations=tuple(ruled.violations),
        dialect=reading.dialect,
        confidence=ruled.confidence,
        abstained=tuple(ruled.abstained),
        truncated=reading.truncated,
    )
    if ordered is None:
        return made
    edits = tuple(_as_read(e, ruled.positions) for e in ordered.edits)
    sure = min((SEQUENCE_CONFIDENCE.get(e.rule, 1.0) for e in edits), default=1.0)
    known = {(v.path, v.kind) for v in made.violations}
    problems = tuple(
        replace(v, path=_path_as_read(v.path, ruled.positions)) for v in ordered.problems
    )
    return replace(
        made,
        calls=ordered.calls,
        edits=made.edits + edits,
        violations=made.violations + tuple(v for v in problems if (v.path, v.kind) not in known),
        confidence=min(made.confidence, sure),
        abstained=made.abstained
        + tuple(Abstention("", said) for said in ordered.abstained)
        + _waiting(edits),
    )


def _waiting(edits: Sequence[Edit]) -> tuple[Abstention, ...]:
    """Calls that were taken out for now are said to be missing."""
    gone = [
        (e.path, e.before)
        for e in edits
        if e.rule == "wait_for_result" and isinstance(e.before, dict)
    ]
    said = "'{}' can be called once another call has returned what it lacks."
    return tuple(
        Abstention(path, said.format(call.get("tool") or call.get("name"))) for path, call in gone
    )


def _as_read(edit: Edit, positions: Sequence[int]) -> Edit:
    """An edit of the sequence rung with the positions of the calls as they were read."""
    if edit.rule == "topological_order" and isinstance(edit.after, list):
        before, after = ([positions[i] for i in side] for side in (edit.before, edit.after))
        return replace(edit, before=before, after=after)
    if edit.before is None and edit.path.count("/") == 1:
        return edit  # an added call: its place in the result
    return replace(edit, path=_path_as_read(edit.path, positions))


def _path_as_read(path: str, positions: Sequence[int]) -> str:
    _, slash, rest = path.partition("/")
    number, more, tail = rest.partition("/")
    if not slash or not number.isdigit() or int(number) >= len(positions):
        return path
    return f"/{positions[int(number)]}{more}{tail}"
