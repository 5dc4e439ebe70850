"""``callwright proxy``: a repairing proxy in front of one endpoint."""

from __future__ import annotations

import asyncio
import gc
import json
import logging
import os
import socket
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args
from urllib.parse import urlsplit

from callwright.cli.terminal.ending import report_errors
from callwright.jsontext import parse
from callwright.models.secret import Secret
from callwright.nouns.errors import ConfigError, MissingExtra
from callwright.nouns.log_line import LogFormat
from callwright.nouns.model_profile import SMALL, find_profile
from callwright.proxy.server.app import Observers, Proxy, UpstreamFacts
from callwright.proxy.server.destination import read_destinations
from callwright.proxy.server.lane import list_python_options
from callwright.proxy.server.meter import process_meter
from callwright.proxy.server.placement import warm_up
from callwright.proxy.server.request_log import JsonLines, Lines, TextLines
from callwright.proxy.server.route import Routes
from callwright.proxy.server.training_log import Keeper
from callwright.proxy.session.events import Probed
from callwright.proxy.session.settings import GuardSetting, Guided, GuidedPart, Settings
from callwright.serving.access import Access, host_name
from callwright.serving.line_log import LineLog, LogHandler
from callwright.serving.sockets import (
    BACKLOG,
    connections_with_files,
    explain_unreachable,
    open_socket,
    render_host,
)
from callwright.tools.declared_effects import DeclaredEffects
from callwright.tools.overlay import Overlay

if TYPE_CHECKING:
    import uvicorn

    from callwright.models.local import LocalModel
    from callwright.nouns.protocols import ChatModel
    from callwright.repair.by_model.refiner_settings import RefinerSettings

UPSTREAM_KEY = "CALLWRIGHT_API_KEY"
MODES: tuple[Guided, ...] = get_args(Guided)
GUARDS: tuple[GuardSetting, ...] = get_args(GuardSetting)
PARTS: tuple[GuidedPart, ...] = get_args(GuidedPart)
_PACKAGES = str(
    Path(__file__).resolve().parents[2]
)  # the folder that this package was imported from
# With -P no file of the working folder is ever imported, whatever its name. The package's own
# folder comes last: it is needed where the package is not installed, and must not stand before the
# standard library.
_RESTARTED = (
    "import sys; sys.path.append(sys.argv[1]); from callwright.cli.proxy import restarted;"
    " restarted()"
)
_LOOPBACK = ("localhost", "127.0.0.1", "::1")


@dataclass(frozen=True, slots=True, kw_only=True)
class RepairSetup:
    """The part of a setup that is about calls. ``effects``: what tools do, as
    :class:`~callwright.tools.declared_effects.DeclaredEffects` reads it. ``refiner``: the fields of a
    :class:`~callwright.cli.refiner.RefinerSetup`.
    """

    guided: str = "auto"
    guard: str = "auto"
    effects: Sequence[str] = ()
    without: Sequence[str] = ()
    reasks: int | None = None
    strict: bool = False
    overlay: str | None = None
    refiner: Mapping[str, Any] = field(default_factory=dict)
    model_profile: str = ""


@dataclass(frozen=True, slots=True)
class ProxySetup(RepairSetup):
    """The setup of a proxy. ``keep``: a file for conversations with a repaired call;
    ``allow_host``: names under which the proxy is reached, beside localhost and its address;
    ``quiet``: no line for every request on stderr; ``log_contents``: JSON lines also hold texts and
    calls; ``key_variable``: the environment variable that
    holds the first upstream's key; ``key_variables``: those of the others, by their address as it
    stands in ``upstream``.
    """

    upstream: Sequence[str] = ()
    model: str | None = None
    host: str = "127.0.0.1"
    port: int = 8787
    keep: str | None = None
    allow_host: Sequence[str] = ()
    quiet: bool = False
    log_format: LogFormat = "text"
    log_contents: bool = False
    key_variable: str = UPSTREAM_KEY
    key_variables: Mapping[str, str] = field(default_factory=dict)


def start_proxy(setup: ProxySetup) -> None:
    """Run the command: :func:`serve`, in front of an endpoint without the libraries of the command
    line.

    They are megabytes that a server would carry for as long as it runs. So the process starts over
    without them, once all its settings have been checked.
    """
    is_local = not setup.upstream or setup.model is not None
    if is_local or os.name != "posix" or not sys.executable:
        return serve(setup)
    build_server(_build_proxy(setup), setup.host, setup.port)
    told = json.dumps(asdict(setup))  # it names the variable of the key, and never holds the key
    os.execv(
        sys.executable,
        [sys.executable, "-P", *list_python_options(), "-c", _RESTARTED, _PACKAGES, told],
    )


