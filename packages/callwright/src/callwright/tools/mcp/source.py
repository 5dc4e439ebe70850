"""MCP servers as tool sources, through the official SDK (``mcp>=2``): stdio and streamable HTTP."""

from __future__ import annotations

import asyncio
import logging
import shlex
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any
from urllib.parse import urlsplit

from callwright.nouns.errors import (
    CallwrightError,
    CatalogError,
    Failure,
    MissingExtra,
    TrustError,
)
from callwright.nouns.protocols import Confirmations
from callwright.nouns.redaction import redact_secrets, select_redactable
from callwright.nouns.types import DESTRUCTIVE, JsonObject, Tool, ToolOutput, compute_digest
from callwright.tools.lists.tools import tool_from_wire
from callwright.tools.mcp.pages import MAX_PAGES, ToolPages
from callwright.tools.mcp.results import CONNECTION_CLOSED, UNREADABLE, failure_of, output_of
from callwright.tools.mcp.stdio import open_stdio
from callwright.tools.mcp.streams import watch_transport
from callwright.tools.servers import Server, list_enabled, servers_from_config
from callwright.tools.trust import (
    digest_of,
    escape_terminal_text,
    find_changes,
    normalize_location,
    render_changes,
)

if TYPE_CHECKING:
    from mcp import Client

_LOST_OVER_HTTP = (  # how the SDK begins its own errors of CONNECTION_CLOSED for one lost answer
    "SSE stream "
)
_STDERR_CHARS = 1_500
_NOWHERE = logging.NullHandler()
_DEFINING = ("title", "description", "inputSchema", "outputSchema", "annotations")


def sources_from_config(
    servers: Mapping[str, Any],
    *,
    folder: Path | None = None,
    environ: Mapping[str, str] | None = None,
    file: tuple[str, str] | None = None,
) -> tuple[MCPSource, ...]:
    """One source per server of an ``mcpServers`` object
    (:func:`~callwright.tools.servers.servers_from_config`). ``file``: the place and the digest of
    the file that it stands in.

    A server whose settings cannot be used is a source that cannot be opened: the others are none
    the worse for it.
    """
    made = []
    for name in list_enabled(servers):
        try:
            (server,) = servers_from_config({name: servers[name]}, folder=folder, environ=environ)
            made.append(MCPSource(server, file=file))
        except CatalogError as error:
            made.append(MCPSource(Server(name), refused=error))
    return tuple(made)


