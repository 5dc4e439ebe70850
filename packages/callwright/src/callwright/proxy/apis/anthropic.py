"""Anthropic's Messages API in front (``POST /v1/messages``, version 2023-06-01), chat completions
behind.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from callwright.jsontext import parse_object
from callwright.nouns.types import Json, JsonObject
from callwright.proxy.apis.translated import BadRequest, Delta, Translated, read_token_counts
from callwright.proxy.session.answers.sse import encode_named_event, json_bytes
from callwright.proxy.session.media import TOKENS, list_media, measure_media
from callwright.proxy.session.turns import arrange_messages

_STOP = {
    "stop": "end_turn",
    "tool_calls": "tool_use",
    "function_call": "tool_use",
    "length": "max_tokens",
}
_STOP["content_filter"] = "refusal"
_ERRORS = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
}
_ERRORS |= {413: "request_too_large", 429: "rate_limit_error", 529: "overloaded_error"}
_SAME = ("model", "max_tokens", "temperature", "top_p", "top_k", "stream")
_CHOICE = {"auto": "auto", "any": "required", "none": "none"}
# what makes the SDK's tool runner send the whole conversation with every turn
_UNSUPPORTED_THREAD: JsonObject = {
    "error_code": "thread_unsupported_request",
    "unsupported": ["thread"],
}
_BILL = "x-anthropic-billing-header:"
CHARACTERS_A_TOKEN = 4


class Anthropic:
    """The front of ``/v1/messages``."""

    def request(self, body: JsonObject) -> JsonObject:
        """The chat request that a Messages request means. Raises BadRequest."""
        if not isinstance(body.get("messages"), list):
            raise BadRequest("messages: a list is required")
        if body.get("thread"):
            said = "thread: this proxy remembers nothing; send the whole conversation"
            raise BadRequest(said, render_error(400, said, _UNSUPPORTED_THREAD))
        made = {key: body[key] for key in _SAME if key in body}
        made["messages"] = arrange_messages(
            [*_convert_system(body.get("system")), *_convert_messages(body["messages"])]
        )
        form = _convert_output_format(body)
        if form is not None:
            made["response_format"] = form
        if body.get("stop_sequences"):
            made["stop"] = body["stop_sequences"]
        if body.get("stream"):
            made["stream_options"] = {"include_usage": True}
        offered = body.get("tools") or []
        if not isinstance(offered, list):
            raise BadRequest("tools: a list is required")
        tools = [_convert_tool(t) for t in offered if isinstance(t, Mapping) and _is_client_tool(t)]
        if tools:
            made["tools"] = tools
            _set_tool_choice(made, body.get("tool_choice"))
        return made

    def writer(self, body: JsonObject) -> Translated:
        return Translated(Messages(body))

    def error(self, status: int, message: str) -> bytes:
        return render_error(status, message)


def count_tokens(body: JsonObject) -> bytes:
    """``/v1/messages/count_tokens``, estimated: OpenAI-compatible servers count nothing
    beforehand.
    """
    made = Anthropic().request(body)
    told = json_bytes([made["messages"], made.get("tools", [])])
    media = sum(len(list_media(message.get("content"))) for message in made["messages"])
    size = len(told) - measure_media(told)
    return json_bytes({"input_tokens": max(1, size // CHARACTERS_A_TOKEN + media * TOKENS)})


def render_error(status: int, message: str, details: JsonObject | None = None) -> bytes:
    """Anthropic's error body. ``details`` tell a client what it can do instead."""
    kind = _ERRORS.get(status, "api_error" if status >= 500 else "invalid_request_error")
    more = {"details": details} if details else {}
    return json_bytes({"type": "error", "error": {"type": kind, "message": message, **more}})


