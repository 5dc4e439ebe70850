from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from callwright.nouns.errors import CatalogError
from callwright.tools.servers import (
    Server,
    explain_hidden,
    is_matched,
    list_idle,
    servers_from_config,
)

ENVIRON = {"TOKEN": "t0ken", "EMPTY": ""}


def one(raw: Any, folder: Path | None = None) -> Server:
    (server,) = servers_from_config({"s": raw}, folder=folder, environ=ENVIRON)
    return server


def test_a_command_with_its_arguments_environment_and_folder() -> None:
    server = one(
        {"command": "npx", "args": ["-y", 3], "env": {"A": "${TOKEN}"}, "cwd": "sub"},
        Path("/config"),
    )
    assert (server.command, server.args, dict(server.env), server.cwd) == (
        "npx",
        ("-y", "3"),
        {"A": "t0ken"},
        "/config/sub",
    )
    assert not server.trusted
    assert one({"command": "x"}, Path("/config")).cwd == "/config"
    assert one({"command": "x", "cwd": "/else"}, Path("/config")).cwd == "/else"


def test_a_url_with_headers() -> None:
    server = one(
        {
            "type": "http",
            "url": "https://e.org/mcp",
            "headers": {"Authorization": "Bearer ${env:TOKEN}"},
        }
    )
    assert (server.url, server.headers["Authorization"]) == ("https://e.org/mcp", "Bearer t0ken")
    assert one({"url": "https://e.org/mcp", "trusted": True}).trusted
    assert not one({"url": "https://e.org/mcp", "trusted": "yes"}).trusted


def test_variables_have_defaults_and_a_missing_one_is_named() -> None:
    assert one({"command": "${EMPTY:-node}"}).command == "node"
    assert one({"command": "x", "args": ["${A:-}"]}).args == ("",)
    with pytest.raises(CatalogError, match="'s' needs the environment variable NOT_SET") as error:
        one({"command": "x", "env": {"A": "${NOT_SET}"}})
    assert "export NOT_SET=" in error.value.hint


def test_secrets_appear_in_no_message() -> None:
    server = one({"command": "x", "args": ["--key", "${TOKEN}"], "env": {"A": "${TOKEN}"}})
    assert server.shown == "x --key ${TOKEN}"
    assert "t0ken" not in repr(one({"url": "https://e.org", "headers": {"A": "${TOKEN}"}}))


@pytest.mark.parametrize(
    ("raw", "said"),
    [
        ("npx server", "is not an object"),
        ({}, "either a command or a url"),
        ({"openapi": "x.yaml"}, "'s' is a document or module, which only the gateway reads"),
        ({"command": "x", "url": "https://e.org"}, "either a command or a url"),
        ({"command": "x", "args": "-y server"}, "args must be a list"),
        ({"command": "x", "env": ["A=1"]}, "env must be an object"),
        ({"command": "x", "seconds": 0}, "positive number"),
        ({"type": "sse", "url": "https://e.org"}, "type 'sse' is not spoken"),
        ({"type": "http", "command": "x"}, "needs 'url'"),
    ],
)
def test_settings_that_make_no_sense_are_named(raw: Any, said: str) -> None:
    with pytest.raises(CatalogError, match=said):
        one(raw)


def test_disabled_servers_are_left_out() -> None:
    servers = servers_from_config({"a": {"command": "x"}, "b": {"disabled": True}}, environ={})
    assert [s.name for s in servers] == ["a"]
    with pytest.raises(CatalogError, match="names no MCP server"):
        servers_from_config({"b": {"disabled": True}}, environ={})


def test_values_of_settings_that_speak_of_a_credential_are_known_as_secrets() -> None:
    by_name = one(
        {
            "url": "https://e.org/mcp?api_key=q-value&page=1",
            "headers": {"Authorization": "Bearer h-value"},
        }
    )
    assert set(by_name.secrets) == {"q-value", "Bearer h-value", "h-value"}
    in_an_argument = one(
        {
            "command": "x",
            "args": ["--key=${TOKEN}"],
            "env": {"LEVEL": "debug", "API_KEY": "e-value"},
        }
    )
    assert set(in_an_argument.secrets) == {"t0ken", "e-value"}
    assert "t0ken" not in repr(in_an_argument)
    assert one({"command": "x", "env": {"LEVEL": "${HOME:-/}"}}).secrets == ()


@pytest.mark.parametrize(
    "args",
    [
        ["--api-key", "s3cr3t-1"],
        ["--token=s3cr3t-1"],
        ["run", "-e", "GITHUB_TOKEN=s3cr3t-1", "image"],
        ["--header", "Authorization: Bearer s3cr3t-1"],
        ["https://e.org/mcp?api_key=s3cr3t-1", "//["],
    ],
)
def test_values_that_arguments_name_as_secrets_are_secrets(args: list[str]) -> None:
    assert "s3cr3t-1" in one({"command": "x", "args": args}).secrets
    assert one({"command": "x", "args": ["--port", "8080", "--name=x"]}).secrets == ()


def test_patterns_are_those_of_a_shell_and_case_matters() -> None:
    assert is_matched("get_time", ["get_*"])
    assert not is_matched("Get_time", ["get_*"])
    assert not is_matched("get_time", [])


def test_lists_of_tools_are_read_under_the_names_that_clients_give_them() -> None:
    ours = one({"command": "x", "allow": ["git_*"], "deny": ["git_push"]})
    assert (ours.allow, ours.deny) == (("git_*",), ("git_push",))
    kiro = one({"command": "x", "disabledTools": ["rm"], "autoApprove": ["ls"]})
    assert (kiro.allow, kiro.deny) == ((), ("rm",))
    gemini = one({"command": "x", "includeTools": ["ls"], "excludeTools": ["rm"], "allow": None})
    assert (gemini.allow, gemini.deny) == (("ls",), ("rm",))
    assert one({"command": "x", "allow": True}).allow == ("*",)
    with pytest.raises(CatalogError, match="'s': disabledTools must be a list of names"):
        one({"command": "x", "disabledTools": "rm"})
    with pytest.raises(CatalogError, match="'s': allow must be a list of names"):
        one({"command": "x", "allow": False})  # is not all tools


def test_a_tool_exists_where_it_is_allowed_and_not_denied() -> None:
    assert explain_hidden("s", "git_log", ["git_*"], ["git_push"]) == ""
    assert "\"deny\" of the server 's'" in explain_hidden("s", "git_push", ["git_*"], ["git_push"])
    assert '"allow" of the server' in explain_hidden("s", "rm", ["git_*"], [])
    assert explain_hidden("s", "rm", [], []) == ""
    (said,) = list_idle({"allow": ["git_*"], "deny": ["psh"]}, ["git_push"])
    assert said.startswith("\"deny\" names 'psh'")
