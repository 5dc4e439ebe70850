from __future__ import annotations

from typing import Any

import pytest

from callwright.gateway.oauth.resource import OAuthResource, read_oauth
from callwright.nouns.errors import ConfigError

RAW = {
    "resource": "https://tools.example.org/mcp",
    "issuers": ["https://login.example.org"],
    "scopes": ["tools", "more"],
}


def test_the_metadata_stands_at_the_resource_s_own_path() -> None:
    made = read_oauth(RAW, {})
    url = "https://tools.example.org/.well-known/oauth-protected-resource/mcp"
    assert made.metadata_url == url
    root = OAuthResource(resource="https://a.example/", issuers=("https://b.example",))
    assert root.metadata_path == "/.well-known/oauth-protected-resource"


def test_the_document_names_the_resource_and_who_makes_tokens_for_it() -> None:
    told = read_oauth(RAW, {}).describe()
    assert told["resource"] == RAW["resource"]
    assert told["authorization_servers"] == RAW["issuers"]
    assert told["scopes_supported"] == RAW["scopes"]
    assert told["bearer_methods_supported"] == ["header"]


def test_a_challenge_without_credentials_names_scopes_and_metadata_and_no_error() -> None:
    said = read_oauth(RAW, {}).challenge()
    assert said == (
        'Bearer scope="tools more", resource_metadata='
        '"https://tools.example.org/.well-known/oauth-protected-resource/mcp"'
    )


def test_nothing_in_a_challenge_ends_its_quotes() -> None:
    said = read_oauth(RAW, {}).challenge("invalid_token", 'a "b"\r\nset-cookie: x')
    assert '"a ?b???set-cookie: x"' in said


def test_a_secret_is_named_by_its_variable() -> None:
    lookup = {
        "endpoint": "https://login.example.org/introspect",
        "client_id": "gateway",
        "client_secret_variable": "SECRET",
    }
    made = read_oauth(RAW | {"introspection": lookup}, {"SECRET": "hush"})
    assert made.introspection is not None
    assert made.introspection.client_secret.reveal() == "hush"
    assert "hush" not in repr(made)
    with pytest.raises(ConfigError, match="SECRET"):
        read_oauth(RAW | {"introspection": lookup}, {})


@pytest.mark.parametrize(
    "change",
    [
        {"resource": ""},
        {"resource": "http://tools.example.org/mcp"},
        {"resource": "https://tools.example.org/mcp#x"},
        {"issuers": []},
        {"issuers": "https://login.example.org"},
        {"issuers": ["http://login.example.org"]},
        {"jwks_uri": "ftp://login.example.org/keys"},
        {"scopes": "tools"},
        {"introspection": {}},
    ],
)
def test_settings_that_would_protect_nothing_are_refused(change: dict[str, Any]) -> None:
    with pytest.raises(ConfigError):
        read_oauth(RAW | change, {})
