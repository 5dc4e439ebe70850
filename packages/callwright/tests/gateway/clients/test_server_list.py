"""Documents as the four clients' own documentation and schemas show them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from callwright.gateway.clients.places import ClientName
from callwright.gateway.clients.server_list import ServerList, read_server_list
from callwright.tools.servers import servers_from_config

HOME, PROJECT = Path("/home/u"), Path("/work/p")


def read(document: Any, client: ClientName, project: Path | None = None) -> ServerList:
    return read_server_list(document, client, home=HOME, project=project)


def test_claude_code_has_servers_of_the_user_and_of_each_project() -> None:
    found = read(
        {
            "numStartups": 12,
            "mcpServers": {"docs": {"type": "http", "url": "https://docs.example.org/mcp"}},
            "projects": {
                "/work/q": {
                    "mcpServers": {
                        "db": {"type": "stdio", "command": "db-mcp", "args": [], "env": {}},
                        "old": {"type": "stdio", "command": "old-mcp"},
                    },
                    "disabledMcpServers": ["old"],
                },
                "/work/r": {"allowedTools": []},
            },
        },
        "claude-code",
    )
    assert found.servers == {
        "docs": {"url": "https://docs.example.org/mcp"},
        "db": {"command": "db-mcp", "cwd": "/work/q"},
        "old": {"command": "old-mcp", "cwd": "/work/q", "disabled": True},
    }
    assert not found.notes


def test_claude_code_s_variables_are_the_gateway_s() -> None:
    headers = {"Authorization": "Bearer ${API_KEY}", "X-Base": "${BASE:-https://x.example}"}
    document = {"mcpServers": {"api": {"type": "http", "url": "${URL}/mcp", "headers": headers}}}
    found = read(document, "claude-code", PROJECT)
    assert found.servers["api"]["headers"] == headers
    assert not found.secrets
    (server,) = servers_from_config(
        found.servers, environ={"API_KEY": "k", "URL": "https://y.example"}
    )
    assert server.url == "https://y.example/mcp"


def test_cline_has_seconds_and_old_transports() -> None:
    found = read(
        {
            "mcpServers": {
                "local": {
                    "command": "node",
                    "args": ["/srv/server.js"],
                    "env": {"API_KEY": "sk-4f8a9b2c7d6e"},
                    "disabled": False,
                    "autoApprove": ["read"],
                    "disabledTools": ["write"],
                    "timeout": 120,
                },
                "remote": {"type": "streamableHttp", "url": "https://a.example/mcp"},
                "untyped": {"url": "https://b.example/mcp"},
                "old": {"type": "sse", "url": "https://c.example/sse"},
            }
        },
        "cline",
    )
    assert found.servers["local"] == {
        "command": "node",
        "args": ["/srv/server.js"],
        "env": {"API_KEY": "sk-4f8a9b2c7d6e"},
        "disabledTools": ["write"],
        "seconds": 120,
    }
    assert set(found.servers) == {"local", "remote", "untyped"}
    assert found.secrets == ("local",)
    assert any(note.startswith("old: it speaks the older SSE transport") for note in found.notes)
    assert any(note.startswith("untyped: Cline takes") for note in found.notes)
    assert not any("sk-4f8a" in note for note in found.notes)


def test_vs_code_s_inputs_become_variables_and_its_folders_are_filled_in() -> None:
    found = read(
        {
            "inputs": [{"type": "promptString", "id": "github-token", "password": True}],
            "servers": {
                "github": {
                    "type": "http",
                    "url": "https://api.example.org/mcp/",
                    "headers": {"Authorization": "Bearer ${input:github-token}"},
                },
                "files": {
                    "type": "stdio",
                    "command": "npx",
                    "args": ["-y", "files", "${workspaceFolder}/src", "${userHome}", "${env:X}"],
                    "envFile": "${workspaceFolder}/.env",
                },
                "odd": {"command": "x", "args": ["${config:python.path}"]},
            },
        },
        "vscode",
        PROJECT,
    )
    assert found.servers["github"]["headers"] == {"Authorization": "Bearer ${GITHUB_TOKEN}"}
    assert found.servers["files"]["args"] == ["-y", "files", "/work/p/src", "/home/u", "${env:X}"]
    assert found.servers["files"]["cwd"] == "/work/p"
    assert "odd" not in found.servers
    notes = "\n".join(found.notes)
    assert "variable GITHUB_TOKEN" in notes
    assert "envFile" in notes
    assert "only vscode can fill in ${config:python.path}" in notes


def test_cursor_s_logins_are_named() -> None:
    document = {
        "mcpServers": {
            "mail": {"url": "https://m.example/mcp", "auth": {"CLIENT_ID": "c", "scopes": ["a"]}}
        }
    }
    found = read(document, "cursor")
    assert found.servers == {"mail": {"url": "https://m.example/mcp"}}
    assert found.notes == ("mail: it wants a login: callwright gateway login mail",)


@pytest.mark.parametrize(
    "entry",
    [
        {"command": "/opt/bin/callwright", "args": ["gateway", "--servers", "mcp.json"]},
        {"command": "uvx", "args": ["callwright", "gateway"]},
        {"command": "python", "args": ["-m", "callwright", "gateway"]},
    ],
)
def test_the_gateway_does_not_import_itself(entry: dict[str, Any]) -> None:
    found = read({"mcpServers": {"callwright": entry}}, "cursor")
    assert not found.servers
    assert "it is this gateway" in found.notes[0]


@pytest.mark.parametrize("document", [None, [], "x", {}, {"mcpServers": [1]}, {"servers": {}}])
def test_a_document_of_another_shape_holds_no_server(document: Any) -> None:
    assert read(document, "cursor") == ServerList()


@pytest.mark.parametrize("entry", [4, {}, {"args": ["x"]}])
def test_an_entry_that_starts_nothing_is_left_out_and_said(entry: Any) -> None:
    found = read({"mcpServers": {"x": entry}}, "claude-code")
    assert not found.servers
    assert len(found.notes) == 1


def test_a_secret_among_the_arguments_is_one_too() -> None:
    args = {"plain": ["-y", "x"], "key": ["--api-key", "sk-4f8a"], "filled": ["--key", "${KEY}"]}
    servers = {name: {"command": "npx", "args": given} for name, given in args.items()}
    assert read({"mcpServers": servers}, "cursor").secrets == ("key",)
