"""OpenAI-compatible upstreams on loopback: a scripted one, and one that passes on and counts.

One task runs at a time, so what an upstream counts between two tasks belongs to one of them.
"""

from __future__ import annotations

import http.client
import socket
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Protocol
from urllib.parse import urlsplit

from callwright.jsontext import JsonError, parse, write
from callwright.nouns.types import JsonObject
from callwright_lab.benchmarks.agents.scripted import ScriptedReply, Style, reply_to
from callwright_lab.benchmarks.agents.tasks import Task

_CHARACTERS = 4  # of a token, where a script answers
_SECONDS = 900.0
_HOP = frozenset({"host", "connection", "content-length", "transfer-encoding", "accept-encoding"})


@dataclass
class Meter:
    """The cost of one task upstream. ``unknown``: replies that stated no usage."""

    questions: int = 0
    prompt: int = 0
    completion: int = 0
    unknown: int = 0

    def add_usage(self, usage: object) -> None:
        """Count a reply with the usage that it states."""
        self.questions += 1
        if isinstance(usage, dict) and isinstance(usage.get("prompt_tokens"), int):
            self.prompt += usage["prompt_tokens"]
            self.completion += usage.get("completion_tokens") or 0
        else:
            self.unknown += 1


class Upstream(Protocol):
    """An endpoint for the loops. ``begin`` is called before each task."""

    url: str
    meter: Meter

    def begin(self, task: Task) -> None:
        """Start to count for a task."""

    def answer(self, handler: Handler, body: bytes) -> None:
        """Answer a request; ``body`` is empty for GET."""


