"""JSON values that mean tool calls, in the shapes that models and servers use."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field

from callwright.types import Json, JsonObject, canonical

_NAME_KEYS = ("name", "tool", "tool_name", "function", "action", "api", "recipient_name")
_ARGUMENT_KEYS = ("arguments", "parameters", "args", "params", "input", "action_input", "tool_input", "kwargs")
_LISTS = ("tool_calls", "calls", "actions", "tools")
_REASONS = ("reason", "no_call", "skip", "why")


@dataclass(slots=True)
class Found:
    """(tool, arguments) pairs of one JSON value; ``reason`` where it says why there are none."""

    calls: list[tuple[str, JsonObject | str]] = field(default_factory=list)
    reason: str = ""


def read_object(value: Json, tools: Collection[str] = ()) -> Found | None:
    """The calls that a JSON value means; None where it means something else.

    ``{"name", "arguments"}`` and its many spellings, OpenAI's ``{"function": {…}}``, ``{"tool_calls": […]}`` or
    ``{"calls": […]}`` (an empty one is a decision to call nothing), lists of calls, and ``{"<known tool>": {…}}``.
    """
    if isinstance(value, list):
        return _listed(value, tools)
    if not isinstance(value, dict):
        return None
    for key in _LISTS:
        if isinstance(value.get(key), list):
            found = _listed(value[key], tools) if value[key] else Found()
            if found is not None and not found.calls:
                found.reason = _reason(value)
            return found
    pair = _pair(value, tools)
    if pair is not None:
        return Found([pair])
    said = value.get("no_call")
    return Found(reason=str(said)) if isinstance(said, str) and len(value) == 1 else None


def _listed(values: list[Json], tools: Collection[str]) -> Found | None:
    """A list in which everything is a call."""
    found = Found()
    for value in values:
        pair = _pair(value, tools) if isinstance(value, dict) else None
        if pair is None:
            return None
        found.calls.append(pair)
    return found if values else None


def _pair(value: JsonObject, tools: Collection[str]) -> tuple[str, JsonObject | str] | None:
    inner = value.get("function")
    if isinstance(inner, dict) and isinstance(inner.get("name"), str):
        return _pair(inner, tools)
    name = next((value[k] for k in _NAME_KEYS if isinstance(value.get(k), str)), None)
    if name is not None:
        name = name.removeprefix("functions.").strip()
        for key in _ARGUMENT_KEYS:
            if key in value:
                return (name, _arguments(value[key]))
        return (name, {}) if name in tools and len(value) == 1 else None
    if len(value) == 1:
        ((key, inner),) = value.items()
        if key in tools and isinstance(inner, dict):
            return (key, inner)
    return None


def _arguments(value: Json) -> JsonObject | str:
    """Objects and text as they are; null as no arguments; anything else as its JSON text, for the gate to refuse."""
    if isinstance(value, dict | str):
        return value
    return {} if value is None else canonical(value)


def _reason(value: JsonObject) -> str:
    return next((value[k] for k in _REASONS if isinstance(value.get(k), str)), "")
