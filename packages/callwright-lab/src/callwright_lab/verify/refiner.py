"""Validator and DocRefiner asked of a model (Tool-MVR, Table 13), and what of their reply may
stand.

A reply that renames the tool, or adds or removes a parameter, is refused as a whole. Of any other
the descriptions are taken where everything particular in them (a number, a code, what stands in
quotes) is in the documentation or was seen; types, ranges, defaults and options only as they were
observed, so those that are not are left out, and said so.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from callwright.jsontext import JsonError, parse_complete
from callwright.jsontext.pointer import follow_references
from callwright.nouns.protocols import ChatRequest
from callwright.nouns.types import Json, JsonObject, Reply, Tool, to_canonical_json
from callwright.schema.normalize import closed_object
from callwright.simulation.simulator import render_documentation
from callwright.tools.overlay import KEYWORDS, OverlayChange
from callwright_lab import prompts
from callwright_lab.verify.observed import Seen, collect_accepted_values
from callwright_lab.verify.places import ITEM, Place, list_places

_CALL = 600  # characters of a call and its result that the model is shown
_DESCRIPTION = 700  # characters of a new description
_TOKENS = 1_200
_DEPTH = 2  # objects inside each other that a constrained reply describes
_PARTICULAR = re.compile(
    r"""["`“‘]([^"`”’]{1,60})["`”’]|(?<!\w)'([^']{1,60})'(?!\w)|(?<![\w.])(-?\d[\w.:/-]*)"""
    r"""|\b([A-Za-z]+[_\d]\w*|[A-Z]{2,}\w*)\b"""
)
_PLAIN = frozenset(
    "API APIS JSON ID IDS URL URLS HTTP ISO UTC YYYY MM DD HH SS IATA ICAO IANA CSV HTML XML UUID".split()
)


@dataclass(frozen=True, slots=True)
class Refined:
    """Documentation of a tool as refined by a model. ``valid`` is None if the model's reply could
    not be read; ``refused`` lists the rejected parts with reasons.
    """

    valid: bool | None
    changes: tuple[OverlayChange, ...] = ()
    refused: tuple[str, ...] = ()


def ask_refinement(
    tool: Tool, seen: Sequence[Seen], *, schema: bool = True
) -> Generator[ChatRequest, Reply, Refined]:
    """Ask whether the tool is valid, and for better documentation. Without I/O."""
    calls = "\n".join(
        f"{to_canonical_json(s.arguments)} -> {_render_reply(s)}"[:_CALL].replace("=====", "===")
        for s in seen
    )
    messages = prompts.render(
        "verify_document", documentation=render_documentation(tool), calls=calls or "none"
    )
    wanted = reply_schema(tool) if schema else None
    reply = yield ChatRequest(messages, "verify.document", schema=wanted, max_tokens=_TOKENS)
    return read_refined(reply.text, tool, seen)


def reply_schema(tool: Tool) -> JsonObject:
    """Return the schema of a constrained reply, which allows exactly the parameters of the tool."""
    text = {"type": "string", "maxLength": _DESCRIPTION}
    properties = _described_parts(tool.properties, text)
    required = (
        {"type": "array", "items": {"enum": list(tool.required)}}
        if tool.required
        else {"const": []}
    )
    function = closed_object(
        name={"const": tool.name},
        description=text,
        parameters=closed_object(properties=properties, required=required),
    )
    refined = closed_object(
        is_api_valid={"const": True},
        refine_api=closed_object(type={"const": "function"}, function=function),
    )
    return {"anyOf": [closed_object(is_api_valid={"type": "boolean"}), refined]}


def _described_parts(properties: JsonObject, text: JsonObject, depth: int = 0) -> JsonObject:
    """A description for each parameter, and for those inside objects that are written out."""
    made: JsonObject = {}
    for key, part in properties.items():
        inner = part.get("properties") if isinstance(part, dict) else None
        parts = (
            {"properties": _described_parts(inner, text, depth + 1)}
            if inner and depth < _DEPTH
            else {}
        )
        made[key] = closed_object(description=text, **parts)
    return closed_object(**made)


def read_refined(text: str, tool: Tool, seen: Sequence[Seen]) -> Refined:
    """Return the accepted and the rejected parts of a reply."""
    try:
        value = parse_complete(text)
    except JsonError:
        value = None
    if not isinstance(value, dict) or not isinstance(value.get("is_api_valid"), bool):
        return Refined(None, refused=("the reply does not say whether the tool is valid",))
    valid, offered = value["is_api_valid"], value.get("refine_api")
    if not valid or not isinstance(offered, dict):
        return Refined(valid)
    function = offered.get("function", offered)
    wrong = (
        _explain_mismatch(function, tool)
        if isinstance(function, dict)
        else "it is no function's documentation"
    )
    if wrong:
        return Refined(valid, refused=(f"the refined documentation is refused: {wrong}",))
    known = _collect_known_text(tool, seen)
    changes: list[OverlayChange] = []
    refused: list[str] = []
    for change, why in _iter_offered_changes(function, tool, seen, known):
        if why:
            refused.append(why)
        else:
            changes.append(change)
    return Refined(valid, tuple(changes), tuple(refused))


