"""``callwright proxy``: a repairing proxy in front of one endpoint."""

from __future__ import annotations

import asyncio
import gc
import json
import os
import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from callwright.errors import ConfigError, MissingExtra
from callwright.jsontext import parse
from callwright.models.secret import Secret
from callwright.proxy.access import Access
from callwright.proxy.app import Proxy
from callwright.proxy.events import Probed
from callwright.proxy.settings import Guided, Settings

if TYPE_CHECKING:
    import uvicorn

    from callwright.models.local import LocalModel

MODES: tuple[Guided, ...] = ("auto", "on", "off")
_BACKLOG = 2048


def start(upstream: str | None, **given: Any) -> None:
    """What the command does: :func:`serve`, in front of an endpoint without the command line's own libraries.

    They are megabytes that a server would carry for as long as it runs, so the process starts over without them,
    once everything it was told has proved right.
    """
    if upstream is None or given.get("model") is not None or os.name != "posix" or not sys.executable:
        return serve(upstream, **given)
    checked = _made(upstream, **given)
    server(checked, given["host"], given["port"])
    told = json.dumps({"upstream": upstream, **given})
    os.execv(sys.executable, [sys.executable, "-m", "callwright.cli.proxy", told])


def serve(
    upstream: str | None,
    *,
    model: str | None = None,
    host: str = "127.0.0.1",
    port: int = 8787,
    guided: str = "auto",
    reasks: int | None = None,
    strict: bool = False,
) -> None:
    """Serve until interrupted. Keys: CALLWRIGHT_PROXY_KEY (clients must send it), CALLWRIGHT_API_KEY (sent upstream
    in place of the clients' own). Raises ConfigError, ModelError, MissingExtra."""
    if (upstream is None) == (model is None):
        raise ConfigError(
            "the proxy needs one upstream",
            hint="--upstream http://host:8000/v1, or --model local for the embedded one",
        )
    if upstream is not None:
        return _run(_made(upstream, host=host, guided=guided, reasks=reasks, strict=strict), host, port)
    settings, access = _settings(guided, reasks, strict), _access(host)
    local = _local(str(model))
    try:
        address, key = asyncio.run(local.endpoint())
        access = replace(access, upstream_key=Secret(key))
        known = Probed(native=False, schema=True, written=True)
        _run(Proxy(address, settings, access=access, known=known, local=True), host, port)
    finally:
        asyncio.run(local.aclose())
    return None


def _made(upstream: str, *, host: str, guided: str, reasks: int | None, strict: bool, **_: Any) -> Proxy:
    """The proxy in front of an endpoint. Raises ConfigError."""
    return Proxy(upstream, _settings(guided, reasks, strict), access=_access(host))


def _access(host: str) -> Access:
    keys = (Secret(os.environ.get(name, "")) for name in ("CALLWRIGHT_PROXY_KEY", "CALLWRIGHT_API_KEY"))
    return Access(*keys).checked(host)


def _settings(guided: str, reasks: int | None, strict: bool) -> Settings:
    mode = next((m for m in MODES if m == guided), None)
    if mode is None:
        raise ConfigError(f"there is no guided mode {guided!r}", hint="auto, on or off")
    made = Settings(guided=mode, refused="text" if strict else "forward")
    return made if reasks is None else replace(made, reasks=reasks)


def _local(name: str) -> LocalModel:
    from callwright.models.local import DEFAULT, LocalModel

    if name == "local":
        return LocalModel(DEFAULT)
    if name.startswith("local:"):
        return LocalModel(name.removeprefix("local:"))
    raise ConfigError(f"--model {name} is not on this machine", hint="--model local, or --upstream URL for endpoints")


def server(proxy: Proxy, host: str, port: int) -> uvicorn.Server:
    """A server for the proxy, not started. Raises MissingExtra."""
    try:
        import uvicorn
    except ImportError:
        raise MissingExtra("the proxy", "proxy") from None
    config = uvicorn.Config(
        proxy,
        host=host,
        port=port,
        access_log=False,
        log_level="warning",
        ws="none",
        proxy_headers=False,
        lifespan="on",
        backlog=_BACKLOG,
        server_header=False,
        date_header=False,
        timeout_keep_alive=75,
        timeout_graceful_shutdown=30,
    )
    return uvicorn.Server(config)


def _run(proxy: Proxy, host: str, port: int) -> None:
    made = server(proxy, host, port)
    # What was loaded lives as long as the process: the collector need not look through it again with every few
    # hundred objects of a request, of which reference counting leaves it next to nothing.
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 100)
    shown = "localhost" if host == "127.0.0.1" else host
    print(
        f"proxy:    http://{shown}:{port}/v1  (OpenAI; Anthropic and Ollama clients: http://{shown}:{port})\n"
        f"upstream: {proxy.upstream.base}\n"
        f"page:     http://{shown}:{port}/callwright",
        file=sys.stderr,
        flush=True,
    )
    made.run()


if __name__ == "__main__":
    serve(**parse(sys.argv[1]))
