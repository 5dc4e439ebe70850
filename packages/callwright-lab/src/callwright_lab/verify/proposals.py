"""Diverse example calls of one tool (Tool-MVR, B.1, Table 12): from what its schema documents, what
is known to have worked and what other tools returned; else from what anybody would try; or written
by a model.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date

from callwright.jsontext import JsonError, parse_complete
from callwright.nouns.protocols import ChatRequest
from callwright.nouns.types import (
    CheckedCall,
    Json,
    JsonObject,
    Reply,
    Tool,
    ToolCall,
    required_keys,
    to_canonical_json,
)
from callwright.parsing import parse_calls
from callwright.repair.gate import Gate
from callwright.schema.normalize import closed_object
from callwright.simulation.simulator import render_documentation
from callwright_lab import prompts
from callwright_lab.verify.samples import extract_examples, sample_values

MOST = 3  # calls, as in Table 12
_DEPTH = 3  # objects inside objects
_TOKENS = 512

Given = Mapping[str, Sequence[Json]]  # parameter -> values that other tools returned for it


@dataclass(frozen=True, slots=True)
class Proposals:
    """Arguments of calls that the gate lets through, best first; or, without any, the required
    inputs that nothing gives. ``guessed`` are parameters whose values nobody documented or
    returned.
    """

    calls: tuple[JsonObject, ...] = ()
    lacking: tuple[str, ...] = ()
    guessed: tuple[str, ...] = ()


def propose_by_rule(
    tool: Tool,
    today: date,
    *,
    given: Given | None = None,
    known: Sequence[JsonObject] = (),
    most: int = MOST,
    guess: bool = True,
) -> Proposals:
    """Calls without a model. ``known`` are arguments that worked before; without ``guess`` only
    what is documented, known or ``given`` is used.

    The first call has the required parameters only, the second all that are known, the others other
    values.
    """
    options: dict[str, list[Json]] = {}
    guessed: list[str] = []
    for key, part in tool.properties.items():
        part = part if isinstance(part, dict) else {}
        found = [*(given or {}).get(key, ()), *documented_values(key, part, today, guess)]
        if guess and len(found) < 2 and "const" not in part and "enum" not in part:
            guessed += [key] if not found else []
            found = [*found, *sample_values(key, _pick_alternative(part), today, plain=not found)]
        if found:
            options[key] = list({to_canonical_json(v): v for v in found}.values())
    lacking = tuple(key for key in tool.required if key not in options)
    wished = [*known, *([] if lacking else _combine_arguments(tool, options, most))]
    calls = select_valid_calls(tool, wished, most)
    refused = tuple(
        key for key in guessed if key in tool.required
    )  # a pattern, say, that no guess keeps to
    return Proposals(calls, () if calls else lacking or refused, tuple(guessed))


def documented_values(
    key: str, part: JsonObject, today: date, guess: bool = True, depth: int = 0
) -> list[Json]:
    """Return the values that a parameter's own schema allows, examples first."""
    part = _pick_alternative(part)
    if "const" in part:
        return [part["const"]]
    listed, options = part.get("examples"), part.get("enum")
    found: list[Json] = list(listed) if isinstance(listed, list) else []
    found += [part["default"]] if part.get("default") is not None else []
    found += options if isinstance(options, list) else []
    about = str(part.get("description") or "")
    if not found and part.get("type") in (None, "string"):
        found += extract_examples(about)
    if not found and part.get("type") == "boolean":
        found += [False, True]
    if not found and depth < _DEPTH:
        found += _build_structured_values(key, part, today, guess, depth)
    return found


def _build_structured_values(
    key: str, part: JsonObject, today: date, guess: bool, depth: int
) -> list[Json]:
    """A list of one or two members, an object of its required members."""
    if part.get("type") == "array":
        items = part.get("items")
        inner = items if isinstance(items, dict) else {}
        members = documented_values(key, inner, today, guess, depth + 1) or (
            sample_values(key, _pick_alternative(inner), today) if guess else []
        )
        return [members[:1], members[:2]] if members else []
    if not isinstance(part.get("properties"), dict):
        return []
    required = required_keys(part)
    parts: dict[str, list[Json]] = {}
    for name, schema in part["properties"].items():
        found = _collect_values(
            name, schema if isinstance(schema, dict) else {}, today, guess, depth + 1
        )
        if found:
            parts[name] = found
        elif name in required:
            return []
    return _combine_members(parts, required)


