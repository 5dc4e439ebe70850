"""Serves the gateway until it is interrupted, or until its client closes stdin."""

from __future__ import annotations

import asyncio
import gc
import logging
import os
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from callwright.cli.evidence import open_evidence
from callwright.cli.proxy import open_socket, render_host
from callwright.gateway.configuration import ServersFile, read_servers_file
from callwright.gateway.exposure import ExposureSettings, SearchExposure
from callwright.gateway.exposure.tool_search import ToolSearch, open_search_encoder
from callwright.gateway.oauth.authorizer import OAuthAuthorizer, open_verifier
from callwright.gateway.oauth.resource import OAuthResource
from callwright.gateway.oauth.server_auth import ServerLogins
from callwright.gateway.pins import PinStore, ProfileStore
from callwright.gateway.server.authorizer import Authorizer, KeyAuthorizer
from callwright.gateway.server.call_log import CallLines, JsonLines, TextLines
from callwright.gateway.server.counters import GatewayCounters
from callwright.gateway.server.evidence_writer import EvidenceWriter
from callwright.gateway.server.gateway import ConsentMode, Gateway, GatewaySetup
from callwright.gateway.session.call import CallEnd
from callwright.gateway.session.record import CallRecord
from callwright.models.secret import Secret
from callwright.nouns.errors import ConfigError, MissingExtra
from callwright.nouns.log_line import LogFormat
from callwright.nouns.redaction import select_redactable
from callwright.serving.access import Access, host_name
from callwright.serving.line_log import LineLog, LogHandler
from callwright.tools.evidence import EvidenceStore, Rate

KEY = "CALLWRIGHT_GATEWAY_KEY"
_BACKLOG = 2048
_SHUTDOWN_SECONDS = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class GatewayOptions:
    """The options of the command. ``port`` None: stdio. ``evidence``: the file, True for the
    default one, False for none.
    """

    servers: Path
    stdio: bool = False
    host: str = "127.0.0.1"
    port: int | None = None
    allow: tuple[str, ...] = ()
    allow_host: tuple[str, ...] = ()
    consent: ConsentMode = "ask"
    quiet: bool = False
    log_format: LogFormat = "text"
    evidence: bool | Path = True
    exposure: ExposureSettings = field(default_factory=ExposureSettings)


def serve_gateway(options: GatewayOptions) -> None:
    """Run the command. Raises ConfigError, MissingExtra."""
    if options.stdio and options.port is not None:
        raise ConfigError("--stdio serves no port", hint="leave --stdio or --port out")
    if options.port is None and sys.stdin.isatty() and not options.stdio:
        raise ConfigError(
            "an MCP client starts this command and talks to it over stdin; no client is there",
            hint="--port 8790 serves over HTTP; --stdio serves stdin all the same",
        )
    found = read_servers_file(options.servers.expanduser())
    lines: CallLines = JsonLines() if options.log_format == "json" else TextLines()
    log = None if options.quiet else LineLog(sys.stderr.fileno(), lines.render_warning)
    try:
        with open_evidence(options.evidence) as store:
            asyncio.run(_serve(options, found, lines, log, store))
    finally:
        if log is not None:
            log.close()


async def _serve(
    options: GatewayOptions,
    found: ServersFile,
    lines: CallLines,
    log: Callable[[str], None] | None,
    store: EvidenceStore | None,
) -> None:
    write = log or (lambda _: None)
    logging.getLogger().addHandler(LogHandler(write, lines.render_warning))
    logging.getLogger("mcp").propagate = False  # texts of servers and clients would stand in it
    logging.getLogger("client").propagate = False
    counters = GatewayCounters()
    secrets = select_redactable([value for entry in found.entries for value in entry.secrets])
    if store is not None:
        store.secrets = secrets
    async with _learn(store, lambda said: write(lines.render_warning(said))) as note:

        def record(call: CallRecord, end: CallEnd | None) -> None:
            counters.add(call)
            note(call, end)
            if log is not None:
                log(lines.render_call(call))

        setup = GatewaySetup(
            entries=found.entries,
            allow=options.allow,
            consent=options.consent,
            pins=PinStore(found.place),
            profiles=ProfileStore(found.place),
            exposure=build_exposure(options.exposure, store),
            logins=ServerLogins(),
            record=record,
        )
        for entry in found.entries:
            if entry.error:
                write(lines.render_warning(entry.error))
        gateway = Gateway(setup)
        if options.port is None:
            from callwright.gateway.server.stdio_door import serve_stdio

            return await serve_stdio(gateway)
        return await _serve_http(options, found.oauth, gateway, counters, lines, secrets)


