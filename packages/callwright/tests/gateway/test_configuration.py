from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from callwright.gateway.configuration import ServerEntry, read_servers, read_servers_file
from callwright.nouns.errors import ConfigError
from callwright.nouns.types import READ


def read_one(raw: Any, folder: Path, environ: dict[str, str] | None = None) -> ServerEntry:
    (entry,) = read_servers({"a": raw}, folder, environ or {}).entries
    return entry


def test_an_entry_has_the_settings_of_its_server_and_those_of_the_gateway(tmp_path: Path) -> None:
    entry = read_one(
        {
            "command": "npx",
            "args": ["-y", "x"],
            "env": {"KEY": "${SECRET_KEY}"},
            "allow": ["get_*"],
            "deny": ["get_all"],
            "disabledTools": ["get_none"],
            "approve": ["get_one"],
            "effects": {"get_*": "read"},
            "trusted": True,
            "calls": 10,
            "seconds": 5,
            "pinned": True,
        },
        tmp_path,
        {"SECRET_KEY": "abcdef123456"},
    )
    policy = entry.policy
    assert entry.error == ""
    assert entry.server is not None
    assert (entry.server.command, entry.server.args) == ("npx", ("-y", "x"))
    assert entry.secrets == ("abcdef123456",)
    assert (policy.prefix, policy.calls, policy.seconds, policy.trusted) == ("a", 10, 5.0, True)
    assert policy.explain_hidden("get_all")
    assert policy.explain_hidden("get_none")
    assert not policy.explain_hidden("get_one")
    assert entry.notes == ()
    assert policy.effects.rules == (("get_*", READ),)
    assert policy.is_pinned("anything")


def test_documents_and_modules_are_servers_too(tmp_path: Path) -> None:
    (tmp_path / "doc.yaml").write_text("openapi: 3.1.0\n")
    document = read_one({"openapi": "doc.yaml", "base_url": "http://localhost:1"}, tmp_path)
    assert document.source == str(tmp_path / "doc.yaml")
    assert document.base_url == "http://localhost:1"
    assert (
        read_one({"openapi": "https://x.example/doc"}, tmp_path).source == "https://x.example/doc"
    )
    assert read_one({"python": "pkg.module"}, tmp_path).source == "pkg.module"
    options = read_one({"openapi": "doc.yaml?allow=10.0.0.1"}, tmp_path)
    assert options.source == f"{tmp_path / 'doc.yaml'}?allow=10.0.0.1"
    filled = {"openapi": "doc.yaml", "base_url": "https://${HOST}/v1"}
    assert read_one(filled, tmp_path, {"HOST": "x.example"}).base_url == "https://x.example/v1"


def test_a_setting_that_looks_like_ours_and_is_none_is_told(tmp_path: Path) -> None:
    entry = read_one({"command": "x", "denny": ["delete_*"], "autoStart": True}, tmp_path)
    assert entry.notes == ("mcpServers 'a': there is no setting 'denny'; did you mean 'deny'?",)


@pytest.mark.parametrize(
    ("raw", "said"),
    [
        (5, "is not an object"),
        ({}, "needs either a command or a url"),
        ({"command": "x", "allow": "get"}, "allow must be a list"),
        ({"command": "x", "effects": {"a": "odd"}}, "effects of 'a' must be one of read"),
        ({"command": "x", "effects": ["a"]}, "effects must be an object"),
        ({"command": "x", "calls": -1}, "calls must be a number"),
        ({"command": "x", "seconds": 0}, "seconds must be a positive number"),
        ({"command": "x", "prefix": 5}, "prefix must be a text"),
        ({"command": "x", "trusted": "true"}, "trusted must be true or false"),
        ({"openapi": "${GONE}/doc.json"}, "GONE"),
        ({"url": "https://x.example", "headers": {"k": "${GONE}"}}, "GONE"),
    ],
)
def test_an_entry_that_cannot_be_used_says_why_and_costs_no_other(
    raw: Any, said: str, tmp_path: Path
) -> None:
    broken, fine = read_servers({"a": raw, "b": {"command": "x"}}, tmp_path, {}).entries
    assert said in broken.error
    assert broken.server is None
    assert fine.error == ""


def test_a_file_is_read_and_what_is_none_is_said_to_be(tmp_path: Path) -> None:
    path = tmp_path / "mcp.json"
    path.write_text(json.dumps({"servers": {"a": {"command": "x"}, "b": {"disabled": True}}}))
    assert [entry.name for entry in read_servers_file(path).entries] == ["a"]
    for text in (
        "{",
        "[]",
        "{}",
        '{"mcpServers": {}}',
        '{"mcpServers": {"a": {"disabled": true}}}',
    ):
        path.write_text(text)
        with pytest.raises(ConfigError):
            read_servers_file(path)
    with pytest.raises(ConfigError, match="cannot be read"):
        read_servers_file(tmp_path / "none.json")


def test_a_module_of_ones_own_is_trusted_and_a_server_is_not(tmp_path: Path) -> None:
    entries = {
        "own": {"python": "tools.py"},
        "doubted": {"python": "tools.py", "trusted": False},
        "described": {"openapi": "api.yaml"},
        "foreign": {"command": "server"},
    }
    found = read_servers(entries, tmp_path).entries
    assert [entry.policy.trusted for entry in found] == [True, False, False, False]