def _explain_mismatch(function: JsonObject, tool: Tool) -> str:
    """Return the reason why a function's documentation does not describe this tool; "" if it
    does.
    """
    if function.get("name", tool.name) != tool.name:
        return f"it renames the tool to {function['name']!r}"
    offered = _get_properties(function)
    if added := [key for key in offered if key not in tool.properties]:
        return f"it adds the parameter {added[0]!r}"
    if removed := (
        [key for key in tool.properties if key not in offered] if offered or tool.properties else []
    ):
        return f"it removes the parameter {removed[0]!r}"
    if other := next(
        filter(
            None,
            (
                _find_changed_parameter(part, offered[key], key, tool)
                for key, part in tool.properties.items()
            ),
        ),
        "",
    ):
        return other
    parameters, required = function.get("parameters"), list[Any](tool.required)
    if isinstance(parameters, dict):
        required = parameters.get("required", required)
    if not isinstance(required, list) or sorted(map(str, required)) != sorted(tool.required):
        return "it changes which parameters are required"
    return ""


def _find_changed_parameter(part: Json, offered: Json, name: str, tool: Tool) -> str:
    """Return the first parameter that a reply adds to a nested object or removes from it; "" for
    none.
    """
    if not isinstance(part, dict) or not isinstance(offered, dict):
        return ""
    part = follow_references(part, tool.input_schema)
    if isinstance(offered.get("items"), dict):
        return _find_changed_parameter(part.get("items"), offered["items"], f"{name}[]", tool)
    inner, known = offered.get("properties"), part.get("properties")
    if not isinstance(inner, dict):
        return ""
    known = known if isinstance(known, dict) else {}
    if added := [key for key in inner if key not in known]:
        return f"it adds the parameter '{name}.{added[0]}'"
    if removed := [key for key in known if key not in inner]:
        return f"it removes the parameter '{name}.{removed[0]}'"
    return next(
        filter(
            None,
            (
                _find_changed_parameter(known[key], inner[key], f"{name}.{key}", tool)
                for key in inner
            ),
        ),
        "",
    )


def _get_properties(function: JsonObject) -> JsonObject:
    parameters = function.get("parameters")
    found = parameters.get("properties") if isinstance(parameters, dict) else None
    return found if isinstance(found, dict) else {}


def _iter_offered_changes(
    function: JsonObject, tool: Tool, seen: Sequence[Seen], known: str
) -> Iterator[tuple[OverlayChange, str]]:
    """Every change that a reply makes, with why it does not stand, or ""."""
    because = f"a model's words for {len(seen)} calls"
    about = function.get("description")
    if isinstance(about, str) and about.strip() and about.strip() != tool.description.strip():
        yield _check_description("", about, known, because)
    for place in list_places(tool):
        offered, part = _lookup_place(_get_properties(function), place), place.schema
        if not isinstance(offered, dict):
            continue
        text = offered.get("description")
        if (
            isinstance(text, str)
            and text.strip()
            and text.strip() != str(part.get("description", "")).strip()
        ):
            yield _check_description(place.key, text, known, because, place.name)
        for word in KEYWORDS:
            if word in offered and word != "description" and offered[word] != part.get(word):
                fits = word == "examples" and _has_accepted_examples(offered[word], place, seen)
                why = (
                    ""
                    if fits
                    else f"{word} {to_canonical_json(offered[word])} of {place.name!r} was not observed"
                )
                yield OverlayChange(place.key, word, offered[word], because), why


def _lookup_place(properties: JsonObject, place: Place) -> Json:
    """Return the part of a reply's properties that describes a place; None if there is none."""
    first, *rest = place.steps
    found: Json = properties.get(str(first))
    for step in rest:
        inner = found if isinstance(found, dict) else {}
        known = inner.get("properties")
        if step is ITEM:
            found = inner.get("items")
        elif isinstance(known, dict):
            found = known.get(step)
        else:
            found = None
    return found


def _check_description(
    key: str, text: str, known: str, because: str, name: str = ""
) -> tuple[OverlayChange, str]:
    text = " ".join(text.split())
    change = OverlayChange(key, "description", text, because)
    whose = f"the description of {name!r}" if name else "the description"
    if len(text) > _DESCRIPTION:
        return change, f"{whose} is longer than {_DESCRIPTION} characters"
    made_up = next((p for p in iter_particulars(text) if not _has_whole_token(known, p)), None)
    return (
        change,
        (
            f"{whose} says {made_up!r}, which neither the documentation nor a call shows"
            if made_up
            else ""
        ),
    )


def iter_particulars(text: str) -> Iterator[str]:
    """Yield the checkable details of a description, which can be true or false of this tool:
    numbers, codes, quoted names.
    """
    for match in _PARTICULAR.finditer(text):
        found = next(filter(None, match.groups())).strip(".:/-")
        if found and found.upper() not in _PLAIN and not found.isspace():
            yield found


def _has_whole_token(known: str, particular: str) -> bool:
    """Return True if the detail occurs as a whole word: 0 is not in 2020."""
    return re.search(rf"(?<![\w.]){re.escape(particular.lower())}(?!\w)", known) is not None


def _collect_known_text(tool: Tool, seen: Sequence[Seen]) -> str:
    shown = [to_canonical_json([s.arguments, s.reply, s.said]) for s in seen]
    return "\n".join(
        [render_documentation(tool), to_canonical_json(tool.input_schema), *shown]
    ).lower()


def _has_accepted_examples(examples: Json, place: Place, seen: Sequence[Seen]) -> bool:
    known = set(map(to_canonical_json, collect_accepted_values(place, seen)))
    return (
        isinstance(examples, list)
        and bool(examples)
        and all(to_canonical_json(one) in known for one in examples)
    )


def _render_reply(seen: Seen) -> str:
    return to_canonical_json(seen.reply) if seen.works else f"{seen.proof or seen.outcome}"