class Messages:
    """The answer: content blocks, one after the other."""

    stream_type = "text/event-stream; charset=utf-8"
    keep_alive = encode_named_event("ping", {"type": "ping"})

    def __init__(self, body: Mapping[str, Any]) -> None:
        self.streams = body.get("stream") is True
        self._thinks = (
            isinstance(body.get("thinking"), Mapping) and body["thinking"].get("type") != "disabled"
        )
        self._model = str(body.get("model") or "")
        self._index = -1
        self._open = ""  # text | thinking | tool_use: the kind of the block under way
        self._calling = -1  # the upstream's place of the call of the block under way
        self._has_calls = self._has_refused = False
        # calls that came beside that one: place -> id, name, arguments
        self._beside: dict[int, list[str]] = {}
        self._started = False
        self._finish = "stop"
        self._usage: Mapping[str, Any] | None = None

    def delta(self, delta: Delta) -> bytes:
        out = [] if self._started else [self._start(delta)]
        if delta.reasoning and self._thinks:
            out += self._piece("thinking", {"type": "thinking_delta", "thinking": delta.reasoning})
        if delta.shown_text:
            out += self._piece("text", {"type": "text_delta", "text": delta.shown_text})
        self._has_refused = self._has_refused or bool(delta.refusal)
        for place, called, name, arguments in delta.calls:
            out += self._call(place, called, name, arguments)
        self._finish = delta.finish or self._finish
        self._usage = delta.usage or self._usage
        return b"".join(out)

    def close(self) -> bytes:
        out = [] if self._started else [self._start(Delta())]
        out += [*self._end_calls(), *self._stop_block()]
        _, completion, _ = read_token_counts(self._usage)
        reason = _read_stop(self._finish, has_calls=self._has_calls, has_refused=self._has_refused)
        changed = {"stop_reason": reason, "stop_sequence": None}
        usage = {**_convert_usage(self._usage), "output_tokens": completion}
        out.append(
            encode_named_event(
                "message_delta", {"type": "message_delta", "delta": changed, "usage": usage}
            )
        )
        out.append(encode_named_event("message_stop", {"type": "message_stop"}))
        return b"".join(out)

    def render_completion(self, delta: Delta) -> bytes:
        content: list[Json] = []
        if delta.reasoning and self._thinks:
            content.append({"type": "thinking", "thinking": delta.reasoning, "signature": ""})
        if delta.shown_text:
            content.append({"type": "text", "text": delta.shown_text})
        for _, called, name, arguments in delta.calls:
            found = parse_object(arguments or "{}")
            given = found if isinstance(found, dict) else {"_unreadable": found}
            content.append({"type": "tool_use", "id": called, "name": name, "input": given})
        message = self._message(delta)
        reason = _read_stop(
            delta.finish, has_calls=bool(delta.calls), has_refused=bool(delta.refusal)
        )
        message |= {"content": content, "stop_reason": reason}
        return json_bytes({**message, "usage": _convert_usage(delta.usage)})

    def error(self, status: int, message: str) -> bytes:
        return render_error(status, message)

    def broken(self, message: str) -> bytes:
        return encode_named_event(
            "error", {"type": "error", "error": {"type": "api_error", "message": message}}
        )

    def _message(self, delta: Delta) -> JsonObject:
        return {
            "id": f"msg_{delta.id.removeprefix('chatcmpl-') or 'callwright'}",
            "type": "message",
            "role": "assistant",
            "model": delta.model or self._model,
            "content": [],
            "stop_reason": None,
            "stop_sequence": None,
            "usage": _convert_usage(delta.usage),
        }

    def _start(self, delta: Delta) -> bytes:
        self._started = True
        return encode_named_event(
            "message_start", {"type": "message_start", "message": self._message(delta)}
        )

    def _piece(self, kind: str, delta: JsonObject) -> list[bytes]:
        """A piece of text or thought: in the block under way if it is of that kind, else in a new
        one.
        """
        out = self._end_calls()
        if self._open != kind:
            empty = (
                {"type": "text", "text": ""}
                if kind == "text"
                else {"type": kind, kind: "", "signature": ""}
            )
            out += self._start_block(kind, empty)
        out.append(self._block_delta(delta))
        return out

    def _call(self, place: int, called: str, name: str, arguments: str) -> list[bytes]:
        """A piece of a call. Blocks follow each other, so pieces of another call than the one under
        way wait for its end.
        """
        self._has_calls = True
        if self._open == "tool_use" and place != self._calling:
            beside = self._beside.setdefault(place, [called, name, ""])
            beside[2] += arguments
            return []
        out: list[bytes] = []
        if self._open != "tool_use":
            self._calling = place
            out += self._start_block(
                "tool_use", {"type": "tool_use", "id": called, "name": name, "input": {}}
            )
        if arguments:
            out.append(self._block_delta({"type": "input_json_delta", "partial_json": arguments}))
        return out

    def _end_calls(self) -> list[bytes]:
        """The calls that came beside the one under way."""
        beside, self._beside = self._beside, {}
        out: list[bytes] = []
        for place, (called, name, arguments) in beside.items():
            out += self._stop_block()
            out += self._call(place, called, name, arguments)
        return out

    def _start_block(self, kind: str, block: JsonObject) -> list[bytes]:
        out = self._stop_block()
        self._index += 1
        self._open = kind
        started = {"type": "content_block_start", "index": self._index, "content_block": block}
        return [*out, encode_named_event("content_block_start", started)]

    def _block_delta(self, delta: JsonObject) -> bytes:
        return encode_named_event(
            "content_block_delta",
            {"type": "content_block_delta", "index": self._index, "delta": delta},
        )

    def _stop_block(self) -> list[bytes]:
        if not self._open:
            return []
        self._open = ""
        return [
            encode_named_event(
                "content_block_stop", {"type": "content_block_stop", "index": self._index}
            )
        ]


