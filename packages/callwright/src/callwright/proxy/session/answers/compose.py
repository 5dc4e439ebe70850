"""Chat completions that the proxy writes itself: answers to guided questions, and its own
errors.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from callwright.nouns.types import JsonObject, Reply
from callwright.proxy.session.answers.sse import DONE, encode_event, json_bytes
from callwright.proxy.session.decision.decision import Decision
from callwright.proxy.session.record import Record
from callwright.tools.lists import chat_messages as chat

STREAM = {"content-type": "text/event-stream; charset=utf-8", "cache-control": "no-cache"}


def wants_usage(body: Mapping[str, Any]) -> bool:
    """Return True if a streaming client asked for the token counts at the end."""
    options = body.get("stream_options")
    return isinstance(options, Mapping) and options.get("include_usage") is True


def compose_answer(
    settled: Decision, reply: Reply, record: Record, asked: Mapping[str, Any]
) -> tuple[Mapping[str, str], bytes]:
    """Headers and body of the answer to a request, streamed or whole as it asked."""
    if record.stream:
        return STREAM, compose_stream(settled, reply, record, wants_usage(asked))
    return {"content-type": "application/json"}, compose_completion(settled, reply, record)


def compose_completion(settled: Decision, reply: Reply, record: Record) -> bytes:
    """A chat completion with the settled calls."""
    like = {**_build_template(reply, record), "usage": serialize_usage(reply)}
    return json_bytes(
        chat.build_completion(like, compose_message(settled), settled.finish_reason())
    )


def compose_message(settled: Decision, said: str = "") -> JsonObject:
    """The assistant's message with the settled calls; ``said`` is the text beside them."""
    text = "\n".join(t for t in (said, *settled.text) if t.strip())
    calls = [sent.render() for sent in settled.calls]
    return {
        "role": "assistant",
        "content": text or None,
        **({"tool_calls": calls} if calls else {}),
    }


def compose_stream(settled: Decision, reply: Reply, record: Record, with_usage: bool) -> bytes:
    """The same as a stream of chunks."""
    return LiveCompletion(reply, record).end(settled, reply, with_usage)


class LiveCompletion:
    """A streamed chat completion of our own making that is written piece by piece. ``said``: its
    text so far. ``reply``: the beginning of the one that it is made from.
    """

    def __init__(self, reply: Reply, record: Record) -> None:
        self.said = ""
        self._like = _build_template(reply, record)
        self._is_begun = False

    def say(self, text: str) -> bytes:
        """More of its text."""
        self.said += text
        begins = {} if self._is_begun else {"role": "assistant"}
        self._is_begun = True
        return encode_event(chat.build_chunk(self._like, {**begins, "content": text}))

    def end(self, settled: Decision, reply: Reply, with_usage: bool) -> bytes:
        """The rest of its text, its calls and its end."""
        like, rest = self._like, find_rest("\n".join(settled.text), self.said)
        out = [self.say(rest)] if rest or not self._is_begun else []
        out += encode_calls(settled, like)
        out.append(encode_event(chat.build_chunk(like, {}, settled.finish_reason())))
        if with_usage:
            counted = {"choices": [], "usage": serialize_usage(reply)}
            out.append(encode_event({**chat.build_chunk(like, {}), **counted}))
        return b"".join([*out, DONE])


def find_rest(text: str, said: str) -> str:
    """The part of a text that is left to be said: all of it, in a line of its own, where it does
    not begin with what was said.
    """
    is_other = bool(text and said) and not text.startswith(said)
    return f"\n{text}" if is_other else text[len(said) :]


def encode_calls(settled: Decision, like: Mapping[str, Any]) -> list[bytes]:
    """The settled calls as chunks of a stream."""
    pieces = list[JsonObject]()
    for place, sent in enumerate(settled.calls):
        whole = ({"index": place, **sent.render()},)
        two = chat.call_deltas(sent.call, sent.arguments, place)
        pieces += whole if sent.is_free else two
    return [encode_event(chat.build_chunk(like, {"tool_calls": [piece]})) for piece in pieces]


def serialize_usage(reply: Reply) -> JsonObject:
    """Tokens as chat completions give them."""
    counted = reply.usage
    return {
        "prompt_tokens": counted.prompt_tokens,
        "completion_tokens": counted.completion_tokens,
        "total_tokens": counted.total,
    }


def compose_error(status: int, message: str) -> bytes:
    """OpenAI's error body."""
    kind = "invalid_request_error" if status < 500 else "upstream_error"
    kind = "rate_limit_error" if status == 429 else kind
    return json_bytes({"error": {"message": message, "type": kind, "param": None, "code": None}})


def encode_error(message: str) -> bytes:
    """An error in the middle of a stream; OpenAI's clients raise it."""
    return encode_event(
        {"error": {"message": message, "type": "upstream_error", "param": None, "code": None}}
    )


def _build_template(reply: Reply, record: Record) -> JsonObject:
    return {
        "id": f"chatcmpl-{record.id}",
        "created": record.created,
        "model": reply.model or record.model,
    }
