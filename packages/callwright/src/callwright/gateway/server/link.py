"""One connection to a server, for the clients of one key. What a server asks goes to the client of
the call that it belongs to, and to nobody else.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Protocol, TypeAlias

from callwright import __version__
from callwright.gateway.server.caller import ConnectionKey
from callwright.gateway.server.changed_lists import ChangedLists
from callwright.gateway.server.notice_limit import NoticeLimit
from callwright.gateway.session.commands import Failed, Rejected, Returned, Told
from callwright.gateway.session.profile import Kind
from callwright.gateway.session.tasks import CANCEL, METHODS, RESULT
from callwright.jsontext.surrogates import join_surrogates
from callwright.nouns.errors import CatalogError, Failure
from callwright.nouns.redaction import redact_secrets, select_redactable
from callwright.nouns.types import JsonObject
from callwright.tools.mcp.connection import Answering, list_tools
from callwright.tools.mcp.held import HeldClient
from callwright.tools.mcp.lost import is_cut, is_not_sent
from callwright.tools.mcp.pages import MAX_PAGES
from callwright.tools.mcp.results import (
    CONNECTION_CLOSED,
    UNREADABLE,
    explain_malformed,
    failure_of,
    is_session_over,
    read_code,
)
from callwright.tools.servers import Server

Progress: TypeAlias = Callable[[float, float | None, str | None], Awaitable[None]]
AskBack: TypeAlias = Callable[[Any], Awaitable[Any]]
"""Given a request of a server, as the SDK's model, returns the client's answer, or ErrorData."""

FLIGHT: ContextVar[Flight | None] = ContextVar("callwright_gateway_flight", default=None)
"""The request on whose behalf something is sent to a server. What comes back in the same HTTP
response is handled in the same context.
"""
_LOST_OVER_HTTP = "SSE stream "  # how the SDK begins its own errors about one lost answer
_BARE_STATUS = (
    "Server returned an error response"  # the SDK's, for a status without a JSON-RPC error
)
_SERVER_INFO = "io.modelcontextprotocol/serverInfo"
_MOST_LISTED = 10_000
_METHODS: Mapping[Kind, str] = {
    "prompts": "prompts/list",
    "resources": "resources/list",
    "templates": "resources/templates/list",
}
_FIELDS: Mapping[Kind, str] = {
    "prompts": "prompts",
    "resources": "resources",
    "templates": "resourceTemplates",
}


@dataclass(eq=False, slots=True)
class Flight:
    """A request under way to a server. ``ask`` reaches its client; ``log`` is given what the server
    logs about it. ``status``: of the HTTP error that came in place of an answer.
    """

    ask: AskBack
    log: Callable[[Any], Awaitable[None]] | None = None
    status: int | None = None


class LinkListener(Protocol):
    """Who is told what a server says by itself."""

    async def take_notification(self, link: McpLink, notification: Any) -> None: ...

    async def ask_owner(self, key: ConnectionKey, request: Any) -> Any:
        """Ask the client of a session, where no request of it is under way."""
        ...


class LoginNeeded(CatalogError):
    """A server refuses the user for whom it was asked; others may be let in."""


class Logins(Protocol):
    """Protocol of the users' logins at servers."""

    def find_auth(self, server: Server, principal: str) -> Any | None:
        """Return the ``httpx2.Auth`` for what is sent to a server on behalf of a principal, and of
        nobody else; None where there is no login.
        """
        ...


class NoLogins:
    """Nobody logs in: servers are sent what the configuration says."""

    def find_auth(self, server: Server, principal: str) -> Any | None:
        del server, principal
        return None


class Link(Protocol):
    """Protocol of a connection: to an MCP server, or to tools of another kind."""

    key: ConnectionKey
    auth: Any  # of the user of ``key``; None: the server lets everybody in with the same rights
    used: float  # the loop's time when it was used last
    listing: asyncio.Lock  # held while the tools are listed once more

    @property
    def retries(self) -> bool:
        """Return True if it makes a call again itself, where that may be done."""
        ...

    @property
    def problems(self) -> Sequence[str]:
        """Return what of its list was left out, and why."""
        ...

    @property
    def is_open(self) -> bool: ...

    @property
    def is_busy(self) -> bool: ...

    @property
    def is_outdated(self) -> bool: ...

    @property
    def is_modern(self) -> bool: ...

    def has(self, capability: str) -> bool: ...

    async def open(self) -> Sequence[JsonObject]: ...

    async def list_again(self) -> Sequence[JsonObject]: ...

    async def list_all(self, kind: Kind) -> list[JsonObject]: ...

    async def send(
        self, method: str, params: JsonObject, flight: Flight, progress: Progress | None = None
    ) -> Told: ...

    @property
    def instructions(self) -> str: ...

    async def watch(self, uri: str) -> Told: ...

    async def unwatch(self, uri: str) -> None: ...

    async def set_level(self, level: str) -> None: ...

    async def announce_roots(self) -> None: ...

    def cancel_task(self, task: str) -> None: ...

    async def close(self) -> None: ...


