"""The clients that can be told something: sessions of the older protocol, and the listeners of
2026-07-28. What one user's server says never reaches another user.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, get_args

from callwright.gateway.server.answers import read_result_type
from callwright.gateway.server.caller import LOG_LEVEL, Caller, ConnectionKey
from callwright.gateway.server.link import build_error
from callwright.nouns.types import JsonObject

if TYPE_CHECKING:
    from mcp.server.subscriptions import ListenHandler

SESSION_SECONDS = 1_800.0  # without a request, after which a session counts as ended
ASK_SECONDS = 600.0
Level = Literal["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"]
LEVELS: tuple[Level, ...] = get_args(Level)
_LISTS = ("tools", "prompts", "resources")


@dataclass(eq=False)
class Session:
    """A session of a client of the older protocol. ``channel`` is the SDK's, ``level`` the least
    that it wants to hear of logs ("": nothing said, so all); ``uris`` are the resources that it
    watches.
    """

    id: str
    principal: str
    channel: Any
    level: str = ""
    uris: set[str] = field(default_factory=set)
    used: float = 0.0

    def wants(self, level: str) -> bool:
        """Return True if the session wants to hear a log message of this level."""
        least = LEVELS.index(self.level) if self.level in LEVELS else 0
        return level not in LEVELS or LEVELS.index(level) >= least

    async def notify(self, notification: Any, related: Any = None) -> bool:
        """Send a notification; False where the client is gone."""
        import anyio

        try:
            await self.channel.send_notification(notification, related)
        except (anyio.BrokenResourceError, anyio.ClosedResourceError):
            return False
        return True

    async def ask(self, request: Any) -> Any:
        """The client's answer to a request that belongs to none of its own."""
        from mcp import MCPError

        try:
            return await self.channel.send_request(
                request, read_result_type(request.method), request_read_timeout_seconds=ASK_SECONDS
            )
        except MCPError as error:
            return build_error(error.message)


class Sessions:
    """All clients that are known."""

    def __init__(self) -> None:
        self._sessions: dict[str, Session] = {}
        self._listeners: dict[str, tuple[Any, ListenHandler]] = {}

    def note(self, caller: Caller) -> Session | None:
        """Remember that a client of the older protocol is there; None for another."""
        if caller.is_modern:
            return None
        session = self._sessions.get(caller.session)
        if session is None or session.principal != caller.principal:
            session = Session(caller.session, caller.principal, caller.session_channel)
            self._sessions[caller.session] = session
        session.used = asyncio.get_running_loop().time()
        return session

    def find_channel(self, session: str) -> Session | None:
        """The session of this id."""
        return self._sessions.get(session)

    def forget(self, session: str) -> None:
        """A session has ended."""
        self._sessions.pop(session, None)

    def list_ended(self, now: float) -> list[str]:
        """The sessions that made no request for long; the one of stdio ends with the process."""
        return [
            one.id
            for one in self._sessions.values()
            if one.id != "stdio" and now - one.used > SESSION_SECONDS
        ]

    def count(self) -> int:
        """Return the number of sessions."""
        return len(self._sessions)

    def is_watched(self, key: ConnectionKey, uri: str) -> bool:
        """Return True if a session of a connection watches a resource."""
        return any(uri in session.uris for session in self._list_of(key))

    def get_level(self, key: ConnectionKey) -> str:
        """The least level of logs that a session of a connection wants; "" where none has said."""
        said = [LEVELS.index(one.level) for one in self._list_of(key) if one.level in LEVELS]
        return LEVELS[min(said)] if said else ""

    def _list_of(self, key: ConnectionKey) -> list[Session]:
        return [
            one
            for one in self._sessions.values()
            if key.session in ("", one.id) and key.principal == one.principal
        ]

    async def listen(self, ctx: Any, params: Any, principal: str) -> Any:
        """Serve ``subscriptions/listen`` for a user, until the client leaves."""
        from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler

        if principal not in self._listeners:
            bus = InMemorySubscriptionBus()
            self._listeners[principal] = bus, ListenHandler(bus)
        return await self._listeners[principal][1](ctx, params)

    def close_listeners(self) -> None:
        """End every stream of ``subscriptions/listen``."""
        for _, handler in self._listeners.values():
            handler.close()

    async def announce(self, what: str) -> None:
        """Tell all clients that a list has changed: ``tools``, ``prompts`` or ``resources``."""
        if what not in _LISTS:
            return
        notification, event = _build_change(what)
        for session in list(self._sessions.values()):
            await session.notify(notification)
        for bus, _ in list(self._listeners.values()):
            await bus.publish(event)

    async def announce_update(self, key: ConnectionKey, uri: str) -> None:
        """Tell the clients of a connection that watch a resource that it has changed."""
        from mcp.server.subscriptions import ResourceUpdated
        from mcp_types import ResourceUpdatedNotification, ResourceUpdatedNotificationParams

        notification = ResourceUpdatedNotification(
            params=ResourceUpdatedNotificationParams(uri=uri)
        )
        await self._tell(key, notification, lambda session: uri in session.uris)
        if key.principal in self._listeners:
            await self._listeners[key.principal][0].publish(ResourceUpdated(uri=uri))

    def add_log_level(self, caller: Caller, meta: JsonObject) -> JsonObject:
        """The ``_meta`` of a request with the level that its session has set, for servers of
        2026-07-28.
        """
        session = self._sessions.get(caller.session)
        if caller.is_modern or session is None or not session.level:
            return meta
        return {**meta, LOG_LEVEL: session.level}

    async def send_log(self, caller: Caller, params: Any, related: Any) -> None:
        """Hand a log message on to the client whose request it belongs to."""
        from mcp_types import LoggingMessageNotification

        session = self._sessions.get(caller.session)
        if caller.is_modern or session is None:
            if params.level in caller.log_levels:
                await caller.notify(LoggingMessageNotification(params=params))
        elif session.wants(params.level):
            await session.notify(LoggingMessageNotification(params=params), related)

    async def broadcast_log(self, key: ConnectionKey, notification: Any) -> None:
        """Hand a log message that belongs to no request on to the sessions of a connection."""
        await self._tell(
            key, notification, lambda session: session.wants(notification.params.level)
        )

    async def broadcast(self, key: ConnectionKey, notification: Any) -> None:
        """Hand a notification on to the sessions of a connection."""
        await self._tell(key, notification, lambda _: True)

    async def _tell(
        self, key: ConnectionKey, notification: Any, is_meant: Callable[[Session], bool]
    ) -> None:
        for session in self._list_of(key):
            if is_meant(session) and not await session.notify(notification):
                self.forget(session.id)


def _build_change(what: str) -> tuple[Any, Any]:
    """The notification and the event that say that a list has changed."""
    import mcp_types as types
    from mcp.server import subscriptions

    return {
        "tools": (types.ToolListChangedNotification(), subscriptions.ToolsListChanged()),
        "prompts": (types.PromptListChangedNotification(), subscriptions.PromptsListChanged()),
        "resources": (
            types.ResourceListChangedNotification(),
            subscriptions.ResourcesListChanged(),
        ),
    }[what]
