"""The gateway as a server of the SDK: one handler for each method, of both eras of the protocol."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import Any

from mcp import MCPError
from mcp.server.caching import CacheHint
from mcp.server.lowlevel.server import NotificationOptions, Server
from mcp.server.request_state import RequestStateBoundary, RequestStateSecurity
from mcp_types import (
    INVALID_PARAMS,
    CallToolRequestParams,
    PaginatedRequestParams,
)

from callwright import __version__
from callwright.gateway.server.caller import Caller
from callwright.gateway.server.gateway import Gateway
from callwright.gateway.session.commands import Rejected
from callwright.gateway.session.eras import adapt_result, adapt_tool
from callwright.nouns.types import JsonObject

NAME = "callwright-gateway"
PAGE = 500  # entries of a list that are sent at once
_LISTED_MS = 30_000  # how long a client may keep a list
_STATE_SECONDS = 600.0


def build_server(gateway: Gateway) -> Server[Any]:
    """The low-level server of the SDK that answers for a gateway."""
    handlers = _Handlers(gateway)
    hint = CacheHint(ttl_ms=_LISTED_MS, scope="private")
    server: Server[Any] = Server(
        NAME,
        version=__version__,
        title="Callwright gateway",
        on_list_tools=handlers.list_tools,
        on_call_tool=handlers.call_tool,
        cache_hints={"tools/list": hint},
    )
    security = RequestStateSecurity.ephemeral(ttl=_STATE_SECONDS)
    server.middleware.append(RequestStateBoundary(security, default_audience=NAME))
    return server


def build_options(server: Server[Any]) -> Any:
    """What a client of the older protocol is told at its ``initialize``."""
    return server.create_initialization_options(
        NotificationOptions(prompts_changed=True, resources_changed=True, tools_changed=True)
    )


class _Handlers:
    """One method each."""

    def __init__(self, gateway: Gateway) -> None:
        self._gateway = gateway

    def _meet(self, ctx: Any) -> Caller:
        caller = Caller(ctx)
        self._gateway.sessions.note(caller)
        return caller

    async def list_tools(self, ctx: Any, params: PaginatedRequestParams | None) -> Any:
        caller = self._meet(ctx)
        listed = await self._gateway.list_tools(caller)
        page, following = take_page([*listed], params)
        tools = [adapt_tool(one, caller.is_modern) for one in page]
        return adapt_result({"tools": tools, **following}, caller.is_modern)

    async def call_tool(self, ctx: Any, params: CallToolRequestParams) -> Any:
        caller = self._meet(ctx)
        responses = {
            key: answer.model_dump(by_alias=True, mode="json", exclude_none=True)
            for key, answer in (params.input_responses or {}).items()
        }
        end = await self._gateway.call_tool(
            caller,
            params.name,
            params.arguments,
            responses=responses,
            state=params.request_state,
        )
        if isinstance(end, dict):
            return end
        return _answer(end.answer, caller)


def _answer(answer: JsonObject | Rejected, caller: Caller) -> JsonObject:
    if isinstance(answer, Rejected):
        raise MCPError(answer.code, answer.message, answer.data)
    return adapt_result(answer, caller.is_modern)


def take_page(
    entries: Sequence[JsonObject], params: PaginatedRequestParams | None
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
    raise MCPError(INVALID_PARAMS, "the cursor is none of this gateway's: list from the beginning")
