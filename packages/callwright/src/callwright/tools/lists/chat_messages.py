"""OpenAI's chat completions: requests read into our types, calls written as messages and deltas
(API reference of ``/v1/chat/completions``). What is not understood is left out here and stays as it
is in the body. :func:`messages_from_wire` and :func:`calls_to_wire` are for other programs: they
know Anthropic's messages too, and refuse what is none.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from callwright.jsontext import parse_object
from callwright.nouns.errors import CatalogError, ConfigError
from callwright.nouns.types import Json, JsonObject, Message, Role, Tool, ToolCall
from callwright.tools.lists.tools import tool_from_wire

Choice = Literal["auto", "none", "required", "named"]
_ROLES: dict[str, Role] = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "assistant": "assistant",
    "tool": "tool",
    "function": "tool",
}


@dataclass(frozen=True, slots=True)
class OfferedTools:
    """The tools of a request. ``opaque``: some are of kinds we cannot read, so an unknown name may
    well be known.
    """

    tools: tuple[Tool, ...] = ()
    opaque: bool = False


def read_tools(raw: Json) -> OfferedTools:
    """The tools of a chat request; without annotations they count as writing, whatever they say
    they are trusted.
    """
    tools: dict[str, Tool] = {}
    opaque = False
    for entry in raw if isinstance(raw, list) else ():
        try:
            tool = tool_from_wire(entry)
        except CatalogError:
            opaque = True
            continue
        tools.setdefault(tool.name, tool)
    return OfferedTools(tuple(tools.values()), opaque)


def read_tool_choice(body: Mapping[str, Any]) -> tuple[Choice, str]:
    """``tool_choice`` of a request, and the name where it names a tool. What is not understood is
    ``auto``.
    """
    said = body.get("tool_choice")
    if said in ("none", "required"):
        return said, ""
    if said == "any":  # Mistral's word
        return "required", ""
    if isinstance(said, dict):
        if (allowed := _get_allowed(said)) is not None:
            return ("required" if allowed.get("mode") == "required" else "auto"), ""
        if name := get_tool_name(said):
            return "named", name
    return "auto", ""


def read_allowed_tools(body: Mapping[str, Any]) -> list[Json]:
    """The entries of the tools that a request offers and lets be called: all, or those that a
    ``tool_choice`` of type ``allowed_tools`` names. Where it names none of them, all.
    """
    offered, said = body.get("tools"), body.get("tool_choice")
    tools = offered if isinstance(offered, list) else []
    allowed = _get_allowed(said) if isinstance(said, dict) else None
    if allowed is None:
        return tools
    listed = allowed.get("tools")
    names = {get_tool_name(entry) for entry in (listed if isinstance(listed, list) else ())} - {""}
    return [entry for entry in tools if get_tool_name(entry) in names] or tools


def _get_allowed(said: JsonObject) -> JsonObject | None:
    """The part of a ``tool_choice`` that names the allowed tools, in either API; None if it is
    another."""
    if said.get("type") != "allowed_tools":
        return None
    inner = said.get("allowed_tools", said)
    return inner if isinstance(inner, dict) else {}


def get_tool_name(entry: Json) -> str:
    """The name in an entry of a tool list, nested or flat; "" where it has none."""
    given = entry if isinstance(entry, dict) else {}
    inner = given.get("function") or given.get("custom") or given
    return str(inner.get("name") or "") if isinstance(inner, dict) else ""


def read_messages(body: Mapping[str, Any]) -> tuple[Message, ...]:
    """The conversation of a request in our types; messages that cannot be read are left out."""
    found = body.get("messages")
    read = (_read_message(m) for m in found) if isinstance(found, list) else ()
    return tuple(m for m in read if m is not None)


def content_text(content: Json) -> str:
    """Text, or the text parts of a list of parts."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "\n".join(
            str(p.get("text") or "") for p in content if isinstance(p, dict) and "text" in p
        )
    return ""


def _read_message(raw: Any) -> Message | None:
    role = _ROLES.get(str(raw.get("role"))) if isinstance(raw, Mapping) else None
    if role is None:
        return None
    return Message(
        role,
        content_text(raw.get("content")),
        read_calls(raw.get("tool_calls")) if role == "assistant" else (),
        str(raw.get("tool_call_id") or "") if role == "tool" else "",
        str(raw.get("name") or ""),
    )


def read_calls(raw: Json) -> tuple[ToolCall, ...]:
    """``tool_calls`` of a message. Arguments stay the text they are; what a tool takes as it is
    (``custom``) is its argument ``input``.
    """
    made = []
    for entry in raw if isinstance(raw, list) else ():
        given = entry if isinstance(entry, dict) else {}
        function, custom = given.get("function"), given.get("custom")
        if isinstance(custom, dict):
            function = {**custom, "arguments": {"input": custom.get("input", "")}}
        if isinstance(function, dict) and isinstance(function.get("name"), str):
            arguments = function.get("arguments")
            kept = arguments if isinstance(arguments, str | dict) else ""
            made.append(ToolCall(str(given.get("id") or ""), function["name"], kept))
    return tuple(made)


