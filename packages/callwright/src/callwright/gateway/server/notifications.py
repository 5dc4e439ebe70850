"""Hands on what servers say by themselves, to the clients that it concerns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from callwright.gateway.server.link import McpLink

if TYPE_CHECKING:
    from callwright.gateway.server.gateway import Gateway


async def take_notification(gateway: Gateway, link: McpLink, notification: Any) -> None:
    """Hand a notification on. That a list has changed is told to clients when it is known what has
    changed: the server is asked first.
    """
    upstream = gateway.upstreams.get(link.server.name)
    if upstream is None:
        return
    match notification.method:
        case "notifications/tools/list_changed":
            link.changes.note("tools", lambda: upstream.refresh(link))
        case "notifications/prompts/list_changed":
            link.changes.note("prompts", lambda: upstream.list_kind("prompts", link))
        case "notifications/resources/list_changed":
            link.changes.note("resources", lambda: upstream.list_kind("resources", link))
            link.changes.note("templates", lambda: upstream.list_kind("templates", link))
        case "notifications/resources/updated":
            await gateway.sessions.announce_update(link.key, str(notification.params.uri))
        case "notifications/message":
            if not link.is_busy:
                await gateway.sessions.broadcast_log(link.key, notification)
        case "notifications/elicitation/complete":
            await gateway.sessions.broadcast(link.key, notification)
