"""Drives a session like a script: what comes in, what goes out."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from callwright.proxy.apis.adapters import FRONTS, Front
from callwright.proxy.server.outbound import CHAT
from callwright.proxy.session.context import Toolsets
from callwright.proxy.session.events import (
    CloseUpstream,
    Command,
    Event,
    Faulted,
    Finish,
    Log,
    Probe,
    Probed,
    Request,
    SendBody,
    SendHead,
    SendUpstream,
    UpstreamData,
    UpstreamEnd,
    UpstreamHead,
)
from callwright.proxy.session.session import Session
from callwright.proxy.session.settings import Settings

WEATHER = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "The weather in a city.",
        "parameters": {
            "type": "object",
            "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
            "required": ["city"],
        },
    },
}
SEND = {
    "type": "function",
    "function": {
        "name": "send_mail",
        "description": "Sends a mail.",
        "parameters": {
            "type": "object",
            "properties": {"to": {"type": "string"}, "text": {"type": "string"}},
            "required": ["to", "text"],
        },
    },
}
_TOOLSETS = Toolsets()
USER = {"role": "user", "content": "What is the weather in Paris?"}
SSE = {"content-type": "text/event-stream"}
JSON = {"content-type": "application/json"}


def body(stream: bool = True, **more: Any) -> dict[str, Any]:
    """A chat request that offers two tools."""
    return {"model": "m", "messages": [USER], "tools": [WEATHER, SEND], "stream": stream, **more}


def call(name: str, arguments: Any, called: str = "c1") -> dict[str, Any]:
    text = arguments if isinstance(arguments, str) else json.dumps(arguments)
    return {"id": called, "type": "function", "function": {"name": name, "arguments": text}}


def chunk(delta: dict[str, Any], finish: str | None = None, **more: Any) -> bytes:
    """One event as a server writes it: with spaces, so that anything written again would differ."""
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    made = {
        "id": "x1",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": "m",
        "choices": [choice],
        **more,
    }
    return b"data: " + json.dumps(made, ensure_ascii=False).encode() + b"\n\n"


def text_stream(*pieces: str, finish: str = "stop", done: bool = True) -> bytes:
    events = [chunk({"role": "assistant", "content": ""})]
    events += [chunk({"content": p}) for p in pieces]
    events.append(chunk({}, finish))
    return b"".join(events) + (b"data: [DONE]\n\n" if done else b"")


def native_stream(*calls: tuple[str, str, str], finish: str = "tool_calls", cut: int = 7) -> bytes:
    """(id, name, arguments) calls, their arguments in pieces."""
    events = [chunk({"role": "assistant", "content": None})]
    for index, (called, name, arguments) in enumerate(calls):
        head = {
            "index": index,
            "id": called,
            "type": "function",
            "function": {"name": name, "arguments": ""},
        }
        events.append(chunk({"tool_calls": [head]}))
        for at in range(0, len(arguments), cut):
            piece = {"index": index, "function": {"arguments": arguments[at : at + cut]}}
            events.append(chunk({"tool_calls": [piece]}))
    events.append(chunk({}, finish))
    return b"".join(events) + b"data: [DONE]\n\n"


def whole(content: str | None, calls: Sequence[dict[str, Any]] = (), finish: str = "stop") -> bytes:
    message: dict[str, Any] = {"role": "assistant", "content": content}
    if calls:
        message["tool_calls"] = list(calls)
    choice = {"index": 0, "message": message, "finish_reason": finish}
    usage = {"prompt_tokens": 5, "completion_tokens": 7, "total_tokens": 12}
    made = {
        "id": "x1",
        "object": "chat.completion",
        "created": 1,
        "model": "m",
        "choices": [choice],
        "usage": usage,
    }
    return json.dumps(made, ensure_ascii=False).encode()


class Playbook:
    """One session. ``out`` is all that the client was sent, ``asked`` what went upstream."""

    def __init__(
        self,
        settings: Settings | None = None,
        *,
        path: str = CHAT,
        toolsets: Toolsets = _TOOLSETS,
        fronts: Mapping[str, Front] = FRONTS,
        is_trusted: bool = False,
    ) -> None:
        self.is_trusted = is_trusted  # what is on record of the model's writes
        self.settings = settings or Settings(guided="off")
        self.session = Session(self.settings, toolsets, "t1", fronts=fronts)
        self.path = path
        self.now = 100.0
        self.out = b""
        self.head: SendHead | None = None
        self.asked: list[SendUpstream] = []
        self.probes: list[Probe] = []
        self.closed = 0
        self.finished: Finish | None = None
        self.logs: list[Log] = []
        self.faults: list[Faulted] = []

    def tell(self, event: Event) -> list[Command]:
        commands = self.session.handle(event, self.now)
        if any(isinstance(c, Probe) and not c.asks for c in commands):  # nothing is on record
            return self.tell(Probed(native=False, schema=False, is_trusted=self.is_trusted))
        for command in commands:
            match command:
                case SendBody(data):
                    assert self.head is not None
                    assert self.finished is None
                    assert data
                    self.out += data
                case SendHead():
                    assert self.head is None
                    self.head = command
                case SendUpstream():
                    self.asked.append(command)
                case Probe():
                    self.probes.append(command)
                case CloseUpstream():
                    self.closed += 1
                case Finish():
                    self.finished = command
                case Log():
                    self.logs.append(command)
                case Faulted():
                    self.faults.append(command)
        return commands

    def ask(self, value: Any, headers: Iterable[tuple[str, str]] = ()) -> Playbook:
        raw = value if isinstance(value, bytes) else json.dumps(value).encode()
        self.tell(Request("POST", self.path, "", tuple(headers), raw))
        return self

    def answer(
        self,
        data: bytes,
        headers: dict[str, str] | None = None,
        status: int = 200,
        cut: int | None = None,
    ) -> Playbook:
        """An upstream answer, cut in two at ``cut``, or into bytes for 0."""
        self.tell(UpstreamHead(status, SSE if headers is None else headers))
        before = self.closed
        for piece in cut_at(data, cut):
            self.tell(UpstreamData(piece))
            if self.closed > before:
                return self
        self.tell(UpstreamEnd())
        return self

    @property
    def message(self) -> dict[str, Any]:
        """What a client makes of the stream."""
        return assembled(self.out)

    @property
    def record(self) -> Any:
        return self.session.record


def cut_at(data: bytes, cut: int | None) -> list[bytes]:
    if cut is None:
        return [data]
    if cut == 0:
        return [data[i : i + 1] for i in range(len(data))]
    return [p for p in (data[:cut], data[cut:]) if p]


def events(data: bytes) -> list[Any]:
    """The JSON values of a stream, strictly read; ``[DONE]`` is left out."""
    found = []
    for block in data.decode().split("\n\n"):
        if block.startswith("data: ") and block != "data: [DONE]":
            found.append(json.loads(block[6:]))
        else:
            assert not block or block[0] == ":" or block == "data: [DONE]", block
    return found


def assembled(data: bytes) -> dict[str, Any]:
    """The message that the deltas make up, with every rule of the format asserted."""
    text, reasoning, finish = "", "", None
    calls: list[dict[str, str]] = []
    for event in events(data):
        for choice in event.get("choices", ()):
            delta = choice["delta"]
            text += delta.get("content") or ""
            reasoning += delta.get("reasoning_content") or ""
            for piece in delta.get("tool_calls") or ():
                assert piece["index"] <= len(calls), "indices count up from 0"
                if piece["index"] == len(calls):
                    assert piece["id"]
                    assert piece["type"] == "function"
                    calls.append(
                        {"id": piece["id"], "name": piece["function"]["name"], "arguments": ""}
                    )
                else:
                    assert piece.get("id") in (None, calls[piece["index"]]["id"])
                calls[piece["index"]]["arguments"] += piece["function"].get("arguments") or ""
            assert finish is None or choice["finish_reason"] is None
            finish = finish or choice["finish_reason"]
    assert len({c["id"] for c in calls}) == len(calls)
    return {"text": text, "reasoning": reasoning, "calls": calls, "finish": finish}
