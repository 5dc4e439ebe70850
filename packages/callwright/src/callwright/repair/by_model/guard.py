"""What a model's refinement must fulfil before it replaces anything: one reason against is
enough.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from callwright.jsontext import JsonError, parse_lenient
from callwright.nouns.types import CheckedCall, Json, JsonObject, Tool, ToolCall, canonical
from callwright.repair.gate import Gate
from callwright.repair.location import REPLY
from callwright.repair.ordering.references import Reference, references
from callwright.repair.ordering.sequence import order
from callwright.repair.provenance.grounding import judge
from callwright.repair.provenance.sources import ProvenanceIndex

MAX_CALLS = 32


@dataclass(frozen=True, slots=True)
class Upstream:
    """What is refined: the reply's text, the calls read from it (as the rules left them), and what
    may be offered.
    """

    text: str
    calls: tuple[ToolCall, ...]
    tools: tuple[Tool, ...]
    query: str = ""
    reasoning: str = ""
    system: str = ""

    def sources(self) -> ProvenanceIndex:
        """Where a value may come from: the request, the system prompt, the upstream's thoughts and
        calls.
        """
        written = [canonical(c.arguments) for c in self.calls]
        return ProvenanceIndex(self.query, [self.system, self.reasoning, self.text, *written])


def reasons_against(up: Upstream, made: Sequence[ToolCall]) -> list[str]:
    """Why the model's calls may not be taken; empty where they may."""
    if not made:
        return ["The model gave no calls."]
    if len(made) > MAX_CALLS:
        return [f"The model gave {len(made)} calls."]
    gate = Gate(up.tools)
    return [
        *_refused(up, made, gate),
        *_lost(up, made, gate),
        *_writing(up, made),
        *_invented(up, made),
        *(v.message for v in order(made, up.tools, query=up.query).problems),
    ]


def _refused(up: Upstream, made: Sequence[ToolCall], gate: Gate) -> Iterator[str]:
    found = references(made, up.tools, up.query)
    for n, call in enumerate(made):
        verdict = check_chained(call, [r for r in found if r.call == n], gate)
        if verdict:
            yield verdict


def check_chained(call: ToolCall, refs: Sequence[Reference], gate: Gate) -> str:
    """What the gate has against a call, arguments that are references left out; "" where it accepts
    it.
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


def _lost(up: Upstream, made: Sequence[ToolCall], gate: Gate) -> Iterator[str]:
    """A call that is right stays: it must stand among the model's calls, its references alone
    written otherwise.
    """
    kept = Counter(_fixed_parts(made, up))
    done = order(up.calls, up.tools, query=up.query)
    broken = {draft.origin for draft in done.drafts.every if draft.errors and draft.id != REPLY}
    sources = ProvenanceIndex(up.query, [up.system, up.reasoning]) if up.query else None
    found = references(up.calls, up.tools, up.query)
    for n, (call, part) in enumerate(zip(up.calls, _fixed_parts(up.calls, up), strict=True)):
        refs = [r for r in found if r.call == n]
        right = n not in broken and not check_chained(call, refs, gate)
        if not right or (not refs and not isinstance(gate.check(call, sources), CheckedCall)):
            continue
        if kept[part] == 0:
            yield f"The call of '{call.tool}' was right and is gone or changed."
        kept[part] -= 1


def _fixed_parts(calls: Sequence[ToolCall], up: Upstream) -> list[tuple[str, str]]:
    """Each call's tool and arguments, those that refer to other calls left out."""
    chained: dict[int, set[str]] = {}
    for ref in references(calls, up.tools, up.query):
        chained.setdefault(ref.call, set()).add(ref.parameter)
    return [
        (c.tool, canonical(_without(c.arguments, chained.get(n, set()))))
        for n, c in enumerate(calls)
    ]


def _without(arguments: JsonObject | str, keys: set[str]) -> JsonObject | str:
    return (
        {k: v for k, v in arguments.items() if k not in keys}
        if isinstance(arguments, dict)
        else arguments
    )


def _writing(up: Upstream, made: Sequence[ToolCall]) -> Iterator[str]:
    """No call that may change something unless the upstream made it; none finished from a part."""
    effects = {t.name: t.effects for t in up.tools}
    meant = Counter(c.tool for c in up.calls)
    for name, count in Counter(c.tool for c in made).items():
        if name not in effects or not effects[name].may_write:
            continue
        attempts = meant[name] or _attempts(name, up.text)
        if count > attempts:
            yield f"'{name}' may change something and the upstream did not call it so often."
    cut = {c.tool for c in up.calls if isinstance(c.arguments, str) and _stops(c.arguments)}
    for call in made:
        if call.tool in cut and effects[call.tool].may_write:
            yield f"'{call.tool}' may change something and its call stops in the middle."


def _attempts(name: str, text: str) -> int:
    """How often a text that holds no readable call tries to call a tool: its name quoted or before
    a bracket.
    """
    if _stops(text):
        return 0
    return len(re.findall(rf"(?:[\"'=`>.]|\A|\s){re.escape(name)}(?:[\"'`]|\s*[({{]|>)", text))


def _stops(text: str) -> bool:
    """Whether a text opens a JSON value that it never closes."""
    start = min((i for i in (text.find("{"), text.find("[")) if i >= 0), default=-1)
    if start < 0:
        return False
    try:
        return parse_lenient(text[start:]).truncated
    except JsonError:
        return text.count("{") > text.count("}") or text.count("[") > text.count("]")


def _invented(up: Upstream, made: Sequence[ToolCall]) -> Iterator[str]:
    sources = up.sources()
    tools = {t.name: t for t in up.tools}
    spans = {(r.call, r.path) for r in references(made, up.tools, up.query)}
    for n, call in enumerate(made):
        tool = tools.get(call.tool)
        if tool is None or not isinstance(call.arguments, dict):
            continue
        for path, key, value, part in _scalars(call.arguments, tool.input_schema):
            if (n, path) not in spans and not _sourced(key, value, part, sources):
                yield f"The value {canonical(value)[:60]} of '{key}' comes from nowhere."


def _sourced(key: str, value: Json, part: JsonObject, sources: ProvenanceIndex) -> bool:
    if isinstance(value, bool) or (isinstance(part.get("enum"), list) and value in part["enum"]):
        return True
    return judge(key, value, part, sources) == "held"


def _scalars(
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
            yield from _scalars(v, inner, (*path, k), k)
    elif isinstance(value, list):
        for i, v in enumerate(value):
            yield from _scalars(v, part.get("items"), (*path, i), key)
    else:
        yield path, key, value, part
