from __future__ import annotations

from typing import Any

import pytest

from callwright.nouns.errors import Failure
from callwright.tools.openapi.document import document_of
from callwright.tools.openapi.security import (
    Credentials,
    Scheme,
    credentials_for,
    schemes_of,
    secrets_of,
    variable_name,
)

SCHEMES = {
    "api_key": {"type": "apiKey", "in": "query", "name": "key"},
    "headerKey": {"type": "apiKey", "in": "header", "name": "X-Key"},
    "session": {"type": "apiKey", "in": "cookie", "name": "sid"},
    "basic": {"type": "http", "scheme": "Basic"},
    "token": {"type": "http", "scheme": "bearer"},
    "oauth": {"type": "oauth2", "flows": {}},
    "oidc": {"type": "openIdConnect", "openIdConnectUrl": "https://x.test"},
    "mutual": {"type": "mutualTLS"},
    "broken": {"in": "query"},
}


def schemes(**renamed: str) -> dict[str, Scheme]:
    document = document_of({"openapi": "3.1.0", "components": {"securitySchemes": SCHEMES}}, "test")
    return schemes_of(document, "shop", renamed)


def test_the_naming_rule() -> None:
    assert variable_name("tmdb", "api_key") == "TMDB_API_KEY"
    assert variable_name("my shop", "bearerAuth") == "MY_SHOP_BEARER_AUTH"
    assert variable_name("tmdb", "tmdb-token") == "TMDB_TOKEN"


@pytest.mark.parametrize(
    ("name", "environment", "expected"),
    [
        ("api_key", {"SHOP_API_KEY": "s"}, Credentials(query=(("key", "s"),))),
        ("headerKey", {"SHOP_HEADER_KEY": "s"}, Credentials(headers=(("x-key", "s"),))),
        ("session", {"SHOP_SESSION": "s"}, Credentials(cookies=(("sid", "s"),))),
        ("token", {"SHOP_TOKEN": "s"}, Credentials(headers=(("authorization", "Bearer s"),))),
        ("oauth", {"SHOP_OAUTH": "s"}, Credentials(headers=(("authorization", "Bearer s"),))),
        ("oidc", {"SHOP_OIDC": "s"}, Credentials(headers=(("authorization", "Bearer s"),))),
        (
            "basic",
            {"SHOP_BASIC_USERNAME": "u", "SHOP_BASIC_PASSWORD": "p"},
            Credentials(headers=(("authorization", "Basic dTpw"),)),
        ),
    ],
)
def test_each_scheme_is_filled_from_its_variable(
    name: str, environment: dict[str, str], expected: Credentials
) -> None:
    assert credentials_for(((name,),), schemes(), environment) == expected


def test_a_missing_variable_is_named_and_nothing_else() -> None:
    environment = {"SHOP_BASIC_USERNAME": "hunter2"}
    failure = credentials_for((("basic", "token"),), schemes(), environment)
    assert isinstance(failure, Failure)
    assert failure.kind == "auth"
    assert "SHOP_BASIC_PASSWORD and SHOP_TOKEN" in failure.message
    assert "hunter2" not in str(failure)


def test_the_first_alternative_that_is_complete_is_used_and_anonymous_may_be_one() -> None:
    alternatives = (("token",), ("api_key", "headerKey"), ())
    both = {"SHOP_API_KEY": "a", "SHOP_HEADER_KEY": "b"}
    assert credentials_for(alternatives, schemes(), both) == Credentials(
        (("x-key", "b"),), (("key", "a"),)
    )
    assert credentials_for(alternatives, schemes(), {}) == Credentials()
    assert credentials_for((), schemes(), {}) == Credentials()
    optional = ((), ("headerKey",))  # a credential that is there is sent, also where none need be
    assert credentials_for(optional, schemes(), both) == Credentials((("x-key", "b"),))
    assert credentials_for(optional, schemes(), {}) == Credentials()


@pytest.mark.parametrize("name", ["mutual", "broken", "undeclared"])
def test_schemes_that_are_not_supported_say_so(name: str) -> None:
    failure = credentials_for(((name,),), schemes(), {})
    assert isinstance(failure, Failure)
    assert f"{name} is not supported" in failure.message


def test_another_variable_can_be_named() -> None:
    assert schemes(token="GITHUB_TOKEN")["token"].variables == ("GITHUB_TOKEN",)


def test_secrets_are_listed_in_every_form_they_are_sent_in_and_hidden_in_repr() -> None:
    environment = {"SHOP_API_KEY": "s&t", "SHOP_BASIC_USERNAME": "u", "SHOP_BASIC_PASSWORD": "p"}
    assert set(secrets_of(schemes(), environment)) == {"s&t", "s%26t", "p", "dTpw"}
    any_credentials: Any = credentials_for((("api_key",),), schemes(), environment)
    assert "s&t" not in repr(any_credentials)