def _read_stop(finish: str, *, has_calls: bool, has_refused: bool) -> str:
    """The reason to stop. A chat completion with a named ``tool_choice`` ends with "stop" beside
    its call, which a client of this API would not make. One that refuses ends with "stop" as well.
    """
    if finish in ("stop", ""):
        if has_calls:
            return _STOP["tool_calls"]
        if has_refused:
            return _STOP["content_filter"]
    return _STOP.get(finish, "end_turn")


def _convert_usage(usage: Mapping[str, Any] | None) -> JsonObject:
    prompt, completion, cached = read_token_counts(usage)
    made = {"input_tokens": prompt - cached, "output_tokens": completion}
    return {**made, "cache_creation_input_tokens": 0, "cache_read_input_tokens": cached}


def _convert_system(raw: Json) -> list[Json]:
    """Without the line that Claude Code keeps for the bill: it is no prompt, and new with every
    session.
    """
    if isinstance(raw, list):
        raw = [
            b for b in raw if not (isinstance(b, Mapping) and str(b.get("text")).startswith(_BILL))
        ]
    text = _join_texts(raw)
    return [{"role": "system", "content": text}] if text else []


def _join_texts(raw: Json) -> str:
    if isinstance(raw, list):
        return "\n\n".join(
            str(b.get("text") or "")
            for b in raw
            if isinstance(b, Mapping) and b.get("type") == "text"
        )
    return raw if isinstance(raw, str) else ""


def _convert_messages(raw: list[Json]) -> list[Json]:
    made: list[Json] = []
    for place, message in enumerate(raw):
        if not isinstance(message, Mapping) or message.get("role") not in (
            "user",
            "assistant",
            "system",
        ):
            raise BadRequest(f"messages.{place}: a role of user or assistant is required")
        content = message.get("content")
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        if not isinstance(blocks, list):
            raise BadRequest(f"messages.{place}.content: text or a list of blocks is required")
        blocks = [b for b in blocks if isinstance(b, Mapping)]
        if message["role"] == "assistant":
            made.append(_convert_assistant(blocks))
        elif message["role"] == "system":
            made.append({"role": "system", "content": _join_texts(blocks)})
        else:
            made += _convert_user(blocks)
    return made


def _convert_assistant(blocks: list[Mapping[str, Any]]) -> JsonObject:
    """Thoughts are left out: they are signed for another server."""
    calls = [
        {
            "id": str(b.get("id") or ""),
            "type": "function",
            "function": {
                "name": str(b.get("name") or ""),
                "arguments": json_bytes(b.get("input") or {}).decode(),
            },
        }
        for b in blocks
        if b.get("type") == "tool_use"
    ]
    made: JsonObject = {"role": "assistant", "content": _join_texts(list(blocks)) or None}
    return {**made, "tool_calls": calls} if calls else {**made, "content": made["content"] or ""}


def _convert_user(blocks: list[Mapping[str, Any]]) -> list[Json]:
    """Results first, each a message of its own, then what the user says."""
    made = [_convert_result(block) for block in blocks if block.get("type") == "tool_result"]
    parts = [_convert_part(block) for block in blocks if block.get("type") != "tool_result"]
    if not parts:
        return [*made]
    plain = all(p["type"] == "text" for p in parts)
    content: Json = "\n\n".join(p["text"] for p in parts) if plain else parts
    return [*made, {"role": "user", "content": content}]


