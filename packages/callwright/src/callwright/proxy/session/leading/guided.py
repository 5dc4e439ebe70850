"""Guided mode: instead of hoping for the right dialect, ask for an array of calls that a JSON
schema constrains to the offered tools, "no call" allowed. Bodies out, calls in; what small models
add unasked, the refiner takes away.

Where nobody insists on it, the client's own request goes first and this is the second reading of
those that seem to want several calls or whose calls were refused
(:mod:`callwright.proxy.session.decision.decide`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from callwright import prompts
from callwright.agent.leading.forms import CallForm, render_led
from callwright.models.chat import messages_out
from callwright.nouns.types import Json, JsonObject, Tool
from callwright.proxy.session import followup
from callwright.proxy.session.answers.sse import json_bytes
from callwright.proxy.session.context import Context


def build_body(
    context: Context,
    *,
    least: int = 1,
    problem: str = "",
    tools: Sequence[Tool] = (),
    may_decline: bool = True,
) -> JsonObject:
    """The request in guided form: tools told in words, the reply held to :func:`build_schema`, not
    streamed.

    ``problem``: why the answer before this one cannot be used. ``tools``: those that may be called
    now, by default all that do not wait for a value. ``may_decline``: "no call" is an answer.
    """
    made = followup.copy_settings(context)
    made["messages"] = begin_messages(context)
    if problem:
        made["messages"] += messages_out(prompts.render("again", problem=problem))
    wanted = build_schema(context, least=least, offered=tools, may_decline=may_decline)
    return followup.hold_to_schema(made, wanted, context)


def begin_messages(context: Context, shown: Sequence[Tool] = ()) -> list[Json]:
    """The client's messages with our instructions, as all questions for calls begin. ``shown``: the
    tools that the instructions of a led turn tell of, the same in every round, so that the
    upstream's prompt cache holds.
    """
    if shown:
        form = build_form(context, is_led=True)
        told = render_led(shown, form, context.settings.profile).content
    else:
        told = _render_instructions(context)
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
    """The schema of the tools that can be called now, "no call" allowed unless the client
    insists.
    """
    ready = [
        t
        for t in context.toolset.tools
        if t.name == context.named or not (context.named or t.name in context.waiting)
    ]
    tools = offered or ready or context.toolset.tools
    form = build_form(context, is_led=bool(offered))
    is_free, wishes = form.may_decline and may_decline, form.wishes and context.parallel
    return replace(form, least=least, may_decline=is_free, wishes=wishes).build_schema(tools)


def build_form(context: Context, *, is_led: bool) -> CallForm:
    """The form in which the client lets calls be asked for. ``is_led``: a small model that is led
    repeats itself to the end; where it may make one call a time, its wishes tell what is left.
    """
    made = CallForm(
        several=context.parallel,
        wishes="wishes" not in context.settings.without and (context.parallel or is_led),
        may_decline=not context.demanded,
    )
    return replace(made, most=context.settings.profile.layer_calls) if is_led else made


def _render_instructions(context: Context) -> str:
    lines = []
    for tool in context.toolset.tools:
        function = {
            "name": tool.name,
            "description": tool.description,
            "parameters": tool.input_schema,
        }
        lines.append(json_bytes({"type": "function", "function": function}).decode())
    form = build_form(context, is_led=False).description
    return prompts.render("guided", tools="\n".join(lines), form=form)[0].content


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
            joined = f"{content}\n\n{instructions}" if content else instructions
        return [{**first, "content": joined}, *messages[1:]]
    return [{"role": "system", "content": instructions}, *messages]
