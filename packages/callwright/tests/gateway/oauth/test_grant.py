from __future__ import annotations

from typing import Any

import pytest

from callwright.gateway.oauth.grant import Grant, Refused, read_grant
from callwright.gateway.oauth.resource import OAuthResource

NOW = 1_800_000_000.0
RESOURCE = OAuthResource(
    resource="https://tools.example.org/mcp",
    issuers=("https://login.example.org",),
    scopes=("tools",),
)
CLAIMS = {
    "iss": "https://login.example.org",
    "aud": ["https://tools.example.org/mcp", "https://other.example.org"],
    "sub": "ann",
    "client_id": "c1",
    "scope": "tools openid",
    "exp": NOW + 60,
}


def test_the_grant_says_whose_request_it_is() -> None:
    assert read_grant(CLAIMS, RESOURCE, NOW) == Grant(
        "https://login.example.org", "ann", "c1", frozenset({"tools", "openid"}), NOW + 60
    )


@pytest.mark.parametrize(
    "change",
    [
        {"aud": "https://tools.example.org/mcp/"},
        {"scope": None, "scp": ["tools"]},
        {"client_id": None, "azp": "c2"},
        {"exp": NOW - 10},  # the clocks may differ a little
    ],
)
def test_what_other_issuers_write_is_read_too(change: dict[str, Any]) -> None:
    claims = {k: v for k, v in (CLAIMS | change).items() if v is not None}
    assert isinstance(read_grant(claims, RESOURCE, NOW), Grant)


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"iss": "https://evil.example.org"}, "invalid_token"),
        ({"aud": "https://other.example.org"}, "invalid_token"),
        ({"aud": "https://tools.example.org"}, "invalid_token"),
        ({"aud": None}, "invalid_token"),
        ({"exp": NOW - 60}, "invalid_token"),
        ({"exp": "soon"}, "invalid_token"),
        ({"exp": None}, "invalid_token"),
        ({"nbf": NOW + 600}, "invalid_token"),
        ({"sub": None, "client_id": None}, "invalid_token"),
        ({"scope": "openid"}, "insufficient_scope"),
    ],
)
def test_a_token_for_another_time_place_or_purpose_is_refused(
    change: dict[str, Any], error: str
) -> None:
    verdict = read_grant(CLAIMS | change, RESOURCE, NOW)
    assert isinstance(verdict, Refused)
    assert verdict.error == error
