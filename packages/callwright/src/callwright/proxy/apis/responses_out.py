"""OpenAI's Responses API in front: answers, whole or as the events of a stream."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from callwright.jsontext import parse_object
from callwright.nouns.types import Json, JsonObject
from callwright.proxy.apis.responses_tools import Names
from callwright.proxy.apis.translated import Delta, read_token_counts
from callwright.proxy.session.answers.sse import encode_named_event, json_bytes

_INCOMPLETE = {"length": "max_output_tokens", "content_filter": "content_filter"}
_ECHOED = (
    "instructions",
    "metadata",
    "temperature",
    "top_p",
    "tool_choice",
    "tools",
    "text",
    "reasoning",
)


def render_error(status: int, message: str) -> bytes:
    """OpenAI's error body."""
    kind = "invalid_request_error" if status < 500 else "server_error"
    return json_bytes({"error": {"message": message, "type": kind, "param": None, "code": None}})


class Output:
    """The answer: what was thought, one message item, then one item a call. ``names``: how its
    tools were offered.
    """

    stream_type = "text/event-stream; charset=utf-8"
    keep_alive = b": keep-alive\n\n"

    def __init__(self, body: Mapping[str, Any], names: Names | None = None) -> None:
        self.streams = body.get("stream") is True
        self._body = body
        self._names = names or Names()
        self._id = "resp_callwright"
        self._model = str(body.get("model") or "")
        self._created = int(time.time())
        self._number = 0
        self._items: list[JsonObject] = []
        # parts of the message: kind (output_text or refusal) and pieces; the last is under way
        self._parts: list[tuple[str, list[str]]] = []
        self._message = -1  # the place of the message item
        self._thought: list[str] = []
        self._thinking = -1  # the place of the reasoning item under way
        self._calls: dict[int, tuple[int, list[str]]] = {}
        self._finish = "stop"
        self._usage: Mapping[str, Any] | None = None
        self._started = False

    def delta(self, delta: Delta) -> bytes:
        out = [] if self._started else self._start(delta)
        if delta.reasoning:
            out += self._think(delta.reasoning)
        if delta.text or delta.refusal or delta.calls:
            out += self._end_thinking()
        if delta.text:
            out += self._say("output_text", delta.text)
        if delta.refusal:
            out += self._say("refusal", delta.refusal)
        for place, called, name, arguments in delta.calls:
            out += self._call(place, called, name, arguments)
        self._finish = delta.finish or self._finish
        self._usage = delta.usage or self._usage
        return b"".join(out)

    def close(self) -> bytes:
        out = [] if self._started else self._start(Delta())
        out += self._end_thinking()
        if self._message >= 0:
            out += self._end_message()
        for place, pieces in self._calls.values():
            out += self._end_call(place, "".join(pieces))
        status = self._end_status
        out.append(self._event(f"response.{status}", response=self._response(status)))
        return b"".join(out)

    def render_completion(self, delta: Delta) -> bytes:
        self.delta(delta)
        self.close()
        return json_bytes(self._response(self._end_status))

    def error(self, status: int, message: str) -> bytes:
        return render_error(status, message)

    def broken(self, message: str) -> bytes:
        failed = {**self._response("failed"), "error": {"code": "server_error", "message": message}}
        return self._event("response.failed", response=failed)

    @property
    def _end_status(self) -> str:
        return "incomplete" if self._finish in _INCOMPLETE else "completed"

    def _start(self, delta: Delta) -> list[bytes]:
        self._started = True
        self._id = f"resp_{delta.id.removeprefix('chatcmpl-') or 'callwright'}"
        self._model = delta.model or self._model
        begun = self._response("in_progress")
        return [
            self._event("response.created", response=begun),
            self._event("response.in_progress", response=begun),
        ]

    def _think(self, text: str) -> list[bytes]:
        out: list[bytes] = []
        if self._thinking < 0:
            self._thinking = len(self._items)
            item: JsonObject = {
                "id": f"rs_{self._id[5:]}_{self._thinking}",
                "type": "reasoning",
                "summary": [],
            }
            self._items.append({**item, "content": [], "status": "in_progress"})
            out.append(
                self._event(
                    "response.output_item.added", output_index=self._thinking, item=self._items[-1]
                )
            )
            out.append(self._thinking_event("content_part.added", part=_build_reasoning_part("")))
        self._thought.append(text)
        return [*out, self._thinking_event("reasoning_text.delta", delta=text)]

    def _end_thinking(self) -> list[bytes]:
        if self._thinking < 0:
            return []
        text, at, item = "".join(self._thought), self._thinking, self._items[self._thinking]
        item |= {"content": [_build_reasoning_part(text)], "status": "completed"}
        done = [self._thinking_event("reasoning_text.done", text=text)]
        done.append(self._thinking_event("content_part.done", part=_build_reasoning_part(text)))
        self._thinking, self._thought = -1, []
        return [*done, self._event("response.output_item.done", output_index=at, item=item)]

    def _thinking_event(self, kind: str, **more: Json) -> bytes:
        where = {
            "item_id": self._items[self._thinking]["id"],
            "output_index": self._thinking,
            "content_index": 0,
        }
        return self._event(f"response.{kind}", **where, **more)

    def _say(self, kind: str, text: str) -> list[bytes]:
        out: list[bytes] = []
        if self._message < 0:
            self._message = len(self._items)
            item = {
                "id": f"msg_{self._id[5:]}",
                "type": "message",
                "role": "assistant",
                "status": "in_progress",
            }
            self._items.append({**item, "content": []})
            out.append(
                self._event(
                    "response.output_item.added", output_index=self._message, item=self._items[-1]
                )
            )
        if not self._parts or self._parts[-1][0] != kind:
            out += self._end_part()
            self._parts.append((kind, []))
            out.append(self._part("response.content_part.added", part=_build_part(kind, "")))
        self._parts[-1][1].append(text)
        more: JsonObject = {} if kind == "refusal" else {"logprobs": []}
        return [*out, self._part(f"response.{kind}.delta", delta=text, **more)]

    def _end_part(self) -> list[bytes]:
        """The end of the message's part under way."""
        if not self._parts:
            return []
        kind, pieces = self._parts[-1]
        text = "".join(pieces)
        said = {"refusal": text} if kind == "refusal" else {"text": text, "logprobs": []}
        done = self._part(f"response.{kind}.done", **said)
        return [done, self._part("response.content_part.done", part=_build_part(kind, text))]

    def _end_message(self) -> list[bytes]:
        item, out = self._items[self._message], self._end_part()
        content = [_build_part(kind, "".join(pieces)) for kind, pieces in self._parts]
        item |= {"status": "completed", "content": content}
        return [
            *out,
            self._event("response.output_item.done", output_index=self._message, item=item),
        ]

    def _call(self, place: int, called: str, name: str, arguments: str) -> list[bytes]:
        out: list[bytes] = []
        if place not in self._calls:
            at = len(self._items)
            free = name in self._names.free
            item: JsonObject = {
                "id": f"{'ctc' if free else 'fc'}_{called}",
                "call_id": called,
                "name": name,
            }
            if name in self._names.grouped:
                item["namespace"], item["name"] = self._names.grouped[name]
            item |= (
                {"type": "custom_tool_call", "input": ""}
                if free
                else {"type": "function_call", "arguments": ""}
            )
            self._items.append({**item, "status": "in_progress"})
            self._calls[place] = (at, [])
            out.append(
                self._event("response.output_item.added", output_index=at, item=self._items[at])
            )
        at, pieces = self._calls[place]
        pieces.append(arguments)
        if arguments and self._items[at]["type"] == "function_call":
            given = {"item_id": self._items[at]["id"], "output_index": at, "delta": arguments}
            out.append(self._event("response.function_call_arguments.delta", **given))
        return out

    def _end_call(self, at: int, arguments: str) -> list[bytes]:
        item = self._items[at]
        is_cut = self._finish in _INCOMPLETE and not isinstance(parse_object(arguments), dict)
        status = "incomplete" if is_cut else "completed"
        where = {"item_id": item["id"], "output_index": at}
        if item["type"] == "custom_tool_call":
            found = parse_object(arguments)
            text = str(found.get("input", "")) if isinstance(found, dict) else arguments
            item |= {"input": text, "status": status}
            out = [self._event("response.custom_tool_call_input.delta", **where, delta=text)]
            out.append(self._event("response.custom_tool_call_input.done", **where, input=text))
        else:
            item |= {"arguments": arguments, "status": status}
            done = {**where, "name": item["name"], "arguments": arguments}
            out = [self._event("response.function_call_arguments.done", **done)]
        return [*out, self._event("response.output_item.done", output_index=at, item=item)]

    def _part(self, kind: str, **more: Json) -> bytes:
        where = {
            "item_id": self._items[self._message]["id"],
            "output_index": self._message,
            "content_index": len(self._parts) - 1,
        }
        return self._event(kind, **where, **more)

    def _event(self, kind: str, **more: Json) -> bytes:
        made = {"type": kind, "sequence_number": self._number, **more}
        self._number += 1
        return encode_named_event(kind, made)

    def _response(self, status: str) -> JsonObject:
        prompt, completion, cached = read_token_counts(self._usage)
        usage = {
            "input_tokens": prompt,
            "input_tokens_details": {"cached_tokens": cached, "cache_write_tokens": 0},
            "output_tokens": completion,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": prompt + completion,
        }
        echoed = {key: self._body.get(key) for key in _ECHOED if key in self._body}
        return {
            "id": self._id,
            "object": "response",
            "created_at": self._created,
            "status": status,
            "error": None,
            "incomplete_details": (
                {"reason": _INCOMPLETE[self._finish]} if status == "incomplete" else None
            ),
            "model": self._model,
            "output": [] if status == "in_progress" else self._items,
            "parallel_tool_calls": self._body.get("parallel_tool_calls") is not False,
            "tool_choice": "auto",
            "tools": [],
            "usage": usage if status in ("completed", "incomplete") else None,
            **echoed,
        }


def _build_part(kind: str, text: str) -> JsonObject:
    if kind == "refusal":
        return {"type": "refusal", "refusal": text}
    return {"type": "output_text", "text": text, "annotations": [], "logprobs": []}


def _build_reasoning_part(text: str) -> JsonObject:
    return {"type": "reasoning_text", "text": text}
