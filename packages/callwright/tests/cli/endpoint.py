"""A minimal OpenAI-compatible endpoint on loopback: a real peer for the command line."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@contextmanager
def endpoint(replies: Sequence[str]) -> Iterator[str]:
    """Serves ``replies`` in order to whatever asks with a JSON schema or messages; yields the base
    URL.
    """
    left = list(replies)

    def reply(asked: str) -> str:
        probe = "callwright" not in json.dumps(json.loads(asked)) and not left
        return "{}" if probe else left.pop(0) if left else "{}"

    with replying(reply) as url:
        yield url


@contextmanager
def replying(content: Callable[[str], str]) -> Iterator[str]:
    """``content`` gets each request's body and returns what the assistant says; yields the base
    URL.
    """

    def choose(asked: str) -> dict[str, Any]:
        message = {"role": "assistant", "content": content(asked)}
        return {"index": 0, "message": message, "finish_reason": "stop"}

    with choosing(choose) as url:
        yield url


@contextmanager
def choosing(choose: Callable[[str], dict[str, Any]]) -> Iterator[str]:
    """The same with the whole choice: its probabilities, or another reason for its end."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked = self.rfile.read(int(self.headers["Content-Length"])).decode()
            usage = {"prompt_tokens": 10, "completion_tokens": 5}
            self._send({"choices": [choose(asked)], "usage": usage, "model": "m"})

        def do_GET(self) -> None:
            self._send({"data": [{"id": "m"}]})

        def _send(self, value: Any) -> None:
            body = json.dumps(value).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *args: Any) -> None:
            pass

    with served(Handler) as url:
        yield url


@contextmanager
def served(handler: type[BaseHTTPRequestHandler]) -> Iterator[str]:
    """A server on a free port of loopback for the length of the block; yields the base URL."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@contextmanager
def keyed(replies: Sequence[str], keys: list[str]) -> Iterator[str]:
    """As :func:`endpoint`; ``keys`` is given the Authorization of every question."""
    left = list(replies)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            keys.append(self.headers.get("Authorization", ""))
            message = {"role": "assistant", "content": left.pop(0) if left else "{}"}
            choice = {"index": 0, "message": message, "finish_reason": "stop"}
            body = json.dumps({"choices": [choice], "model": "m"}).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *args: Any) -> None:
            pass

    with served(Handler) as url:
        yield url
