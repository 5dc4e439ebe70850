"""Commands in a process that is killed at a chosen question or call: what all its lives asked
stands in a file.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.cli.endpoint import replying

posix = pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")

NOTE = '''
import os, pathlib, signal

HERE = pathlib.Path(__file__).parent

def note(text):
    """A tool says that it is being called, and may be killed for it."""
    with open(HERE / "asked", "a") as asked:
        asked.write(text + "\\n")
    if len((HERE / "asked").read_text().splitlines()) == int((HERE / "kill").read_text()):
        os.kill(os.getpid(), signal.SIGKILL)
'''
"""The beginning of a file of tools that count their calls."""


class World:
    """A folder for a program of ``commands`` that gets the model's address, and what all its lives
    asked so far. Line ``kill`` of that is the last of a life. ``files`` are given as
    ``name__suffix``.

    ``answer`` is what the model says to a request; those that do not hold ``about`` find out what
    the endpoint can do, and are not counted.
    """

    def __init__(
        self,
        folder: Path,
        commands: str,
        answer: Callable[[dict[str, Any]], str],
        about: str,
        **files: str,
    ) -> None:
        folder.mkdir()
        self.folder, self.life = folder, 0
        self._commands, self._answer, self._about = commands, answer, about
        for name, text in files.items():
            (folder / name.replace("__", ".")).write_text(text)

    @property
    def asked(self) -> list[str]:
        path = self.folder / "asked"
        return path.read_text().splitlines() if path.exists() else []

    @contextmanager
    def model(self) -> Iterator[str]:
        def reply(asked: str) -> str:
            body = json.loads(asked)
            text = json.dumps([body["messages"], body.get("seed")])
            if self._about not in text:
                return "{}"
            with (self.folder / "asked").open("a") as file:
                file.write(f"model {text}\n")
            if len(self.asked) == int((self.folder / "kill").read_text()):
                os.kill(self.life, signal.SIGKILL)
            return self._answer(body)

        with replying(reply) as url:
            yield f"{url}#m"

    def live(self, url: str, kill: int = -1) -> tuple[int, list[Any]]:
        """One process through all commands: its end, and the findings that it printed."""
        (self.folder / "kill").write_text(str(kill))
        command = [sys.executable, "-P", "-c", self._commands, url]
        own = {**os.environ, "CALLWRIGHT_EVIDENCE": str(self.folder / "evidence.db")}
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        with subprocess.Popen(command, cwd=self.folder, env=own, **pipes) as process:
            self.life = process.pid
            out, err = process.communicate(timeout=240)
        assert process.returncode in (0, -signal.SIGKILL), err.decode()
        return process.returncode, [json.loads(line) for line in out.splitlines()]

    def whole(self) -> list[Any]:
        """The findings of a life that nobody ended."""
        with self.model() as url:
            code, found = self.live(url)
        assert code == 0
        return found

    def broken(self, *kills: int) -> list[Any]:
        """The findings of the last of several lives, of which each but the last ended at its
        line.
        """
        with self.model() as url:
            for kill in kills:
                assert self.live(url, kill)[0] == -signal.SIGKILL
            code, found = self.live(url)
        assert code == 0
        return found


def without_cost(findings: list[Any]) -> list[Any]:
    """What was found; a run that goes on counts what it asks now."""
    return [{**one, "cost": {}} for one in findings]
