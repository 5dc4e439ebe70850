"""The first rung: one call at a time made right by its tool's schema and the conversation, without a model.

Check comes first. A call that the gate accepts and no trigger hits (unknown name, placeholder, echoed schema,
unsourced value) comes back as the same object. Otherwise every step below may change it, each change is an edit with
its rule, and what cannot be decided is reported. A call whose arguments stop in the middle is never completed.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace

from callwright.errors import Violation
from callwright.gate import Refusal
from callwright.gate.coerce import pointer_join
from callwright.jsontext import parse
from callwright.refine import names, ranker
from callwright.refine.mending import Mending
from callwright.refine.result import Abstention
from callwright.refine.sequence_references import Labels, Reference, labels_of, references
from callwright.refine.situation import Situation
from callwright.refine.stand_ins import stand_in
from callwright.refine.surplus import surplus
from callwright.types import Edit, Json, ToolCall

FRESH_ID = "fresh_id"


@dataclass(slots=True)
class Ruled:
    """Calls after the rules. ``positions[i]`` is where ``calls[i]`` stood as read; paths count as read."""

    calls: list[ToolCall]
    positions: list[int]
    edits: list[Edit] = field(default_factory=list)
    violations: list[Violation] = field(default_factory=list)
    abstained: list[Abstention] = field(default_factory=list)
    confidence: float = 1.0


@dataclass(slots=True)
class One:
    """One call while the rules work on it. ``unknown`` are required parameters whose value nobody has said."""

    call: ToolCall
    edits: list[Edit] = field(default_factory=list)
    violations: list[Violation] = field(default_factory=list)
    abstained: list[Abstention] = field(default_factory=list)
    confidence: float = 1.0
    unknown: list[str] = field(default_factory=list)
    known_tool: bool = True


def apply_rules(calls: Sequence[ToolCall], situation: Situation) -> Ruled:
    """Every call by itself, then the calls among each other (duplicates, ghosts, those that must wait)."""
    found = _references(calls, situation)
    ones = [_ruled(call, [r for r in found if r.call == i], calls, situation) for i, call in enumerate(calls)]
    dropped = surplus([o.call for o in ones], [o.unknown for o in ones], [o.known_tool for o in ones], situation)
    made = Ruled([], [])
    for i, one in enumerate(ones):
        made.edits += [replace(e, path=f"/{i}{e.path}") for e in one.edits]
        made.abstained += [replace(a, path=f"/{i}{a.path}") for a in one.abstained]
        made.confidence = min(made.confidence, one.confidence)
        if i in dropped:
            drop = dropped[i]
            made.edits.append(
                Edit(f"/{i}", {"name": one.call.tool, "arguments": one.call.arguments}, None, drop.rule)
            )
            made.confidence = min(made.confidence, drop.confidence)
            made.violations += [replace(v, path=f"/{i}") for v in one.violations if v.kind == "unknown_tool"]
            continue
        made.violations += [_placed(v, i) for v in one.violations]
        made.calls.append(one.call)
        made.positions.append(i)
    _tell_apart(made)
    return made


def _tell_apart(made: Ruled) -> None:
    """An id that an earlier call of the reply has gives way to a fresh one: results are matched to calls by it."""
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
    return next(new for n in itertools.count(number + 1) if (new := f"{stem}{n:0{width}d}") not in taken)


def _references(calls: Sequence[ToolCall], situation: Situation) -> list[Reference]:
    """What stands for another call's result. ``$1`` and ``{x}`` that mean no other call are placeholders."""
    found = references(calls, situation.tools, situation.query)
    if not found:
        return []
    labels = Labels(calls, situation.by_name, labels_of(calls, situation.by_name))

    def means(ref: Reference) -> bool:
        meaning = labels.meaning(ref)
        return meaning is not None and meaning.call != ref.call

    return [r for r in found if r.notation not in ("numbered", "braces") or means(r)]


def _placed(violation: Violation, position: int) -> Violation:
    whole = violation.kind in ("unknown_tool", "bad_schema")
    return replace(violation, path=f"/{position}/name" if whole else f"/{position}/arguments{violation.path}")


def _ruled(call: ToolCall, refs: list[Reference], calls: Sequence[ToolCall], situation: Situation) -> One:
    one = One(call)
    if call.tool not in situation.by_name and not _named(one, situation):
        return one
    tool = situation.by_name[one.call.tool]
    if not _read(one, situation):
        return one
    arguments = one.call.arguments
    assert isinstance(arguments, dict)
    aside = stand_in(arguments, tool, refs)
    others = [c.arguments for c in calls if c is not call and isinstance(c.arguments, dict)]
    mending = Mending(aside.arguments, tool, situation, others, aside.referring)
    if not mending.right() or mending.triggered():
        mending.mend()
        one.edits += [replace(e, path=f"/arguments{e.path}") for e in mending.edits]
        one.violations += mending.violations
        one.abstained += [replace(a, path=f"/arguments{a.path}") for a in mending.abstained]
        one.confidence = min(one.confidence, mending.confidence)
        one.unknown = mending.unknown
    if mending.edits:
        one.call = replace(one.call, arguments=aside.restored(mending.arguments, mending.edits))
    for key in aside.nulls:
        said = f"'{key}' is null, which its schema does not allow; taken as not given and left as it is."
        one.violations.append(Violation("schema", said, pointer_join("", key), "null", None, None))
    return one


def _read(one: One, situation: Situation) -> bool:
    """Arguments that came as text become the object they are; False where they are none (cut off, not JSON)."""
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


def _named(one: One, situation: Situation) -> bool:
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
        why = "may write or its effects are unknown" if likely.tool.effects.may_write else "is not sure enough"
        said = f"'{call.tool}' is no tool; the nearest is '{likely.tool.name}', which {why}."
        one.abstained.append(Abstention("/name", said, likely.confidence, likely.tool.name))
    return False
