"""MCP servers as tool sources, through the official SDK (``mcp>=2``): stdio and streamable HTTP."""

from __future__ import annotations

import asyncio
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from callwright.jsontext.surrogates import join_surrogates
from callwright.nouns.errors import (
    CallwrightError,
    CatalogError,
    Failure,
    TrustError,
)
from callwright.nouns.protocols import Confirmations
from callwright.nouns.redaction import redact_secrets, select_redactable
from callwright.nouns.types import DESTRUCTIVE, JsonObject, Tool, ToolOutput, compute_digest
from callwright.tools.lists.tools import tool_from_wire
from callwright.tools.mcp.connection import definitions_of, list_tools
from callwright.tools.mcp.held import HeldClient
from callwright.tools.mcp.lost import is_cut, is_not_sent
from callwright.tools.mcp.pages import ToolPages
from callwright.tools.mcp.results import (
    CONNECTION_CLOSED,
    UNREADABLE,
    explain_malformed,
    failure_of,
    is_session_over,
    output_of,
    read_code,
)
from callwright.tools.servers import (
    Server,
    explain_hidden,
    list_enabled,
    list_idle,
    servers_from_config,
)
from callwright.tools.trust import (
    digest_of,
    escape_terminal_text,
    find_changes,
    normalize_location,
    render_changes,
)

if TYPE_CHECKING:
    from mcp import Client, MCPError

_LOST_OVER_HTTP = (  # how the SDK begins its own errors of CONNECTION_CLOSED for one lost answer
    "SSE stream "
)


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
        allow, deny, names = self.server.allow, self.server.deny, self._connection.seen
        hidden = [one for one in names if explain_hidden(self.name, one, allow, deny)]
        noted = [
            *self._connection.pages.problems,
            *list_idle({"allow": allow, "deny": deny}, names),
        ]
        if hidden and len(hidden) == len(names):
            noted.append("allow and deny in its file hide every tool")
        problems = [f"{self.name}: {problem}" for problem in noted]
        for raw in (one for one in listed if one["name"] not in hidden):
            try:
                read = tool_from_wire(
                    raw, source=f"mcp {self.name}", trusted=trusted, unsaid=DESTRUCTIVE
                )
                tools += [replace(read, name=raw["name"])]  # as it is called, with its blanks
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
    """The client of a source, and what its server said of its tools."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._held = HeldClient(server)
        self._lock = asyncio.Lock()
        self.seen: dict[str, JsonObject] = {}  # the definitions of the tools, as they were taken
        self._now: dict[str, JsonObject] = {}  # as they are by a later list

    @property
    def pages(self) -> ToolPages:
        return self._held.pages

    async def start(self) -> Sequence[JsonObject]:
        """Connect and list the tools. Raises CatalogError saying why the server cannot be used."""
        return await self._held.start()

    async def stop(self) -> None:
        """End the connection and the server process."""
        await self._held.stop()

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
        self._held.status = None
        try:
            # a lone surrogate cannot be sent: it would end the connection of all calls
            return output_of(await client.call_tool(tool.name, join_surrogates(arguments)[0]))
        except MCPError as error:
            is_over = is_session_over(client, error.code, self._held.status)
            if is_over:
                self._held.lose(client)
            if is_over or is_not_sent(error.error.data):
                said = "it has ended the session" if is_over else "nothing answers there"
                told = f"{said}: {error.message}"
                return ToolOutput(
                    failure=Failure("unavailable", told, retryable=True, not_done=True)
                )
            lost = error.code == CONNECTION_CLOSED and self._is_lost(client, error)
            code = read_code(error.code, error.message)
            found = failure_of(code, error.message, status=self._held.status, lost=lost)
            return ToolOutput(failure=found)
        except ValidationError as error:  # an answer of another shape than the protocol's
            return ToolOutput(failure=failure_of(UNREADABLE, explain_malformed(error)))
        except Exception as error:  # whatever the SDK makes of a broken stream
            self._held.lose(client)
            said = f"{type(error).__name__}: {error}"[:500]
            return ToolOutput(failure=failure_of(CONNECTION_CLOSED, said, lost=True))

    def _is_lost(self, client: Client, error: MCPError) -> bool:
        """Return True if an error is the SDK's report of a lost answer and not the server's own
        error. Both may have the same code. A server's own error leaves the connection open, and
        other calls wait for their answers on it.
        """
        return (
            self._held.client is not client
            or is_cut(error.error.data)
            or (bool(self._server.url) and error.message.startswith(_LOST_OVER_HTTP))
        )

    async def _connected(self) -> Client:
        async with self._lock:
            if not self._held.is_open:
                raise CallwrightError(
                    f"MCP server {self._server.name!r} is not open",
                    hint="call inside open_catalog()",
                )
            if self._held.client is None:
                self._now = definitions_of(await self.start())
            client = self._held.client
            assert client is not None
            if self.pages.is_outdated:
                await self._list_anew(client)
            return client

    async def _list_anew(self, client: Client) -> None:
        """Find out what the server offers since it said that its list has changed. Raises
        CatalogError.
        """
        self.pages.is_outdated = False
        try:
            async with asyncio.timeout(self._server.seconds):
                self._now = definitions_of(await list_tools(client))
        except Exception as error:
            self.pages.is_outdated = True
            said = (
                f"MCP server {self._server.name!r} says that its tools have changed, and does not"
                " list them"
            )
            raise CatalogError(f"{said}: {type(error).__name__}") from None