class MCPSource:
    """One MCP server. Its connection lives in a task of its own, so that its end disturbs nobody
    else's code.

    Effects come from the annotations of trusted servers; of others the worst case is assumed. A
    connection that was lost is made again by the next call. A tool whose definition changes while
    it is open is not called any more.

    Who is asked what the user has confirmed (:meth:`consult`) believes what a configuration says of
    trust only where that very ``file`` is confirmed, and a server at a URL only with the tools that
    it had when it was.
    """

    def __init__(
        self,
        server: Server,
        *,
        file: tuple[str, str] | None = None,
        refused: CatalogError | None = None,
    ) -> None:
        self.server = server
        self.problems: tuple[str, ...] = ()
        self.unconfirmed: tuple[str, ...] = ()
        self._refused = refused
        self._file = file
        self._trust: Confirmations | None = None
        self._connection = _Connection(server)

    @classmethod
    def http(
        cls,
        url: str,
        *,
        name: str = "",
        headers: Mapping[str, str] | None = None,
        trusted: bool = False,
    ) -> MCPSource:
        """A server at a URL (streamable HTTP), under the egress rules of
        :mod:`callwright.tools.mcp.http`.
        """
        return cls(
            Server(
                name or urlsplit(url).hostname or "mcp",
                url=url,
                headers=headers or {},
                trusted=trusted,
            )
        )

    @classmethod
    def stdio(
        cls, command: str, *args: str, name: str = "", cwd: str = "", trusted: bool = False
    ) -> MCPSource:
        """A server started as a process of ours."""
        return cls(
            Server(name or Path(command).stem, command=command, args=args, cwd=cwd, trusted=trusted)
        )

    @property
    def name(self) -> str:
        return self.server.name

    @property
    def secrets(self) -> tuple[str, ...]:
        """The secret values this source may send, for ``Trace(secrets=…)``: known by the names of
        their settings.
        """
        return self.server.secrets

    def consult(self, trust: Confirmations) -> None:
        """Have :meth:`open` ask whether the user has confirmed the configuration, or the server's
        tools.
        """
        self._trust = trust

    @property
    def origin(self) -> str:
        """Return the name under which the definitions of its tools are remembered."""
        if self._file is not None:
            return f"mcp {self.name} of {self._file[0]}"
        if self.server.url:
            return f"mcp {normalize_location(self.server.url)}"
        return f"mcp {self.name} {compute_digest(self.place(None))}"

    def definition(self, tool: Tool) -> JsonObject:
        """Return the server's definition of a tool."""
        return self._connection.seen[tool.name]

    def _is_trusted(self) -> bool:
        """Return True if the server's annotations are trusted. Raises TrustError if an unconfirmed
        file would give the server one of the user's keys.
        """
        server, trust = self.server, self._trust
        if trust is None:
            return server.trusted
        if self._file is None:
            seen = digest_of(self._connection.seen)
            return server.trusted or (
                server.url != "" and trust.is_trusted("tools", normalize_location(server.url), seen)
            )
        if trust.is_trusted("document", *self._file):
            return server.trusted
        how = f"callwright trust {shlex.quote(escape_terminal_text(self._file[0]))}"
        if server.url and server.variables:
            names, host = ", ".join(server.variables), urlsplit(server.url).hostname
            raise TrustError(
                f"MCP server {self.name!r} would be sent {names} ({escape_terminal_text(str(host))}), and"
                f" nobody has confirmed the file that says so; read it, then: {how}",
            )
        said = f'"trusted": true of {escape_terminal_text(self.name)} is not believed before: {how}'
        self.unconfirmed = (said,) if server.trusted else ()
        return False

    async def open(self) -> Sequence[Tool]:
        if self._refused is not None:
            raise self._refused
        self._connection.seen = {}
        if self._file is not None:
            self._is_trusted()  # before anything is sent
        listed = await self._connection.start()
        self._connection.seen = definitions_of(listed)
        trusted = self._is_trusted()
        tools: list[Tool] = []
        problems = [f"{self.name}: {problem}" for problem in self._connection.pages.problems]
        for raw in listed:
            try:
                tools.append(
                    tool_from_wire(
                        raw, source=f"mcp {self.name}", trusted=trusted, unsaid=DESTRUCTIVE
                    )
                )
            except CatalogError as error:
                problems.append(f"{self.name}: {error.message}")
        self.problems = tuple(problems)
        return tuple(tools)

    async def call(self, tool: Tool, arguments: JsonObject) -> ToolOutput:
        """Run the tool. What goes wrong is in the output's failure; secrets that the server echoes
        are taken out.
        """
        output = await self._connection.call(tool, arguments)
        secrets = select_redactable(self.secrets)
        if output.failure is None:
            return replace(output, content=redact_secrets(output.content, secrets))
        said = str(redact_secrets(output.failure.message, secrets))
        return replace(output, failure=replace(output.failure, message=said))

    def place(self, _: Tool | None) -> str:
        """The server's address, or the program that is started."""
        server = self.server
        return server.url or "\n".join([server.cwd, server.command, *server.args])

    async def aclose(self) -> None:
        await self._connection.stop()


