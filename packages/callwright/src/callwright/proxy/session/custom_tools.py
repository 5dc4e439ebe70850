"""Tools of chat completions that take text as it is (``custom``), read as all others: the text is
their argument ``input``. What goes upstream, and to the client, stays as it is.
"""

from __future__ import annotations

from callwright.nouns.types import Json, JsonObject, ToolCall
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


def read_function(entry: Json) -> tuple[JsonObject | None, bool]:
    """The name and the arguments in an entry of ``tool_calls``, and True if these are text as it
    is; None where it holds no call.
    """
    given = entry if isinstance(entry, dict) else {}
    custom, function = given.get("custom"), given.get("function")
    if isinstance(custom, dict):
        return {"name": custom.get("name"), "arguments": custom.get("input", "")}, True
    return (function if isinstance(function, dict) else None), False


def render_call(call: ToolCall, arguments: str, *, is_free: bool) -> JsonObject:
    """An entry of ``tool_calls``, with ``arguments`` as the JSON text of a call's arguments;
    ``is_free``: its tool takes text as it is.
    """
    given = call.arguments
    if not is_free or not isinstance(given, dict):
        return chat.render_call(call, arguments)
    custom = {"name": call.tool, "input": str(given.get("input", ""))}
    return {"id": call.id, "type": "custom", "custom": custom}


def _convert_tool(entry: Json) -> Json:
    custom = entry.get("custom") if isinstance(entry, dict) else None
    if not isinstance(entry, dict) or not isinstance(custom, dict):
        return entry
    return {**entry, "custom": {**custom, "parameters": TEXT_INPUT}}
