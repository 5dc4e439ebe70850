"""Stands in front of the HTTP door: serves the resource's metadata, and lets in only requests with a
token for this resource. Behind it the token is gone, and only whose request it is remains.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any, TypeAlias

from callwright.gateway.oauth.grant import Grant, Refused, TokenVerifier, invalid_token
from callwright.gateway.oauth.resource import OAuthResource
from callwright.jsontext import write

Scope: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send: TypeAlias = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App: TypeAlias = Callable[[Scope, Receive, Send], Awaitable[None]]

_STATUS = {"invalid_token": 401, "insufficient_scope": 403, "invalid_request": 400}


class OAuthGuard:
    """An ASGI application around another one. ``protected``: the paths that need a token begin with
    it; others are the inner application's own affair.
    """

    def __init__(
        self, app: App, resource: OAuthResource, verifier: TokenVerifier, protected: str = "/mcp"
    ) -> None:
        from mcp.server.auth.middleware.auth_context import AuthContextMiddleware

        self._app = app
        self._known = AuthContextMiddleware(app)  # whose request it is, for the SDK and for us
        self._resource, self._verifier, self._protected = resource, verifier, protected

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return await self._app(scope, receive, send)
        if scope["path"] == self._resource.metadata_path:
            return await self._send_metadata(scope, send)
        if not _is_below(scope["path"], self._protected):
            return await self._app(scope, receive, send)
        token = _read_token(scope)
        if token is None:
            return await self._refuse(send, 401, Refused("", "a bearer token is needed"))
        verdict = await self._verifier.verify(token) if token else _UNREADABLE
        if isinstance(verdict, Refused):
            return await self._refuse(send, _STATUS.get(verdict.error, 503), verdict)
        await self._known(_with_grant(scope, verdict), receive, send)

    async def _send_metadata(self, scope: Scope, send: Send) -> None:
        """The document is public: pages of other sites may read it (CORS)."""
        headers = [
            (b"access-control-allow-origin", b"*"),
            (b"access-control-allow-headers", b"mcp-protocol-version"),
            (b"cache-control", b"public, max-age=3600"),
        ]
        if scope["method"] == "OPTIONS":
            return await _send(send, 204, b"", headers)
        if scope["method"] != "GET":
            return await _send(send, 405, b"", [(b"allow", b"GET, OPTIONS")])
        await _send(send, 200, write(self._resource.describe()), headers)

    async def _refuse(self, send: Send, status: int, refused: Refused) -> None:
        said = {"error": refused.error or "unauthorized", "error_description": refused.reason}
        if status == 503:
            said["error"] = "temporarily_unavailable"
            return await _send(send, status, write(said), [(b"retry-after", b"5")])
        reason = refused.reason if refused.error else ""
        challenge = self._resource.challenge(refused.error, reason)
        await _send(send, status, write(said), [(b"www-authenticate", challenge.encode("ascii"))])


_UNREADABLE = invalid_token("the header is not 'Authorization: Bearer TOKEN'")


def _is_below(path: str, root: str) -> bool:
    return path == root or path.startswith(f"{root}/")


def _read_token(scope: Scope) -> str | None:
    """The token; None where the request has no credentials, "" where they are no bearer token."""
    found = [value for name, value in scope["headers"] if name.lower() == b"authorization"]
    if not found:
        return None
    scheme, _, token = found[0].decode("latin-1").strip().partition(" ")
    return token.strip() if len(found) == 1 and scheme.lower() == "bearer" else ""


def _with_grant(scope: Scope, grant: Grant) -> Scope:
    """The request without its token, of a known user. The SDK binds sessions to that user."""
    from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
    from mcp.server.auth.provider import AccessToken
    from starlette.authentication import AuthCredentials

    known = AccessToken(
        token="",
        client_id=grant.client or grant.subject,
        scopes=sorted(grant.scopes),
        expires_at=int(grant.expires),
        subject=grant.subject or None,
        claims={"iss": grant.issuer},
    )
    kept = [(name, value) for name, value in scope["headers"] if name.lower() != b"authorization"]
    auth, user = AuthCredentials(known.scopes), AuthenticatedUser(known)
    return {**scope, "headers": kept, "auth": auth, "user": user}


async def _send(send: Send, status: int, body: bytes, headers: list[tuple[bytes, bytes]]) -> None:
    told = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(body)).encode()),
        *headers,
    ]
    await send({"type": "http.response.start", "status": status, "headers": told})
    await send({"type": "http.response.body", "body": body})
