"""Frameworks in environments of their own, each driven through the standard streams."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from types import TracebackType

from callwright.jsontext import JsonError, parse, write
from callwright.nouns.types import Json, JsonObject
from callwright_lab.benchmarks.agents import loops
from callwright_lab.benchmarks.agents.task_set import DATA
from callwright_lab.benchmarks.comparison.side import side_python

REQUIREMENTS: Mapping[str, str] = {
    "openai": "openai",
    "openai-stream": "openai",
    "pydantic-ai": "pydantic-ai",
    "langgraph": "langgraph",
    "openai-agents": "openai-agents",
    "smolagents": "smolagents",
}
"""Framework -> its file in ``data/requirements``."""
_QUIET = {"HF_HUB_OFFLINE": "1", "LANGSMITH_TRACING": "false", "LANGCHAIN_TRACING_V2": "false"}
"""Nothing is reported to anybody."""


@dataclass(frozen=True, slots=True)
class Ended:
    """The end of a loop: its last words, or what went wrong."""

    answer: str
    error: str
    seconds: float


def read_requirements(framework: str) -> list[str]:
    """The pinned requirements of a framework."""
    path = DATA / "requirements" / f"{REQUIREMENTS[framework]}.txt"
    return path.read_text(encoding="utf-8").split()


def find_python(framework: str) -> Path:
    """An interpreter that has the framework: the running one where it has the pinned versions,
    else one of an environment in the cache. Raises ConfigError where that cannot be made.
    """
    pinned = read_requirements(framework)
    if all(_is_installed(requirement) for requirement in pinned):
        return Path(sys.executable)
    return side_python(f"agents-{REQUIREMENTS[framework]}", pinned)


def _is_installed(requirement: str) -> bool:
    name, _, version = requirement.partition("==")
    try:
        return metadata.version(name) == version
    except metadata.PackageNotFoundError:
        return False


class Framework:
    """One framework's process. It is started for the first job, and anew after it died."""

    def __init__(self, name: str, python: Path) -> None:
        self.name = name
        self._command = [str(python), "-I", str(Path(loops.__file__)), name]
        self._process: subprocess.Popen[str] | None = None

    def __enter__(self) -> Framework:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._end()

    def run_job(
        self, job: JsonObject, call: Callable[[str, Json], str], limit_seconds: float
    ) -> Ended:
        """Run one job; ``call`` answers the calls that the loop makes. A loop that takes longer
        than ``limit_seconds`` is ended with its process.
        """
        process = self._start()
        began, late = time.monotonic(), threading.Event()
        timer = threading.Timer(limit_seconds, _kill_late, (process, late))
        timer.start()
        try:
            done = _exchange_lines(process, job, call)
        finally:
            timer.cancel()
        seconds = time.monotonic() - began
        if done is None:
            self._end()
            reason = f"more than {limit_seconds:.0f} seconds" if late.is_set() else "process died"
            return Ended("", reason, seconds)
        return Ended(done["answer"], done["error"], seconds)

    def _start(self) -> subprocess.Popen[str]:
        if self._process is None:
            pipe = subprocess.PIPE
            environment = {**os.environ, **_QUIET, "NO_PROXY": "127.0.0.1", "no_proxy": "127.0.0.1"}
            self._process = subprocess.Popen(
                self._command,
                stdin=pipe,
                stdout=pipe,
                stderr=subprocess.DEVNULL,
                env=environment,
                text=True,
                encoding="utf-8",
            )
        return self._process

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            with suppress(OSError):
                process.communicate()


def _kill_late(process: subprocess.Popen[str], late: threading.Event) -> None:
    late.set()
    process.kill()


def _exchange_lines(
    process: subprocess.Popen[str], job: JsonObject, call: Callable[[str, Json], str]
) -> JsonObject | None:
    """The last line of a job; None where the process died."""
    assert process.stdin is not None
    assert process.stdout is not None
    line: JsonObject = job
    try:
        while True:
            process.stdin.write(write(line).decode() + "\n")
            process.stdin.flush()
            said = parse(process.stdout.readline())
            if "call" not in said:
                found: JsonObject = said
                return found
            line = {"result": call(said["call"], said["arguments"])}
    except (OSError, JsonError):
        return None
