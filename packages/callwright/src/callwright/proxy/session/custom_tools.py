"""Tools of chat completions that take text as it is (``custom``), read as all others: the text is
their argument ``input``. What goes upstream, and to the client, stays as it is.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from callwright.nouns.types import Json, JsonObject, Message
from callwright.tools.lists import chat_messages as chat

TEXT_INPUT: JsonObject = {
    "type": "object",
    "properties": {"input": {"type": "string"}},
    "required": ["input"],
}


def read_tools(raw: Json) -> chat.OfferedTools:
    """The tools of a chat request."""
    return chat.read_tools([_convert_tool(e) for e in raw] if isinstance(raw, list) else raw)


def list_names(tools: Json) -> frozenset[str]:
    """The names of those of a request's tools that take text as it is."""
    entries = tools if isinstance(tools, list) else ()
    customs = (entry.get("custom") for entry in entries if isinstance(entry, dict))
    return frozenset(chat.get_tool_name(one) for one in customs if one) - {""}


def read_messages(body: Mapping[str, Any]) -> tuple[Message, ...]:
    """The conversation of a chat request."""
    return chat.read_messages({"messages": [_convert_message(m) for m in body["messages"]]})


def read_function(entry: Json) -> tuple[JsonObject | None, bool]:
    """The name and the arguments in an entry of ``tool_calls``, and True if these are text as it
    is; None where it holds no call.
    """
    given = entry if isinstance(entry, dict) else {}
    custom, function = given.get("custom"), given.get("function")
    if isinstance(custom, dict):
        return {"name": custom.get("name"), "arguments": custom.get("input", "")}, True
    return (function if isinstance(function, dict) else None), False


def render_call(called: str, name: str, text: str) -> JsonObject:
    """An entry of ``tool_calls`` with text as it is."""
    return {"id": called, "type": "custom", "custom": {"name": name, "input": text}}


def _convert_tool(entry: Json) -> Json:
    custom = entry.get("custom") if isinstance(entry, dict) else None
    if not isinstance(entry, dict) or not isinstance(custom, dict):
        return entry
    return {**entry, "custom": {**custom, "parameters": TEXT_INPUT}}


def _convert_message(message: Json) -> Json:
    entries = message.get("tool_calls") if isinstance(message, dict) else None
    if not isinstance(message, dict) or not isinstance(entries, list):
        return message
    return {**message, "tool_calls": [_convert_entry(entry) for entry in entries]}


def _convert_entry(entry: Json) -> Json:
    function, is_free = read_function(entry)
    if not isinstance(entry, dict) or function is None or not is_free:
        return entry
    return {**entry, "function": {**function, "arguments": {"input": function["arguments"]}}}
