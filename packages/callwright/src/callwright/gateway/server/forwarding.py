"""Everything beside tools: prompts, resources, completion, subscriptions, log levels and roots, handed
on to the server that they belong to.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from typing import TYPE_CHECKING

from callwright.gateway.server.caller import Caller
from callwright.gateway.server.conversation import Conversation
from callwright.gateway.session.commands import (
    Dispatch,
    Failed,
    Rejected,
    Told,
)
from callwright.gateway.session.exchange import Unanswered, exchange_rounds
from callwright.gateway.session.profile import CAPABILITY, Kind
from callwright.gateway.session.round_state import read_round_state
from callwright.gateway.session.routes import Routes, build_routes
from callwright.gateway.session.tasks import name_tasks, split_task
from callwright.nouns.errors import Failure
from callwright.nouns.types import JsonObject

if TYPE_CHECKING:
    from callwright.gateway.server.gateway import Gateway

_LOG = logging.getLogger("callwright.gateway")
INVALID_PARAMS = -32602  # JSON-RPC 2.0, 5.1
INTERNAL_ERROR = -32603
RESOURCE_NOT_FOUND = -32002  # MCP 2025-11-25, server/resources
_REFRESH_SECONDS = 5.0


class Forwarding:
    """The part of a gateway that is not about calls of tools."""

    def __init__(self, gateway: Gateway) -> None:
        self._gateway = gateway
        self._told: Sequence[str] = ()

    def get_routes(self, caller: Caller) -> Routes:
        """Return what all servers offer a client's user, as far as it is known."""
        upstreams = self._gateway.upstreams.values()
        known = [(one.entry.policy, one.get_profile(caller.principal)) for one in upstreams]
        found = [(policy, profile) for policy, profile in known if profile is not None]
        routes = build_routes(found)
        for said in routes.problems:
            if said not in self._told:
                _LOG.warning("%s", said)
        self._told = routes.problems
        return routes

    async def list_kind(self, caller: Caller, kind: Kind) -> list[JsonObject]:
        """The ``prompts``, ``resources`` or ``templates`` of all servers. Those that are connected
        are asked, of the others stands what is known.
        """
        await self._gateway.discover(caller)
        async with asyncio.TaskGroup() as group:
            for upstream in self._gateway.upstreams.values():
                link = upstream.find_link(caller.key)
                if link is not None and link.has(CAPABILITY[kind]):
                    group.create_task(upstream.refresh_kind(kind, link, _REFRESH_SECONDS))
        routes = self.get_routes(caller)
        return {
            "prompts": routes.list_prompts,
            "resources": routes.list_resources,
            "templates": routes.list_templates,
        }[kind]()

    async def get_prompt(
        self, caller: Caller, params: JsonObject, state: str | None
    ) -> JsonObject | Rejected:
        """Answer ``prompts/get``."""
        name = str(params.get("name"))
        found = await self._find_prompt(caller, name)
        if found is None:
            return Rejected(INVALID_PARAMS, f"there is no prompt {name[:80]!r}: list them")
        server, own = found
        return await self._exchange(caller, server, "prompts/get", {**params, "name": own}, state)

    async def read_resource(
        self, caller: Caller, params: JsonObject, state: str | None
    ) -> JsonObject | Rejected:
        """Answer ``resources/read``."""
        uri = str(params.get("uri"))
        server = await self.find_resource(caller, uri)
        if not server:
            return self._refuse_resource(caller, uri)
        return await self._exchange(caller, server, "resources/read", params, state)

    async def complete(self, caller: Caller, params: JsonObject) -> JsonObject | Rejected:
        """Answer ``completion/complete``. A server that does not complete has nothing to say."""
        ref = params.get("ref") or {}
        server, own = "", ref
        if ref.get("type") == "ref/prompt":
            found = await self._find_prompt(caller, str(ref.get("name")))
            if found is not None:
                server, own = found[0], {**ref, "name": found[1]}
        else:
            server = await self.find_resource(caller, str(ref.get("uri")))
        if not server:
            return Rejected(INVALID_PARAMS, "nobody offers what is to be completed: list it first")
        profile = self._gateway.upstreams[server].get_profile(caller.principal)
        if profile is not None and "completions" not in profile.capabilities:
            return {"completion": {"values": [], "hasMore": False}}
        sent = {**params, "ref": own}
        return await self._exchange(caller, server, "completion/complete", sent, None)

    async def ask_task(
        self, caller: Caller, method: str, params: JsonObject
    ) -> JsonObject | Rejected:
        """Answer ``tasks/get`` and its like: the server that has the task does."""
        server, own = split_task(str(params.get("taskId")), list(self._gateway.upstreams))
        if not server:
            return Rejected(INVALID_PARAMS, f"there is no task {params.get('taskId')!r}")
        told = await self._exchange(caller, server, method, {**params, "taskId": own}, None)
        return told if isinstance(told, Rejected) else name_tasks(server, told)

    async def watch(self, caller: Caller, uris: Sequence[str]) -> Rejected | None:
        """Have the servers say when these resources change; the reason where one cannot."""
        for uri in uris:
            server = await self.find_resource(caller, uri)
            if not server:
                return self._refuse_resource(caller, uri)
            upstream = self._gateway.upstreams[server]
            link = await upstream.connect(
                caller.key, caller.declared, upstream.entry.policy.seconds
            )
            if isinstance(link, Failure):
                return Rejected(INTERNAL_ERROR, link.message)
            told = await link.watch(uri)
            if isinstance(told, Rejected):
                return told
            if isinstance(told, Failed):
                return Rejected(INTERNAL_ERROR, told.failure.message)
        return None

    async def unwatch(self, caller: Caller, uri: str) -> None:
        """Nobody of a connection watches a resource any more."""
        if self._gateway.sessions.is_watched(caller.key, uri):
            return
        for upstream in self._gateway.upstreams.values():
            link = upstream.find_link(caller.key)
            if link is not None:
                await link.unwatch(uri)

    async def set_level(self, caller: Caller) -> None:
        """Tell the servers of a session which logs it wants."""
        level = self._gateway.sessions.get_level(caller.key)
        for upstream in self._gateway.upstreams.values():
            link = upstream.find_link(caller.key)
            if link is not None:
                await link.set_level(level)

    async def announce_roots(self, caller: Caller) -> None:
        """Tell the servers of a session that its roots have changed."""
        for upstream in self._gateway.upstreams.values():
            link = upstream.find_link(caller.key)
            if link is not None and caller.key.session:
                await link.announce_roots()

    async def find_resource(self, caller: Caller, uri: str) -> str:
        """The server that has a resource; "" where there is none."""
        server = self.get_routes(caller).find_server(uri) or self._gateway.links.find_server(uri)
        if not server:
            await self._gateway.discover(caller)
            server = self.get_routes(caller).find_server(uri)
        return server

    async def _find_prompt(self, caller: Caller, name: str) -> tuple[str, str] | None:
        """The server of a prompt, and its own name for it."""
        found = self.get_routes(caller).prompts.get(name)
        if found is None:
            await self._gateway.discover(caller)
            found = self.get_routes(caller).prompts.get(name)
        return (found[0], found[1]["name"]) if found is not None else None

    def _refuse_resource(self, caller: Caller, uri: str) -> Rejected:
        code = INVALID_PARAMS if caller.is_modern else RESOURCE_NOT_FOUND
        return Rejected(code, f"no server is known to have {uri[:200]!r}", {"uri": uri})

    async def _exchange(
        self, caller: Caller, server: str, method: str, params: JsonObject, state: str | None
    ) -> JsonObject | Rejected:
        resumed = read_round_state(state)
        responses = params.get("inputResponses") or {}
        sent = {k: v for k, v in params.items() if k in _SENT.get(method, params) and k != "_meta"}
        seconds = self._gateway.upstreams[server].entry.policy.seconds
        is_resumed = resumed.server is not None
        first = Dispatch(
            server,
            method,
            sent,
            seconds,
            may_repeat=method in _SENT or method == "tasks/get",
            responses=responses if is_resumed else None,
            state=resumed.server or None,  # a server may ask without a state of its own
        )
        conversation = Conversation(self._gateway, caller, resumed, responses)
        told = await conversation.lead(exchange_rounds(first))
        return told if isinstance(told, dict) else _read_told(told)


_SENT = {
    "prompts/get": ("name", "arguments"),
    "resources/read": ("uri",),
    "completion/complete": ("ref", "argument", "context"),
}


def _read_told(told: Told | Unanswered) -> JsonObject | Rejected:
    if isinstance(told, Rejected):
        return told
    if isinstance(told, Failed):
        return Rejected(INTERNAL_ERROR, told.failure.message)
    if isinstance(told, Unanswered):
        return Rejected(INTERNAL_ERROR, told.reason)
    return told.result
