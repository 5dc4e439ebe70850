"""Plans as they are written: three forms read into one :class:`Plan`, and our JSON form written.

* ours, which a person can edit: ``{"steps": [{"id", "tool", "after": [ids], "arguments": {…}}]}``,
  where ``${id.key}`` in an argument is what an earlier step returns; also as nodes and edges, as
  TaskBench writes graphs;
* LLMCompiler's (Kim et al., 2024): ``1. search("x")``, ``2. math("$1 / 2")``, ``3. join()``, one
  call a line;
* the paper's (Wei et al., 2025, "Beyond ReAct"): ``{"DAG": "1->2, 2->3"}``, or that text alone; the
  numbers are the places of the tools in the list that was offered.

What is read may still be no plan that can run: :meth:`Plan.problems` says so. Only a text that
holds no plan at all, or breaks off inside one, is refused here.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from callwright.jsontext import JsonError, parse_lenient
from callwright.language import ENGLISH
from callwright.nouns.errors import PlanError
from callwright.nouns.plan import Plan, Slot, SlotIds
from callwright.nouns.types import Json, JsonObject, Tool
from callwright.parsing.formats.pythonic import read_call
from callwright.parsing.tool_vocabulary import ToolVocabulary
from callwright.planning.arrows import read_arrows

_LISTS = ("steps", "slots", "task_nodes", "nodes", "tasks", "plan", "calls")
_LINKS = ("edges", "task_links", "links")
_LABEL = ("id", "step", "number", "idx", "label")
_TOOL = ("tool", "name", "task", "tool_name")
_ARGUMENTS = ("arguments", "args", "parameters", "params", "input")
_AFTER = ("after", "depends_on", "dependencies", "deps", "waits_for")
_NUMBER = ENGLISH.pattern("calls.numbered")
_CALL = re.compile(r"^[ \t>*-]*\$?(\d{1,3})[ \t]*[.):][ \t]*`?([^\W\d][\w.\-:/]*)[ \t]*\(", re.M)
_NO_STEP = re.compile(
    r"[ \t\n>*-]*\$?\d{1,3}[ \t]*[.):][ \t]*`?join[ \t]*\("
)  # LLMCompiler's plan that calls nothing
_TOKEN = re.compile(r"'(?:[^'\\\n]|\\.)*'|\"(?:[^\"\\\n]|\\.)*\"|['\"()]")
_REFERENCE = r"\$(?:\{[^{}\n]+\}|\d+(?:\.[A-Za-z_]\w*|\[\d+\])*)"
_BARE = re.compile(rf"'(?:[^'\\\n]|\\.)*'|\"(?:[^\"\\\n]|\\.)*\"|(?P<ref>{_REFERENCE})")
_ARROW = re.compile(r"\s*(?:-+>|=>|→)\s*")
_NAME = re.compile(r"[^\W_][\w.\-:/]*\Z")
_BRACED = re.compile(r"\$\{\s*([^{}\n]+?)\s*\}|\{\{\s*([^{}\n]+?)\s*\}\}")
_DOLLAR = re.compile(r"\$(\d{1,3})((?:\.[A-Za-z_]\w*|\[(?:\d+|\*)\])*)(?![\w$]|\.\d|,\d|%)")
_PATH = re.compile(r"((?:\.[^.\[\]]+|\[(?:\d+|\*)\])*)\Z")
_FORMS = 'write {"steps": [{"id": 1, "tool": "name", "after": [], "arguments": {}}]}'


@dataclass(frozen=True, slots=True)
class Written:
    """One step as it was written, its references and dependencies by the labels that stand
    there.
    """

    label: str
    tool: str
    arguments: JsonObject | None = None
    after: tuple[str, ...] = ()
    reason: str = ""


def read_plan(text: str, tools: Sequence[Tool], *, is_whole: bool = False) -> Plan:
    """The plan that a text holds, in whichever form. Raises PlanError where it holds none.

    A step that was cut off is left out; where the text ``is_whole`` it is an error. ``tools`` are
    those that were offered, in the order in which they were.
    """
    try:
        found = parse_lenient(text)
    except JsonError:
        found = None
    plan = None if found is None else _of_value(found.value, tools, found.truncated)
    is_cut = (
        any(not _find_call_end(text, one.end() - 1) for one in _CALL.finditer(text))
        if plan is None or found is None
        else found.truncated
    )
    if is_whole and is_cut:
        raise PlanError("the plan breaks off: a bracket or a quotation mark is open", hint=_FORMS)
    if plan is not None:
        return plan
    numbered = numbered_steps(text, tools)
    if numbered or _NO_STEP.match(text):
        return assemble_plan(numbered, tools, loose=True)
    arrows = _of_arrows(text.strip().strip("`").strip(), tools)
    if arrows is None:
        raise PlanError("the reply holds no plan", hint=_FORMS)
    return arrows


def plan_of(value: Json, tools: Sequence[Tool]) -> Plan:
    """The plan that a JSON value is. Raises PlanError where it is none."""
    plan = _of_value(value, tools, False)
    if plan is None:
        raise PlanError("this is no plan", hint=_FORMS)
    return plan


def serialize_plan(plan: Plan) -> JsonObject:
    """A plan in our JSON form; ``plan_of`` reads it back."""
    return {"steps": [_serialize_step(slot) for slot in plan.slots]}


def parse_steps(text: str, tools: Sequence[Tool]) -> list[Written]:
    """The complete steps of a reply, in our JSON form or LLMCompiler's, also of a reply that is
    still being written: more text adds steps behind those that were there.
    """
    try:
        found = parse_lenient(text)
    except JsonError:
        return numbered_steps(text, tools)
    listed = found.value.get("steps") if isinstance(found.value, dict) else found.value
    if not isinstance(listed, list) or not all(isinstance(one, dict) for one in listed):
        return numbered_steps(text, tools)
    steps = (
        _of_step(step, place)
        for place, step in enumerate(listed[:-1] if found.truncated else listed, 1)
    )
    return [step for step in steps if step is not None]


def numbered_steps(text: str, tools: Sequence[Tool]) -> list[Written]:
    """The complete steps of LLMCompiler's form, in order; ``join()`` is none. Of a text still being
    written, those whose call is closed.
    """
    offer = ToolVocabulary(tools, unknown=True)
    found: list[Written] = []
    for match in _CALL.finditer(text):
        end = _find_call_end(text, match.end() - 1)
        if match[2] == "join" or not end:
            continue
        called = read_call(match[2], _quote_references(text[match.end() - 1 : end]), offer)
        arguments = called.arguments if isinstance(called.arguments, dict) else None
        found.append(Written(match[1], match[2], arguments))
    return found


def assemble_plan(steps: Sequence[Written], tools: Sequence[Tool], *, loose: bool = False) -> Plan:
    """A plan of written steps: labels become slot ids, references ``${id.path}``, and who refers
    waits.

    Labels that are words stay; numbers become the tool's name. ``loose``: ``$1`` is a reference
    inside a text too, where such a step exists.
    """
    steps = _relabel_duplicates(steps)
    ids = SlotIds(step.label for step in steps if not _NUMBER.match(step.label))
    slot_of = {s.label: ids.next(s.tool) if _NUMBER.match(s.label) else s.label for s in steps}
    tool_of: dict[str, list[str]] = {}
    for step in steps:
        tool_of.setdefault(step.tool, []).append(slot_of[step.label])
    names = _Labels(slot_of, {name: made[0] for name, made in tool_of.items() if len(made) == 1})
    by_name = {tool.name: tool for tool in tools}
    slots = [
        Slot(
            slot_of[step.label],
            step.tool,
            frozenset(names.slot(label) or label for label in step.after),
            step.reason,
            arguments=_open_empty_arguments(
                names.rewritten(step.arguments, loose), by_name.get(step.tool)
            ),
        )
        for step in steps
    ]
    return Plan(tuple(slots)).wired()


@dataclass(frozen=True, slots=True)
class _Labels:
    """Labels of the steps of a plan, and the slots that they became."""

    slots: Mapping[str, str]
    tools: Mapping[str, str]  # of tools that stand in the plan once

    def slot(self, label: str) -> str | None:
        if label in self.slots:
            return self.slots[label]
        number = _NUMBER.match(label)
        if number is not None and number[1] in self.slots:
            return self.slots[number[1]]
        return self.tools.get(label)

    def rewritten(self, value: Any, loose: bool) -> Any:
        """A value in which every reference is written ``${slot.path}``."""
        if isinstance(value, dict):
            return {key: self.rewritten(inner, loose) for key, inner in value.items()}
        if isinstance(value, list):
            return [self.rewritten(inner, loose) for inner in value]
        return self._text(value, loose) if isinstance(value, str) else value

    def _text(self, text: str, loose: bool) -> str:
        whole = _DOLLAR.fullmatch(text.strip())
        if whole is not None and (loose or self.slot(whole[1])):
            return self._written(whole[1], whole[2])
        text = _BRACED.sub(self._braced, text)
        return _DOLLAR.sub(self._bare, text) if loose else text

    def _braced(self, found: re.Match[str]) -> str:
        inner = found[1] or found[2]
        for end in range(len(inner), 0, -1):
            slot, path = self.slot(inner[:end]), _PATH.match(inner, end)
            if slot is not None and path is not None:
                return "${" + slot + path[1] + "}"
        return found[0]

    def _bare(self, found: re.Match[str]) -> str:
        return self._written(found[1], found[2]) if self.slot(found[1]) else found[0]

    def _written(self, label: str, path: str) -> str:
        return "${" + (self.slot(label) or label) + path + "}"


def _of_value(value: Json, tools: Sequence[Tool], truncated: bool) -> Plan | None:
    """A parsed reply as a plan; None where it has no such shape."""
    if isinstance(value, str):
        return _of_arrows(value, tools) if _ARROW.search(value) else None
    if isinstance(value, dict) and isinstance(graph := value.get("DAG", value.get("dag")), str):
        return _of_arrows(graph, tools)
    if isinstance(value, dict):
        key = next((k for k in _LISTS if isinstance(value.get(k), list)), None)
        listed, links = (value[key], _parse_links(value)) if key else (None, [])
    else:
        listed, links = value, []
    if not isinstance(listed, list) or (not listed and not isinstance(value, dict)):
        return None
    steps = [_of_step(step, place) for place, step in enumerate(listed, 1)]
    if any(step is None for step in steps):
        return None
    if any(isinstance(step, dict) and {*_AFTER} & step.keys() for step in listed):
        links = []  # what the steps say themselves counts: edges beside them are a view of it
    made = [step for step in steps if step is not None]
    return assemble_plan(_apply_links(made[:-1] if truncated else made, links), tools)


def _of_step(step: Json, place: int) -> Written | None:
    if isinstance(step, str):
        return Written(step, step)
    if not isinstance(step, dict):
        return None
    tool = _get_first(step, _TOOL)
    if not isinstance(tool, str) or not tool:
        return None
    label, after = _get_first(step, _LABEL), _get_first(step, _AFTER)
    if isinstance(after, list):
        waits = after
    elif after is None:
        waits = []
    else:
        waits = [after]
    reason = step.get("reason")
    return Written(
        str(place if label is None else label),
        tool,
        _read_arguments(_get_first(step, _ARGUMENTS)),
        tuple(str(one) for one in waits if one not in (-1, None, "")),
        reason if isinstance(reason, str) else "",
    )


def _read_arguments(value: Json) -> JsonObject | None:
    """The arguments of a step; a list of names and values is an object as well, anything else is
    filled later.
    """
    pairs = value if isinstance(value, list) else []
    if pairs and all(isinstance(one, dict) and {"name", "value"} <= one.keys() for one in pairs):
        return {str(one["name"]): one["value"] for one in pairs}
    return value if isinstance(value, dict) else None


def _get_first(step: JsonObject, keys: Sequence[str]) -> Json:
    return next((step[key] for key in keys if key in step), None)


def _parse_links(value: JsonObject) -> list[tuple[str, str]]:
    """(from, to) labels of a graph's edges, as pairs or as objects."""
    listed: list[Json] = next((value[k] for k in _LINKS if isinstance(value.get(k), list)), [])
    found: list[tuple[str, str]] = []
    for link in listed:
        if isinstance(link, dict):
            link = [link.get("source", link.get("from")), link.get("target", link.get("to"))]
        if (
            isinstance(link, list)
            and len(link) == 2
            and all(isinstance(end, str | int) for end in link)
        ):
            found.append((str(link[0]), str(link[1])))
    return found