def serve(setup: ProxySetup) -> None:
    """Serve until interrupted.

    Keys: CALLWRIGHT_PROXY_KEY (clients must send it), CALLWRIGHT_API_KEY or the variable that was
    named (sent upstream in place of the clients' own), CALLWRIGHT_REFINER_KEY (sent to the refiner).
    Raises ConfigError, ModelError,
    MissingExtra.
    """
    if bool(setup.upstream) == (setup.model is not None):
        raise ConfigError(
            "the proxy needs an upstream: the endpoint whose calls it repairs",
            hint="--upstream http://host:8000/v1, or --model local for the embedded model",
        )
    if setup.upstream:
        made = _build_proxy(setup)
        listening = open_socket(setup.host, setup.port)
        warnings = [*_list_refiner_warnings(made.settings), *_list_unreachable(made)]
        return _run_server(made, listening, warnings, quiet=setup.quiet)
    return _serve_local(setup)


def _serve_local(setup: ProxySetup) -> None:
    """Serve in front of the embedded model."""
    settings, access, laid = (
        _build_settings(setup),
        _build_access(setup),
        _read_overlay(setup.overlay),
    )
    keeper = _open_training_log(setup.keep)
    local = _open_local(str(setup.model))
    listening = open_socket(
        setup.host, setup.port
    )  # before the model is loaded, which takes a while
    try:
        address, key = asyncio.run(local.endpoint())
        access = replace(access, upstream_key=Secret(key))
        known = Probed(native=False, schema=True)
        _run_server(
            Proxy(
                address,
                settings,
                access=access,
                facts=UpstreamFacts(known, local=True),
                overlay=laid,
                keeper=keeper,
                observers=_observe(setup),
            ).use_refiner(_open_refiner(setup)),
            listening,
            _list_refiner_warnings(settings),
            quiet=setup.quiet,
        )
    finally:
        asyncio.run(local.aclose())


def _build_proxy(setup: ProxySetup) -> Proxy:
    """The proxy in front of endpoints. Raises ConfigError."""
    access, settings = _build_access(setup), _build_settings(setup)
    _refuse_itself(setup)
    keys = {url: Secret(os.environ.get(name, "")) for url, name in setup.key_variables.items()}
    laid, keeper = _read_overlay(setup.overlay), _open_training_log(setup.keep)
    return Proxy(
        Routes(read_destinations(setup.upstream, keys)),
        settings,
        access=access,
        overlay=laid,
        keeper=keeper,
        observers=_observe(setup),
    ).use_refiner(_open_refiner(setup))


def _refuse_itself(setup: ProxySetup) -> None:
    """Raise ConfigError for a proxy that would send its requests to itself, without an end."""
    for url in setup.upstream:
        try:
            found = urlsplit(url)
            is_own = found.port == setup.port and found.hostname in _LOOPBACK
        except ValueError:
            continue  # no address: the reader of upstreams says so
        if is_own and setup.host in _LOOPBACK:
            raise ConfigError(
                f"{url} is the proxy's own address",
                hint="--upstream names the server behind it; clients get the proxy's address",
            )


def _open_refiner(setup: ProxySetup) -> ChatModel | None:
    """The model that is asked about calls, not loaded. Raises ConfigError."""
    if not setup.refiner.get("model"):
        return None
    from callwright.cli.refiner import RefinerSetup

    return RefinerSetup(**setup.refiner).open_served()


def _build_refiner_settings(setup: ProxySetup) -> RefinerSettings | None:
    if not setup.refiner:
        return None
    from callwright.cli.refiner import RefinerSetup

    return RefinerSetup(**setup.refiner).build_settings()


def _list_refiner_warnings(settings: Settings) -> list[str]:
    if settings.refiner is None:
        return []
    from callwright.cli.refiner import list_warnings

    return list_warnings(settings.refiner, knows_upstream=True)


def _observe(setup: ProxySetup) -> Observers:
    """Who is told, and in which form. Raises ConfigError."""
    if setup.log_contents and setup.log_format != "json":
        raise ConfigError(
            "--log-contents needs --log-format json", hint="the page /callwright shows contents too"
        )
    is_json = setup.log_format == "json"
    lines: Lines = JsonLines(with_contents=setup.log_contents) if is_json else TextLines()
    return Observers(lambda said: _print_line(lines.render_warning(said)), lines=lines)


