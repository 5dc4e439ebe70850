"""JSON values that mean tool calls, in the shapes that models and servers use."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field

from callwright.jsontext import JsonError, parse
from callwright.nouns.types import Json, JsonObject, to_canonical_json
from callwright.parsing.pieces import Meant
from callwright.parsing.tool_vocabulary import named_tool

NAME_KEYS = (
    "name",
    "tool",
    "tool_name",
    "function",
    "action",
    "api",
    "api_name",
    "function_name",
    "recipient_name",
)
ARGUMENT_KEYS = (
    "arguments",
    "parameters",
    "args",
    "params",
    "input",
    "action_input",
    "tool_input",
    "kwargs",
)
LISTS = ("tool_calls", "calls", "actions", "tools", "tool_uses")
LABELS = ("label", "responses")  # names for what the call returns
REASONS = ("reason", "no_call", "skip", "why")


@dataclass(slots=True)
class Found:
    """The calls of one JSON value; ``reason`` where it says why there are none."""

    calls: list[Meant] = field(default_factory=list)
    reason: str = ""


def read_object(value: Json, tools: Collection[str] = ()) -> Found | None:
    """The calls that a JSON value means; None where it means something else.

    ``{"name", "arguments"}`` and its many spellings, OpenAI's ``{"function": {…}}``,
    ``{"tool_calls": […]}`` or ``{"calls": […]}`` (an empty one is a decision to call nothing),
    lists of calls, and ``{"<known tool>": {…}}``. Arguments that are the JSON text of an object are
    read, and that is a problem named, except in OpenAI's own shape.
    """
    if isinstance(value, list):
        return _read_call_list(value, tools)
    if not isinstance(value, dict):
        return None
    for key in LISTS:
        if isinstance(value.get(key), list):
            found = _read_call_list(value[key], tools) if value[key] else Found()
            if found is not None and not found.calls:
                found.reason = _get_reason(value)
            return found
    call = _read_call(value, tools)
    if call is not None:
        return Found([call])
    said = value.get("no_call")
    return Found(reason=str(said)) if isinstance(said, str) and len(value) == 1 else None


def _read_call_list(values: list[Json], tools: Collection[str]) -> Found | None:
    """A list in which everything is a call."""
    found = Found()
    for value in values:
        call = _read_call(value, tools) if isinstance(value, dict) else None
        if call is None:
            return None
        found.calls.append(call)
    return found if values else None


def _read_call(value: JsonObject, tools: Collection[str]) -> Meant | None:
    inner = value.get("function")
    if isinstance(inner, dict) and isinstance(inner.get("name"), str):
        call = _read_call(inner, tools)
        if call is not None and isinstance(call.arguments, dict):
            call.problems.clear()
        return call
    name = next((value[k] for k in NAME_KEYS if isinstance(value.get(k), str)), None)
    if name is not None:
        name = named_tool(name, tools)
        slot = read_label(value)
        for key in ARGUMENT_KEYS:
            if key in value:
                return build_call(name, value[key], slot)
        return Meant(name, {}, slot=slot) if name in tools and len(value) == 1 else None
    if len(value) == 1:
        ((key, inner),) = value.items()
        if key in tools and isinstance(inner, dict):
            return Meant(key, inner)
    return None


def read_label(value: JsonObject) -> str:
    """Return the name that a call gives its result; several names, as a list, with spaces between."""
    given = next((value[k] for k in LABELS if value.get(k)), "")
    if isinstance(given, list) and all(isinstance(one, str) for one in given):
        return " ".join(given)
    return given if isinstance(given, str) else ""


def build_call(name: str, value: Json, slot: str = "") -> Meant:
    """A call with these arguments: objects as they are, null as none, the JSON text of an object as
    that object, any other value as its JSON text for the gate to refuse.
    """
    if isinstance(value, dict):
        return Meant(name, value, slot=slot)
    if value is None:
        return Meant(name, {}, slot=slot)
    if not isinstance(value, str):
        return Meant(name, to_canonical_json(value), ["arguments are not an object"], slot=slot)
    try:
        inner = parse(value)
    except JsonError:
        inner = None
    if isinstance(inner, dict):
        return Meant(name, inner, ["arguments were encoded twice"], slot=slot)
    if not value.strip():
        return Meant(name, {}, ["arguments were empty text"], slot=slot)
    return Meant(name, value, ["arguments are not an object"], slot=slot)


def _get_reason(value: JsonObject) -> str:
    return next((value[k] for k in REASONS if isinstance(value.get(k), str)), "")