def _apply_links(steps: Sequence[Written], links: Sequence[tuple[str, str]]) -> list[Written]:
    """The steps, those at the end of a link waiting for its beginning. Links name labels, or
    tools.
    """
    if not links:
        return [*steps]
    return [
        replace(step, after=tuple(a for a, b in links if b in (step.label, step.tool) and a != b))
        for step in steps
    ]


def _relabel_duplicates(steps: Sequence[Written]) -> list[Written]:
    """Steps whose numbers can tell them apart: where two share one, their places count instead."""
    labels = [step.label for step in steps]
    numbers = [label for label in labels if _NUMBER.match(label)]
    if len(numbers) == len(labels) != len(set(labels)):
        return [replace(step, label=str(place)) for place, step in enumerate(steps, 1)]
    return [*steps]


def _open_empty_arguments(arguments: JsonObject | None, tool: Tool | None) -> JsonObject | None:
    """No arguments at all for a tool that requires some are arguments that were left open."""
    return None if not arguments and tool is not None and tool.required else arguments


def _of_arrows(text: str, tools: Sequence[Tool]) -> Plan | None:
    """The paper's form, :mod:`planning.arrows`, less strictly: other arrows, and names in the place
    of numbers.
    """
    plain = re.sub(r"[;\n]", ",", _ARROW.sub("->", text.strip()))
    found = read_arrows(plain, tools)
    if isinstance(found, Plan):
        return found
    nodes: dict[str, set[str]] = {}
    known = {tool.name for tool in tools}
    for chain in (part.split("->") for part in plain.split(",") if part.strip()):
        names = [node.strip() for node in chain]
        if not all(name in known or ("->" in plain and _NAME.match(name)) for name in names):
            return None
        for place, name in enumerate(names):
            nodes.setdefault(name, set()).update(names[place - 1 : place])
    return (
        Plan(tuple(Slot(name, name, frozenset(after)) for name, after in nodes.items()))
        if nodes
        else None
    )


def _serialize_step(slot: Slot) -> JsonObject:
    step: JsonObject = {"id": slot.id, "tool": slot.tool, "after": sorted(slot.after)}
    if slot.arguments is not None:
        step["arguments"] = slot.arguments
    return step | ({"reason": slot.reason} if slot.reason else {})


def _find_call_end(text: str, start: int) -> int:
    """Return the end of the call whose bracket opens at ``start``; 0 while it, or a text in it, is
    open.
    """
    depth = 0
    for token in _TOKEN.finditer(text, start):
        if token[0] in ("'", '"'):
            return 0
        depth += (token[0] == "(") - (token[0] == ")")
        if not depth and token[0] == ")":
            return token.end()
    return 0


def _quote_references(text: str) -> str:
    """A call in which bare references (``$1``, ``${1.key}``) are texts, as Python needs them."""

    def one(found: re.Match[str]) -> str:
        return f'"{found["ref"]}"' if found["ref"] else found[0]

    return _BARE.sub(one, text)
