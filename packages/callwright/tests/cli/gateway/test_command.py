from __future__ import annotations

import json
from pathlib import Path

from tests.cli.program import callwright, started
from tests.gateway.doors import peer


def test_the_command_serves_without_being_named_and_says_what_it_takes() -> None:
    told = callwright("gateway", "--help")
    assert told.returncode == 0
    assert "serve" in told.stdout
    options = callwright("gateway", "serve", "--help").stdout
    for name in ("--servers", "--stdio", "--port", "--allow", "--consent", "--log-format"):
        assert name in options


def test_what_cannot_be_served_is_said_in_a_sentence(tmp_path: Path) -> None:
    servers = tmp_path / "mcp.json"
    servers.write_text(json.dumps({"mcpServers": {"p": peer()}}))
    for arguments, said in (
        (["--servers", str(tmp_path / "none.json")], "cannot be read"),
        (["--servers", str(servers), "--stdio", "--port", "0"], "--stdio serves no port"),
        (["--servers", str(servers), "--port", "99999"], "there is no port 99999"),
        (["--servers", str(servers), "--port", "0", "--host", "0.0.0.0"], "CALLWRIGHT_GATEWAY_KEY"),
        (["--servers", str(servers), "--port", "0", "--allow-host", "a/b"], "no name of a host"),
        (["--port", "0"], "--servers"),
    ):
        told = callwright("gateway", *arguments)
        assert told.returncode != 0
        assert said in told.stderr
        assert "Traceback" not in told.stderr


def test_it_ends_with_its_client_and_a_broken_entry_is_a_warning(tmp_path: Path) -> None:
    servers = tmp_path / "mcp.json"
    servers.write_text(json.dumps({"mcpServers": {"p": peer(), "odd": {"comand": "x"}}}))
    told = started("gateway", "--servers", str(servers), stdin="")
    assert told.returncode == 0
    assert "warning:" in told.stderr
    assert "odd" in told.stderr
    assert told.stdout == ""