def _print_line(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def _print_warning(said: str) -> None:
    _print_line(TextLines().render_warning(said))


def _open_training_log(path: str | None) -> Keeper | None:
    return Keeper(Path(path).expanduser(), _print_warning) if path else None


def _read_overlay(path: str | None) -> Overlay | None:
    return Overlay.read(Path(path).expanduser()) if path else None


def _build_access(setup: ProxySetup) -> Access:
    host, names = setup.host, setup.allow_host
    key, upstream_key = (
        Secret(os.environ.get(name, "")) for name in ("CALLWRIGHT_PROXY_KEY", setup.key_variable)
    )
    unreadable = next((name for name in names if host_name(name) is None), None)
    if unreadable is not None:
        raise ConfigError(
            f"--allow-host {unreadable} is no name of a host",
            hint="a name alone, as in my-server.lan",
        )
    hosts = frozenset(found for name in (host, *names) if (found := host_name(name)))
    return Access(key, upstream_key, hosts).checked(host)


def _build_settings(setup: ProxySetup) -> Settings:
    guided, reasks = setup.guided, setup.reasks
    mode = next((m for m in MODES if m == guided), None)
    if mode is None:
        raise ConfigError(f"there is no guided mode {guided!r}", hint=", ".join(MODES))
    guard = next((one for one in GUARDS if one == setup.guard), None)
    if guard is None:
        raise ConfigError(f"there is no guard {setup.guard!r}", hint=", ".join(GUARDS))
    unknown = [part for part in setup.without if part not in PARTS]
    if unknown:
        raise ConfigError(f"guided mode has no part {unknown[0]!r}", hint=", ".join(PARTS))
    made = Settings(
        guided=mode,
        without=frozenset(part for part in PARTS if part in setup.without),
        guard=guard,
        effects=DeclaredEffects.parse(setup.effects),
        refused="text" if setup.strict else "forward",
        refiner=_build_refiner_settings(setup),
        profile=find_profile(setup.model_profile) if setup.model_profile else SMALL,
    )
    return made if reasks is None else replace(made, reasks=reasks)


def _open_local(name: str) -> LocalModel:
    from callwright.models.engine import require_library
    from callwright.models.local import DEFAULT, LocalModel

    require_library()  # before its weights are fetched
    if name == "local":
        return LocalModel(DEFAULT)
    if name.startswith("local:"):
        return LocalModel(name.removeprefix("local:"))
    raise ConfigError(
        f"--model {name} is not on this machine",
        hint="--model local, or --upstream URL for endpoints",
    )


def build_server(proxy: Proxy, host: str, port: int) -> uvicorn.Server:
    """A server for the proxy, not started, with files enough for its connections. Raises
    MissingExtra.
    """
    try:
        import uvicorn

        from callwright.proxy.server.connection import build_protocol
    except ImportError:
        raise MissingExtra("the proxy", "proxy") from None
    budget = proxy.settings.budget
    budget = replace(budget, connections=connections_with_files(budget.connections))
    config = uvicorn.Config(
        proxy,
        host=host,
        port=port,
        http=build_protocol(budget, proxy.log_refusal),
        access_log=False,
        log_level="error",
        ws="none",
        proxy_headers=False,
        lifespan="on",
        backlog=BACKLOG,
        server_header=False,
        date_header=False,
        timeout_keep_alive=round(budget.idle_seconds),
        timeout_graceful_shutdown=30,
    )
    return uvicorn.Server(config)


def _list_unreachable(proxy: Proxy) -> list[str]:
    """A warning for each upstream at whose address nothing answers."""
    bases = [one.upstream.base for one in proxy.routes.destinations]
    found = [(base, why) for base in bases if (why := explain_unreachable(base))]
    if len(bases) == 1:
        return [
            f"nothing answers there now ({why}); is it started? Until then requests get a 502"
            for _, why in found
        ]
    return [f"nothing answers at {base} now ({why})" for base, why in found]


def _open_log(lines: Lines) -> LineLog:
    stderr = sys.stderr.fileno()
    return LineLog(stderr, lines.render_warning) if lines.counts_tokens else LineLog(stderr)


def _run_server(
    proxy: Proxy, listening: socket.socket, warnings: Sequence[str] = (), *, quiet: bool
) -> None:
    host, port = listening.getsockname()[:2]
    proxy.log = log = None if quiet else _open_log(proxy.lines)
    warm_up(proxy.settings, is_local=proxy.local)
    proxy.meter = process_meter()
    if log is not None and proxy.lines.counts_tokens:
        logging.getLogger().addHandler(LogHandler(log, proxy.lines.render_warning))
    made = build_server(proxy, host, port)
    # What was loaded lives as long as the process: the collector need not look through it again
    # with every few hundred objects of a request, of which reference counting leaves it next to
    # nothing.
    gc.collect()
    gc.freeze()
    gc.set_threshold(2_000, 10, 10)
    address = f"http://{render_host(host)}:{port}"
    bases = [one.upstream.base for one in proxy.routes.destinations]
    _print_line(proxy.lines.render_start(address, bases, f"{address}/callwright"))
    for warning in warnings:
        _print_line(proxy.lines.render_warning(warning))
    made.run(sockets=[listening])
    if log is not None:
        log.close()


def restarted() -> None:
    """Serve as start() was told to: the process that it made of the command."""
    with report_errors():
        serve(ProxySetup(**parse(sys.argv[2])))
