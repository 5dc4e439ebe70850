"""Who asks: one request of a client, its capabilities, and the way back to it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from callwright.nouns.types import JsonObject, to_canonical_json

if TYPE_CHECKING:
    from mcp.server.context import ServerRequestContext

SESSION_HEADER = "mcp-session-id"
_RESERVED = "io.modelcontextprotocol/"
LOG_LEVEL = "io.modelcontextprotocol/logLevel"
_ASKABLE = ("elicitation", "roots", "sampling")  # what lets a server ask a client


@dataclass(frozen=True, slots=True)
class ConnectionKey:
    """Whose connection to a server it is. Calls of different keys never share one: ``principal`` is
    the authenticated user ("" where there is none), ``session`` the client's session where a server
    may ask that session something, ``capabilities`` what the client can answer, as JSON.
    """

    principal: str = ""
    session: str = ""
    capabilities: str = "{}"


class Caller:
    """One request of a client, as the SDK's context has it."""

    def __init__(self, ctx: ServerRequestContext[Any, Any]) -> None:
        from mcp_types.version import MODERN_PROTOCOL_VERSIONS

        self._ctx = ctx
        self.version: str = ctx.protocol_version
        self.is_modern = self.version in MODERN_PROTOCOL_VERSIONS
        self.principal = get_principal()
        self.session = "" if self.is_modern else _get_session(ctx)

    @property
    def session_channel(self) -> Any:
        """The SDK's session, by which the client is told and asked."""
        return self._ctx.session

    @cached_property
    def capabilities(self) -> JsonObject:
        """Return what the client has declared, JSON-ready."""
        said = self._ctx.session.client_capabilities
        return said.model_dump(by_alias=True, mode="json", exclude_none=True) if said else {}

    @cached_property
    def declared(self) -> JsonObject:
        """The part of the client's capabilities that servers are told: what lets them ask, and the
        extensions of a client of 2026-07-28.
        """
        told = (*_ASKABLE, "extensions") if self.is_modern else _ASKABLE
        return {name: self.capabilities[name] for name in told if name in self.capabilities}

    @cached_property
    def key(self) -> ConnectionKey:
        """The connections that this client's calls go over."""
        may_be_asked = any(name in self.declared for name in _ASKABLE)
        return ConnectionKey(
            self.principal, self.session if may_be_asked else "", to_canonical_json(self.declared)
        )

    @property
    def budget_key(self) -> str:
        """Who spends a budget: the user, or the session of one who is not known."""
        return self.principal or self.session

    def can(self, capability: str) -> bool:
        """Return True if the client has declared a capability."""
        return capability in self.capabilities

    @property
    def wants_progress(self) -> bool:
        """Return True if the client asked for progress of this request."""
        return bool(self._ctx.meta and "progress_token" in self._ctx.meta)

    async def report_progress(
        self, progress: float, total: float | None, message: str | None
    ) -> None:
        """Tell the client of the progress of this request."""
        await self._ctx.session.report_progress(progress, total, message)

    @property
    def forwarded_meta(self) -> JsonObject:
        """The part of the request's ``_meta`` that goes on to the server: what belongs to the request, and
        not to the connection.
        """
        meta: Mapping[str, Any] = self._ctx.meta or {}
        return {
            key: value
            for key, value in meta.items()
            if key not in ("progress_token", "progressToken")
            and (key == LOG_LEVEL or not key.startswith(_RESERVED))
        }

    @property
    def log_levels(self) -> Collection[str]:
        """The levels of log messages that may be sent about this request."""
        from mcp.server.connection import allowed_log_levels

        return allowed_log_levels(self.version, self._ctx.meta)

    @property
    def request_id(self) -> Any:
        """The id of the request, for what is sent beside its answer."""
        return self._ctx.request_id

    async def notify(self, notification: Any) -> None:
        """Send a notification that belongs to this request."""
        await self._ctx.session.send_notification(notification, self._ctx.request_id)

    async def ask(self, request: Any, result_type: Any) -> Any:
        """Send a request to the client and return its typed result: over the response of this
        request where it has one. Raises the SDK's errors.
        """
        from mcp.shared.message import ServerMessageMetadata

        related = ServerMessageMetadata(related_request_id=self._ctx.request_id)
        return await self._ctx.session.send_request(request, result_type, metadata=related)


def get_principal() -> str:
    """The authenticated user of the present request; "" where nobody had to log in."""
    from mcp.server.auth.middleware.auth_context import get_access_token
    from mcp.server.auth.provider import principal_components

    token = get_access_token()
    return to_canonical_json(list(principal_components(token))) if token is not None else ""


def _get_session(ctx: ServerRequestContext[Any, Any]) -> str:
    """The session of a client of the older protocol; over stdio there is one."""
    headers = getattr(ctx.request, "headers", None)
    return str(headers.get(SESSION_HEADER, "")) if headers is not None else "stdio"
