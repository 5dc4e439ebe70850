"""Real peers for the catalogue: the reference MCP servers, pinned, installed by the test setup once
a machine.
"""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.peers import installed, node, run

NPM_PACKAGES = (
    "@modelcontextprotocol/server-everything@2026.8.31",
    "@modelcontextprotocol/server-filesystem@2026.8.31",
)
PEER = Path(__file__).parent / "peer_server.py"


@dataclass(frozen=True)
class NodeServers:
    """``node`` and the entry file of an installed server."""

    node: str
    folder: Path

    def script(self, name: str) -> str:
        return str(
            self.folder / "node_modules" / "@modelcontextprotocol" / name / "dist" / "index.js"
        )


@pytest.fixture(scope="session")
def node_servers() -> NodeServers:
    own, npm = node()
    options = [
        "--no-audit",
        "--no-fund",
        "--ignore-scripts",
        "--no-package-lock",
        "--loglevel=error",
    ]

    def install(folder: Path) -> None:
        run(*npm, "install", "--prefix", str(folder), *options, *NPM_PACKAGES)

    return NodeServers(own, installed("npm", " ".join(NPM_PACKAGES), install))


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
