"""The first rung: one call at a time made right by its tool's schema and the conversation, without
a model.

Check comes first. A call that the gate accepts and no trigger hits (unknown name, placeholder,
echoed schema, unsourced value) comes back as the same object. Otherwise every step below may change
it, each change is an edit with its rule, and what cannot be decided is reported. A call whose
arguments stop in the middle is never completed.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace

from callwright.jsontext import parse
from callwright.nouns.errors import Violation
from callwright.nouns.types import Edit, Json, Tool, ToolCall, canonical
from callwright.repair import ranker
from callwright.repair.context import RepairContext
from callwright.repair.gate import Refusal
from callwright.repair.ordering.references import Labels, Reference, labels_of, references
from callwright.repair.provenance.doubts import doubts
from callwright.repair.result import Abstention, shown
from callwright.repair.rules import argument_matching as takers
from callwright.repair.rules import names, split
from callwright.repair.rules.argument_repair import ArgumentRepair
from callwright.repair.rules.duplicate_calls import WAIT, find_duplicate_calls
from callwright.repair.rules.reference_placeholders import ReferencePlaceholders, replace_references
from callwright.schema.coerce import pointer_join

FRESH_ID = "fresh_id"


@dataclass(slots=True)
class RuledCalls:
    """Calls after the rules. ``positions[i]`` is where ``calls[i]`` stood as read; paths count as
    read.
    """

    calls: list[ToolCall]
    positions: list[int]
    edits: list[Edit] = field(default_factory=list)
    violations: list[Violation] = field(default_factory=list)
    abstained: list[Abstention] = field(default_factory=list)
    confidence: float = 1.0


@dataclass(slots=True)
class CallDraft:
    """One call while the rules work on it. ``unknown`` are required parameters whose value nobody
    has said.
    """

    call: ToolCall
    edits: list[Edit] = field(default_factory=list)
    violations: list[Violation] = field(default_factory=list)
    abstained: list[Abstention] = field(default_factory=list)
    confidence: float = 1.0
    unknown: list[str] = field(default_factory=list)
    known_tool: bool = True


def apply_rules(calls: Sequence[ToolCall], situation: RepairContext) -> RuledCalls:
    """Every call by itself, then the calls among each other (duplicates, ghosts, those that must
    wait).
    """
    found = _references(calls, situation)
    ones = [
        _ruled(call, [r for r in found if r.call == i], calls, situation)
        for i, call in enumerate(calls)
    ]
    dropped = find_duplicate_calls(
        [o.call for o in ones], [o.unknown for o in ones], [o.known_tool for o in ones], situation
    )
    made = RuledCalls([], [])
    made.abstained += _bare_references(found, calls)
    for i, one in enumerate(ones):
        made.edits += [replace(e, path=f"/{i}{e.path}") for e in one.edits]
        made.abstained += [replace(a, path=f"/{i}{a.path}") for a in one.abstained]
        made.confidence = min(made.confidence, one.confidence)
        if i in dropped:
            drop = dropped[i]
            made.edits.append(Edit(f"/{i}", shown(one.call), None, drop.rule))
            made.confidence = min(made.confidence, drop.confidence)
            made.violations += [
                replace(v, path=f"/{i}") for v in one.violations if v.kind == "unknown_tool"
            ]
            if drop.rule == WAIT:
                lacks = ", ".join(one.unknown)
                said = (
                    f"'{one.call.tool}' can be called once another call has returned what it lacks:"
                    f" {lacks}."
                )
                made.abstained.append(Abstention(f"/{i}", said, drop.confidence))
            continue
        _hand_on(made, one, i, situation)
    _tell_apart(made)
    _name_repeated(made)
    _name_passed_over(made, situation)
    return made


def _name_passed_over(made: RuledCalls, situation: RepairContext) -> None:
    """Tools that the request speaks of, that take a call's arguments and that no call is of are
    named.
    """
    said = {a.path for a in made.abstained}
    for at, call in zip(made.positions, made.calls, strict=True):
        other = takers.passed_over(call, made.calls, situation)
        if other is not None and f"/{at}/name" not in said:
            why = (
                f"The request speaks of '{other.name}', which takes these arguments too and is not"
                " called."
            )
            made.abstained.append(Abstention(f"/{at}/name", why, 0.3, other.name))


def _name_repeated(made: RuledCalls) -> None:
    """Equal calls that were kept are named: the request speaks of doing something again, or their
    tool may write.
    """
    seen: set[str] = set()
    for at, call in enumerate(made.calls):
        text = canonical([call.tool, call.arguments])
        if text in seen:
            said = f"'{call.tool}' is called again with the same arguments; both may be meant."
            made.abstained.append(Abstention(f"/{made.positions[at]}", said, 0.5))
        seen.add(text)


def _hand_on(made: RuledCalls, one: CallDraft, i: int, situation: RepairContext) -> None:
    """One call, or the calls that a list in place of one value stands for."""
    call, listed = one.call, split.several(one.call, situation.gate) if one.violations else None
    if listed is not None and situation.by_name[call.tool].effects.may_write:
        said = (
            f"{len(listed[1])} calls seem to be meant, but '{call.tool}' may write or its effects"
            " are unknown."
        )
        made.abstained.append(
            Abstention(f"/{i}/arguments{pointer_join('', listed[0])}", said, split.CONFIDENCE)
        )
        listed = None
    if listed is None:
        made.violations += [_placed(v, i) for v in one.violations]
        made.calls.append(call)
        made.positions.append(i)
        return
    key, several = listed
    path, before = f"/{i}/arguments{pointer_join('', key)}", call.arguments[key]  # type: ignore[index]
    made.edits.append(Edit(path, before, several[0][key], split.RULE))
    made.confidence = min(made.confidence, split.CONFIDENCE)
    for n, arguments in enumerate(several):
        if n:
            made.edits.append(
                Edit(
                    f"/{len(made.calls)}",
                    None,
                    shown(replace(call, arguments=arguments)),
                    split.RULE,
                )
            )
        made.calls.append(replace(call, arguments=arguments))
        made.positions.append(i)


def _tell_apart(made: RuledCalls) -> None:
    """An id that an earlier call of the reply has gives way to a fresh one: results are matched to
    calls by it.
    """
    seen: set[str] = set()
    every = {c.id for c in made.calls}
    for at, call in enumerate(made.calls):
        if call.id and call.id in seen:
            fresh = _fresh(call.id, every)
            made.calls[at] = replace(call, id=fresh)
            made.edits.append(Edit(f"/{made.positions[at]}/id", call.id, fresh, FRESH_ID))
            every.add(fresh)
        seen.add(call.id)


def _fresh(id: str, taken: Collection[str]) -> str:
    """The next free id of the same form: its number counted on, else a number after it."""
    digits = re.search(r"\d{1,9}\Z", id)
    stem, number = (id[: digits.start()], int(digits[0])) if digits else (id + "_", 1)
    width = len(digits[0]) if digits else 0
    return next(
        new for n in itertools.count(number + 1) if (new := f"{stem}{n:0{width}d}") not in taken
    )


def _references(calls: Sequence[ToolCall], situation: RepairContext) -> list[Reference]:
    """What stands for another call's result. ``$1`` and ``{x}`` that mean no other call are
    placeholders.
    """
    found = references(calls, situation.tools, situation.query)
    if not found:
        return []
    labels = Labels(calls, situation.by_name, labels_of(calls, situation.by_name))

    def means(ref: Reference) -> bool:
        meaning = labels.meaning(ref)
        return meaning is not None and meaning.call != ref.call

    return [r for r in found if r.notation not in ("numbered", "braces") or means(r)]


def _bare_references(found: Sequence[Reference], calls: Sequence[ToolCall]) -> list[Abstention]:
    """``$1`` and ``{x}`` that may mean another call of a list without labels: who executes it must
    know them.
    """
    if any(call.slot for call in calls):
        return []
    said = "'{}' is taken for the result of another call of the reply, not for a value."
    return [
        Abstention(r.pointer, said.format(r.text[:80]), 0.5)
        for r in found
        if r.notation in ("numbered", "braces")
    ]


def _placed(violation: Violation, position: int) -> Violation:
    whole = violation.kind == "unknown_tool"
    return replace(
        violation, path=f"/{position}/name" if whole else f"/{position}/arguments{violation.path}"
    )


def _ruled(
    call: ToolCall, refs: list[Reference], calls: Sequence[ToolCall], situation: RepairContext
) -> CallDraft:
    one = CallDraft(call)
    if call.tool not in situation.by_name and not _named(one, situation):
        return one
    tool = situation.by_name[one.call.tool]
    if not _read(one, situation):
        return one
    arguments = one.call.arguments
    assert isinstance(arguments, dict)
    aside = replace_references(arguments, tool, refs)
    other = takers.meant_for(aside.arguments, tool, situation)
    if other is not None and not _given_to(other, one, situation):
        return one
    tool = other or tool
    mending = _mending(aside, tool, call, calls, situation)
    if not mending.right() or mending.triggered():
        mending.mend()
        one.edits += [replace(e, path=f"/arguments{e.path}") for e in mending.edits]
        one.violations += mending.violations
        one.abstained += [replace(a, path=f"/arguments{a.path}") for a in mending.abstained]
        one.confidence = min(one.confidence, mending.confidence)
        one.unknown = mending.unknown
    if mending.edits:
        one.call = replace(one.call, arguments=aside.restored(mending.arguments, mending.edits))
    _doubt(one, mending, situation, renamed=other is not None)
    _warn(one, aside)
    return one


def _mending(
    aside: ReferencePlaceholders,
    tool: Tool,
    call: ToolCall,
    calls: Sequence[ToolCall],
    situation: RepairContext,
) -> ArgumentRepair:
    """The work on one call's arguments, beside those of the reply's other calls."""
    rest = [(c.tool, c.arguments) for c in calls if c is not call and isinstance(c.arguments, dict)]
    others = [arguments for _, arguments in rest]
    alike = [arguments for name, arguments in rest if name == tool.name]
    return ArgumentRepair(aside.arguments, tool, situation, others, aside.referring, alike)


def _doubt(
    one: CallDraft, mending: ArgumentRepair, situation: RepairContext, *, renamed: bool
) -> None:
    """Say which values nobody said, and whether the request speaks of another tool."""
    arguments, tool = mending.arguments, mending.tool
    reported = {a.path for a in mending.abstained} | {v.path for v in mending.violations}
    known = frozenset(k for k in arguments if pointer_join("", k) in reported) | mending.referring
    unsaid = doubts(arguments, tool, situation, known)
    one.abstained += [replace(a, path=f"/arguments{a.path}") for a in unsaid]
    better = None if renamed else takers.asked_more(arguments, tool, situation)
    if better is not None:
        said = (
            f"The request speaks much more of '{better.name}', which takes these arguments as well."
        )
        one.abstained.append(Abstention("/name", said, 0.3, better.name))


def _given_to(other: Tool, one: CallDraft, situation: RepairContext) -> bool:
    """Give a call to the tool whose arguments it has, if that tool is known not to write; else
    report it.
    """
    call = one.call
    if not other.effects.may_write and situation.settings.least <= takers.CONFIDENCE:
        one.edits.append(Edit("/name", call.tool, other.name, takers.RULE))
        one.confidence = min(one.confidence, takers.CONFIDENCE)
        one.call = replace(call, tool=other.name)
        return True
    said = f"These arguments are those of '{other.name}', not of '{call.tool}'."
    one.abstained.append(Abstention("/name", said, takers.CONFIDENCE, other.name))
    verdict = situation.gate.check(call)
    one.violations += verdict.violations if isinstance(verdict, Refusal) else ()
    return False


def _warn(one: CallDraft, aside: ReferencePlaceholders) -> None:
    """What the schema does not allow and was left as it is."""
    for key, (text, value) in aside.own_text.items():
        said = (
            f"'{key}' is {canonical(value)} where the schema wants the text '{text}'; left as"
            " it is."
        )
        one.violations.append(Violation("schema", said, pointer_join("", key), "enum", text, value))
    for key in aside.nulls:
        said = (
            f"'{key}' is null, which its schema does not allow; taken as not given and left as"
            " it is."
        )
        one.violations.append(Violation("schema", said, pointer_join("", key), "null", None, None))


def _read(one: CallDraft, situation: RepairContext) -> bool:
    """Arguments that came as text become the object they are; False where they are none (cut off,
    not JSON).
    """
    call = one.call
    if isinstance(call.arguments, dict):
        return True
    verdict = situation.gate.check(call)
    if isinstance(verdict, Refusal) and verdict.arguments is None:
        one.violations += verdict.violations
        return False
    opened = [e for e in verdict.edits if e.path == "" and isinstance(e.after, dict)]
    found: Json = opened[0].after if opened else parse(call.arguments)
    one.edits += [replace(e, path="/arguments") for e in opened]
    one.call = replace(call, arguments=found)
    return True


def _named(one: CallDraft, situation: RepairContext) -> bool:
    """Give the call the name of the tool that is meant; False where that cannot be told."""
    call = one.call
    found, likely = names.match(call.tool, call.arguments, situation.tools, situation.query)
    found = found or ranker.match(call.tool, call.arguments, situation.tools, situation.query)
    if found is not None and found.confidence >= situation.settings.least:
        one.edits.append(Edit("/name", call.tool, found.tool.name, found.rule))
        one.confidence = min(one.confidence, found.confidence)
        one.call = replace(call, tool=found.tool.name)
        return True
    verdict = situation.gate.check(call)
    one.violations += verdict.violations if isinstance(verdict, Refusal) else ()
    one.known_tool = False
    likely = found or likely
    if likely is not None and likely.confidence >= 0.5:
        why = (
            "may write or its effects are unknown"
            if likely.tool.effects.may_write
            else "is not sure enough"
        )
        said = f"'{call.tool}' is no tool; the nearest is '{likely.tool.name}', which {why}."
        one.abstained.append(Abstention("/name", said, likely.confidence, likely.tool.name))
    return False
