"""Chat completions that the proxy writes itself: answers to guided questions, and its own
errors.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from callwright.nouns.types import JsonObject, Reply
from callwright.proxy.session.decide import Decision
from callwright.proxy.session.record import Record
from callwright.proxy.session.sse import DONE, encoded, json_bytes
from callwright.tools.lists import chat_messages as chat


def wants_usage(body: Mapping[str, Any]) -> bool:
    """Whether a streaming client asked for the tokens at the end."""
    options = body.get("stream_options")
    return isinstance(options, Mapping) and options.get("include_usage") is True


def answer(
    settled: Decision, reply: Reply, record: Record, asked: Mapping[str, Any]
) -> tuple[Mapping[str, str], bytes]:
    """Headers and body of the answer to a request, streamed or whole as it asked."""
    if record.stream:
        headers = {"content-type": "text/event-stream; charset=utf-8", "cache-control": "no-cache"}
        return headers, stream(settled, reply, record, wants_usage(asked))
    return {"content-type": "application/json"}, compose_completion(settled, reply, record)


def compose_completion(settled: Decision, reply: Reply, record: Record) -> bytes:
    """A chat completion with the settled calls."""
    like = {**_like(reply, record), "usage": usage(reply)}
    return json_bytes(chat.completion(like, message(settled), settled.finish_reason()))


def message(settled: Decision, said: str = "") -> JsonObject:
    """The assistant's message with the settled calls; ``said`` is the text beside them."""
    text = "\n".join(t for t in (said, *settled.text) if t.strip())
    calls = [chat.call_out(s.call, s.arguments) for s in settled.calls]
    return {
        "role": "assistant",
        "content": text or None,
        **({"tool_calls": calls} if calls else {}),
    }


def stream(settled: Decision, reply: Reply, record: Record, with_usage: bool) -> bytes:
    """The same as a stream of chunks."""
    like = _like(reply, record)
    out = [encoded(chat.chunk(like, {"role": "assistant", "content": "\n".join(settled.text)}))]
    out += call_events(settled, like)
    out.append(encoded(chat.chunk(like, {}, settled.finish_reason())))
    if with_usage:
        out.append(encoded({**chat.chunk(like, {}), "choices": [], "usage": usage(reply)}))
    return b"".join([*out, DONE])


def call_events(settled: Decision, like: Mapping[str, Any]) -> list[bytes]:
    """The settled calls as chunks of a stream."""
    pieces = [
        d for n, s in enumerate(settled.calls) for d in chat.call_deltas(s.call, s.arguments, n)
    ]
    return [encoded(chat.chunk(like, {"tool_calls": [piece]})) for piece in pieces]


def usage(reply: Reply) -> JsonObject:
    """Tokens as chat completions give them."""
    counted = reply.usage
    return {
        "prompt_tokens": counted.prompt_tokens,
        "completion_tokens": counted.completion_tokens,
        "total_tokens": counted.total,
    }


def error(status: int, message: str) -> bytes:
    """OpenAI's error body."""
    kind = "invalid_request_error" if status < 500 else "upstream_error"
    return json_bytes({"error": {"message": message, "type": kind, "param": None, "code": None}})


def error_event(message: str) -> bytes:
    """An error in the middle of a stream; OpenAI's clients raise it."""
    return encoded(
        {"error": {"message": message, "type": "upstream_error", "param": None, "code": None}}
    )


def _like(reply: Reply, record: Record) -> JsonObject:
    return {
        "id": f"chatcmpl-{record.id}",
        "created": record.created,
        "model": reply.model or record.model,
    }