@dataclass(eq=False)
class McpLink:
    """A connection to an MCP server of either era, over stdio or HTTP."""

    server: Server
    key: ConnectionKey
    listener: LinkListener
    group: asyncio.TaskGroup
    capabilities: Mapping[str, Any] = field(default_factory=dict)  # the client's
    auth: Any = None  # of the user of ``key``
    used: float = 0.0
    listing: asyncio.Lock = field(default_factory=asyncio.Lock)

    def __post_init__(self) -> None:
        self._flights: set[Flight] = set()
        self._watched: set[str] = set()
        self.changes = ChangedLists(self.group)
        self._listening: asyncio.Task[None] | None = None
        self._notices = NoticeLimit()
        self._held = HeldClient(
            self.server,
            answering=self._answer(),
            is_dropped=self._notices.is_dropped,
            group=self.group,
            refused=self._note_status,
            auth=self.auth,
        )
        self._secrets = select_redactable(self.server.secrets)

    @property
    def is_open(self) -> bool:
        return self._held.client is not None

    @property
    def is_busy(self) -> bool:
        return bool(self._flights)

    @property
    def is_outdated(self) -> bool:
        return self._held.pages.is_outdated

    @property
    def is_modern(self) -> bool:
        """Return True if the server speaks 2026-07-28."""
        client = self._held.client
        return client is not None and client.session.discover_result is not None

    @property
    def retries(self) -> bool:
        return False

    @property
    def problems(self) -> Sequence[str]:
        return self._held.pages.problems

    def has(self, capability: str) -> bool:
        """Return True if the server has declared a capability, or an extension of this name."""
        client = self._held.client
        said = client.session.server_capabilities if client is not None else None
        if "/" in capability:
            return capability in (getattr(said, "extensions", None) or {})
        return getattr(said, capability, None) is not None

    async def open(self) -> Sequence[JsonObject]:
        """Connect and list the tools. Raises CatalogError, LoginNeeded."""
        try:
            listed = await self._held.start()
        except CatalogError as error:
            if self._held.status != 401:
                raise
            need = f"callwright gateway login {self.server.name}"
            raise LoginNeeded(f"{error.message}; log in with: {need}", hint=error.hint) from None
        if any(self._changing().values()):
            self._listen()
        return listed

    async def list_again(self) -> Sequence[JsonObject]:
        """List the tools once more. Raises CatalogError."""
        client = self._held.client
        if client is None:
            return await self.open()
        self._held.pages.is_outdated = False
        try:
            async with asyncio.timeout(self.server.seconds):
                return await list_tools(client)
        except Exception as error:
            self._held.pages.is_outdated = True
            said = (
                f"MCP server {self.server.name!r} does not list its tools: {type(error).__name__}"
            )
            raise CatalogError(said) from None

    async def list_all(self, kind: Kind) -> list[JsonObject]:
        """Every page of ``prompts``, ``resources`` or ``templates``; what a server lists before it
        fails.
        """
        found: list[JsonObject] = []
        cursor: str | None = None
        seen: set[str] = set()
        for _ in range(MAX_PAGES):
            params = {"cursor": cursor} if cursor is not None else {}
            told = await self.send(_METHODS[kind], params, Flight(refuse_ask))
            if not isinstance(told, Returned):
                break
            listed = told.result.get(_FIELDS[kind])
            found += [one for one in listed or () if isinstance(one, dict)]
            cursor = told.result.get("nextCursor")
            if not cursor or cursor in seen or len(found) > _MOST_LISTED:
                break
            seen.add(cursor)
        return found[:_MOST_LISTED]

    async def send(
        self, method: str, params: JsonObject, flight: Flight, progress: Progress | None = None
    ) -> Told:
        """Send a request, once. Never raises for the world; secrets that the server echoes are
        taken out.
        """
        client = self._held.client
        if client is None:
            said = f"the connection to the server {self.server.name!r} is closed"
            return Failed(Failure("unavailable", said, retryable=True, not_done=True))
        self._flights.add(flight)
        FLIGHT.set(flight)
        try:
            return await self._exchange(client, _build_request(method, params), flight, progress)
        finally:
            self._flights.discard(flight)

    @property
    def instructions(self) -> str:
        """Return what the server tells models."""
        client = self._held.client
        return (client.session.instructions or "") if client is not None else ""

    async def watch(self, uri: str) -> Told:
        """Have the server say when a resource changes."""
        self._watched.add(uri)
        if self.is_modern:
            self._listen()
            return Returned({})
        return await self.send("resources/subscribe", {"uri": uri}, Flight(refuse_ask))

    async def unwatch(self, uri: str) -> None:
        """The server need not say any more when a resource changes."""
        if uri not in self._watched:
            return
        self._watched.discard(uri)
        if self.is_modern:
            self._listen()
        else:
            await self.send("resources/unsubscribe", {"uri": uri}, Flight(refuse_ask))

    async def set_level(self, level: str) -> None:
        """Tell a server of the older protocol which logs are wanted."""
        if level and not self.is_modern and self.has("logging"):
            await self.send("logging/setLevel", {"level": level}, Flight(refuse_ask))

    async def announce_roots(self) -> None:
        """Tell a server of the older protocol that the client's roots have changed."""
        from mcp_types import RootsListChangedNotification

        client = self._held.client
        if client is not None and not self.is_modern and "roots" in self.capabilities:
            await client.session.send_notification(RootsListChangedNotification())

    def cancel_task(self, task: str) -> None:
        """Tell a server of 2025-11-25 that nobody waits for a task any more."""
        self.group.create_task(self.send(CANCEL, {"taskId": task}, Flight(refuse_ask)))

    async def close(self) -> None:
        """End the connection, and the server's process."""
        self.changes.cancel()
        if self._listening is not None:
            self._listening.cancel()
        await self._held.stop()

    def _listen(self) -> None:
        """Have a server of 2026-07-28 say what changes: one stream, made anew where more is to be
        watched.
        """
        client = self._held.client
        if client is None or not self.is_modern:
            return
        if self._listening is not None:
            self._listening.cancel()
        self._listening = self.group.create_task(
            listen_to(client, self._changing(), sorted(self._watched))
        )

    def _changing(self) -> dict[str, bool]:
        """The lists of which the server says that they may change."""
        client = self._held.client
        said = client.session.server_capabilities if client is not None else None
        return {
            f"{kind}_list_changed": bool(getattr(getattr(said, kind, None), "list_changed", False))
            for kind in ("tools", "prompts", "resources")
        }

    async def _exchange(
        self, client: Any, request: Any, flight: Flight, progress: Progress | None
    ) -> Told:
        from mcp import MCPError
        from pydantic import ValidationError

        try:
            result = await _ask_server(client, request, progress)
        except MCPError as error:
            return self._read_error(client, error, flight)
        except ValidationError as error:  # an answer of another shape than the protocol's
            return Failed(failure_of(UNREADABLE, explain_malformed(error)))
        except Exception as error:  # whatever the SDK makes of a broken stream
            self._held.lose(client)
            said = f"{type(error).__name__}: {error}"[:500]
            return Failed(failure_of(CONNECTION_CLOSED, self._redact(said), lost=True))
        shown = self._redact(result) if self._secrets else result
        # it is the gateway that answers the client, not the server whose stamp this is
        return Returned(drop_meta(shown, _SERVER_INFO))

    def _read_error(self, client: Any, error: Any, flight: Flight) -> Told:
        """Return what an error means: the server's own, one of the SDK in its place, or no answer."""
        said, code = self._redact(error.message), read_code(error.code, error.message)
        if is_not_sent(error.error.data):
            return Failed(Failure("unavailable", said, retryable=True, not_done=True))
        if is_session_over(client, code, flight.status):
            self._held.lose(client)
            said = f"the server {self.server.name!r} has ended the session"
            return Failed(Failure("unavailable", said, retryable=True, not_done=True))
        is_lost = code == CONNECTION_CLOSED and (
            self._held.client is not client
            or (bool(self.server.url) and error.message.startswith(_LOST_OVER_HTTP))
            or is_cut(error.error.data)
        )
        is_bare_status = error.message == _BARE_STATUS and flight.status is not None
        if flight.status in (401, 403) and (need := getattr(self.auth, "need", "")):
            said = f"the server {self.server.name!r} wants another login: {need}"
            return Failed(Failure("auth", said, not_done=True))
        if is_lost or code == UNREADABLE or is_bare_status:
            return Failed(failure_of(code, said, status=flight.status, lost=is_lost))
        return Rejected(code, said, self._redact(error.error.data))

    def _note_status(self, status: int) -> None:
        flight = FLIGHT.get()
        if flight is not None and flight in self._flights:
            flight.status = status

    def _redact(self, value: Any) -> Any:
        return redact_secrets(value, self._secrets)

    # ------------------------------------------------------------ what the server asks

    def _answer(self) -> Answering:
        from mcp_types import Implementation, SamplingCapability

        can = self.capabilities
        sampling = can.get("sampling")
        return Answering(
            sample=self._take_sampling if sampling is not None else None,
            sampling=SamplingCapability.model_validate(sampling) if sampling is not None else None,
            elicit=self._take_elicitation if "elicitation" in can else None,
            list_roots=self._take_roots if "roots" in can else None,
            log=self._take_log,
            notify=self._take_notification,
            info=Implementation(name="callwright", version=__version__),
            extensions=can.get("extensions") or {},
        )

    async def _take_sampling(self, context: Any, params: Any) -> Any:
        del context
        from mcp_types import CreateMessageRequest

        return await self._ask(CreateMessageRequest(params=params))

    async def _take_elicitation(self, context: Any, params: Any) -> Any:
        del context
        from mcp_types import ElicitRequest

        return await self._ask(ElicitRequest(params=params))

    async def _take_roots(self, context: Any) -> Any:
        del context
        from mcp_types import ListRootsRequest

        return await self._ask(ListRootsRequest())

    async def _ask(self, request: Any) -> Any:
        """The client's answer. The request belongs to the call in whose HTTP response it came, else
        to the only one that is under way; a session's own connection needs no call.
        """
        flight = self._attribute()
        if flight is not None:
            return await flight.ask(request)
        return await self.listener.ask_owner(self.key, request)

    def _attribute(self) -> Flight | None:
        """The request that something from the server belongs to; None where that is not certain."""
        flight = FLIGHT.get()
        if flight is not None and flight in self._flights:
            return flight
        return next(iter(self._flights)) if len(self._flights) == 1 else None

    async def _take_log(self, params: Any) -> None:
        flight = self._attribute()
        if flight is not None and flight.log is not None:
            await flight.log(params)

    async def _take_notification(self, message: Any) -> None:
        if not isinstance(message, Exception):
            await self.listener.take_notification(self, message)