def _convert_result(block: Mapping[str, Any]) -> JsonObject:
    raw = block.get("content")
    blocks = [b for b in raw if isinstance(b, Mapping)] if isinstance(raw, list) else []
    text = raw if isinstance(raw, str) else _join_texts(blocks)
    others = [b for b in blocks if b.get("type") != "text"]
    media = [_convert_part(b) for b in others if _is_media(b)]
    if not text and not media:
        text = "\n".join(f"[{b.get('type')}]" for b in others)
    if block.get("is_error") and not text.lower().lstrip().startswith("error"):
        text = f"Error: {text}"
    said = [{"type": "text", "text": text}] if text else []
    content: Json = [*said, *media] if media else text
    return {"role": "tool", "tool_call_id": str(block.get("tool_use_id") or ""), "content": content}


def _is_media(block: Mapping[str, Any]) -> bool:
    source = block.get("source")
    is_encoded = isinstance(source, Mapping) and source.get("type") in ("base64", "url")
    return block.get("type") == "image" or (block.get("type") == "document" and is_encoded)


def _convert_part(block: Mapping[str, Any]) -> JsonObject:
    """A block of a user's message or of a result as a part of a chat message. Raises BadRequest for
    what a chat completion has no part for.
    """
    kind, source = block.get("type"), block.get("source")
    given = source if isinstance(source, Mapping) else {}
    data = f"data:{given.get('media_type')};base64,{given.get('data')}"
    match (kind, given.get("type")):
        case ("text", _):
            return {"type": "text", "text": str(block.get("text") or "")}
        case ("image", "base64"):
            return {"type": "image_url", "image_url": {"url": data}}
        case ("image", "url"):
            return {"type": "image_url", "image_url": {"url": str(given.get("url") or "")}}
        case ("document", "base64"):
            name = str(block.get("title") or "document.pdf")
            return {"type": "file", "file": {"filename": name, "file_data": data}}
        case (_, "text"):
            return {"type": "text", "text": str(given.get("data") or "")}
    source_kind = f" with a source of type {given['type']!r}" if given.get("type") else ""
    raise BadRequest(
        f"content of type {str(kind)!r}{source_kind} cannot be passed on to an OpenAI-compatible"
        " server"
    )


def _is_client_tool(raw: Mapping[str, Any]) -> bool:
    """Return True unless a tool is one of Anthropic's own, which has a type and no schema."""
    return raw.get("input_schema") is not None or raw.get("type") in (None, "custom")


def _convert_tool(raw: Mapping[str, Any]) -> JsonObject:
    """A tool of the client as one of a chat request. Without a schema it takes no parameters."""
    schema = raw.get("input_schema")
    function = {
        "name": raw.get("name"),
        "description": raw.get("description", ""),
        "parameters": {"type": "object"} if schema is None else schema,
    }
    if isinstance(
        raw.get("annotations"), Mapping
    ):  # what a tool may do: MCP's hints, for clients that know them
        function["annotations"] = raw["annotations"]
    return {"type": "function", "function": function}


def _convert_output_format(body: JsonObject) -> JsonObject | None:
    """The ``response_format`` that a request asks for by ``output_config.format``, or by the older
    ``output_format``; None where it asks for none.
    """
    config = body.get("output_config")
    asked = config.get("format") if isinstance(config, Mapping) else None
    form = asked or body.get("output_format")
    if not isinstance(form, Mapping) or form.get("type") != "json_schema" or "schema" not in form:
        return None
    named = {"name": "output", "schema": form["schema"]}
    return {"type": "json_schema", "json_schema": named}


def _set_tool_choice(made: JsonObject, choice: Json) -> None:
    if not isinstance(choice, Mapping):
        return
    if choice.get("type") == "tool":
        made["tool_choice"] = {"type": "function", "function": {"name": choice.get("name")}}
    elif choice.get("type") in _CHOICE:
        made["tool_choice"] = _CHOICE[choice["type"]]
    if choice.get("disable_parallel_tool_use"):
        made["parallel_tool_calls"] = False
