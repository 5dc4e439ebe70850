"""``callwright proxy`` as its users start it: a process of its own, in front of an upstream."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import threading
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache

from callwright.nouns.errors import ConfigError

_ADDRESS = re.compile(r"proxy:\s+http://[^:/]+:(\d+)/v1")
_QUESTIONS = re.compile(r"^callwright_questions_total (\d+)", re.MULTILINE)
_START_SECONDS = 180.0


@contextmanager
def start_proxy(options: Sequence[str]) -> Iterator[str]:
    """Start the proxy on a free port of loopback while the block runs; its base URL.

    What it learns of an endpoint is kept apart: a scripted upstream may take the port of another.
    Raises ConfigError with its last words where it does not start.
    """
    command = [sys.executable, "-P", "-m", "callwright", "proxy", "--port", "0", "--quiet"]
    with tempfile.TemporaryDirectory() as folder:
        environment = dict(os.environ)
        if "--upstream" in options:
            environment["CALLWRIGHT_CACHE"] = folder
        process = subprocess.Popen(
            [*command, *options],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            env=environment,
        )
        assert process.stderr is not None
        drain = threading.Thread(target=process.stderr.read, daemon=True)
        try:
            port = _read_port(process)
            drain.start()  # a pipe that nobody reads would stop the proxy
            yield f"http://127.0.0.1:{port}/v1"
        finally:
            process.terminate()
            process.wait()
            if drain.ident is not None:
                drain.join()
            process.stderr.close()


def _read_port(process: subprocess.Popen[str]) -> str:
    """The port that the proxy says it listens on. Raises ConfigError where it ends without."""
    assert process.stderr is not None
    timer = threading.Timer(_START_SECONDS, process.kill)
    timer.start()
    said = ""
    for line in process.stderr:
        said += line
        if match := _ADDRESS.search(line):
            timer.cancel()
            return match[1]
    timer.cancel()
    raise ConfigError(f"the proxy did not start: {said.strip()[-400:]}")


@cache
def read_proxy_help() -> str:
    """The text of ``callwright proxy --help``."""
    command = [sys.executable, "-P", "-m", "callwright", "proxy", "--help"]
    return subprocess.run(command, capture_output=True, text=True).stdout


def build_guard_options(guard: str) -> list[str]:
    """``--guard`` as the proxy takes it, nothing for its default. Raises ConfigError where this
    proxy does not know the option.
    """
    if not guard:
        return []
    if "--guard" not in read_proxy_help():
        raise ConfigError("this version's proxy has no --guard", hint="leave the option out")
    return ["--guard", guard]


def count_own_questions(url: str) -> int:
    """The questions that a proxy has asked beyond its clients' own; 0 where it does not say."""
    address = url.removesuffix("/v1") + "/metrics"
    try:
        with urllib.request.urlopen(address, timeout=30) as response:
            found = _QUESTIONS.search(response.read().decode())
    except OSError:
        return 0
    return int(found[1]) if found else 0
