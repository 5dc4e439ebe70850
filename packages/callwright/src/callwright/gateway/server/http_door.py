"""The door over HTTP: MCP's streamable HTTP at ``/mcp`` for both eras, and the gateway's own
pages.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack, suppress
from typing import Any

from mcp.server.auth.middleware.auth_context import auth_context_var
from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.requests import ClientDisconnect

from callwright import __version__
from callwright.gateway.server.authorizer import Authorizer, Principal, Unauthorized
from callwright.gateway.server.caller import SESSION_HEADER, get_principal
from callwright.gateway.server.counters import GatewayCounters
from callwright.gateway.server.gateway import Gateway
from callwright.gateway.server.handlers import build_server
from callwright.gateway.server.page import SCRIPTS, Shown, render_front, render_page
from callwright.gateway.server.sessions import SESSION_SECONDS
from callwright.jsontext import write
from callwright.nouns.types import JsonObject
from callwright.serving.access import LOGIN, Access
from callwright.serving.own_pages import (
    HTML,
    JSON,
    LOGIN_BYTES,
    TEXT,
    Answer,
    Receive,
    Scope,
    Send,
    build_answer,
    build_login,
    build_safe_headers,
    read_login,
    send_answer,
)
from callwright.viewer.document import build_policy

PATH = "/mcp"
PAGES = "/callwright"
_OPEN = ("/health", "/healthz")
_INVALID_REQUEST = -32600  # JSON-RPC 2.0, 5.1
_MOST_SESSIONS = 10_000


class HttpDoor:
    """ASGI application in front of a gateway, which runs as long as its lifespan does."""

    def __init__(
        self,
        gateway: Gateway,
        access: Access,
        authorizer: Authorizer,
        counters: GatewayCounters,
        secrets: Sequence[str] = (),
    ) -> None:
        self._gateway, self._access, self._authorizer = gateway, access, authorizer
        self._counters, self._secrets = counters, secrets
        self._manager = StreamableHTTPSessionManager(
            build_server(gateway),
            session_idle_timeout=SESSION_SECONDS,
            max_sessions=_MOST_SESSIONS,
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._lifespan(receive, send)
        elif scope["type"] == "http":
            if scope["path"].rstrip("/") == PATH:
                await self._serve(scope, receive, send)
            else:
                await send_answer(send, *await self._show(scope, receive))

    async def _lifespan(self, receive: Receive, send: Send) -> None:
        message = await receive()
        assert message["type"] == "lifespan.startup"
        async with AsyncExitStack() as stack:
            await stack.enter_async_context(self._gateway.running())
            await stack.enter_async_context(self._manager.run())
            await send({"type": "lifespan.startup.complete"})
            await receive()
            self._gateway.sessions.close_listeners()
        await send({"type": "lifespan.shutdown.complete"})

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        verdict = await self._authorizer.authorize(scope)
        if isinstance(verdict, Unauthorized):
            headers = (("content-type", JSON), *verdict.headers)
            body = _build_error(verdict.message)
            return await send_answer(send, verdict.status, headers, body)
        user = _build_user(verdict) if verdict is not None else None
        given = {**scope, "user": user} if user is not None else scope
        token = auth_context_var.set(user)
        try:
            with suppress(ClientDisconnect):  # it left within its request: nobody waits
                await self._manager.handle_request(given, receive, send)
            session = self._gateway.sessions.find_channel(_get_header(scope, SESSION_HEADER))
            if scope["method"] == "DELETE" and session and session.principal == get_principal():
                await self._gateway.end_session(session.id)
        finally:
            auth_context_var.reset(token)
        return None

    # ------------------------------------------------------------ own pages

    async def _show(self, scope: Scope, receive: Receive) -> Answer:
        path = scope["path"].rstrip("/") or "/"
        if (page := self._authorizer.find_page(path)) is not None:
            return page
        refused = self._access.refusal({**scope, "path": _rename_open(path)}, own=True)
        if refused is not None:
            return self._refuse(scope, *refused)
        if path == LOGIN and scope["method"] == "POST" and self._access.key:
            wrong = f"this is not the gateway's key ({self._access.variable})"
            found = read_login(await _read_body(receive, LOGIN_BYTES), self._access, PAGES)
            return found or build_login(LOGIN, wrong, self._access)
        if scope["method"] not in ("GET", "HEAD"):
            return 405, (("content-type", JSON), ("allow", "GET, HEAD")), _build_error("read only")
        return self._find(scope, path)

    def _find(self, scope: Mapping[str, Any], path: str) -> Answer:
        match path:
            case "/":
                return build_answer(HTML, render_front(_get_header(scope, "host")).encode())
            case "/health" | "/healthz":
                return build_answer(JSON, write(self._describe()))
            case "/metrics":
                servers = self._gateway.describe_servers()
                sessions = self._gateway.sessions.count()
                text = self._counters.render(self._gateway.active, sessions, servers)
                return build_answer(TEXT, text.encode())
            case "/callwright":
                return self._render(scope)
            case "/callwright/servers.json":
                return build_answer(JSON, write(self._gateway.describe_servers()))
        said = f"the gateway has no page {path[:200]}; MCP clients use {PATH}"
        return 404, (("content-type", JSON),), _build_error(said)

    def _render(self, scope: Mapping[str, Any]) -> Answer:
        """The page, or 304 where the browser has it already (RFC 9110, 13.1.2)."""
        servers = self._gateway.describe_servers()
        states = ",".join(f"{one['state']}{one['tools']}" for one in servers)
        tag = f'"{self._counters.total}/{self._gateway.active}/{hash(states)}"'
        headers = (*build_safe_headers(build_policy(scripts=SCRIPTS, live=True)), ("etag", tag))
        if _get_header(scope, "if-none-match") == tag:
            return 304, headers, b""
        shown = Shown(
            self._counters,
            servers,
            self._gateway.active,
            time.time(),
            self._gateway.problems,
            self._secrets,
        )
        return 200, (("content-type", HTML), *headers), render_page(shown).encode()

    def _describe(self) -> JsonObject:
        """Return what ``/health`` says: nothing of any call, and no server by name."""
        states = [one["state"] for one in self._gateway.describe_servers()]
        return {
            "status": "ok",
            "version": __version__,
            "active": self._gateway.active,
            "servers": {state: states.count(state) for state in sorted(set(states))},
            **self._authorizer.describe(),
        }

    def _refuse(self, scope: Mapping[str, Any], status: int, message: str) -> Answer:
        if status == 401 and "text/html" in _get_header(scope, "accept"):
            return build_login(LOGIN, "", self._access)
        headers = (("www-authenticate", "Bearer"),) if status == 401 else ()
        return status, (("content-type", JSON), *headers), _build_error(message)


def _rename_open(path: str) -> str:
    """A page that says nothing of any call is served to everybody, as the proxy's is."""
    return "/healthz" if path in _OPEN else path


def _build_user(principal: Principal) -> AuthenticatedUser:
    """The SDK's user, by which it tells sessions apart; without the token."""
    claims = {"iss": principal.issuer} if principal.issuer else None
    return AuthenticatedUser(
        AccessToken(
            token="",
            client_id=principal.client,
            scopes=list(principal.scopes),
            subject=principal.subject or None,
            claims=claims,
        )
    )


def _build_error(message: str) -> bytes:
    """A JSON-RPC error without an id, as MCP has it for a request that cannot be served."""
    return write(
        {"jsonrpc": "2.0", "id": None, "error": {"code": _INVALID_REQUEST, "message": message}}
    )


def _get_header(scope: Mapping[str, Any], name: str) -> str:
    wanted = name.encode()
    return next((v.decode("latin-1") for k, v in scope["headers"] if k == wanted), "")


async def _read_body(receive: Receive, most: int) -> bytes:
    """The beginning of a request body."""
    parts, size = [], 0
    while size <= most:
        message = await receive()
        parts.append(message.get("body", b""))
        size += len(parts[-1])
        if not message.get("more_body"):
            break
    return b"".join(parts)
