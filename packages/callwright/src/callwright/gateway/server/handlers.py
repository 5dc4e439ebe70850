"""The gateway as a server of the SDK: one handler for each method, of both eras of the protocol."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from contextvars import ContextVar
from dataclasses import replace
from typing import Any

import mcp_types as types
from mcp import MCPError
from mcp.server.caching import CacheHint
from mcp.server.lowlevel.server import NotificationOptions, Server
from mcp.server.request_state import RequestStateBoundary, RequestStateSecurity
from pydantic import ConfigDict

from callwright import __version__
from callwright.gateway.server.caller import Caller
from callwright.gateway.server.gateway import Gateway
from callwright.gateway.server.sessions import LEVELS
from callwright.gateway.session.commands import Rejected
from callwright.gateway.session.eras import adapt_result, adapt_tool
from callwright.gateway.session.profile import Kind
from callwright.gateway.session.tasks import METHODS, TASKS
from callwright.jsontext.surrogates import join_surrogates
from callwright.nouns.types import JsonObject, to_canonical_json

NAME = "callwright-gateway"
PAGE = 500  # entries of a list that are sent at once
_LISTED_MS = 30_000  # how long a client may keep a list
_STATE_SECONDS = 600.0
_LISTS = (
    "tools/list",
    "prompts/list",
    "resources/list",
    "resources/templates/list",
    "server/discover",
)
_AS_SENT: ContextVar[str | None] = ContextVar("callwright_gateway_arguments", default=None)
"""The arguments of a call that are no object, which the SDK would refuse before anybody could
repair them.
"""


class AnyParams(types.RequestParams):
    """Parameters of a method of an extension, as they came."""

    model_config = ConfigDict(extra="allow")


class GatewayServer(Server[Any]):
    """The SDK's low-level server; what it tells clients at the beginning is the gateway's."""

    gateway: Gateway

    def get_capabilities(self, *given: Any, **named: Any) -> Any:
        made = super().get_capabilities(*given, **named)
        return made.model_copy(
            update={"extensions": {TASKS: {}} if self.gateway.has_tasks else None}
        )

    def create_initialization_options(self, *given: Any, **named: Any) -> Any:
        if not given and not named:
            given = (NotificationOptions(True, True, True),)
        made = super().create_initialization_options(*given, **named)
        return made.model_copy(update={"instructions": self.gateway.describe() or None})


def build_server(gateway: Gateway) -> GatewayServer:
    """The server that answers for a gateway."""
    handlers = _Handlers(gateway)
    hint = CacheHint(ttl_ms=_LISTED_MS, scope="private")
    server = GatewayServer(
        NAME,
        version=__version__,
        title="Callwright gateway",
        get_tool_input_schema=gateway.get_input_schema,
        on_list_tools=handlers.list_tools,
        on_call_tool=handlers.call_tool,
        on_list_prompts=handlers.list_prompts,
        on_get_prompt=handlers.get_prompt,
        on_list_resources=handlers.list_resources,
        on_list_resource_templates=handlers.list_templates,
        on_read_resource=handlers.read_resource,
        on_subscribe_resource=handlers.subscribe,
        on_unsubscribe_resource=handlers.unsubscribe,
        on_subscriptions_listen=handlers.listen,
        on_completion=handlers.complete,
        cache_hints=dict.fromkeys(_LISTS, hint),  # type: ignore[arg-type]
    )
    server.gateway = gateway
    server.middleware.clear()  # the SDK's traces: a tenth of what a call costs; their context passes
    # not by the constructor: there the SDK warns of what 2026-07-28 has deprecated
    server.add_request_handler("logging/setLevel", types.SetLevelRequestParams, handlers.set_level)
    server.add_request_handler("server/discover", types.RequestParams, handlers.discover)
    server.add_notification_handler(
        "notifications/initialized", types.NotificationParams, handlers.meet
    )
    server.add_notification_handler(
        "notifications/roots/list_changed", types.NotificationParams, handlers.change_roots
    )
    for method in METHODS:
        server.add_request_handler(method, AnyParams, handlers.ask_task)
    handlers.server = server
    server.middleware += [set_arguments_aside, replace_lone_surrogates]
    security = RequestStateSecurity.ephemeral(ttl=_STATE_SECONDS)
    server.middleware.append(RequestStateBoundary(security, default_audience=NAME))
    return server


async def set_arguments_aside(ctx: Any, call_next: Any) -> Any:
    """Middleware: arguments that are no object reach the repair."""
    params = ctx.params
    if ctx.method != "tools/call" or not isinstance(params, Mapping):
        return await call_next(ctx)
    given = params.get("arguments")
    if given is None or isinstance(given, Mapping):
        return await call_next(ctx)
    token = _AS_SENT.set(given if isinstance(given, str) else to_canonical_json(given))
    try:
        return await call_next(replace(ctx, params={**params, "arguments": {}}))
    finally:
        _AS_SENT.reset(token)


async def replace_lone_surrogates(ctx: Any, call_next: Any) -> Any:
    """Middleware: a result holds no lone surrogate, which no door can send. A Python tool
    may return one, or have one in its description.
    """
    return join_surrogates(await call_next(ctx))[0]


class _Handlers:
    """One method each."""

    server: GatewayServer

    def __init__(self, gateway: Gateway) -> None:
        self._gateway = gateway

    def _meet(self, ctx: Any) -> Caller:
        caller = Caller(ctx)
        self._gateway.sessions.note(caller)
        return caller

    async def meet(self, ctx: Any, params: Any) -> None:
        """A client of the older protocol is there."""
        del params
        self._meet(ctx)

    async def discover(self, ctx: Any, params: Any) -> Any:
        del params
        return types.DiscoverResult(
            supported_versions=list(types.version.MODERN_PROTOCOL_VERSIONS),
            capabilities=self.server.get_capabilities(protocol_version=ctx.protocol_version),
            instructions=self._gateway.describe() or None,
        )

    async def list_tools(self, ctx: Any, params: Any) -> Any:
        caller = self._meet(ctx)
        listed = await self._gateway.list_tools(caller)
        page, following = take_page(listed, params)
        tools = [adapt_tool(one, caller.is_modern) for one in page]
        return adapt_result({"tools": tools, **following}, caller.is_modern)

    async def call_tool(self, ctx: Any, params: types.CallToolRequestParams) -> Any:
        caller = self._meet(ctx)
        as_sent = _AS_SENT.get()
        end = await self._gateway.call_tool(
            caller,
            params.name,
            params.arguments if as_sent is None else as_sent,
            responses=_dump_responses(params),
            state=params.request_state,
        )
        return _build_answer(end if isinstance(end, dict) else end.answer, caller)

    async def list_prompts(self, ctx: Any, params: Any) -> Any:
        return await self._list(ctx, params, "prompts", "prompts")

    async def list_resources(self, ctx: Any, params: Any) -> Any:
        return await self._list(ctx, params, "resources", "resources")

    async def list_templates(self, ctx: Any, params: Any) -> Any:
        return await self._list(ctx, params, "templates", "resourceTemplates")

    async def _list(self, ctx: Any, params: Any, kind: Kind, field: str) -> Any:
        caller = self._meet(ctx)
        page, following = take_page(await self._gateway.forwarding.list_kind(caller, kind), params)
        return adapt_result({field: [*page], **following}, caller.is_modern)

    async def get_prompt(self, ctx: Any, params: types.GetPromptRequestParams) -> Any:
        caller = self._meet(ctx)
        forwarding = self._gateway.forwarding
        return _build_answer(
            await forwarding.get_prompt(caller, _dump_model(params), params.request_state), caller
        )

    async def read_resource(self, ctx: Any, params: types.ReadResourceRequestParams) -> Any:
        caller = self._meet(ctx)
        forwarding = self._gateway.forwarding
        return _build_answer(
            await forwarding.read_resource(caller, _dump_model(params), params.request_state),
            caller,
        )

    async def complete(self, ctx: Any, params: types.CompleteRequestParams) -> Any:
        caller = self._meet(ctx)
        return _build_answer(
            await self._gateway.forwarding.complete(caller, _dump_model(params)), caller
        )

    async def ask_task(self, ctx: Any, params: AnyParams) -> Any:
        caller = self._meet(ctx)
        forwarding = self._gateway.forwarding
        return _build_answer(
            await forwarding.ask_task(caller, ctx.method, _dump_model(params)), caller
        )

    async def subscribe(self, ctx: Any, params: types.SubscribeRequestParams) -> Any:
        caller = self._meet(ctx)
        session = self._gateway.sessions.note(caller)
        refused = await self._gateway.forwarding.watch(caller, [params.uri])
        if refused is not None:
            return _build_answer(refused, caller)
        if session is not None:
            session.uris.add(params.uri)
        return types.EmptyResult()

    async def unsubscribe(self, ctx: Any, params: types.UnsubscribeRequestParams) -> Any:
        caller = self._meet(ctx)
        session = self._gateway.sessions.note(caller)
        if session is not None:
            session.uris.discard(params.uri)
        await self._gateway.forwarding.unwatch(caller, params.uri)
        return types.EmptyResult()

    async def listen(self, ctx: Any, params: types.SubscriptionsListenRequestParams) -> Any:
        caller = self._meet(ctx)
        uris = params.notifications.resource_subscriptions or ()
        refused = await self._gateway.forwarding.watch(caller, uris)
        if refused is not None:
            return _build_answer(refused, caller)
        return await self._gateway.sessions.listen(ctx, params, caller.principal)

    async def set_level(self, ctx: Any, params: types.SetLevelRequestParams) -> Any:
        caller = self._meet(ctx)
        session = self._gateway.sessions.note(caller)
        if session is not None and params.level in LEVELS:
            session.level = params.level
            await self._gateway.forwarding.set_level(caller)
        return types.EmptyResult()

    async def change_roots(self, ctx: Any, params: Any) -> None:
        del params
        await self._gateway.forwarding.announce_roots(self._meet(ctx))


def _dump_model(params: Any) -> JsonObject:
    told: JsonObject = params.model_dump(by_alias=True, mode="json", exclude_none=True)
    return told


def _dump_responses(params: types.CallToolRequestParams) -> dict[str, JsonObject]:
    return {key: _dump_model(answer) for key, answer in (params.input_responses or {}).items()}


def _build_answer(answer: JsonObject | Rejected, caller: Caller) -> JsonObject:
    if isinstance(answer, Rejected):
        raise MCPError(answer.code, answer.message, answer.data)
    return adapt_result(answer, caller.is_modern)


def take_page(
    entries: Sequence[JsonObject], params: Any
) -> tuple[Sequence[JsonObject], JsonObject]:
    """The entries of one page, and the cursor of the next. Raises the SDK's error for a cursor that
    is none of ours.
    """
    cursor = params.cursor if params is not None else None
    start = _read_cursor(cursor) if cursor else 0
    end = start + PAGE
    following = {"nextCursor": _write_cursor(end)} if end < len(entries) else {}
    return entries[start:end], following


def _write_cursor(place: int) -> str:
    return base64.urlsafe_b64encode(f"callwright:{place}".encode()).decode()


def _read_cursor(cursor: str) -> int:
    try:
        mark, _, place = base64.urlsafe_b64decode(cursor.encode()).decode().partition(":")
        if mark == "callwright" and place.isdecimal():
            return int(place)
    except ValueError:
        pass
    said = "the cursor is none of this gateway's: list from the beginning"
    raise MCPError(types.INVALID_PARAMS, said)