class Handler(BaseHTTPRequestHandler):
    """Reads a request and hands it to the upstream."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # else a body waits 40 ms for the acknowledgement of its head
    server: _Server

    def do_POST(self) -> None:
        """Hand a request on."""
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        self.server.upstream.answer(self, body)

    def do_GET(self) -> None:
        """Hand a request on that has no body."""
        self.server.upstream.answer(self, b"")

    def send_document(self, document: JsonObject, status: int = 200) -> None:
        """Send a JSON document."""
        self.send_body(write(document), "application/json", status)

    def send_body(self, body: bytes, kind: str, status: int = 200) -> None:
        """Send a whole body."""
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def send_chunks(self, pieces: Iterable[bytes], kind: str, status: int = 200) -> None:
        """Send a body piece by piece, as the pieces come."""
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        for piece in pieces:
            if piece:
                self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
        self.wfile.write(b"0\r\n\r\n")

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing of a request."""


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    upstream: Upstream

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that hung up is no fault."""


@contextmanager
def serve_upstream(upstream: Upstream) -> Iterator[str]:
    """Serve on a free port of loopback while the block runs; its base URL."""
    server = _Server(("127.0.0.1", 0), Handler)
    server.upstream = upstream
    upstream.url = f"http://127.0.0.1:{server.server_address[1]}/v1"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield upstream.url
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@dataclass
class ScriptedUpstream:
    """Answers as a scripted model does the task that runs."""

    style: Style
    url: str = ""
    meter: Meter = field(default_factory=Meter)
    task: Task | None = None

    def begin(self, task: Task) -> None:
        """Start to count, and to act, for a task."""
        self.task, self.meter = task, Meter()

    def answer(self, handler: Handler, body: bytes) -> None:
        """Answer with the scripted reply, streamed if the request asks for that; GET is answered
        with the one model that there is.
        """
        if handler.command == "GET":
            rows = [{"id": "scripted", "object": "model", "created": 0, "owned_by": "bench"}]
            return handler.send_document({"object": "list", "data": rows})
        try:
            asked = parse(body)
        except JsonError as error:
            return handler.send_document({"error": {"message": str(error)}}, 400)
        if self.task is None or not isinstance(asked, dict):
            return handler.send_document({"error": {"message": "no task is running"}}, 400)
        reply = reply_to(self.task, self.style, asked)
        document = _build_completion(reply, len(body))
        self.meter.add_usage(document["usage"])
        if not asked.get("stream"):
            return handler.send_document(document)
        has_usage = bool((asked.get("stream_options") or {}).get("include_usage"))
        handler.send_chunks(_iter_events(document, has_usage), "text/event-stream")


def _build_completion(reply: ScriptedReply, asked: int) -> JsonObject:
    message: JsonObject = {"role": "assistant", "content": reply.text or None}
    if reply.calls:
        message["tool_calls"] = [
            {
                "id": f"call_{asked}_{place}",
                "type": "function",
                "function": {"name": c.tool, "arguments": write(c.arguments).decode()},
            }
            for place, c in enumerate(reply.calls)
        ]
    prompt, completion = -(-asked // _CHARACTERS), -(-len(write(message)) // _CHARACTERS)
    usage = {
        "prompt_tokens": prompt,
        "completion_tokens": completion,
        "total_tokens": prompt + completion,
    }
    end = "tool_calls" if reply.calls else "stop"
    return {
        "id": f"chatcmpl-{asked}",
        "object": "chat.completion",
        "created": 0,
        "model": "scripted",
        "choices": [{"index": 0, "message": message, "finish_reason": end}],
        "usage": usage,
    }


def _iter_events(document: JsonObject, has_usage: bool) -> Iterator[bytes]:
    """The server-sent events of a completion: its calls, its words by halves, its end."""
    choice = document["choices"][0]
    message = choice["message"]
    text = message["content"] or ""
    deltas: list[JsonObject] = [{"role": "assistant", "content": ""}]
    deltas += [{"content": part} for part in (text[: len(text) // 2], text[len(text) // 2 :])]
    calls = message.get("tool_calls", ())
    deltas += [{"tool_calls": [{"index": n, **call}]} for n, call in enumerate(calls)]
    head = {**document, "object": "chat.completion.chunk"}
    del head["usage"]
    for delta in deltas:
        yield _write_event(
            {**head, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]}
        )
    end = {"index": 0, "delta": {}, "finish_reason": choice["finish_reason"]}
    yield _write_event({**head, "choices": [end]})
    if has_usage:
        yield _write_event({**head, "choices": [], "usage": document["usage"]})
    yield b"data: [DONE]\n\n"


def _write_event(chunk: JsonObject) -> bytes:
    return b"data: " + write(chunk) + b"\n\n"


@dataclass
class RelayUpstream:
    """Passes every request on to another endpoint and counts what its replies cost. ``key``:
    sent in place of the client's own. What an ended loop still waits for is given up with the next
    task: an endpoint of one slot would answer nobody else before it.
    """

    target: str
    key: str = ""
    url: str = ""
    meter: Meter = field(default_factory=Meter)
    _open: set[http.client.HTTPConnection] = field(default_factory=set, init=False)

    def begin(self, task: Task) -> None:  # noqa: ARG002 - the model knows no task
        """Start to count for a task."""
        self.meter = Meter()
        for connection in [*self._open]:
            if connection.sock is not None:
                with suppress(OSError):
                    connection.sock.shutdown(socket.SHUT_RDWR)

    def answer(self, handler: Handler, body: bytes) -> None:
        """Pass a request on and its reply back, a stream as it comes."""
        parts = urlsplit(self.target)
        secure = parts.scheme == "https"
        kind = http.client.HTTPSConnection if secure else http.client.HTTPConnection
        connection = kind(parts.netloc, timeout=_SECONDS)
        headers = {k: v for k, v in handler.headers.items() if k.lower() not in _HOP}
        if self.key:
            headers = {k: v for k, v in headers.items() if k.lower() != "authorization"}
            headers["Authorization"] = f"Bearer {self.key}"
        path = parts.path.rstrip("/") + handler.path.removeprefix("/v1")
        self._open.add(connection)
        try:
            connection.request(handler.command, path, body or None, headers)
            self._pass_back(handler, connection.getresponse())
        except OSError as error:
            handler.send_document({"error": {"message": f"upstream: {error}"}}, 502)
        finally:
            self._open.discard(connection)
            connection.close()

    def _pass_back(self, handler: Handler, response: http.client.HTTPResponse) -> None:
        kind = response.headers.get("content-type", "application/json")
        if "event-stream" not in kind:
            body = response.read()
            if handler.command == "POST":
                self.meter.add_usage(_read_usage(body))
            return handler.send_body(body, kind, response.status)
        usage: list[object] = [None]

        def iter_lines() -> Iterator[bytes]:
            for line in response:
                usage[0] = _read_usage(line.removeprefix(b"data:")) or usage[0]
                yield line

        handler.send_chunks(iter_lines(), kind, response.status)
        self.meter.add_usage(usage[0])


def _read_usage(text: bytes) -> object:
    try:
        found = parse(text)
    except JsonError:
        return None
    return found.get("usage") if isinstance(found, dict) else None
