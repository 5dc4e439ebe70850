"""``callwright proxy``: a repairing proxy in front of one endpoint."""

from __future__ import annotations

import asyncio
import gc
import os
import sys
from dataclasses import replace
from typing import TYPE_CHECKING

from callwright.errors import ConfigError, MissingExtra
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
    settings = _settings(guided, reasks, strict)
    access = Access(
        Secret(os.environ.get("CALLWRIGHT_PROXY_KEY", "")), Secret(os.environ.get("CALLWRIGHT_API_KEY", ""))
    ).checked(host)
    if (upstream is None) == (model is None):
        raise ConfigError(
            "the proxy needs one upstream",
            hint="--upstream http://host:8000/v1, or --model local for the embedded one",
        )
    if upstream is not None:
        return _run(Proxy(upstream, settings, access=access), host, port)
    local = _local(str(model))
    try:
        address, key = asyncio.run(local.endpoint())
        access = replace(access, upstream_key=Secret(key))
        known = Probed(native=False, schema=True, written=True)
        _run(Proxy(address, settings, access=access, known=known, local=True), host, port)
    finally:
        asyncio.run(local.aclose())
    return None


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
