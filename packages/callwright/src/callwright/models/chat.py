"""The chat-completions dialect that endpoints and llama.cpp share: requests out, streamed pieces
in. No I/O.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import exp
from typing import Any

from callwright.jsontext import parse_object
from callwright.nouns.protocols import ChatRequest
from callwright.nouns.types import Json, JsonObject, Message, Reply, Tool, ToolCall, Usage

FINISH = {
    "tool_calls": "tool_calls",
    "function_call": "tool_calls",
    "length": "length",
    "max_tokens": "length",
}
_THINK, _THOUGHT = "<think>", "</think>"


def messages_out(messages: Sequence[Message]) -> list[JsonObject]:
    """Messages as the chat-completions API takes them."""
    return [_message_out(m) for m in messages]


def _message_out(message: Message) -> JsonObject:
    out: JsonObject = {"role": message.role, "content": message.content}
    if message.name:
        out["name"] = message.name
    if message.tool_calls:
        out["tool_calls"] = [_call_out(c) for c in message.tool_calls]
    if message.tool_call_id:
        out["tool_call_id"] = message.tool_call_id
    return out


def _call_out(call: ToolCall) -> JsonObject:
    text = (
        call.arguments
        if isinstance(call.arguments, str)
        else json.dumps(call.arguments, ensure_ascii=False)
    )
    return {"id": call.id, "type": "function", "function": {"name": call.tool, "arguments": text}}


def tool_out(tool: Tool) -> JsonObject:
    """A tool with nothing that a strict endpoint does not know."""
    function = {"name": tool.name, "description": tool.description, "parameters": tool.input_schema}
    return {"type": "function", "function": function}


def body_out(request: ChatRequest) -> JsonObject:
    """Return the body that every chat-completions server accepts: messages, limits, sampling."""
    body: JsonObject = {
        "messages": messages_out(request.messages),
        "max_tokens": request.max_tokens,
        "temperature": request.temperature,
        "seed": request.seed,
    }
    if request.stop:
        body["stop"] = list(request.stop)
    if request.logprobs or request.top_logprobs:
        body["logprobs"] = True
    if request.top_logprobs:
        body["top_logprobs"] = request.top_logprobs
    return body


def _read_tokens(logprobs: Mapping[str, Any]) -> list[tuple[str, float]]:
    """The tokens of ``choices[0].logprobs`` with their log-probabilities."""
    content = logprobs.get("content")
    return [
        (str(one.get("token")), min(0.0, float(one["logprob"])))
        for one in (content if isinstance(content, list) else ())
        if isinstance(one, Mapping) and isinstance(one.get("logprob"), int | float)
    ]


def _drop_thought(tokens: Sequence[tuple[str, float]]) -> tuple[float, ...]:
    """The log-probabilities of the tokens behind a model's reasoning; of all, if it shows none."""
    said = ""
    for place, (token, _) in enumerate(tokens, 1):
        said = said[-len(_THOUGHT) :] + token
        if _THOUGHT in said:
            return tuple(likely for _, likely in tokens[place:])
    return tuple(likely for _, likely in tokens)


def _read_likely(logprobs: Mapping[str, Any]) -> dict[str, float]:
    """The likeliest first tokens of ``choices[0].logprobs`` with their probabilities."""
    content = logprobs.get("content")
    first = content[0] if isinstance(content, list) and content else None
    listed = first.get("top_logprobs") if isinstance(first, Mapping) else None
    found: dict[str, float] = {}
    for one in listed if isinstance(listed, list) else ():
        if isinstance(one, Mapping) and isinstance(one.get("logprob"), int | float):
            token = str(one.get("token"))
            found[token] = found.get(token, 0.0) + exp(min(0.0, one["logprob"]))
    return found


