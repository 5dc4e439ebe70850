"""Guided mode: instead of hoping for the right dialect, ask for an array of calls that a JSON
schema constrains to the offered tools, "no call" allowed. Bodies out, calls in; what small models
add unasked, the refiner takes away.

Where nobody insists on it, the client's own request goes first and this is the second reading of
those that seem to want several calls or whose calls were refused
(:mod:`callwright.proxy.session.decision.decide`).
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass, replace
from typing import TypeGuard

from callwright import prompts
from callwright.jsontext import JsonError, parse_lenient
from callwright.models.chat import messages_out
from callwright.nouns.types import Json, JsonObject, Tool, ToolCall
from callwright.proxy.session import followup
from callwright.proxy.session.answers.sse import json_bytes
from callwright.proxy.session.context import Context
from callwright.proxy.session.guarding import HeldCall
from callwright.schema.normalize import closed_object, required_first

_SEVERAL = (
    '{"wishes": [each thing that the request asks for, in a few of its words, to its end], '
    '"calls": [{"name": ..., "arguments": {...}}, one for each call that these wishes need]}'
)
_ONE = '{"calls": [{"name": ..., "arguments": {...}}, the one call that is needed next]}'
_CALLS = '{"calls": [{"name": ..., "arguments": {...}}, one for each call that is needed next]}'
_MOST_CALLS = 16
_WISH = 100  # characters


@dataclass(frozen=True, slots=True)
class OpenPart:
    """A part of the request that no call serves yet. ``made``: the calls decided so far, in words;
    ``points``: what is open.
    """

    made: str
    points: str


def build_body(
    context: Context,
    *,
    least: int = 1,
    problem: str = "",
    tools: Sequence[Tool] = (),
    shown: Sequence[Tool] = (),
    open_: OpenPart | None = None,
    may_decline: bool = True,
) -> JsonObject:
    """The request in guided form: tools told in words, the reply held to :func:`build_schema`, not
    streamed.

    ``problem``: why the answer before this one cannot be used. ``tools``: those that may be called
    now, by default all that do not wait for a value; ``shown``: those that the instructions tell
    of, the same in every round, so that the upstream's prompt cache holds. ``open_``: a part of the
    request that the calls decided so far do not serve. ``may_decline``: "no call" is an answer.
    """
    made = followup.copy_settings(context)
    made["messages"] = begin_messages(context, shown)
    if problem:
        made["messages"] += messages_out(prompts.render("again", problem=problem))
    names = ", ".join(tool.name for tool in tools)
    if open_ is not None:
        values = {"query": context.state.asked.query, "names": names}
        asked = prompts.render("open", made=open_.made, open=open_.points, **values)
        made["messages"] += messages_out(asked)
    elif not problem and shown and context.state.results:
        asked = prompts.render("next", query=context.state.asked.query, names=names)
        made["messages"] += messages_out(asked)
    wanted = build_schema(context, least=least, offered=tools, may_decline=may_decline)
    return followup.hold_to_schema(made, wanted, context)


def begin_messages(context: Context, shown: Sequence[Tool] = ()) -> list[Json]:
    """The client's messages with our instructions, as all questions for calls begin."""
    told = _render_led(context, shown) if shown else _render_instructions(context)
    context.instructions = told
    return add_instructions(context.body["messages"], told)


def build_body_in_words(context: Context, problem: str = "") -> JsonObject:
    """The request without tools, for messages that need none; they are told of where the question
    is about them.

    ``problem``: why the calls of the answer before this one were not made.
    """
    from callwright.repair.rules.duplicate_calls import is_about_tools

    made = {
        k: v
        for k, v in context.body.items()
        if k not in ("tools", "tool_choice", "parallel_tool_calls")
    }
    if problem:
        return {
            **made,
            "messages": [
                *made["messages"],
                *messages_out(prompts.render("unsent", problem=problem, language=context.spoken)),
            ],
        }
    tools = context.toolset.tools
    if is_about_tools(context.query, tools):
        names = "\n".join(f"- {t.description or t.name} ({t.name})" for t in tools)
        made["messages"] = add_instructions(
            context.body["messages"], prompts.render("words", tools=names)[0].content
        )
    return made


