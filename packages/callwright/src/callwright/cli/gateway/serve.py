"""Serves the gateway until it is interrupted, or until its client closes stdin."""

from __future__ import annotations

import asyncio
import gc
import logging
import os
import signal
import socket
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias
from urllib.parse import urlsplit

from callwright.cli.evidence import open_evidence
from callwright.cli.gateway.assembly import (
    build_authorizer,
    build_exposure,
    build_setup,
    open_refiner,
)
from callwright.cli.refiner import RefinerSetup, list_warnings
from callwright.gateway.configuration import ServersFile, read_servers_file
from callwright.gateway.exposure import ExposureSettings
from callwright.gateway.oauth.resource import OAuthResource
from callwright.gateway.server.authorizer import Authorizer
from callwright.gateway.server.call_log import CallLines, JsonLines, TextLines
from callwright.gateway.server.counters import GatewayCounters
from callwright.gateway.server.evidence_writer import EvidenceWriter
from callwright.gateway.server.gateway import ConsentMode, Gateway
from callwright.gateway.server.refiner import Refiner
from callwright.gateway.session.call import CallEnd
from callwright.gateway.session.record import CallRecord
from callwright.models.secret import Secret
from callwright.nouns.errors import ConfigError, MissingExtra
from callwright.nouns.log_line import LogFormat
from callwright.nouns.redaction import select_redactable
from callwright.serving.access import LOOPBACK, Access, host_name
from callwright.serving.line_log import LineLog, LogHandler
from callwright.serving.sockets import open_socket, render_host
from callwright.tools.evidence import EvidenceStore

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
    refiner: RefinerSetup = field(default_factory=RefinerSetup)


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
    door = None if options.port is None else (build_access(options, found.oauth), _listen(options))
    lines: CallLines = JsonLines() if options.log_format == "json" else TextLines()
    log = LineLog(sys.stderr.fileno(), lines.render_warning)
    try:
        with open_evidence(options.evidence) as store:
            notes = _Notes(lines, log, store)
            with asyncio.Runner(loop_factory=_find_loop()) as runner:
                runner.run(_serve_clients(options, found, notes, door))
    finally:
        log.close()


@dataclass(frozen=True, slots=True)
class _Notes:
    """The log and the evidence of a gateway."""

    lines: CallLines
    log: Callable[[str], None]
    store: EvidenceStore | None

    def warn(self, said: str) -> None:
        """Say something that a user should know."""
        self.log(self.lines.render_warning(said))


_Door: TypeAlias = tuple[Access, socket.socket] | None


def _find_loop() -> Callable[[], asyncio.AbstractEventLoop] | None:
    """The faster event loop, where it is installed."""
    try:
        import uvloop
    except ImportError:
        return None
    made: Callable[[], asyncio.AbstractEventLoop] = uvloop.new_event_loop
    return made


async def _serve_clients(
    options: GatewayOptions, found: ServersFile, notes: _Notes, door: _Door
) -> None:
    """Serve until the client leaves, or until this process is told to stop."""
    logging.getLogger().addHandler(LogHandler(notes.log, notes.lines.render_warning))
    for name in ("mcp", "client"):  # the SDK's: texts of servers and clients would stand in it
        logging.getLogger(name).propagate = False
    counters = GatewayCounters()
    secrets = select_redactable([value for entry in found.entries for value in entry.secrets])
    async with _open_writer(notes, secrets) as note, _open_refiner(options, notes) as refiner:

        def record(call: CallRecord, end: CallEnd | None) -> None:
            counters.add(call)
            note(call, end)
            if not options.quiet:
                notes.log(notes.lines.render_call(call))

        for entry in found.entries:
            for said in (entry.error, *entry.notes):
                if said:
                    notes.warn(said)
        exposure = build_exposure(options.exposure, notes.store)
        allow, consent = options.allow, options.consent
        gateway = Gateway(
            build_setup(found, exposure, record, allow=allow, consent=consent, refiner=refiner)
        )
        if door is None:
            await _serve_stdio(gateway)
            return
        authorizer = build_authorizer(door[0], found.oauth)
        await _serve_http(gateway, door, authorizer, counters, notes.lines, secrets)


