"""Checks a model's refinement before it replaces anything.

An objection is hard or scored. A call that the gate refuses, a reference that nothing provides, and
a write that nobody asked for are never sent: no rate of errors excuses them. A right call that is
gone, a call beside right ones, and a value from nowhere are evidence of harm. They veto the
refinement, unless a calibrated score weighs them (:mod:`callwright.repair.by_model.harm_score`).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple, TypeAlias

from callwright.jsontext import JsonError, parse_lenient
from callwright.nouns.types import CheckedCall, Json, JsonObject, Tool, ToolCall, to_canonical_json
from callwright.repair.gate import Gate
from callwright.repair.location import REPLY
from callwright.repair.ordering.references import Reference, find_call_references
from callwright.repair.ordering.sequence import order
from callwright.repair.provenance.grounding import classify_value
from callwright.repair.provenance.sources import ProvenanceIndex

MAX_CALLS = 32
ObjectionKind: TypeAlias = Literal[
    "none", "many", "repeated", "refused", "write", "order", "lost", "added", "ungrounded"
]
"""``none`` and ``many``: there is nothing to send, or more than anybody asks for. ``repeated``: an
equal call stands there more often than the upstream made it. ``refused``: the gate does not let a
call through. ``write``: a write that is new, finished from a part, or changed although it was
right, or with a value from nowhere where the tool is declared to write. ``order``: a reference that
nothing provides. ``lost``: a right call is gone, changed, or takes the result of another call.
``added``: all calls were right, and
there is one more. ``ungrounded``: a value comes from nowhere.
"""
SCORED: frozenset[ObjectionKind] = frozenset({"lost", "added", "ungrounded"})
"""The kinds that a score may weigh. All others are limits."""


class Objection(NamedTuple):
    """One reason against a refinement, with what a person is told."""

    kind: ObjectionKind
    message: str


@dataclass(frozen=True, slots=True)
class Upstream:
    """Input of the refinement: the reply's text, the calls read from it (as the rules left them),
    and the offered tools.
    """

    text: str
    calls: tuple[ToolCall, ...]
    tools: tuple[Tool, ...]
    query: str = ""
    reasoning: str = ""
    system: str = ""

    def sources(self) -> ProvenanceIndex:
        """Return the index of possible value sources: the request, the system prompt, the
        upstream's thoughts and calls.
        """
        written = [to_canonical_json(c.arguments) for c in self.calls]
        return ProvenanceIndex(self.query, [self.system, self.reasoning, self.text, *written])


def find_objections(up: Upstream, made: Sequence[ToolCall]) -> list[Objection]:
    """Return every objection to the model's calls, hard and scored; empty if there are none."""
    if not made:
        return [Objection("none", "The model gave no calls.")]
    if len(made) > MAX_CALLS:
        return [Objection("many", f"The model gave {len(made)} calls.")]
    gate = Gate(up.tools)
    problems = order(made, up.tools, query=up.query).problems
    return [
        *_iter_refused(up, made, gate),
        *_iter_lost_calls(up, made, gate),
        *_iter_unrequested_writes(up, made),
        *_iter_repeated(up, made),
        *_iter_invented_values(up, made),
        *(Objection("order", problem.message) for problem in problems),
    ]


def find_unreadable(up: Upstream, made: Sequence[ToolCall]) -> list[Objection]:
    """Return what keeps calls from being sent at all: none, an unknown tool, or arguments that are
    no object. The paper's refiner is held to no more.
    """
    if not made:
        return [Objection("none", "The model gave no calls.")]
    names = {tool.name for tool in up.tools}
    return [
        Objection("refused", f"'{call.tool}' with {type(call.arguments).__name__} is no call.")
        for call in made
        if call.tool not in names or not isinstance(call.arguments, dict)
    ]


def _iter_repeated(up: Upstream, made: Sequence[ToolCall]) -> Iterator[Objection]:
    before, after = (Counter(map(key_by_call, calls)) for calls in (up.calls, made))
    for key, count in after.items():
        if count > max(1, before[key]):
            name = next(call.tool for call in made if key_by_call(call) == key)
            said = f"The model makes an equal call of '{name}' {count} times."
            yield Objection("repeated", said)


def key_by_call(call: ToolCall) -> str:
    """The same text for calls that are equal but for their ids."""
    return to_canonical_json([call.tool, call.arguments])


def _iter_refused(up: Upstream, made: Sequence[ToolCall], gate: Gate) -> Iterator[Objection]:
    found = find_call_references(made, up.tools, up.query)
    for n, call in enumerate(made):
        verdict = check_chained(call, [r for r in found if r.call == n], gate)
        if verdict:
            yield Objection("refused", verdict)


def check_chained(call: ToolCall, refs: Sequence[Reference], gate: Gate) -> str:
    """Return the gate's objection to a call without its reference arguments; "" if it accepts the
    call.
    """
    chained = {r.parameter for r in refs}
    tool = next((t for t in gate.tools if t.name == call.tool), None)
    if chained and tool is not None and isinstance(call.arguments, dict):
        call = replace(
            call, arguments={k: v for k, v in call.arguments.items() if k not in chained}
        )
        wanted: JsonObject = dict(tool.input_schema)
        wanted["required"] = [k for k in tool.required if k not in chained]
        gate = Gate([replace(tool, input_schema=wanted)])
    verdict = gate.check(call)
    if isinstance(verdict, CheckedCall):
        return (
            "" if not verdict.edits else f"The call of '{call.tool}' is still not right as written."
        )
    return verdict.message


