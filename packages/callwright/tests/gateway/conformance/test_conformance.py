"""MCP's conformance suite, of one version exactly, against the gateway: as a server with a fixture
of ours behind it, and as a client of the suite's servers.

What a revision requires is frozen in the suite's own ``requirements``; all of it has to pass, but for
what ``expected_failures.yaml`` lists.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.error import HTTPError

import pytest
import yaml

from tests.gateway.files import write_servers
from tests.gateway.warm_python import words_of
from tests.peers import installed, node_from_pypi, run

PACKAGE = "@modelcontextprotocol/conformance"
VERSION = "0.2.0-alpha.12"  # `latest` has no --requirements
REVISIONS = ("2026-07-28", "2025-11-25")
HERE = Path(__file__).parent
ROOT = HERE.parents[2]
SECONDS = 600
_LINE = re.compile(r"^([✓✗]) (\S+): (\d+) passed, (\d+) failed", re.M)
_ALONE = re.compile(r"^Passed: \d+/\d+, (\d+) failed, (\d+) warnings", re.M)

pytestmark = pytest.mark.heavy


@dataclass(frozen=True)
class Suite:
    """The installed suite."""

    node: str
    folder: Path

    @property
    def package(self) -> Path:
        return self.folder / "node_modules" / PACKAGE

    def list_required(self, revision: str, leg: str) -> set[str]:
        told = (self.package / "requirements" / f"{revision}.yaml").read_text(encoding="utf-8")
        return set(yaml.safe_load(told)[leg])

    def run(self, leg: str, revision: str, *options: str, folder: Path) -> dict[str, bool]:
        """Scenario -> passed, of all that a revision requires.

        The suite runs client scenarios all at once and waits tenths of a second for some events. So
        on a machine that is busy a scenario may fail for want of time; each that failed is run once
        more alone.
        """
        said = self._call(leg, *options, "--requirements", revision, folder=folder)
        found = {name: mark == "✓" for mark, name, *_ in _LINE.findall(said)}
        assert found, said[-2_000:]
        for name in sorted(self.list_required(revision, leg)):
            if not found[name]:
                alone = ("--scenario", name, "--spec-version", revision)
                said = self._call(leg, *options, *alone, folder=folder)
                counted = _ALONE.search(said)
                most = {"server": r"\d+", "client": "0"}[leg]  # warnings, as the summary counts
                found[name] = bool(counted and counted[1] == "0" and re.fullmatch(most, counted[2]))
        return found

    def _call(self, leg: str, *options: str, folder: Path) -> str:
        """What the suite prints."""
        command = [self.node, str(self.package / "dist" / "index.js"), leg, *options]
        done = subprocess.run(
            [*command, "--timeout", "60000", "-o", str(folder)],
            capture_output=True,
            text=True,
            cwd=ROOT,
            timeout=SECONDS,
            env=_environment(folder),
        )
        return done.stdout + done.stderr


@pytest.fixture(scope="module")
def suite() -> Suite:
    own, npm = node_from_pypi()
    pinned = f"{PACKAGE}@{VERSION}"
    options = ["--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error"]

    def install(folder: Path) -> None:
        run(*npm, "install", "--prefix", str(folder), *options, pinned)

    return Suite(own, installed("conformance", pinned, install))


def require_all(suite: Suite, leg: str, revision: str, found: dict[str, bool]) -> None:
    """Every required scenario passed but the expected failures, which failed."""
    listed = yaml.safe_load((HERE / "expected_failures.yaml").read_text(encoding="utf-8"))
    expected = set(listed[leg])
    required = suite.list_required(revision, leg)
    assert len(required) > 15
    assert required <= found.keys()
    assert {name for name in required if not found[name]} == expected & required


@pytest.mark.parametrize("revision", REVISIONS)
def test_the_fixture_alone_passes_every_required_scenario(
    suite: Suite, revision: str, tmp_path: Path
) -> None:
    with serve_fixture(tmp_path) as url:
        found = suite.run("server", revision, "--url", url, folder=tmp_path)
    assert [n for n in suite.list_required(revision, "server") if not found[n]] == []


@pytest.mark.parametrize("revision", REVISIONS)
def test_the_gateway_passes_every_required_scenario_of_a_server(
    suite: Suite, revision: str, tmp_path: Path
) -> None:
    with serve_fixture(tmp_path) as behind:
        entry = {"url": behind, "prefix": "", "approve": ["*"], "trusted": True}
        servers = write_servers(tmp_path, {"fixture": entry})
        with serve_gateway(servers, tmp_path) as url:
            found = suite.run("server", revision, "--url", url, folder=tmp_path)
    require_all(suite, "server", revision, found)


def test_an_old_client_reaches_a_server_over_stdio(suite: Suite, tmp_path: Path) -> None:
    """The server speaks 2026-07-28 with the gateway, its client 2025-11-25: what the server asks
    becomes requests in the middle of the call.
    """
    entry: dict[str, Any] = {
        "command": sys.executable,
        "args": ["-P", "-m", "tests.gateway.conformance.fixture_server"],
        "env": {"PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path])},
        "prefix": "",
        "approve": ["*"],
        "trusted": True,
    }
    servers = write_servers(tmp_path, {"fixture": entry})
    with serve_gateway(servers, tmp_path) as url:
        found = suite.run("server", "2025-11-25", "--url", url, folder=tmp_path)
    require_all(suite, "server", "2025-11-25", found)


@pytest.mark.parametrize("revision", REVISIONS)
def test_the_gateway_passes_every_required_scenario_of_a_client(
    suite: Suite, revision: str, tmp_path: Path
) -> None:
    command = shlex.join([sys.executable, *words_of(HERE / "client_driver.py")])
    found = suite.run("client", revision, "--command", command, folder=tmp_path)
    require_all(suite, "client", revision, found)


@contextmanager
def serve_fixture(folder: Path) -> Iterator[str]:
    port = _find_port()
    command = ["-m", "tests.gateway.conformance.fixture_server", str(port)]
    with _started(command, f"http://127.0.0.1:{port}/mcp", folder) as url:
        yield url


@contextmanager
def serve_gateway(servers: Path, folder: Path) -> Iterator[str]:
    port = _find_port()
    command = ["-m", "callwright", "gateway", "--servers", str(servers), "--port", str(port)]
    with _started([*command, "--consent", "client"], f"http://127.0.0.1:{port}/mcp", folder) as url:
        yield url


@contextmanager
def _started(command: Sequence[str], url: str, folder: Path) -> Iterator[str]:
    """A program of ours that serves at a URL, from when it answers."""
    with (
        open(folder / "log.txt", "ab") as log,
        subprocess.Popen(
            [sys.executable, "-P", *command],
            cwd=ROOT,
            stdout=log,
            stderr=log,
            env=_environment(folder),
        ) as process,
    ):
        try:
            _wait_until_served(url, process)
            yield url
        finally:
            process.terminate()


def _wait_until_served(url: str, process: subprocess.Popen[bytes]) -> None:
    """Returns when something answers at the URL: whoever asks waits for the connection."""
    while process.poll() is None:
        try:
            with urllib.request.urlopen(url, timeout=5):
                return
        except HTTPError:
            return
        except OSError:
            continue
    raise AssertionError(f"it ended with status {process.returncode}")


def _environment(folder: Path) -> dict[str, str]:
    state = str(folder / "state")
    path = os.pathsep.join([str(ROOT), *filter(None, sys.path)])
    own = {"CALLWRIGHT_TRUST": f"{state}/trust", "XDG_STATE_HOME": state, "PYTHONPATH": path}
    return {**os.environ, **own}


def _find_port() -> int:
    from callwright.serving.sockets import open_socket

    with open_socket("127.0.0.1", 0) as free:
        port: int = free.getsockname()[1]
        return port


def test_the_expected_failures_are_a_list_of_scenarios() -> None:
    told = yaml.safe_load((HERE / "expected_failures.yaml").read_text(encoding="utf-8"))
    assert set(told) == {"server", "client"}
    assert json.dumps(told) == '{"server": [], "client": []}'
