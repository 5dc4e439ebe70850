"""Opens one connection to an MCP server through the official SDK (``mcp>=2``), and says why none
can be had. Who holds it for how long is its owner's affair.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from callwright.nouns.errors import CallwrightError, CatalogError, Failure, MissingExtra
from callwright.nouns.redaction import redact_secrets
from callwright.nouns.types import JsonObject
from callwright.tools.mcp.pages import MAX_PAGES, ToolPages
from callwright.tools.mcp.results import CONNECTION_CLOSED
from callwright.tools.mcp.stdio import open_stdio
from callwright.tools.mcp.streams import is_unread, watch_transport
from callwright.tools.servers import Server

if TYPE_CHECKING:
    from mcp import Client

_NOWHERE = logging.NullHandler()
_DEFINING = ("title", "description", "inputSchema", "outputSchema", "annotations")


@dataclass(frozen=True, slots=True)
class Watch:
    """Who is told of a connection. ``ended``: its other side has closed; ``note_status`` is given
    every HTTP response; ``pages`` follows the lists of tools. Messages whose method ``is_dropped``
    are left out before anything reads them.
    """

    ended: Callable[[], None]
    pages: ToolPages
    note_status: Callable[[Any], Awaitable[None]]
    is_dropped: Callable[[str], bool] = is_unread


@dataclass(frozen=True, slots=True)
class Answering:
    """The SDK's callbacks by which this side answers a server; a capability is declared where its
    callback is there. ``notify`` is given every notification that is not dropped; ``info`` names
    us; ``extensions`` are declared as they stand (identifier -> settings).
    """

    sample: Any = None
    elicit: Any = None
    list_roots: Any = None
    log: Any = None
    notify: Any = None
    info: Any = None
    sampling: Any = None  # the SDK's SamplingCapability
    extensions: Mapping[str, dict[str, Any]] = field(default_factory=dict)


SILENT = Answering()


@asynccontextmanager
async def open_client(
    server: Server,
    stderr: IO[bytes],
    watch: Watch,
    answering: Answering = SILENT,
    *,
    auth: Any = None,
) -> AsyncIterator[Client]:
    """The SDK's client, connected: the newest protocol that both sides speak is agreed. ``auth``:
    an ``httpx2.Auth`` by which requests over HTTP are authorized. Raises MissingExtra,
    CatalogError, or whatever the SDK raises (:func:`build_open_error`).
    """
    try:
        from mcp import Client
        from mcp.client.extension import advertise
    except ImportError:
        raise MissingExtra("an MCP server", "mcp") from None
    logging.getLogger("mcp").addHandler(
        _NOWHERE
    )  # else Python prints the SDK's log, and a server's text in it
    async with AsyncExitStack() as stack:
        transport = (
            await stack.enter_async_context(_open_http(server, watch.note_status, auth))
            if server.url
            else open_stdio(server, stderr, is_dropped=watch.is_dropped)
        )
        client = Client(
            watch_transport(transport, watch.ended, watch.pages, watch.is_dropped),
            sampling_callback=answering.sample,
            sampling_capabilities=answering.sampling,
            elicitation_callback=answering.elicit,
            list_roots_callback=answering.list_roots,
            logging_callback=answering.log,
            message_handler=answering.notify,
            client_info=answering.info,
            extensions=[advertise(name, said) for name, said in answering.extensions.items()],
        )
        yield _disable_validation(await stack.enter_async_context(client))


@asynccontextmanager
async def _open_http(
    server: Server, note_status: Callable[[Any], Awaitable[None]], auth: Any
) -> AsyncIterator[Any]:
    from mcp.client.streamable_http import streamable_http_client

    from callwright.http.egress import parse_target
    from callwright.tools.mcp.http import MAX_ANSWER, client_for

    target = parse_target(server.url)
    if isinstance(target, Failure):
        raise CatalogError(f"MCP server {server.name!r}: {target.message}")
    async with await client_for(target, server.headers, auth=auth) as http:
        http.event_hooks["response"].append(note_status)
        yield streamable_http_client(target.url, http_client=http, max_sse_event_size=MAX_ANSWER)


def _disable_validation(client: Client) -> Client:
    """The SDK checks results against the server's own output schema with an engine whose regular
    expressions can run for ever; and a result that differs from its schema is still a result.
    """

    async def accept(name: str, result: Any) -> None:
        del name, result

    setattr(client.session, "validate_tool_result", accept)  # noqa: B010
    return client


async def list_tools(client: Client) -> list[JsonObject]:
    """Return every page of ``tools/list``, as far as :class:`ToolPages` lets them."""
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


def build_open_error(
    server: Server, error: BaseException, stderr: str, status: int | None
) -> CallwrightError:
    """Return the error that says why a server cannot be used; ``status``: of its last HTTP error.
    ``stderr`` is the end of what a program of ours wrote; secrets are taken out.
    """
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
    elif isinstance(error, CallwrightError):
        why = error.message
    elif server.command and getattr(error, "code", None) == CONNECTION_CLOSED:
        why = "it ended the connection before it had listed its tools"
    else:
        why = f"{type(error).__name__}: {error}"
    if status is not None:
        why = f"it answered HTTP {status}" + (
            ": give it credentials in headers" if status in (401, 403) else ""
        )
    said = f"MCP server {server.name!r} cannot be used: {why}" + (
        f"\n  it wrote: {stderr}" if stderr else ""
    )
    shown = _redact_secrets(server.shown, server)
    return CatalogError(
        _redact_secrets(said, server),
        hint=(
            f"it is configured as: {shown}; does that start by hand?"
            if server.shown
            else "is the address right, and is the server running?"
        ),
    )


def _redact_secrets(text: str, server: Server) -> str:
    values = (*server.secrets, *server.env.values(), *server.headers.values())
    return str(redact_secrets(text, [value for value in values if len(value) >= 6]))
