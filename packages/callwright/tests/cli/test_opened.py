"""What a command is given and cannot use: whoever takes ``--overlay`` says what of it fits no tool,
on stderr, in one sentence; a source that cannot be opened is a warning.
"""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from callwright.tools.overlay import Overlay, ToolOverlay
from tests.cli import program
from tests.cli.sky import TOOLS

NOWHERE = "http://127.0.0.1:9/v1#m"


def callwright(*arguments: str | Path, folder: Path) -> subprocess.CompletedProcess[str]:
    state = {
        "XDG_STATE_HOME": str(folder / "state"),
        "CALLWRIGHT_RUNS": str(folder / "runs"),
        "COLUMNS": "400",
    }
    return program.callwright(*arguments, folder=folder, **state)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "tools.py").write_text(TOOLS)
    Overlay({"weather": ToolOverlay("of another"), "moon": ToolOverlay("x")}).write(
        tmp_path / "o.json"
    )
    return tmp_path


@pytest.mark.parametrize(
    "command",
    [
        ("tools", "tools.py"),
        ("tools", "tools.py", "--json"),
        ("tools", "try", "weather in Oslo", "--tools", "tools.py", "--no-evidence"),
        ("plan", "weather in Oslo", "--tools", "tools.py"),
        ("check", '{"tool": "weather", "arguments": {"city": "Oslo"}}', "--tools", "tools.py"),
        ("retrieve", "weather in Oslo", "--tools", "tools.py"),
        ("run", "weather in Oslo", "--tools", "tools.py", "--model", NOWHERE, "--mode", "text"),
    ],
    ids=lambda command: " ".join(command[:2]),
)
def test_what_fits_no_tool_is_a_warning(command: tuple[str, ...], folder: Path) -> None:
    done = callwright(*command, "--overlay", "o.json", folder=folder)
    said = (
        "warning: o.json: nothing in it fits a tool here: 1 of a tool that is not offered (moon), "
        "1 of a tool whose documentation has changed since (weather)"
    )
    assert done.stderr.count(said) == 1, done.stderr
    assert "o.json" not in done.stdout


@pytest.mark.parametrize(
    "command",
    [
        ("check", '{"tool": {"name": "a"}, "arguments": {}}'),
    ],
    ids=lambda command: " ".join(command[:2]),
)
def test_an_overlay_where_no_tools_are_named_is_of_no_use(
    command: tuple[str, ...], folder: Path
) -> None:
    done = callwright(*command, "--overlay", "o.json", folder=folder)
    assert done.stderr.count("warning: o.json is of no use here") == 1, done.stderr


@pytest.mark.parametrize(
    "command",
    [
        ("tools", "tools.py", "mcp.json", "broken.json", "http://127.0.0.1:9/openapi.json"),
        (
            "check",
            '{"tool": "weather", "arguments": {"city": "Oslo"}}',
            "--tools",
            "tools.py",
            "--tools",
            "mcp.json",
        ),
        ("plan", "weather in Oslo", "--tools", "tools.py", "--tools", "mcp.json"),
        ("retrieve", "weather in Oslo", "--tools", "tools.py", "--tools", "broken.json"),
    ],
    ids=lambda command: command[0],
)
def test_a_source_that_cannot_be_opened_is_a_warning_and_where_it_is_required_an_error(
    command: tuple[str, ...], folder: Path
) -> None:
    (folder / "mcp.json").write_text(
        json.dumps({"mcpServers": {"dead": {"command": "no-such-server"}}})
    )
    (folder / "broken.json").write_text('[{"name": ')
    sources = len({"mcp.json", "broken.json", "http://127.0.0.1:9/openapi.json"} & set(command))
    done = callwright(*command, folder=folder)
    assert (done.returncode, done.stderr.count("warning: left out: ")) == (0, sources), done.stderr
    assert "weather" in done.stdout or '"accepted": true' in done.stdout
    strict = callwright(*command, "--require-sources", folder=folder)
    assert (strict.returncode, strict.stdout) == (1, "")
    assert strict.stderr.startswith("error: ")


def test_a_run_goes_on_without_a_source_that_cannot_be_opened(folder: Path) -> None:
    (folder / "mcp.json").write_text(
        json.dumps({"mcpServers": {"dead": {"command": "no-such-server"}}})
    )
    command = (
        "run",
        "weather in Oslo",
        "--tools",
        "tools.py",
        "--tools",
        "mcp.json",
        "--model",
        NOWHERE,
    )
    done = callwright(*command, "--mode", "text", folder=folder)
    assert done.stderr.count("warning: left out: MCP server 'dead' cannot be used") == 1, (
        done.stderr
    )
    assert "127.0.0.1:9" in done.stderr, "it came as far as the model"
    strict = callwright(*command, "--mode", "text", "--require-sources", folder=folder)
    assert strict.stderr.startswith("error: MCP server 'dead' cannot be used"), strict.stderr


def test_where_no_source_is_left_the_command_ends(folder: Path) -> None:
    (folder / "mcp.json").write_text(
        json.dumps({"mcpServers": {"dead": {"command": "no-such-server"}}})
    )
    done = callwright("tools", "mcp.json", folder=folder)
    assert done.returncode == 1
    assert "no-such-server" in done.stderr