def _combine_members(members: Mapping[str, Sequence[Json]], required: Sequence[str]) -> list[Json]:
    """Return sample objects: the required members alone, then all members with their first values
    and with others.
    """
    made: list[Json] = [{name: members[name][0] for name in required if name in members}]
    made += [
        {name: found[turn % len(found)] for name, found in members.items()} for turn in range(MOST)
    ]
    return list({to_canonical_json(one): one for one in made}.values())


def _collect_values(key: str, part: JsonObject, today: date, guess: bool, depth: int) -> list[Json]:
    found = documented_values(key, part, today, guess, depth)
    return found or (sample_values(key, _pick_alternative(part), today) if guess else [])


def _pick_alternative(part: JsonObject) -> JsonObject:
    """The first alternative that is not null, of a parameter that may be left null."""
    for word in ("anyOf", "oneOf"):
        for one in part.get(word) or () if isinstance(part.get(word), list) else ():
            if isinstance(one, dict) and one.get("type") != "null":
                return {**{k: v for k, v in part.items() if k != word and v is not None}, **one}
    return part


def _combine_arguments(
    tool: Tool, values: Mapping[str, Sequence[Json]], most: int
) -> list[JsonObject]:
    made = []
    for turn in range(most + len(values)):
        call: JsonObject = {}
        used: dict[str, int] = {}
        for key in tool.properties:
            required = key in tool.required
            if key not in values or (
                not required and (turn == 0 or (turn > 1 and (turn + len(call)) % 2))
            ):
                continue
            kind = to_canonical_json(
                values[key]
            )  # two of one kind are given different values: from here to there
            place = turn + used.get(kind, 0)
            used[kind] = used.get(kind, 0) + 1
            call[key] = values[key][place % len(values[key])]
        made.append(call)
    return made


def select_valid_calls(
    tool: Tool, calls: Sequence[JsonObject], most: int = MOST
) -> tuple[JsonObject, ...]:
    """Those calls that the gate lets through, as it lets them through, no two alike."""
    gate = Gate([tool])
    made: dict[str, JsonObject] = {}
    for arguments in calls:
        checked = gate.check(ToolCall("", tool.name, arguments))
        if isinstance(checked, CheckedCall):
            made.setdefault(to_canonical_json(checked.arguments), checked.arguments)
    return tuple(made.values())[:most]


def ask_example_calls(
    tool: Tool, *, seen: str = "", most: int = MOST, schema: bool = True
) -> Generator[ChatRequest, Reply, tuple[JsonObject, ...]]:
    """Ask a model for example calls (Table 12). Without I/O. ``seen``: what other tools returned,
    as text.

    Calls that the gate refuses are left out; no call at all where the reply holds none.
    """
    form = "json" if schema else "python"
    messages = prompts.render(
        "verify_examples", most=str(most), form=_FORMS[form].replace("NAME", tool.name),
        documentation=render_documentation(tool), seen=seen.replace("=====", "===") or "nothing yet",
    )  # fmt: skip
    wanted = closed_object(
        calls={"type": "array", "items": tool.input_schema, "minItems": 1, "maxItems": most}
    )
    reply = yield ChatRequest(
        messages, "verify.examples", schema=wanted if schema else None, max_tokens=_TOKENS
    )
    return select_valid_calls(tool, read_examples(reply.text, tool), most)


_FORMS = {
    "json": '{"calls": [{the arguments of the first call}, {the arguments of the second}]}',
    "python": (
        'Python, each result printed:\nprint(NAME(argument="value"))\nprint(NAME(argument="another'
        ' value"))'
    ),
}


def read_examples(text: str, tool: Tool) -> list[JsonObject]:
    """The arguments of a reply's example calls: a JSON list of them, or calls written in any known
    form.
    """
    try:
        value = parse_complete(text)
    except JsonError:
        value = None
    listed = value.get("calls") if isinstance(value, dict) else value
    if isinstance(listed, list) and any(isinstance(one, dict) for one in listed):
        found = [one.get("arguments", one) for one in listed if isinstance(one, dict)]
        return [one for one in found if isinstance(one, dict)]
    calls = [c for line in _strip_print_calls(text) for c in parse_calls(line, [tool]).calls]
    return [c.arguments for c in calls if c.tool == tool.name and isinstance(c.arguments, dict)]


def _strip_print_calls(text: str) -> list[str]:
    """The lines of a program with what they print: f(x=1) of ``print(f(x=1))``."""
    lines = [line.strip() for line in text.splitlines()]
    return [
        line[6:-1] if line.startswith("print(") and line.endswith(")") else line
        for line in lines
        if line
    ]
