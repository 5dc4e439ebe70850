"""What marks a value as a credential: its name, in every language that has a pack."""

from __future__ import annotations

import pytest

from callwright.language.credentials import mask_secrets, secret_values


@pytest.mark.parametrize(
    "name",
    [
        "Authorization",
        "X-API-Key",
        "apikey",
        "API_KEY",
        "GITHUB_TOKEN",
        "client_secret",
        "PASSWORD",
        "Cookie",
        "X-Auth",
    ],
)
def test_names_that_speak_of_a_credential_mark_their_value(name: str) -> None:
    assert secret_values({name: "s3cr3t"}) == ("s3cr3t",)


@pytest.mark.parametrize(
    "name", ["Accept", "HOME", "LOG_LEVEL", "User-Agent", "KEYBOARD", "AUTHOR", "PATH", "limit"]
)
def test_other_names_do_not(name: str) -> None:
    assert secret_values({name: "s3cr3t"}) == ()


def test_a_token_is_a_secret_without_its_scheme_too() -> None:
    assert secret_values({"Authorization": "Bearer abc.def", "X-Key": ""}) == (
        "Bearer abc.def",
        "abc.def",
    )


def test_what_only_looks_like_a_secret_is_masked_where_it_is_kept_for_long() -> None:
    said = {
        "apiKey": "k",
        "n": 1,
        "list": ["GET /x?token=abcd1234&q=1", "Authorization: Bearer abcdefgh12"],
    }
    kept = {
        "apiKey": "[secret]",
        "n": 1,
        "list": ["GET /x?[secret]&q=1", "Authorization: [secret]"],
    }
    assert mask_secrets(said) == kept
    assert mask_secrets("my word", ["word"]) == "my [secret]"


def test_what_speaks_of_no_secret_is_kept_as_it_is() -> None:
    said = {"city": "Oslo", "tokens": True, "key": "", "text": "a token of love; the secret is out"}
    assert mask_secrets(said) == said


def test_german_names_speak_of_a_credential_too() -> None:
    said = {"kennwort": "hallo", "api-schlüssel": "k", "ort": "Wien", "notiz": "Kennwort: offen1"}
    kept = {"kennwort": "[secret]", "api-schlüssel": "[secret]", "ort": "Wien"}
    assert mask_secrets(said) == {**kept, "notiz": "[secret]"}