class _Connection:
    """A client and the task it lives in."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._group: asyncio.TaskGroup | None = None
        self._client: Client | None = None
        self._closing = asyncio.Event()
        self._lock = asyncio.Lock()
        self._task: asyncio.Task[None] | None = None
        self.pages = ToolPages()
        self.seen: dict[str, JsonObject] = {}  # the definitions of the tools, as they were taken
        self._now: dict[str, JsonObject] = {}  # as they are by a later list
        self._status: int | None = None  # of the last HTTP error: the SDK does not hand it on

    async def start(self) -> Sequence[JsonObject]:
        """Connect and list the tools. Raises CatalogError saying why the server cannot be used."""
        if self._group is None:
            self._group = await asyncio.TaskGroup().__aenter__()
        ready: asyncio.Future[Sequence[JsonObject]] = asyncio.get_running_loop().create_future()
        self._closing = asyncio.Event()
        self._task = self._group.create_task(self._live(ready, self._closing))
        return await ready

    async def stop(self) -> None:
        """End the connection and the server process."""
        self._closing.set()
        if self._task is not None and self._client is None:
            self._task.cancel()  # still connecting
        group, self._group = self._group, None
        if group is not None:
            await group.__aexit__(None, None, None)

    async def call(self, tool: Tool, arguments: JsonObject) -> ToolOutput:
        from mcp import MCPError
        from pydantic import ValidationError

        try:
            client = await self._connected()
        except CatalogError as error:
            return ToolOutput(
                failure=Failure("unavailable", error.message, retryable=True, not_done=True)
            )
        if changed := find_changes(
            self.seen, {n: d for n, d in self._now.items() if n == tool.name}
        ):
            said = (
                f"{tool.name} is not called: the server has changed its definition since it was"
                " listed"
            )
            return ToolOutput(
                failure=Failure(
                    "not_executable", "\n".join([said, *render_changes(changed)]), not_done=True
                )
            )
        self._status = None
        try:
            return output_of(await client.call_tool(tool.name, arguments))
        except MCPError as error:
            lost = error.code == CONNECTION_CLOSED and self._is_lost(client, error.message)
            found = failure_of(error.code, error.message, status=self._status, lost=lost)
            return ToolOutput(failure=found)
        except ValidationError as error:  # an answer of another shape than the protocol's
            said = (
                "it is malformed:"
                f" {error.errors(include_url=False, include_input=False)[0]['msg'][:200]}"
            )
            return ToolOutput(failure=failure_of(UNREADABLE, said))
        except Exception as error:  # whatever the SDK makes of a broken stream
            self._lose(client)
            said = f"{type(error).__name__}: {error}"[:500]
            return ToolOutput(failure=failure_of(CONNECTION_CLOSED, said, lost=True))

    def _is_lost(self, client: Client, message: str) -> bool:
        """Return True if an error is the SDK's report of a lost answer and not the server's own
        error. Both may have the same code. A server's own error leaves the connection open, and
        other calls wait for their answers on it.
        """
        return self._client is not client or (
            bool(self._server.url) and message.startswith(_LOST_OVER_HTTP)
        )

    async def _connected(self) -> Client:
        async with self._lock:
            if self._group is None:
                raise CallwrightError(
                    f"MCP server {self._server.name!r} is not open",
                    hint="call inside open_catalog()",
                )
            if self._client is None:
                self._now = definitions_of(await self.start())
            assert self._client is not None
            if self.pages.is_outdated:
                await self._list_anew(self._client)
            return self._client

    async def _list_anew(self, client: Client) -> None:
        """Find out what the server offers since it said that its list has changed. Raises
        CatalogError.
        """
        self.pages.is_outdated = False
        try:
            async with asyncio.timeout(self._server.seconds):
                self._now = definitions_of(await _list_tools(client))
        except Exception as error:
            self.pages.is_outdated = True
            said = (
                f"MCP server {self._server.name!r} says that its tools have changed, and does not"
                " list them"
            )
            raise CatalogError(f"{said}: {type(error).__name__}") from None

    def _lose(self, client: Client) -> None:
        if self._client is client:
            self._forget(client)
            self._closing.set()

    async def _live(
        self, ready: asyncio.Future[Sequence[JsonObject]], closing: asyncio.Event
    ) -> None:
        """Hold one connection until ``closing``. Never raises: what goes wrong is said through
        ``ready``.
        """
        client: Client | None = None

        def ended() -> None:
            closing.set()
            if client is not None:
                self._forget(client)

        self.pages = pages = ToolPages()
        with tempfile.TemporaryFile() as stderr:
            try:
                async with (
                    asyncio.timeout(self._server.seconds) as limit,
                    _open_client(self._server, stderr, ended, pages, self._note_status) as client,
                ):
                    listed = await _list_tools(client)
                    limit.reschedule(None)
                    self._client = client
                    if not ready.done():
                        ready.set_result(listed)
                    await closing.wait()
            except Exception as error:
                if not ready.done():
                    ready.set_exception(
                        _build_open_error(self._server, error, stderr, self._status)
                    )
            finally:
                if client is not None:
                    self._forget(client)
                if not ready.done():
                    ready.cancel()

    def _forget(self, client: Client) -> None:
        """The next call connects again instead of writing to nobody."""
        if self._client is client:
            self._client = None

    async def _note_status(self, response: Any) -> None:
        """HTTP response hook."""
        if response.status_code >= 400:
            self._status = response.status_code


@asynccontextmanager
async def _open_client(
    server: Server,
    stderr: IO[bytes],
    ended: Callable[[], None],
    pages: ToolPages,
    note_status: Callable[[Any], Awaitable[None]],
) -> AsyncIterator[Client]:
    try:
        from mcp import Client
    except ImportError:
        raise MissingExtra("an MCP server", "mcp") from None
    logging.getLogger("mcp").addHandler(
        _NOWHERE
    )  # else Python prints the SDK's log, and a server's text in it
    async with AsyncExitStack() as stack:
        transport = (
            await stack.enter_async_context(_open_http(server, note_status)) if server.url else None
        )
        client = Client(watch_transport(transport or open_stdio(server, stderr), ended, pages))
        yield _disable_validation(await stack.enter_async_context(client))


@asynccontextmanager
async def _open_http(
    server: Server, note_status: Callable[[Any], Awaitable[None]]
) -> AsyncIterator[Any]:
    from mcp.client.streamable_http import streamable_http_client

    from callwright.http.egress import parse_target
    from callwright.tools.mcp.http import client_for

    target = parse_target(server.url)
    if isinstance(target, Failure):
        raise CatalogError(f"MCP server {server.name!r}: {target.message}")
    async with await client_for(target, server.headers) as http:
        http.event_hooks["response"].append(note_status)
        yield streamable_http_client(target.url, http_client=http)


def _disable_validation(client: Client) -> Client:
    """The SDK checks results against the server's own output schema with an engine whose regular
    expressions can run for ever; and a result that differs from its schema is still a result.
    """

    async def accept(name: str, result: Any) -> None:
        del name, result

    setattr(client.session, "validate_tool_result", accept)  # noqa: B010
    return client


async def _list_tools(client: Client) -> list[JsonObject]:
    """Every page of ``tools/list``, as far as :class:`ToolPages` lets them."""
    found: list[JsonObject] = []
    cursor: str | None = None
    for _ in range(MAX_PAGES):
        page = await client.list_tools(cursor=cursor, cache_mode="refresh")
        found += [
            tool.model_dump(mode="json", by_alias=True, exclude_none=True) for tool in page.tools
        ]
        if not page.next_cursor or page.next_cursor == cursor:
            break
        cursor = page.next_cursor
    return found


def definitions_of(listed: Sequence[JsonObject]) -> dict[str, JsonObject]:
    """Return a server's tool definitions by name, without the parts that may differ between
    versions of the SDK.
    """
    return {raw["name"]: {key: raw[key] for key in _DEFINING if key in raw} for raw in listed}


def _build_open_error(
    server: Server, error: BaseException, stderr: IO[bytes], status: int | None
) -> CallwrightError:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    if isinstance(error, MissingExtra):
        return error
    if isinstance(error, TimeoutError):
        why = f"it did not answer within {server.seconds:g} seconds"
    elif isinstance(error, FileNotFoundError):
        why = (
            f"there is no command {server.command!r}"
            if not server.cwd or Path(server.cwd).is_dir()
            else str(error)
        )
    else:
        why = (
            error.message
            if isinstance(error, CallwrightError)
            else f"{type(error).__name__}: {error}"
        )
    if status is not None:
        why = f"it answered HTTP {status}" + (
            ": give it credentials in headers" if status in (401, 403) else ""
        )
    tail = _redact_secrets(_read_stderr_tail(stderr), server)
    return CatalogError(
        f"MCP server {server.name!r} cannot be used: {why}"
        + (f"\n  it wrote: {tail}" if tail else ""),
        hint=(
            f"it is configured as: {server.shown}; does that start by hand?"
            if server.shown
            else "is the address right, and is the server running?"
        ),
    )


def _redact_secrets(text: str, server: Server) -> str:
    values = (*server.secrets, *server.env.values(), *server.headers.values())
    return str(redact_secrets(text, [value for value in values if len(value) >= 6]))


def _read_stderr_tail(stderr: IO[bytes]) -> str:
    size = stderr.seek(0, 2)
    stderr.seek(max(0, size - _STDERR_CHARS))
    return stderr.read().decode("utf-8", "replace").strip()
