"""The program as a user calls it: a process of its own, with its own streams, environment, folder
and exit code.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from functools import cache
from multiprocessing import forkserver
from multiprocessing.context import BaseContext
from pathlib import Path

import pytest

from callwright.cli import main

SECONDS = 120
_COMMANDS = (
    *("app", "check", "demo", "doctor", "effects", "follow", "gateway.approve", "gateway.serve"),
    *("health", "plan", "proxy", "refine", "retrieve", "run", "runs", "simulate", "tools"),
    *("try_tools", "view", "weights"),
)
_OURS = ("models.openai", "planning.edges", "proxy.server.app", "tools.openapi", "http", "weights")
_LAB = ("cli.explore", "cli.train", "cli.verify", "transcripts", "verify")  # where it is installed
_IMPORTED = [
    "tests.cli.program",
    *(f"callwright.cli.{name}" for name in _COMMANDS),
    *(f"callwright.{name}" for name in _OURS),
    *(f"callwright_lab.{name}" for name in _LAB),
    "aiohttp",
    "mcp",
    "numpy",
    "pydantic.main",
]


def callwright(
    *arguments: str | Path, stdin: str = "", folder: Path | None = None, **environment: str
) -> subprocess.CompletedProcess[str]:
    """Carry out one command in a process that has the imports already: a server made them once and
    forks.

    They take longer than most commands. ``started`` is the long way;
    packages/callwright/tests/cli/test_app.py goes it with each kind.
    """
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return started(*arguments, stdin=stdin, folder=folder, **environment)
    told = [*map(str, arguments)]
    with tempfile.TemporaryDirectory() as aside:
        streams = [Path(aside) / name for name in ("in", "out", "err")]
        streams[0].write_text(stdin, encoding="utf-8")
        process = _server().Process(
            target=_carry_out, args=(told, _all(environment), folder, streams)
        )
        process.start()
        process.join(SECONDS)
        if process.exitcode is None:
            process.kill()
            process.join()
            raise subprocess.TimeoutExpired(told, SECONDS)
        code = process.exitcode
        process.close()
        return subprocess.CompletedProcess(
            told, code, *(path.read_text(encoding="utf-8") for path in streams[1:])
        )


def started(
    *arguments: str | Path, stdin: str = "", folder: Path | None = None, **environment: str
) -> subprocess.CompletedProcess[str]:
    """Start the program for one command."""
    return subprocess.run(
        [sys.executable, "-P", "-m", "callwright", *map(str, arguments)],
        input=stdin, capture_output=True, text=True, env=_all(environment), cwd=folder, timeout=SECONDS,
        preexec_fn=_as_in_a_terminal if os.name == "posix" else None,
    )  # fmt: skip


def _all(environment: Mapping[str, str]) -> dict[str, str]:
    return {**os.environ, "COLUMNS": "160", **environment}


def _as_in_a_terminal() -> None:
    """Ctrl-C counts, also where the tests run in the background and shells let it be ignored."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@cache
def _server() -> BaseContext:
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(_IMPORTED)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OPENBLAS_NUM_THREADS", "1")  # who forks must have no threads
        # before 3.13 the server does not take our path, and every fork imported this file and pytest
        patch.setenv("PYTHONPATH", os.pathsep.join(filter(None, sys.path)))
        forkserver.ensure_running()
    return context


def _carry_out(
    told: Sequence[str],
    environment: Mapping[str, str],
    folder: Path | None,
    streams: Sequence[Path],
) -> None:
    for number, (path, flags) in enumerate(
        zip(streams, (os.O_RDONLY, *[os.O_WRONLY | os.O_CREAT] * 2), strict=True)
    ):
        opened = os.open(path, flags)
        os.dup2(opened, number)
        os.close(opened)
    sys.stdin = os.fdopen(0, encoding="utf-8", closefd=False)
    sys.stdout = os.fdopen(1, "w", encoding="utf-8", closefd=False)
    sys.stderr = os.fdopen(
        2, "w", buffering=1, encoding="utf-8", errors="backslashreplace", closefd=False
    )
    os.environ.clear()
    os.environ.update(environment)
    if folder is not None:
        os.chdir(folder)
    sys.argv = ["callwright", *told]
    signal.signal(signal.SIGINT, signal.default_int_handler)
    main()
