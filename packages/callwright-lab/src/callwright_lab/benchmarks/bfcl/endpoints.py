"""Where a row's questions go: an upstream, the embedded model, and ``callwright proxy`` before
either.
"""

from __future__ import annotations

import asyncio
import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from callwright.cli.proxy import UPSTREAM_KEY
from callwright.models.local import DEFAULT, LocalModel
from callwright.nouns.errors import ConfigError

LOCAL = "local"
_PATIENCE = 120.0  # seconds until a proxy that was started must answer
_PAUSE = 0.1


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Base URL of an OpenAI-compatible API, and its key."""

    url: str
    key: str = ""


def is_embedded(model: str) -> bool:
    """Return True if a name means the embedded model: ``local`` or ``local:PATH``."""
    return model == LOCAL or model.startswith(f"{LOCAL}:")


@contextmanager
def open_upstream(url: str | None, model: str, context: int) -> Iterator[Endpoint]:
    """The endpoint at this URL, or the embedded model with so many tokens of context.

    The key of an endpoint is the one that the proxy would send, from CALLWRIGHT_API_KEY.
    """
    if url is not None:
        yield Endpoint(url, os.environ.get(UPSTREAM_KEY, ""))
        return
    if not is_embedded(model):
        raise ConfigError(
            f"no endpoint is known for {model!r}",
            hint="--upstream http://host:8000/v1, or --model local for the embedded model",
        )
    local = LocalModel(model.partition(":")[2] or DEFAULT, context=context)
    try:
        yield Endpoint(*asyncio.run(local.endpoint()))
    finally:
        asyncio.run(local.aclose())


@contextmanager
def open_proxy(upstream: Endpoint, options: Sequence[str], log: Path) -> Iterator[Endpoint]:
    """A ``callwright proxy`` before this upstream, with these more options; its log goes to
    ``log``. Raises ConfigError where it does not start.
    """
    port = find_free_port()
    command = [sys.executable, "-P", "-m", "callwright", "proxy", "--upstream", upstream.url]
    command += ["--port", str(port), *options]
    variables = {UPSTREAM_KEY: upstream.key} if upstream.key else {}
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("ab") as said:
        begun = log.stat().st_size
        process = subprocess.Popen(
            command, stdout=said, stderr=said, env={**os.environ, **variables}
        )
        try:
            _await_health(process, f"http://127.0.0.1:{port}/healthz", log, begun)
            yield Endpoint(f"http://127.0.0.1:{port}/v1", upstream.key)
        finally:
            process.terminate()
            process.wait()


def find_free_port() -> int:
    """A port of loopback that nobody listens on."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def _await_health(process: subprocess.Popen[bytes], url: str, log: Path, begun: int) -> None:
    end = time.monotonic() + _PATIENCE
    direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    while process.poll() is None and time.monotonic() < end:
        try:
            with direct.open(url, timeout=2):
                return
        except (urllib.error.URLError, OSError):
            time.sleep(_PAUSE)
    said = log.read_bytes()[begun:].decode(errors="replace").strip().splitlines()
    raise ConfigError(
        f"callwright proxy did not start: {said[-1] if said else 'it said nothing'}",
        hint=f"its log is {log}",
    )