async def listen_to(client: Any, changing: Mapping[str, bool], uris: Sequence[str]) -> None:
    """Hold a stream of ``subscriptions/listen``, as long as the server has it open. What comes over
    it reaches the connection's listener as any notification does.
    """
    if not uris and not any(changing.values()):
        return
    with suppress(Exception):  # no stream, no news: the next list shows what has changed
        async with client.listen(**changing, resource_subscriptions=uris) as stream:
            async for _ in stream:
                pass


def drop_meta(result: JsonObject, name: str) -> JsonObject:
    """The result without one entry of its ``_meta``; without ``_meta`` where nothing is left there."""
    meta = result.get("_meta")
    if not isinstance(meta, dict) or name not in meta:
        return result
    kept = {key: value for key, value in meta.items() if key != name}
    made = {key: value for key, value in result.items() if key != "_meta"}
    return {**made, "_meta": kept} if kept else made


def build_error(message: str) -> Any:
    """An answer that refuses a server's request."""
    from mcp_types import INVALID_REQUEST, ErrorData

    return ErrorData(code=INVALID_REQUEST, message=message)


async def _ask_server(client: Any, request: Any, progress: Progress | None) -> Any:
    if getattr(request.params, "task", None) is None:
        return await client.session.send_request(request, _any_object(), progress_callback=progress)
    # The session takes a call's result alone for the answer to a call; a task is another one.
    told = request.model_dump(by_alias=True, mode="json", exclude_none=True)
    options = {"on_progress": progress} if progress is not None else {}
    dispatcher = client.session._dispatcher
    return await dispatcher.send_raw_request(told["method"], told["params"], options)


async def refuse_ask(request: Any) -> Any:
    """Refuse what a server asks where no client waits for its answer."""
    return build_error(f"{request.method} cannot be answered: no call of a client is under way")


@cache
def _any_object() -> Any:
    """The model of a result that is handed on as it is."""
    from pydantic import TypeAdapter

    return TypeAdapter(dict[str, Any])


@cache
def _build_task_model() -> Any:
    """The model of a request about a task. The SDK has none; over HTTP its id is a header."""
    from mcp_types import Request
    from pydantic import ConfigDict

    class TaskRequest(Request[dict[str, Any], str]):
        model_config = ConfigDict(extra="allow")
        name_param = "taskId"

    return TaskRequest


def _build_request(method: str, params: JsonObject) -> Any:
    from mcp_types.methods import MONOLITH_REQUESTS

    model = _build_task_model() if method in (*METHODS, RESULT) else MONOLITH_REQUESTS[method]
    # a lone surrogate cannot be sent: it would end the connection of all calls
    sent, _ = join_surrogates({"method": method, "params": params})
    return model.model_validate(sent, by_name=False)
