"""The endpoints that rows ask: a given one, the embedded model's own server, or ``callwright
proxy`` in front of either.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from callwright.nouns.errors import ConfigError
from callwright_lab.benchmarks.acebench.asking import PROXY

UPSTREAM_KEY, PROXY_KEY = "CALLWRIGHT_API_KEY", "CALLWRIGHT_PROXY_KEY"
_STARTED = "proxy:"


@dataclass(frozen=True, slots=True)
class Endpoint:
    """The base URL of a chat-completions API and the key that it wants."""

    url: str
    key: str = ""


@dataclass(frozen=True, slots=True)
class Upstreams:
    """The endpoints that the bench was given. ``model`` is the name that an upstream knows, or
    ``local`` and ``local:PATH`` for the embedded model; ``proxy`` is a proxy that runs already, in
    front of the same model; ``proxy_options`` are for one that the bench starts, its ``log`` a file.
    """

    url: str = ""
    model: str = ""
    proxy: str = ""
    proxy_options: Sequence[str] = ()
    log: Path | None = None

    @property
    def is_local(self) -> bool:
        """True if the model is the embedded one."""
        return not self.url and self.model.partition(":")[0] == "local"

    def check_ways(self, ways: Sequence[str]) -> None:
        """Raise ConfigError where a way has nobody to ask."""
        told = bool(self.url) or self.is_local
        if not told and not (self.proxy and {*ways} == {PROXY}):
            raise ConfigError("nobody to ask", hint="--upstream URL --model NAME, or --model local")


@asynccontextmanager
async def open_endpoint(way: str, upstreams: Upstreams) -> AsyncIterator[Endpoint]:
    """The endpoint that the rows of a way ask; what was started for them ends with the block."""
    if way == PROXY and upstreams.proxy:
        yield Endpoint(upstreams.proxy, _proxy_key())
    elif way == PROXY:
        with start_proxy(upstreams) as url:
            yield Endpoint(url, _proxy_key())
    elif upstreams.is_local:
        from callwright.models.local import DEFAULT, LocalModel

        local = LocalModel(upstreams.model.partition(":")[2] or DEFAULT)
        try:
            yield Endpoint(*await local.endpoint())
        finally:
            await local.aclose()
    else:
        yield Endpoint(upstreams.url, os.environ.get(UPSTREAM_KEY, ""))


def _proxy_key() -> str:
    return os.environ.get(PROXY_KEY, "") or os.environ.get(UPSTREAM_KEY, "")


@contextmanager
def start_proxy(upstreams: Upstreams) -> Iterator[str]:
    """``callwright proxy`` on a free port, for the length of the block; yields its base URL. Raises
    ConfigError with what it said where it does not start.
    """
    where = ["--model", upstreams.model] if upstreams.is_local else ["--upstream", upstreams.url]
    command = [sys.executable, "-P", "-m", "callwright", "proxy", *where, "--port", "0", "--quiet"]
    process = subprocess.Popen(
        [*command, *upstreams.proxy_options], stderr=subprocess.PIPE, text=True
    )
    said = process.stderr
    assert said is not None
    reader = threading.Thread(target=_copy_log, args=(said, upstreams.log), daemon=True)
    try:
        url = _read_address(said)
        reader.start()
        yield url
    finally:
        process.terminate()
        process.wait()
        if reader.ident is not None:
            reader.join()  # the log holds all that was said
        said.close()


def _read_address(said: IO[str]) -> str:
    lines = []
    for line in said:
        if line.startswith(_STARTED):
            return line.removeprefix(_STARTED).split()[0]
        lines.append(line)
    raise ConfigError(f"callwright proxy did not start: {''.join(lines[-6:]).strip()}")


def _copy_log(said: IO[str], log: Path | None) -> None:
    """Read what the proxy says, so that it never waits for a reader, into its log."""
    with open(log or os.devnull, "a", encoding="utf-8") as out:
        for line in said:
            out.write(line)
