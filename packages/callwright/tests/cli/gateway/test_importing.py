"""``callwright gateway import``: from the files of clients in a home of their own."""

from __future__ import annotations

import json
import stat
from pathlib import Path
from typing import Any

import pytest

from tests.cli.program import callwright

SECRET = "sk-live-4f8a9b2c7d6e1f0a"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A user with four clients."""
    home = tmp_path / "home"
    files: dict[str, Any] = {
        ".claude.json": {"mcpServers": {"docs": {"type": "http", "url": "https://d.example/mcp"}}},
        ".cursor/mcp.json": {
            "mcpServers": {"docs": {"url": "https://d.example/mcp"}, "git": {"command": "git-mcp"}}
        },
        ".cline/data/settings/cline_mcp_settings.json": {
            "mcpServers": {
                "git": {"command": "other-git-mcp", "env": {"API_KEY": SECRET}},
                "old": {"type": "sse", "url": "https://o.example/sse"},
            }
        },
    }
    for name, document in files.items():
        path = home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(document))
    project = tmp_path / "project" / ".vscode"
    project.mkdir(parents=True)
    (project / "mcp.json").write_text(
        '{\n  // the team\'s\n  "servers": {"db": {"command": "db", "args": ["${workspaceFolder}"]},},\n}'
    )
    return home


def run(home: Path, *arguments: str) -> Any:
    folder = home.parent / "project"
    environment = {"HOME": str(home), "XDG_CONFIG_HOME": str(home / ".config")}
    return callwright("gateway", "import", *arguments, folder=folder, **environment)


def test_the_lists_of_all_clients_become_one_file_that_only_the_user_reads(home: Path) -> None:
    done = run(home)
    assert done.returncode == 0, done.stderr
    path = home.parent / "project" / "mcp.json"
    project = str(path.parent)
    assert json.loads(path.read_text()) == {
        "mcpServers": {
            "docs": {"url": "https://d.example/mcp"},
            "db": {"command": "db", "args": [project], "cwd": project},
            "git": {"command": "git-mcp"},
            "git-cline": {"command": "other-git-mcp", "env": {"API_KEY": SECRET}},
        }
    }
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert "old: it speaks the older SSE transport" in done.stderr
    assert "git holds a secret as it is" in done.stderr
    assert SECRET not in done.stderr + done.stdout


def test_a_file_that_is_there_is_added_to_and_nothing_is_added_twice(home: Path) -> None:
    path = home.parent / "project" / "mcp.json"
    mine = {"command": "mine", "trusted": True}
    path.write_text(json.dumps({"oauth": {"x": 1}, "mcpServers": {"git": mine}}))
    assert run(home).returncode == 0
    made = json.loads(path.read_text())
    assert made["mcpServers"]["git"] == mine
    assert set(made["mcpServers"]) == {"git", "git-cursor", "git-cline", "docs", "db"}
    assert made["oauth"] == {"x": 1}
    assert "added: 0 servers" in run(home).stderr


def test_one_client_can_be_named_and_the_file_printed(home: Path) -> None:
    done = run(home, "cursor", "-o", "-")
    assert set(json.loads(done.stdout)["mcpServers"]) == {"docs", "git"}
    assert not (home.parent / "project" / "mcp.json").exists()


def test_another_kind_of_file_is_left_as_it_is(home: Path) -> None:
    path = home.parent / "project" / "mcp.json"
    path.write_text("[1]")
    done = run(home)
    assert done.returncode != 0
    assert "no servers file" in done.stderr
    assert path.read_text() == "[1]"


def test_a_home_without_clients_is_said(tmp_path: Path) -> None:
    (tmp_path / "project").mkdir()
    done = run(tmp_path / "home")
    assert done.returncode == 1
    assert done.stderr.startswith("no server was found; looked at: ")
    assert str(tmp_path / "home") in done.stderr


def test_the_entry_for_a_client_is_printed_with_its_place(home: Path) -> None:
    done = run(home, "--print-config", "vscode")
    entry = json.loads(done.stdout)["servers"]["callwright"]
    assert entry["type"] == "stdio"
    assert entry["args"][:2] == ["gateway", "--servers"]
    assert Path(entry["args"][2]).is_absolute()
    assert '"--consent", "client"' in done.stderr
    assert str(home / ".config" / "Code" / "User" / "mcp.json") in done.stderr
    done = run(home, "--print-config", "cline", "--url", "http://127.0.0.1:8790/mcp")
    entry = json.loads(done.stdout)["mcpServers"]["callwright"]
    assert entry == {"type": "streamableHttp", "url": "http://127.0.0.1:8790/mcp"}


@pytest.mark.parametrize("text", ["", "{broken"])
def test_a_file_that_is_no_json_costs_the_others_nothing(home: Path, text: str) -> None:
    (home / ".claude.json").write_text(text)
    done = run(home)
    assert done.returncode == 0, done.stderr
    assert ".claude.json cannot be read as JSON" in done.stderr
    assert "git" in (home.parent / "project" / "mcp.json").read_text()