async def _serve_stdio(gateway: Gateway) -> None:
    """Serve the client that started this process. To be told to stop ends it as the client does."""
    from callwright.gateway.server.stdio_door import serve_stdio

    async with asyncio.TaskGroup() as group:
        serving = group.create_task(serve_stdio(gateway))
        if sys.platform != "win32":
            asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, serving.cancel)


@asynccontextmanager
async def _open_writer(
    notes: _Notes, secrets: tuple[str, ...]
) -> AsyncIterator[Callable[[CallRecord, CallEnd | None], None]]:
    """Where calls are noted as evidence of their tools."""
    if notes.store is None:
        yield lambda *_: None
        return
    notes.store.secrets = secrets
    writer = EvidenceWriter(notes.store, notes.warn)
    async with asyncio.TaskGroup() as group:
        running = group.create_task(writer.run())
        try:
            yield writer.note
        finally:
            running.cancel()
            await writer.flush()


@asynccontextmanager
async def _open_refiner(options: GatewayOptions, notes: _Notes) -> AsyncIterator[Refiner | None]:
    """The refiner of the options while a gateway serves; what a user should know of it is said."""
    refiner = open_refiner(options.refiner)
    for said in list_warnings(None if refiner is None else refiner.settings):
        notes.warn(said)
    try:
        yield refiner
    finally:
        if refiner is not None:
            await refiner.aclose()


async def _serve_http(
    gateway: Gateway,
    door: tuple[Access, socket.socket],
    authorizer: Authorizer,
    counters: GatewayCounters,
    lines: CallLines,
    secrets: tuple[str, ...],
) -> None:
    from callwright.gateway.server.http_door import HttpDoor

    access, listening = door
    application = HttpDoor(gateway, access, authorizer, counters, secrets)
    host, port = listening.getsockname()[:2]
    address = f"http://{render_host(str(host))}:{port}"
    server = _build_server(application, str(host), int(port))
    print(
        lines.render_start(f"{address}/mcp", len(gateway.setup.entries), f"{address}/callwright"),
        file=sys.stderr,
        flush=True,
    )
    gc.freeze()  # what was imported stays: it is not looked through again
    await server.serve(sockets=[listening])


def _listen(options: GatewayOptions) -> socket.socket:
    return open_socket(options.host, options.port or 0, "gateway")


def _build_server(application: Any, host: str, port: int) -> Any:
    """The server, not started. Raises MissingExtra."""
    try:
        import uvicorn

        from callwright.proxy.server.budget import Budget
        from callwright.proxy.server.connection import build_protocol
    except ImportError:
        raise MissingExtra("the gateway over HTTP", "proxy") from None
    budget = Budget()
    config = uvicorn.Config(
        application,
        host=host,
        port=port,
        http=build_protocol(budget),
        access_log=False,
        log_level="error",
        log_config=None,  # by our own log: it waits for nobody who does not read our stderr
        ws="none",
        proxy_headers=False,
        lifespan="on",
        backlog=_BACKLOG,
        server_header=False,
        date_header=False,
        timeout_keep_alive=round(budget.idle_seconds),
        timeout_graceful_shutdown=_SHUTDOWN_SECONDS,
    )
    return _build_server_type(uvicorn.Server)(config)


def _build_server_type(server: Any) -> Any:
    """A server that ends when it is told to, and lets this process end as it likes: uvicorn's own
    raises the signal again, and what was learned last would be lost.
    """

    class Server(server):  # type: ignore[misc]
        @contextmanager
        def capture_signals(self) -> Iterator[None]:
            numbers = (signal.SIGINT, signal.SIGTERM)
            before = {number: signal.signal(number, self.handle_exit) for number in numbers}
            try:
                yield
            finally:
                for number, handler in before.items():
                    signal.signal(number, handler)

    return Server


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
    made = Access(
        Secret(os.environ.get(KEY, "")),
        hosts=hosts,
        what="gateway",
        variable=KEY,
        is_public=named is not None and named not in LOOPBACK,
    )
    return made if oauth is not None else made.checked(options.host)