def find_right_calls(up: Upstream, gate: Gate) -> list[int]:
    """Return the places of the upstream's calls that the gate and the conversation have nothing
    against. The values of references are not known yet and do not count.
    """
    done = order(up.calls, up.tools, query=up.query)
    broken = {draft.origin for draft in done.drafts.every if draft.errors and draft.id != REPLY}
    sources = ProvenanceIndex(up.query, [up.system, up.reasoning]) if up.query else None
    found = find_call_references(up.calls, up.tools, up.query)
    right = []
    for n, call in enumerate(up.calls):
        refs = [r for r in found if r.call == n]
        if n in broken or check_chained(call, refs, gate):
            continue
        if refs or isinstance(gate.check(call, sources), CheckedCall):
            right.append(n)
    return right


def _iter_lost_calls(up: Upstream, made: Sequence[ToolCall], gate: Gate) -> Iterator[Objection]:
    """A call that is right stays: it must stand among the model's calls, its references alone
    written otherwise; and where all are right, they are all.
    """
    kept = Counter(_fixed_parts(made, up))
    parts = _fixed_parts(up.calls, up)
    writing = list_declared_writes(up.tools)
    right = find_right_calls(up, gate)
    if len(made) > len(up.calls) == len(right) > 0:
        yield Objection("added", f"The {len(right)} calls were right and more are added.")
    for n in right:
        name = up.calls[n].tool
        if kept[parts[n]] == 0:
            said = f"The call of '{name}' was right and is gone or changed."
            yield Objection("write" if name in writing else "lost", said)
        kept[parts[n]] -= 1


def list_declared_writes(tools: Sequence[Tool]) -> set[str]:
    """The tools of which somebody has said that they may change something."""
    return {t.name for t in tools if t.effects.declares_write}


def _fixed_parts(calls: Sequence[ToolCall], up: Upstream) -> list[tuple[str, str]]:
    """Each call's tool and arguments, those that refer to other calls left out."""
    chained: dict[int, set[str]] = {}
    for ref in find_call_references(calls, up.tools, up.query):
        chained.setdefault(ref.call, set()).add(ref.parameter)
    return [
        (c.tool, to_canonical_json(_remove_keys(c.arguments, chained.get(n, set()))))
        for n, c in enumerate(calls)
    ]


def _remove_keys(arguments: JsonObject | str, keys: set[str]) -> JsonObject | str:
    return (
        {k: v for k, v in arguments.items() if k not in keys}
        if isinstance(arguments, dict)
        else arguments
    )


def _iter_unrequested_writes(up: Upstream, made: Sequence[ToolCall]) -> Iterator[Objection]:
    """No call that may change something unless the upstream made it; none finished from a part."""
    effects = {t.name: t.effects for t in up.tools}
    meant = Counter(c.tool for c in up.calls)
    for name, count in Counter(c.tool for c in made).items():
        if name not in effects or not effects[name].may_write:
            continue
        attempts = meant[name] or _count_attempts(name, up.text)
        if count > attempts:
            said = f"'{name}' may change something and the upstream did not call it so often."
            yield Objection("write", said)
    cut = {
        c.tool for c in up.calls if isinstance(c.arguments, str) and _is_truncated_json(c.arguments)
    }
    for call in made:
        if call.tool in cut and effects[call.tool].may_write:
            said = f"'{call.tool}' may change something and its call stops in the middle."
            yield Objection("write", said)


def _count_attempts(name: str, text: str) -> int:
    """Count the attempts to call a tool in a text without any readable call. An attempt is its
    name, quoted or before a bracket.
    """
    if _is_truncated_json(text):
        return 0
    return len(re.findall(rf"(?:[\"'=`>.]|\A|\s){re.escape(name)}(?:[\"'`]|\s*[({{]|>)", text))


def _is_truncated_json(text: str) -> bool:
    """Return True if a text opens a JSON value that it never closes."""
    start = min((i for i in (text.find("{"), text.find("[")) if i >= 0), default=-1)
    if start < 0:
        return False
    try:
        return parse_lenient(text[start:]).truncated
    except JsonError:
        return text.count("{") > text.count("}") or text.count("[") > text.count("]")


def _iter_invented_values(up: Upstream, made: Sequence[ToolCall]) -> Iterator[Objection]:
    sources, writing = up.sources(), list_declared_writes(up.tools)
    tools = {t.name: t for t in up.tools}
    spans = {(r.call, r.path) for r in find_call_references(made, up.tools, up.query)}
    for n, call in enumerate(made):
        tool = tools.get(call.tool)
        if tool is None or not isinstance(call.arguments, dict):
            continue
        for path, key, value, part in _iter_scalars(call.arguments, tool.input_schema):
            if (n, path) not in spans and not _is_grounded(key, value, part, sources):
                said = f"The value {to_canonical_json(value)[:60]} of '{key}' comes from nowhere."
                yield Objection("write" if call.tool in writing else "ungrounded", said)


def _is_grounded(key: str, value: Json, part: JsonObject, sources: ProvenanceIndex) -> bool:
    if isinstance(value, bool) or (isinstance(part.get("enum"), list) and value in part["enum"]):
        return True
    return classify_value(key, value, part, sources) == "held"


def _iter_scalars(
    value: Json, part: Json, path: tuple[str | int, ...] = (), key: str = ""
) -> Iterator[tuple[tuple[str | int, ...], str, Json, JsonObject]]:
    """(path, nearest key, scalar, its schema) of everything inside the arguments."""
    part = part if isinstance(part, dict) else {}
    if len(path) > 20:
        return
    if isinstance(value, dict):
        properties = part.get("properties")
        for k, v in value.items():
            inner = properties.get(k) if isinstance(properties, dict) else None
            yield from _iter_scalars(v, inner, (*path, k), k)
    elif isinstance(value, list):
        for i, v in enumerate(value):
            yield from _iter_scalars(v, part.get("items"), (*path, i), key)
    else:
        yield path, key, value, part
