"""Ollama's own chat API in front (``POST /api/chat``, JSON lines), chat completions behind."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from callwright.jsontext import parse_object
from callwright.nouns.types import Json, JsonObject
from callwright.proxy.apis.translated import BadRequest, Delta, Translated, read_token_counts
from callwright.proxy.session.answers.sse import json_bytes
from callwright.proxy.session.media import move_result_media, name_image_type

_OPTIONS = {
    "temperature": "temperature",
    "top_p": "top_p",
    "seed": "seed",
    "stop": "stop",
    "num_predict": "max_tokens",
}
_OPTIONS |= {"presence_penalty": "presence_penalty", "frequency_penalty": "frequency_penalty"}


class Ollama:
    """The front of ``/api/chat``."""

    def request(self, body: JsonObject) -> JsonObject:
        """The chat request that an Ollama request means. Raises BadRequest."""
        if not isinstance(body.get("messages"), list):
            raise BadRequest("messages: a list is required")
        made: JsonObject = {
            "model": body.get("model"),
            "messages": move_result_media(_convert_messages(body["messages"])),
        }
        made["stream"] = body.get("stream") is not False
        if made["stream"]:
            made["stream_options"] = {"include_usage": True}
        options = body.get("options")
        for theirs, ours in _OPTIONS.items():
            if isinstance(options, Mapping) and theirs in options and options[theirs] != -1:
                made[ours] = options[theirs]
        form = body.get("format")
        if form == "json":
            made["response_format"] = {"type": "json_object"}
        elif isinstance(form, Mapping):
            made["response_format"] = {
                "type": "json_schema",
                "json_schema": {"name": "format", "schema": form},
            }
        if body.get("tools"):
            made["tools"] = body["tools"]
        return made

    def writer(self, body: JsonObject) -> Translated:
        return Translated(Lines(body))

    def error(self, status: int, message: str) -> bytes:  # noqa: ARG002
        return json_bytes({"error": message})


class Lines:
    """The answer: one JSON object a line, calls whole."""

    stream_type = "application/x-ndjson"
    keep_alive = b""  # a line that is no JSON object ends some clients

    def __init__(self, body: Mapping[str, Any]) -> None:
        self.streams = body.get("stream") is not False
        self._model = str(body.get("model") or "")
        self._began = time.monotonic_ns()
        self._calls: dict[int, list[str]] = {}
        self._finish = "stop"
        self._usage: Mapping[str, Any] | None = None

    def delta(self, delta: Delta) -> bytes:
        for place, _, name, arguments in delta.calls:
            call = self._calls.setdefault(place, ["", ""])
            call[0] += name
            call[1] += arguments
        self._finish = delta.finish or self._finish
        self._usage = delta.usage or self._usage
        text = delta.shown_text
        if not text and not delta.reasoning:
            return b""
        thought = {"thinking": delta.reasoning} if delta.reasoning else {}
        return self._line({"content": text, **thought})

    def close(self) -> bytes:
        message = self._say_calls("")
        calls = self._line(message) if self._calls else b""
        return calls + self._line({"content": ""}, self._done())

    def render_completion(self, delta: Delta) -> bytes:
        self.delta(delta)
        message = self._say_calls(delta.shown_text)
        if delta.reasoning:
            message["thinking"] = delta.reasoning
        return self._line(message, self._done())

    def _say_calls(self, text: str) -> JsonObject:
        """A message with this text and the calls. One that was cut off is text: clients of this API
        make every call that they get.
        """
        calls, cut = _calls_out(self._calls, is_cut=self._finish == "length")
        message: JsonObject = {"content": text + cut}
        return {**message, "tool_calls": calls} if calls else message

    def error(self, status: int, message: str) -> bytes:  # noqa: ARG002
        return json_bytes({"error": message})

    def broken(self, message: str) -> bytes:
        return json_bytes({"error": message}) + b"\n"

    def _line(self, message: JsonObject, done: JsonObject | None = None) -> bytes:
        now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        line = {
            "model": self._model,
            "created_at": now,
            "message": {"role": "assistant", **message},
        }
        return json_bytes({**line, "done": done is not None, **(done or {})}) + b"\n"

    def _done(self) -> JsonObject:
        prompt, completion, _ = read_token_counts(self._usage)
        return {
            "done_reason": "length" if self._finish == "length" else "stop",
            "total_duration": time.monotonic_ns() - self._began,
            "prompt_eval_count": prompt,
            "eval_count": completion,
        }


def _calls_out(calls: Mapping[int, list[str]], *, is_cut: bool) -> tuple[list[Json], str]:
    """The calls, and the text of those that were cut off."""
    made: list[Json] = []
    cut = ""
    for _, (name, arguments) in sorted(calls.items()):
        found = parse_object(arguments or "{}")
        if is_cut and not isinstance(found, dict):
            cut += f"{name} {arguments}"
            continue
        given = found if isinstance(found, dict) else {"_unreadable": found}
        made.append({"function": {"name": name, "arguments": given}})
    return made, cut


def _convert_messages(raw: list[Json]) -> list[Json]:
    """Ollama's calls often have no ids: they are numbered, and a result belongs to the call of its
    id, else to the oldest open call of its tool, of the last message that called if there is one.
    """
    made: list[Json] = []
    open_calls = _OpenCalls()
    number = 0
    for place, message in enumerate(raw):
        if not isinstance(message, Mapping):
            raise BadRequest(f"messages.{place}: an object is required")
        if message.get("role") == "tool":
            called = open_calls.take(
                str(message.get("tool_call_id") or ""),
                str(message.get("tool_name") or message.get("name") or ""),
            )
            content = _convert_content(message)
            made.append({"role": "tool", "tool_call_id": called, "content": content})
            continue
        out: JsonObject = {"role": message.get("role"), "content": _convert_content(message)}
        calls = []
        entries = message.get("tool_calls") or []
        if not isinstance(entries, list):
            raise BadRequest(f"messages.{place}.tool_calls: a list is required")
        for entry in entries:
            calls.append(_convert_call(place, entry, number))
            number += 1
        if calls:
            open_calls.add([(call["id"], call["function"]["name"]) for call in calls])
            out["tool_calls"] = calls
        made.append(out)
    return made


def _convert_call(place: int, entry: Json, number: int) -> JsonObject:
    function = entry.get("function") if isinstance(entry, dict) else None
    if not isinstance(entry, dict) or not isinstance(function, dict):
        raise BadRequest(f"messages.{place}.tool_calls: an object with a function is required")
    given = function.get("arguments") or {}
    arguments = given if isinstance(given, str) else json_bytes(given).decode()
    return {
        "id": str(entry.get("id") or f"call{number:05d}"),
        "type": "function",
        "function": {"name": str(function.get("name") or ""), "arguments": arguments},
    }


class _OpenCalls:
    """The calls without a result yet, as (id, tool): those of the last message that called, and
    older ones.
    """

    def __init__(self) -> None:
        self._last: list[tuple[str, str]] = []
        self._older: list[tuple[str, str]] = []

    def add(self, calls: list[tuple[str, str]]) -> None:
        self._older += self._last
        self._last = calls

    def take(self, given: str, tool: str) -> str:
        """The id of the call that a result with this id and this tool's name is of; the given one
        where none is open.
        """
        both = [*self._last, *self._older]
        same = [one for one in both if given and one[0] == given]
        named = [one for one in both if tool and one[1] == tool]
        found = next(iter(same or named or both), None)
        if found is None:
            return given
        (self._last if found in self._last else self._older).remove(found)
        return found[0]


def _convert_content(message: Mapping[str, Any]) -> Json:
    given = message.get("content") or ""
    text = given if isinstance(given, str) else json_bytes(given).decode()
    images = [i for i in message.get("images") or () if isinstance(i, str)]
    if not images:
        return text
    parts = [
        {
            "type": "image_url",
            "image_url": {"url": f"data:{name_image_type(image)};base64,{image}"},
        }
        for image in images
    ]
    return [*([{"type": "text", "text": text}] if text else []), *parts]