def messages_from_wire(raw: Iterable[Message | Mapping[str, Any]]) -> tuple[Message, ...]:
    """The messages of a conversation in OpenAI's chat form or Anthropic's; a Message stays what it
    is. Raises ConfigError that names the place of anything else.

    Results that Anthropic puts into a message of the user become messages of their own, before it.
    """
    if isinstance(raw, str | Mapping) or not isinstance(raw, Iterable):
        raise ConfigError(
            f"the conversation is {str(raw)[:80]!r}, and must be a list of messages",
            hint="[{'role': 'user', 'content': '…'}]; () where nothing was said before",
        )
    made: list[Message] = []
    for place, entry in enumerate(raw):
        read = entry if isinstance(entry, Message) else _read_message(entry)
        if read is None:
            raise ConfigError(
                f"message {place} is of no known form: {str(entry)[:80]}",
                hint="a message is a Message, or an object with a 'role' and 'content' as OpenAI's"
                " chat completions and Anthropic's messages have it",
            )
        content = entry.get("content") if isinstance(entry, Mapping) else ""
        blocks = [b for b in content if isinstance(b, dict)] if isinstance(content, list) else []
        results = [
            Message("tool", content_text(b.get("content")), (), str(b.get("tool_use_id") or ""))
            for b in blocks
            if b.get("type") == "tool_result"
        ]
        calls = [
            ToolCall(str(b.get("id") or ""), str(b.get("name") or ""), b["input"])
            for b in blocks
            if b.get("type") == "tool_use" and isinstance(b.get("input"), dict)
        ]
        said = replace(read, tool_calls=(*read.tool_calls, *calls)) if calls else read
        made += [*results, said] if said.content or not results else results
    return tuple(made)


def calls_to_wire(
    calls: Iterable[ToolCall], api: Literal["openai", "anthropic"] = "openai"
) -> list[JsonObject]:
    """The calls as a message holds them: the entries of ``tool_calls`` in OpenAI's chat form, or
    the ``tool_use`` blocks of ``content`` in Anthropic's. Raises ConfigError for another API.

    Anthropic takes objects alone: arguments that are none stand as a text under ``_unreadable``.
    """
    written = [
        (
            c,
            c.arguments
            if isinstance(c.arguments, str)
            else json.dumps(c.arguments, ensure_ascii=False),
        )
        for c in calls
    ]
    if api == "openai":
        return [render_call(call, text) for call, text in written]
    if api != "anthropic":
        raise ConfigError(f"calls are not written for {api!r}", hint="APIs: openai, anthropic")
    given = [(call, parse_object(text)) for call, text in written]
    return [
        {
            "type": "tool_use",
            "id": call.id,
            "name": call.tool,
            "input": found if isinstance(found, dict) else {"_unreadable": found},
        }
        for call, found in given
    ]


def render_call(call: ToolCall, arguments: str) -> JsonObject:
    """One entry of ``message.tool_calls``; ``arguments`` is their JSON text."""
    return {
        "id": call.id,
        "type": "function",
        "function": {"name": call.tool, "arguments": arguments},
    }


def call_deltas(call: ToolCall, arguments: str, index: int) -> tuple[JsonObject, JsonObject]:
    """The two ``delta.tool_calls`` entries of one call: id and name first, then the arguments, one
    index for both.
    """
    function = {"name": call.tool, "arguments": ""}
    first: JsonObject = {"index": index, "id": call.id, "type": "function", "function": function}
    return first, {"index": index, "function": {"arguments": arguments}}


def build_chunk(
    like: Mapping[str, Any], delta: JsonObject, finish: str | None = None
) -> JsonObject:
    """A ``chat.completion.chunk`` that continues the stream ``like`` comes from."""
    head = {
        key: like[key]
        for key in ("id", "created", "model", "system_fingerprint", "service_tier")
        if key in like
    }
    choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
    return {"object": "chat.completion.chunk", **head, "choices": [choice]}


def build_completion(like: Mapping[str, Any], message: JsonObject, finish: str) -> JsonObject:
    """A whole ``chat.completion``."""
    head = {
        key: like[key]
        for key in ("id", "created", "model", "system_fingerprint", "usage")
        if key in like
    }
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": finish}
    return {"object": "chat.completion", **head, "choices": [choice]}


def only_choice(document: Mapping[str, Any]) -> JsonObject | None:
    """The choice of a response or chunk that has exactly one; None where there is none or more."""
    found = document.get("choices")
    if (
        isinstance(found, Sequence)
        and not isinstance(found, str)
        and len(found) == 1
        and isinstance(found[0], dict)
    ):
        return found[0] if found[0].get("index") in (0, None) else None
    return None
