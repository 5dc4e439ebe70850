"""Environments beside ours: for what a benchmark measures or plays with and nobody should have to
install.

Made once, in the cache folder, from a list of requirements; made again when that list or the
interpreter changes. What runs there is asked line by line.
"""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO

from callwright.nouns.errors import ConfigError
from callwright.weights.store import cache_dir

_LINES = 6  # of what a failed command said last: that nothing was found, and before that why


def side_python(name: str, requirements: Sequence[str]) -> Path:
    """The Python that has these requirements and nothing of ours. The first time this takes
    minutes, and pip's index.

    Raises ConfigError with pip's last words.
    """
    stated = "\n".join([*requirements, sys.version]).encode()
    folder = cache_dir() / name / hashlib.sha256(stated).hexdigest()[:12]
    python = folder / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
    done = folder / "installed"
    if not done.exists():
        sys.stderr.write(f"installing {', '.join(requirements)} into {folder}\n")
        shutil.rmtree(folder, ignore_errors=True)
        _run_command([sys.executable, "-P", "-m", "venv", str(folder)], folder)
        pip = [str(python), "-P", "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        _run_command([*pip, *requirements], folder)
        done.touch()
    return python


class SideProcess:
    """A process that answers each line on its stdin with one line on its stdout."""

    def __init__(
        self,
        command: Sequence[str],
        folder: Path,
        *,
        stderr: IO[bytes] | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=stderr,
            cwd=folder,
            env=environment,
        )

    def ask(self, line: bytes) -> bytes:
        """Return the answer to a line, which is given without its end; nothing where the process
        ended instead. Raises OSError where the process takes no line.
        """
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None
        assert stdout is not None
        stdin.write(line + b"\n")
        stdin.flush()
        return stdout.readline()

    def terminate(self) -> None:
        """Have it break off what it is at; :meth:`close` follows."""
        self._process.terminate()

    def close(self) -> None:
        """Wait until it ends, which it does when its stdin does."""
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                with suppress(OSError):  # a line that it never read is still to be written
                    stream.close()
        self._process.wait()


def _run_command(command: Sequence[str], folder: Path) -> None:
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        said = (
            done.stderr.strip() or done.stdout.strip() or "no reason given"
        )  # venv says it in the latter
        last = "\n".join(said.splitlines()[-_LINES:])
        raise ConfigError(
            f"the environment {folder} could not be made: {last}", hint=f"try: {' '.join(command)}"
        )
