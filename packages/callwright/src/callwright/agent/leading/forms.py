"""The form in which a small model is asked for calls: an array that a JSON schema constrains to the
offered tools, "no call" allowed.

The wishes of the request come first: a small model that goes straight to the arguments stops after
the first calls.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass, replace
from typing import TypeGuard

from callwright import prompts
from callwright.agent.render import render_signatures
from callwright.agent.safety.held_call import HeldCall
from callwright.jsontext import JsonError, parse_lenient
from callwright.nouns.model_profile import ModelProfile
from callwright.nouns.types import Json, JsonObject, Message, Tool, ToolCall
from callwright.schema.normalize import closed_object, required_first

_SEVERAL = (
    '{"wishes": [each thing that the request asks for, in a few of its words, to its end], '
    '"calls": [{"name": ..., "arguments": {...}}, one for each call that these wishes need]}'
)
_FIRST = (
    '{"wishes": [each thing that the request asks for, in a few of its words, to its end], '
    '"calls": [{"name": ..., "arguments": {...}}, the one call that is needed next]}'
)
_ONE = '{"calls": [{"name": ..., "arguments": {...}}, the one call that is needed next]}'
_CALLS = '{"calls": [{"name": ..., "arguments": {...}}, one for each call that is needed next]}'
_WISH = 100  # characters
_WHY = 120  # characters of the reason for no call


@dataclass(frozen=True, slots=True)
class CallForm:
    """The form of a reply. ``several``: it may hold more than one call, ``most`` at most, ``least``
    at least. ``wishes``: it states before them what the request asks for. ``may_decline``: "no call"
    is a reply.
    """

    several: bool = True
    wishes: bool = True
    least: int = 1
    most: int = 16
    may_decline: bool = True

    @property
    def description(self) -> str:
        """The form as the instructions tell it."""
        if self.wishes:
            return _SEVERAL if self.several else _FIRST
        return _CALLS if self.several else _ONE

    def build_schema(self, tools: Sequence[Tool]) -> JsonObject:
        """``{"wishes": [...], "calls": [...]}`` of these tools, or ``{"no_call": why}``."""
        calls: list[Json] = [
            closed_object(name={"const": t.name}, arguments=_bound_lists(required_first(t)))
            for t in tools
        ]
        most = self.most if self.several else 1
        length = {"type": "array", "minItems": 1, "maxItems": most}
        wish: JsonObject = {"type": "string", "maxLength": _WISH}
        stated = {**length, "maxItems": self.most, "items": wish}
        some = closed_object(
            **({"wishes": stated} if self.wishes else {}),
            calls={**length, "minItems": min(self.least, most), "items": {"anyOf": calls}},
        )
        if not self.may_decline:
            return some
        return {"anyOf": [some, closed_object(no_call={"type": "string", "maxLength": _WHY})]}


def _bound_lists(schema: JsonObject) -> JsonObject:
    """Lists of options at most as long as there are options: a small model repeats them without
    end. A tool that has no parameters takes none.
    """
    made = dict(schema["properties"])
    if not made:
        schema = {"additionalProperties": False, **schema}
    for key, part in made.items():
        items = part.get("items") if isinstance(part, dict) and "maxItems" not in part else None
        options = items.get("enum") if isinstance(items, dict) else None
        if isinstance(options, list) and options:
            least = part.get("minItems")
            made[key] = {
                **part,
                "maxItems": max(len(options), least if isinstance(least, int) else 0),
            }
    return {**schema, "properties": made}


def render_led(tools: Sequence[Tool], form: CallForm, profile: ModelProfile) -> Message:
    """The instructions of a turn that is led: signatures, for a small model reads slowly."""
    told = render_signatures(tools, profile)
    return prompts.render("led", tools=told, form=form.description)[0]


def read_guided_calls(
    text: str, names: Container[str] | None = None
) -> tuple[ToolCall, ...] | None:
    """The calls that a reply in this form decided on, () for none; None where it cannot be read. A
    call that was cut off is left out, as is one of a tool that is none of ``names``.
    """
    try:
        found = parse_lenient(text)
    except JsonError:
        return None
    if not isinstance(found.value, dict) or not {"calls", "no_call"} & found.value.keys():
        return None
    entries = found.value.get("calls")
    entries = entries if isinstance(entries, list) else []
    made = [
        ToolCall("", entry["name"], entry["arguments"])
        for entry in (entries[:-1] if found.truncated else entries)
        if _is_call(entry) and (names is None or entry["name"] in names)
    ]
    return None if found.truncated and not made else tuple(made)


def _is_call(entry: Json) -> TypeGuard[JsonObject]:
    """Return True if an entry calls a tool with an object of arguments."""
    return (
        isinstance(entry, dict)
        and isinstance(entry.get("name"), str)
        and isinstance(entry.get("arguments"), dict)
    )


def hold_to_meant(tools: Sequence[Tool], held: Sequence[HeldCall]) -> tuple[Tool, ...]:
    """The tools of calls that were held because the user's words lead to other values; where one
    argument of a tool was wrong, it takes these values only.
    """
    wrong = {one.call.tool: one for one in held if one.meant}
    return tuple(_narrow_tool(tool, wrong[tool.name]) for tool in tools if tool.name in wrong)


def _narrow_tool(tool: Tool, held: HeldCall) -> Tool:
    key = held.missing[0] if len(held.missing) == 1 else ""
    part = tool.properties.get(key)
    if not isinstance(part, dict):
        return tool
    is_number = part.get("type") in ("integer", "number")
    values = [int(text) if is_number else text for text in held.meant]
    properties = {**tool.properties, key: {**part, "enum": values}}
    return replace(tool, input_schema={**tool.input_schema, "properties": properties})