def build_schema(
    context: Context, *, least: int = 1, offered: Sequence[Tool] = (), may_decline: bool = True
) -> JsonObject:
    """``{"wishes": [...], "calls": [...]}`` of the tools that can be called now, or ``{"no_call":
    why}`` unless the client insists; without wishes where only one call is allowed. Wishes first: a
    small model that goes straight to the arguments stops after the first calls.
    """
    tools = offered or [
        t
        for t in context.toolset.tools
        if t.name == context.named or not (context.named or t.name in context.waiting)
    ]
    one: Json = {
        "anyOf": [
            closed_object(name={"const": t.name}, arguments=_bound_lists(required_first(t)))
            for t in tools
        ]
    }
    if context.parallel:
        # a small model that is led repeats itself to the end
        most = context.settings.profile.layer_calls if offered else _MOST_CALLS
        length = {"type": "array", "minItems": 1, "maxItems": most}
        calls = {**length, "minItems": min(least, most), "items": one}
        wishes: JsonObject = {"type": "string", "maxLength": _WISH}
        told = {"wishes": {**length, "items": wishes}} if _asks_for_wishes(context) else {}
        some = closed_object(**told, calls=calls)
    else:
        some = closed_object(calls={"type": "array", "minItems": 1, "maxItems": 1, "items": one})
    if context.demanded or not may_decline:
        return some
    return {"anyOf": [some, closed_object(no_call={"type": "string", "maxLength": 120})]}


def hold_to_meant(tools: Sequence[Tool], held: Sequence[HeldCall]) -> tuple[Tool, ...]:
    """The tools of calls that were held because the user's words lead to other values; where one
    argument of a tool was wrong, it takes these values only.
    """
    wrong = {one.call.tool: one for one in held if one.meant}
    return tuple(_narrow(tool, wrong[tool.name]) for tool in tools if tool.name in wrong)


def _narrow(tool: Tool, held: HeldCall) -> Tool:
    key = held.missing[0] if len(held.missing) == 1 else ""
    part = tool.properties.get(key)
    if not isinstance(part, dict):
        return tool
    is_number = part.get("type") in ("integer", "number")
    values = [int(text) if is_number else text for text in held.meant]
    properties = {**tool.properties, key: {**part, "enum": values}}
    return replace(tool, input_schema={**tool.input_schema, "properties": properties})


def _asks_for_wishes(context: Context) -> bool:
    return "wishes" not in context.settings.without


def _bound_lists(schema: JsonObject) -> JsonObject:
    """Lists of options at most as long as there are options: a small model repeats them without
    end.
    """
    made = dict(schema["properties"])
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


def read_guided_calls(text: str, names: Container[str]) -> tuple[ToolCall, ...] | None:
    """The calls of these tools that a guided reply decided on, () for none; None where it cannot be
    read. A call that was cut off is left out.
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
        if _is_call(entry, names)
    ]
    return None if found.truncated and not made else tuple(made)


def _is_call(entry: Json, names: Container[str]) -> TypeGuard[JsonObject]:
    """Return True if an entry calls one of these tools with an object of arguments."""
    return (
        isinstance(entry, dict)
        and entry.get("name") in names
        and isinstance(entry.get("arguments"), dict)
    )


def _render_instructions(context: Context) -> str:
    lines = []
    for tool in context.toolset.tools:
        function = {
            "name": tool.name,
            "description": tool.description,
            "parameters": tool.input_schema,
        }
        lines.append(json_bytes({"type": "function", "function": function}).decode())
    return prompts.render("guided", tools="\n".join(lines), form=_choose_form(context))[0].content


def _render_led(context: Context, shown: Sequence[Tool]) -> str:
    """The instructions of a turn that is led: signatures, for a small model reads slowly."""
    from callwright.agent.render import render_signatures

    tools = render_signatures(shown, context.settings.profile)
    form = _choose_form(context)
    return prompts.render("led", tools=tools, form=form)[0].content


def _choose_form(context: Context) -> str:
    if not context.parallel:
        return _ONE
    return _SEVERAL if _asks_for_wishes(context) else _CALLS


def add_instructions(messages: Json, instructions: str) -> list[Json]:
    """The messages with instructions at the end of the system message: templates take one, and only
    at the beginning.
    """
    if not instructions:
        return [*messages]
    first = messages[0] if messages else None
    if isinstance(first, dict) and first.get("role") in ("system", "developer"):
        content = first.get("content")
        if isinstance(content, list):
            joined: Json = [*content, {"type": "text", "text": "\n\n" + instructions}]
        else:
            joined = f"{content}\n\n{instructions}"
        return [{**first, "content": joined}, *messages[1:]]
    return [{"role": "system", "content": instructions}, *messages]
