"""The older form of chat completions in front (``functions``, ``function_call``, messages of the
role ``function``), tools and their calls behind.

It has no ids, and one call in an answer. So an answer of several calls is cut to the first, as
with ``parallel_tool_calls: false``; the model makes the others in its next turns.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from callwright.nouns.types import Json, JsonObject
from callwright.proxy.apis.responses_out import render_error
from callwright.proxy.apis.translated import BadRequest
from callwright.proxy.session.answers.choices import list_choices
from callwright.proxy.session.answers.native import arguments_text
from callwright.proxy.session.answers.sse import (
    COMMENT,
    EventSplitter,
    encode_event,
    extract_data,
    json_bytes,
    json_object,
)
from callwright.proxy.session.custom_tools import read_function
from callwright.tools.lists import chat_messages as chat

_OLDER = ("functions", "function_call")


def is_older(body: Mapping[str, Any]) -> bool:
    """Return True if a chat request offers functions and no tools: its answer has their form."""
    return bool(body.get("functions")) and not body.get("tools")


def convert_to_tools(body: JsonObject) -> JsonObject:
    """The request with tools, their calls and results in the place of functions; itself where it
    has none, or offers nothing. Of a function and a tool with one name the tool counts, and
    ``tool_choice`` before ``function_call``. Raises BadRequest.
    """
    functions, tools = body.get("functions") or [], body.get("tools") or []
    if not functions and not tools:
        return body
    made = {k: v for k, v in body.items() if k not in _OLDER or v is None}
    if functions:
        if not isinstance(functions, list) or not isinstance(tools, list):
            raise BadRequest("functions, tools: a list is required")
        named = {chat.get_tool_name(tool) for tool in tools}
        new = [one for one in functions if chat.get_tool_name(one) not in named]
        made["tools"] = [*tools, *({"type": "function", "function": one} for one in new)]
    choice = body.get("function_call")
    if choice and not made.get("tool_choice"):
        is_name = isinstance(choice, dict)
        made["tool_choice"] = {"type": "function", "function": choice} if is_name else choice
    if isinstance(body.get("messages"), list):
        made["messages"] = _convert_messages(body["messages"])
    return body if made == body else made


def _convert_messages(raw: list[Json]) -> list[Json]:
    """Calls are numbered; a result belongs to the last call of its function without one."""
    made: list[Json] = []
    waiting: dict[str, list[str]] = {}  # a function -> the calls of it without a result
    for number, message in enumerate(raw):
        given = message if isinstance(message, dict) else {}
        function = given.get("function_call")
        if given.get("role") == "assistant" and isinstance(function, dict):
            kept = {key: value for key, value in given.items() if key not in _OLDER}
            if not kept.get("tool_calls"):
                called = f"call{number:05d}"
                waiting.setdefault(str(function.get("name")), []).append(called)
                kept["tool_calls"] = [{"id": called, "type": "function", "function": function}]
            made.append(kept)
        elif given.get("role") == "function":
            same = waiting.get(str(given.get("name")))
            called = same.pop() if same else f"call{number:05d}"
            made.append({**given, "role": "tool", "tool_call_id": called})
        else:
            made.append(message)
    return made


class Functions:
    """The front of chat completions with functions."""

    def request(self, body: JsonObject) -> JsonObject:
        """The chat request that a request with functions means. Raises BadRequest."""
        return convert_to_tools(body)

    def writer(self, body: JsonObject) -> OlderAnswer:  # noqa: ARG002
        return OlderAnswer()

    def error(self, status: int, message: str) -> bytes:
        return render_error(status, message)


class OlderAnswer:
    """A Writer: a chat completion, whole or streamed, with the first call of each choice in the
    older form. All else stays as it comes.
    """

    keep_alive = COMMENT

    def __init__(self) -> None:
        self._is_streamed = False
        self._splitter = EventSplitter()
        self._body: list[bytes] = []
        self._first: dict[str, Json] = {}  # a choice -> the index of its first call

    def head(self, status: int, headers: dict[str, str]) -> dict[str, str]:
        is_stream = headers.get("content-type", "").startswith("text/event-stream")
        self._is_streamed = status == 200 and is_stream
        return headers

    def feed(self, data: bytes) -> bytes:
        if not self._is_streamed:
            self._body.append(data)
            return b""
        return b"".join(map(self._convert_event, self._splitter.feed(data)))

    def end(self) -> bytes:
        body = b"".join([*self._body, self._splitter.close()])
        document = None if self._is_streamed else json_object(body)
        if document is None or not self._convert(document, "message"):
            return body
        return json_bytes(document)

    def _convert_event(self, event: bytes) -> bytes:
        document = json_object(extract_data(event)) if b"tool_calls" in event else None
        if document is None or not self._convert(document, "delta"):
            return event
        return encode_event(document)

    def _convert(self, document: JsonObject, key: str) -> bool:
        """Write the calls of a document in the older form. Return False if it has none."""
        changed = [self._convert_choice(one, one.get(key)) for one in list_choices(document)]
        return any(changed)

    def _convert_choice(self, choice: JsonObject, part: Json) -> bool:
        is_ended = choice.get("finish_reason") == "tool_calls"
        if is_ended:
            choice["finish_reason"] = "function_call"
        if not isinstance(part, dict) or "tool_calls" not in part:
            return is_ended
        made: JsonObject = {}
        entries = part.pop("tool_calls")
        for place, entry in enumerate(entries if isinstance(entries, list) else ()):
            function = read_function(entry)[0]
            index = entry.get("index", place) if function else -1
            if function and index == self._first.setdefault(str(choice.get("index")), index):
                joined = made.get("arguments", "") + arguments_text(function.get("arguments"))
                made |= {**function, "arguments": joined}
        part.pop("function_call", None)
        if made:
            part["function_call"] = made
        return True