def estimate_tokens(text: str) -> int:
    """Tokens of a text nobody counted: four characters each, at least one."""
    return max(1, len(text) // 4)


@dataclass
class Gathered:
    """A reply being gathered from whole messages or streamed deltas.

    :meth:`feed` takes one chunk and returns the visible text it adds; reasoning is kept apart.
    """

    text: str = ""
    reasoning: str = ""
    finish: str = ""
    model: str = ""
    usage: Usage | None = None
    first_token: dict[str, float] = field(default_factory=dict)
    tokens: list[tuple[str, float]] = field(default_factory=list)
    _calls: dict[int, dict[str, str]] = field(default_factory=dict)
    _held: str = ""  # the beginning of the text while it may still turn out to be <think>
    _state: str = "start"  # start | thinking | answer

    def feed(self, chunk: Mapping[str, Any]) -> str:
        """One ``chat.completion.chunk`` or whole ``chat.completion``."""
        self.model = self.model or str(chunk.get("model") or "")
        self._count(chunk)
        choices = chunk.get("choices")
        choice = choices[0] if isinstance(choices, list) and choices else {}
        if not isinstance(choice, Mapping):
            return ""
        if choice.get("finish_reason"):
            self.finish = FINISH.get(str(choice["finish_reason"]), "stop")
        if isinstance(logprobs := choice.get("logprobs"), Mapping):
            self.first_token = self.first_token or _read_likely(logprobs)
            self.tokens += _read_tokens(logprobs)
        delta = choice.get("delta") or choice.get("message") or {}
        self.reasoning += str(delta.get("reasoning_content") or delta.get("reasoning") or "")
        for index, call in enumerate(delta.get("tool_calls") or ()):
            self._call(call.get("index", index), call)
        added = self._split(_join_text_parts(delta.get("content")))
        self.text += added
        return added

    def close(self) -> str:
        """The end: what was held back as a possible ``<think>`` is text after all. Returns what
        that adds.
        """
        held, self._held = self._held, ""
        if self._state == "thinking":
            self.reasoning += held
            return ""
        self.text += held
        return held

    def reply(
        self, *, prompt: str, finish: str = "", seconds: float = 0.0, model: str = ""
    ) -> Reply:
        """The gathered reply. ``prompt`` is what the estimate rests on where the server counted
        nothing.
        """
        calls = self.calls()
        usage = self.usage or Usage(
            estimate_tokens(prompt),
            estimate_tokens(self.text + self.reasoning + "".join(str(c.arguments) for c in calls)),
        )
        ended = finish or self.finish or "stop"
        return Reply(
            text=self.text,
            tool_calls=calls,
            usage=usage,
            finish_reason="tool_calls" if calls and ended == "stop" else ended,
            model=model or self.model,
            seconds=seconds,
            reasoning=self.reasoning.strip(),
            estimated=self.usage is None,
            first_token=self.first_token,
            logprobs=_drop_thought(self.tokens),
        )

    def calls(self) -> tuple[ToolCall, ...]:
        made = []
        for number, (_, call) in enumerate(sorted(self._calls.items()), 1):
            made.append(
                ToolCall(
                    call["id"] or f"call_{number}",
                    call["name"],
                    parse_object(call["arguments"]),
                )
            )
        return tuple(made)

    def _call(self, index: int, piece: Mapping[str, Any]) -> None:
        call = self._calls.setdefault(index, {"id": "", "name": "", "arguments": ""})
        function = piece.get("function") or {}
        call["id"] = call["id"] or str(piece.get("id") or "")
        call["name"] += str(function.get("name") or "")
        arguments = function.get("arguments")
        if isinstance(arguments, str):
            call["arguments"] += arguments
        elif arguments:
            call["arguments"] += json.dumps(arguments)

    def _count(self, chunk: Mapping[str, Any]) -> None:
        """Usage, or llama.cpp's timings, which come with every piece and so survive an early
        end.
        """
        usage, timings = chunk.get("usage"), chunk.get("timings")
        if isinstance(usage, Mapping):
            details = usage.get("prompt_tokens_details") or {}
            cached = details.get("cached_tokens") if isinstance(details, Mapping) else 0
            self.usage = Usage(
                _to_count(usage.get("prompt_tokens")),
                _to_count(usage.get("completion_tokens")),
                _to_count(cached),
            )
        elif isinstance(timings, Mapping):
            cached = _to_count(timings.get("cache_n"))
            self.usage = Usage(
                cached + _to_count(timings.get("prompt_n")),
                _to_count(timings.get("predicted_n")),
                cached,
            )

    def _split(self, piece: str) -> str:
        """The visible part of a piece of text; ``<think>`` counts only as the first thing said."""
        if self._state == "answer" or not piece:
            return piece
        self._held += piece
        if self._state == "start":
            start = self._held.lstrip()
            if _THINK.startswith(start[: len(_THINK)]) and len(start) < len(_THINK):
                return ""
            if not start.startswith(_THINK):
                return self._answer(self._held)
            self._state, self._held = "thinking", start[len(_THINK) :]
        thought, mark, rest = self._held.partition(_THOUGHT)
        if not mark:
            return ""
        self.reasoning += thought
        return self._answer(rest.lstrip())

    def _answer(self, text: str) -> str:
        self._state, self._held = "answer", ""
        return text


def _join_text_parts(content: Json) -> str:
    """Text, or the text parts of a list of parts."""
    if isinstance(content, list):
        return "".join(str(p.get("text") or "") for p in content if isinstance(p, Mapping))
    return content if isinstance(content, str) else ""


def _to_count(value: Json) -> int:
    return int(value) if isinstance(value, int | float) and value >= 0 else 0
