"""OpenAI's Responses API in front (``POST /v1/responses``), chat completions behind: requests.
Stateless.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from callwright.nouns.types import Json, JsonObject
from callwright.proxy.apis.responses_out import Output, render_error
from callwright.proxy.apis.responses_tools import build_names, flatten_tools, join_namespace
from callwright.proxy.apis.translated import BadRequest, Translated
from callwright.proxy.session.answers.sse import json_bytes
from callwright.proxy.session.turns import arrange_messages
from callwright.tools.lists import chat_messages as chat

_SAME = (
    "model",
    "temperature",
    "top_p",
    "stream",
    "parallel_tool_calls",
    "user",
    "seed",
    "metadata",
)
_IGNORED = frozenset({"reasoning", "web_search_call", "file_search_call", "code_interpreter_call"})
_HELD = (
    "previous_response_id",
    "conversation",
    "prompt",
)  # what names something that a server keeps
_REASONING_ID = "rs_"


class Responses:
    """The front of ``/v1/responses``."""

    def request(self, body: JsonObject) -> JsonObject:
        """The chat request that a Responses request means. Raises BadRequest."""
        for key in _HELD:
            if body.get(key):
                raise BadRequest(f"{key}: this proxy remembers nothing; send the whole input")
        made = {key: body[key] for key in _SAME if key in body}
        made["messages"] = arrange_messages(
            [*_convert_instructions(body.get("instructions")), *_convert_input(body.get("input"))]
        )
        if "max_output_tokens" in body:
            made["max_tokens"] = body["max_output_tokens"]
        effort = body.get("reasoning")
        if isinstance(effort, Mapping) and effort.get("effort"):
            made["reasoning_effort"] = effort["effort"]
        if body.get("stream"):
            made["stream_options"] = {"include_usage": True}
        _set_response_format(made, body.get("text"))
        tools = flatten_tools(body.get("tools"))
        if tools:
            made["tools"] = tools
            _set_tool_choice(made, body.get("tool_choice"))
            _set_allowed_tools(made, body.get("tool_choice"))
        return made

    def writer(self, body: JsonObject) -> Translated:
        return Translated(Output(body, build_names(body.get("tools"))))

    def error(self, status: int, message: str) -> bytes:
        return render_error(status, message)


def _convert_instructions(raw: Json) -> list[Json]:
    return [{"role": "system", "content": raw}] if isinstance(raw, str) and raw else []


def _convert_input(raw: Json) -> list[Json]:
    if isinstance(raw, str):
        return [{"role": "user", "content": raw}]
    if not isinstance(raw, list):
        raise BadRequest("input: text or a list of items is required")
    made: list[Json] = []
    for place, item in enumerate(raw):
        if not isinstance(item, Mapping):
            raise BadRequest(f"input.{place}: an object is required")
        _convert_item(place, item, made)
    return made


def _convert_item(place: int, item: Mapping[str, Any], made: list[Json]) -> None:
    kind = str(item.get("type") or "message")
    if kind == "message":
        role = {"developer": "system"}.get(str(item.get("role")), item.get("role"))
        made.append({"role": role, "content": _convert_content(place, item.get("content"))})
    elif kind in ("function_call", "custom_tool_call"):
        arguments = (
            item.get("arguments")
            if kind == "function_call"
            else json_bytes({"input": item.get("input")}).decode()
        )
        name = join_namespace(item.get("namespace"), str(item.get("name")))
        function = {"name": name, "arguments": arguments or "{}"}
        _add_call(made, {"id": item.get("call_id"), "type": "function", "function": function})
    elif kind in ("function_call_output", "custom_tool_call_output"):
        result = _convert_output(place, item.get("output"))
        made.append({"role": "tool", "tool_call_id": item.get("call_id"), "content": result})
    elif kind == "item_reference":
        if not str(item.get("id") or "").startswith(_REASONING_ID):
            raise BadRequest(
                f"input.{place}: an item that a server keeps; this proxy remembers nothing, send the"
                " items themselves (store: false)"
            )
    elif kind not in _IGNORED:
        raise BadRequest(
            f"input.{place}: items of type {kind!r} cannot be passed on to an OpenAI-compatible"
            " server"
        )


def _add_call(made: list[Json], call: JsonObject) -> None:
    """Calls of one turn belong into one message."""
    last = made[-1] if made else None
    if isinstance(last, dict) and last.get("role") == "assistant":
        last.setdefault("tool_calls", []).append(call)
    else:
        made.append({"role": "assistant", "content": None, "tool_calls": [call]})


def _convert_content(place: int, raw: Json) -> Json:
    if isinstance(raw, str):
        return raw
    parts = [_convert_part(place, part) for part in raw] if isinstance(raw, list) else []
    if all(p["type"] == "text" for p in parts):
        return "".join(p["text"] for p in parts)
    return parts


def _convert_part(place: int, part: Json) -> JsonObject:
    """A part of a message as chat completions have it. Raises BadRequest where they have none."""
    given = part if isinstance(part, Mapping) else {}
    kind = given.get("type")
    if kind in ("input_text", "output_text", "text", "refusal"):
        return {"type": "text", "text": str(given.get("text") or given.get("refusal") or "")}
    if kind == "input_image" and given.get("image_url"):
        detail = {"detail": given["detail"]} if given.get("detail") else {}
        return {"type": "image_url", "image_url": {"url": given["image_url"], **detail}}
    if kind == "input_audio":
        return {"type": "input_audio", "input_audio": given.get("input_audio")}
    if kind == "input_file" and not given.get("file_url"):
        named = ("file_id", "filename", "file_data")
        return {"type": "file", "file": {key: given[key] for key in named if given.get(key)}}
    source = next((f" with {key}" for key in ("file_id", "file_url") if given.get(key)), "")
    raise BadRequest(
        f"input.{place}: content of type {kind!r}{source} cannot be passed on: an"
        " OpenAI-compatible server does not have it"
    )


def _convert_output(place: int, raw: Json) -> Json:
    """A result: its text, or its parts where it holds others than text."""
    if isinstance(raw, str):
        return raw
    if not isinstance(raw, list):
        return json_bytes(raw).decode()
    known = ("input_image", "input_file", "input_audio")
    parts = [p for p in raw if isinstance(p, Mapping)]
    if any(p.get("type") in known for p in parts):
        return [_convert_part(place, p) for p in parts]
    return "\n".join(str(p.get("text") or f"[{p.get('type')}]") for p in parts)


def _set_tool_choice(made: JsonObject, choice: Json) -> None:
    if isinstance(choice, str):
        made["tool_choice"] = choice
    elif isinstance(choice, Mapping) and choice.get("name"):
        name = join_namespace(choice.get("namespace"), str(choice["name"]))
        made["tool_choice"] = {"type": "function", "function": {"name": name}}


def _set_allowed_tools(made: JsonObject, choice: Json) -> None:
    """Offer only what ``allowed_tools`` names: few servers know that choice."""
    if not isinstance(choice, Mapping) or choice.get("type") != "allowed_tools":
        return
    listed = choice.get("tools")
    named: list[Json] = [
        {"name": join_namespace(tool.get("namespace"), str(tool.get("name")))}
        for tool in (listed if isinstance(listed, list) else ())
        if isinstance(tool, Mapping)
    ]
    allowed = {"type": "allowed_tools", "tools": named}
    made["tools"] = chat.read_allowed_tools({"tools": made["tools"], "tool_choice": allowed})
    made["tool_choice"] = "required" if choice.get("mode") == "required" else "auto"


def _set_response_format(made: JsonObject, text: Json) -> None:
    form = text.get("format") if isinstance(text, Mapping) else None
    if not isinstance(form, Mapping) or form.get("type") == "text":
        return
    if form.get("type") == "json_schema":
        named = {k: form[k] for k in ("name", "schema", "strict", "description") if k in form}
        made["response_format"] = {"type": "json_schema", "json_schema": named}
    else:
        made["response_format"] = {"type": form.get("type")}
