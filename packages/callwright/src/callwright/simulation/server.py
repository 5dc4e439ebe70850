"""Tools served over HTTP, so that any agent can call them: an ASGI application over whatever
answers the calls.

Paths: ``GET /openapi.json`` (what ``callwright run --tools URL`` reads), ``GET /tools`` (an
OpenAI-style list), ``POST /tools/<name>`` with the arguments as JSON, and what other packages
register (:mod:`callwright.simulation.routes`).
"""

from __future__ import annotations

import hmac
from collections.abc import Awaitable, Callable, Mapping, MutableMapping, Sequence
from typing import Any
from urllib.parse import unquote

from callwright.jsontext import JsonError, parse, write
from callwright.nouns.errors import Failure, FailureKind
from callwright.nouns.types import Tool, ToolCall
from callwright.simulation.routes import Answer, Route, registered_routes
from callwright.tools.lists.tools import tool_to_openai
from callwright.tools.openapi.export import PREFIX, openapi_of
from callwright.tools.openapi.response import SIMULATED_HEADER

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]

LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
MAX_BODY = 1_000_000  # bytes of a request
_STATUS: dict[FailureKind, int] = {
    "tool_error": 400,
    "error_payload": 400,
    "crashed": 500,
    "auth": 401,
    "empty": 404,
    "rate_limit": 429,
    "not_executable": 501,
    "unavailable": 503,
    "timeout": 504,
}
_OTHER_FAILURES = 502


class TooLong(ValueError):
    """A request of more than MAX_BODY bytes."""


class ToolServer:
    """ASGI application. ``answer`` carries a call out, or makes its reply up; it does not raise for
    the world.

    ``key``: what clients must send (``authorization: Bearer`` or ``x-api-key``). Without one only
    requests to a loopback name are served, so that no web page can reach the tools by a name of its
    own. ``routes``: requests beside its own, by path (default: the registered ones).
    """

    def __init__(
        self,
        tools: Sequence[Tool],
        answer: Answer,
        *,
        title: str = "callwright simulate",
        key: str = "",
        routes: Mapping[str, Route] | None = None,
    ) -> None:
        self._tools = {tool.name: tool for tool in tools}
        self._answer = answer
        self._key = key.encode()
        self._routes = registered_routes() if routes is None else routes
        self._pages = {
            "/openapi.json": write(openapi_of(tools, title=title)),
            "/tools": write([tool_to_openai(tool) for tool in tools]),
            "/healthz": write({"status": "ok", "tools": len(self._tools)}),
        }

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await _run_lifespan(receive, send)
        elif scope["type"] == "http":
            await _send_response(send, *await self._respond(scope, receive))

    async def _respond(self, scope: Scope, receive: Receive) -> tuple[int, bytes, str]:
        path, method = scope["path"], scope["method"]
        if refused := self._refusal(dict(scope["headers"])):
            return _build_error(*refused)
        if path in self._pages and method in ("GET", "HEAD"):
            return 200, self._pages[path], ""
        route = self._routes.get(path)
        if method != "POST" or not (route or path.startswith(PREFIX)):
            return _build_error(404, f"there is no {method} {path}: see /openapi.json")
        try:
            body = await _read_body(receive)
        except TooLong:
            return _build_error(413, f"a request has at most {MAX_BODY} bytes")
        if route is not None:
            return await self._registered(route, body)
        return await self._called(unquote(path[len(PREFIX) :]), body)

    def _refusal(self, headers: Mapping[bytes, bytes]) -> tuple[int, str] | None:
        if not self._key:
            host = headers.get(b"host", b"").decode("latin-1")
            name = (
                host.partition("]")[0].removeprefix("[")
                if host.startswith("[")
                else host.partition(":")[0]
            )
            return (
                None
                if name in LOOPBACK
                else (403, "without a key the tools are served under localhost only")
            )
        sent = (
            headers.get(b"authorization", b"").removeprefix(b"Bearer ").strip(),
            headers.get(b"x-api-key", b""),
        )
        fits = any(hmac.compare_digest(key, self._key) for key in sent)
        return None if fits else (401, "this server wants its key, as a bearer token or x-api-key")

    async def _called(self, name: str, body: bytes) -> tuple[int, bytes, str]:
        tool = self._tools.get(name)
        if tool is None:
            return _build_error(404, f"there is no tool {name!r}")
        output = await self._answer(tool, ToolCall("", name, body.decode("utf-8", "replace")))
        if output.failure is not None:
            told = {
                "message": output.failure.message,
                "kind": output.failure.kind,
                "detail": output.failure.detail,
            }
            return _choose_status(output.failure), write({"error": told}), output.simulated
        return 200, write(output.content), output.simulated

    async def _registered(self, route: Route, body: bytes) -> tuple[int, bytes, str]:
        try:
            asked = parse(body)
        except JsonError as error:
            return _build_error(422, f"the request is not JSON: {error}")
        status, answer, simulated = await route.respond(asked, self._tools, self._answer)
        return status, write(answer), simulated


def _choose_status(failure: Failure) -> int:
    own = failure.status
    return (
        own if own is not None and 400 <= own <= 599 else _STATUS.get(failure.kind, _OTHER_FAILURES)
    )


def _build_error(status: int, said: str) -> tuple[int, bytes, str]:
    return status, write({"error": {"message": said}}), ""


async def _read_body(receive: Receive) -> bytes:
    parts: list[bytes] = []
    size = 0
    while True:
        message = await receive()
        part = message.get("body", b"")
        size += len(part)
        if size > MAX_BODY:
            raise TooLong
        parts.append(part)
        if not message.get("more_body"):
            return b"".join(parts)


async def _send_response(send: Send, status: int, body: bytes, simulated: str) -> None:
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    if simulated:
        headers.append((SIMULATED_HEADER.encode(), simulated.encode()))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


async def _run_lifespan(receive: Receive, send: Send) -> None:
    while True:
        message = await receive()
        kind = message["type"].removeprefix("lifespan.")
        await send({"type": f"lifespan.{kind}.complete"})
        if kind == "shutdown":
            return