@asynccontextmanager
async def _learn(
    store: EvidenceStore | None, failed: Callable[[str], None]
) -> AsyncIterator[Callable[[CallRecord, CallEnd | None], None]]:
    """Where calls are noted as evidence of their tools."""
    if store is None:
        yield lambda *_: None
        return
    writer = EvidenceWriter(store, failed)
    async with asyncio.TaskGroup() as group:
        running = group.create_task(writer.run())
        try:
            yield writer.note
        finally:
            running.cancel()
            await writer.flush()


async def _serve_http(
    options: GatewayOptions,
    oauth: OAuthResource | None,
    gateway: Gateway,
    counters: GatewayCounters,
    lines: CallLines,
    secrets: tuple[str, ...],
) -> None:
    from callwright.gateway.server.http_door import HttpDoor

    access = build_access(options, oauth)
    authorizer = build_authorizer(access, oauth)
    door = HttpDoor(gateway, access, authorizer, counters, secrets)
    listening = open_socket(options.host, options.port or 0, "gateway")
    host, port = listening.getsockname()[:2]
    address = f"http://{render_host(str(host))}:{port}"
    server = _build_server(door, str(host), int(port))
    print(
        lines.render_start(f"{address}/mcp", len(gateway.setup.entries), f"{address}/callwright"),
        file=sys.stderr,
        flush=True,
    )
    gc.freeze()  # what was imported stays: it is not looked through again
    await server.serve(sockets=[listening])


def _build_server(door: Any, host: str, port: int) -> Any:
    """The server, not started. Raises MissingExtra."""
    try:
        import uvicorn

        from callwright.proxy.server.budget import Budget
        from callwright.proxy.server.connection import build_protocol
    except ImportError:
        raise MissingExtra("the gateway over HTTP", "proxy") from None
    budget = Budget()
    config = uvicorn.Config(
        door,
        host=host,
        port=port,
        http=build_protocol(budget),
        access_log=False,
        log_level="error",
        ws="none",
        proxy_headers=False,
        lifespan="on",
        backlog=_BACKLOG,
        server_header=False,
        date_header=False,
        timeout_keep_alive=round(budget.idle_seconds),
        timeout_graceful_shutdown=_SHUTDOWN_SECONDS,
    )
    return uvicorn.Server(config)


def build_exposure(settings: ExposureSettings, store: EvidenceStore | None) -> SearchExposure:
    """The exposure by these settings, with a search that knows how well tools work."""

    def open_search() -> ToolSearch:
        rates = store.rates if store is not None else dict[str, Rate]
        return ToolSearch(rates, encoder=open_search_encoder())

    return SearchExposure(settings, open_search)


def build_authorizer(access: Access, oauth: OAuthResource | None) -> Authorizer:
    """Who is let in: holders of the key, or of a token where OAuth is configured."""
    if oauth is None:
        return KeyAuthorizer(access)
    return OAuthAuthorizer(oauth, open_verifier(oauth), replace(access, key=Secret("")))


def build_access(options: GatewayOptions, oauth: OAuthResource | None = None) -> Access:
    """Who may use the door. Raises ConfigError where others could use it without a key or token."""
    unreadable = next((name for name in options.allow_host if host_name(name) is None), None)
    if unreadable is not None:
        raise ConfigError(
            f"--allow-host {unreadable} is no name of a host",
            hint="a name alone, as in my-server.lan",
        )
    named = urlsplit(oauth.resource).hostname if oauth is not None else None
    names = (options.host, *options.allow_host, *([named] if named else []))
    hosts = frozenset(found for name in names if (found := host_name(name)))
    made = Access(Secret(os.environ.get(KEY, "")), hosts=hosts, what="gateway", variable=KEY)
    return made if oauth is not None else made.checked(options.host)
