from __future__ import annotations

import json
from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing, asynccontextmanager
from typing import Any

import pytest

from callwright.gateway.oauth.authorizer import OAuthAuthorizer, open_verifier
from callwright.gateway.oauth.introspection import IntrospectionVerifier
from callwright.gateway.oauth.resource import Introspection, OAuthResource
from callwright.gateway.server.authorizer import Principal, Unauthorized
from callwright.serving.access import Access
from tests.gateway.oauth.issuer import Issuer

RESOURCE = "https://tools.example.org/mcp"
METADATA = "/.well-known/oauth-protected-resource/mcp"


def request(
    *authorization: str, host: str = "tools.example.org", more: Sequence[Any] = ()
) -> dict[str, Any]:
    headers = [(b"host", host.encode()), *more]
    headers += [(b"authorization", one.encode()) for one in authorization]
    return {"type": "http", "method": "POST", "path": "/mcp", "headers": headers}


@asynccontextmanager
async def authorize_for(issuer: Issuer) -> AsyncIterator[OAuthAuthorizer]:
    resource = OAuthResource(resource=RESOURCE, issuers=(issuer.url,), scopes=("tools",))
    access = Access(hosts=frozenset({"tools.example.org"}))
    async with aclosing(open_verifier(resource)) as verifier:
        yield OAuthAuthorizer(resource, verifier, access)


@pytest.fixture
async def door(issuer: Issuer) -> AsyncIterator[OAuthAuthorizer]:
    async with authorize_for(issuer) as made:
        yield made


def challenge(verdict: object, status: int) -> str:
    assert isinstance(verdict, Unauthorized)
    assert verdict.status == status
    return dict(verdict.headers)["www-authenticate"]


async def test_a_request_without_a_token_is_told_where_to_get_one(
    issuer: Issuer, door: OAuthAuthorizer
) -> None:
    said = challenge(await door.authorize(request()), 401)
    assert said == (
        f'Bearer scope="tools", resource_metadata="https://tools.example.org{METADATA}"'
    )
    page = door.find_page(METADATA)
    assert page is not None
    status, headers, body = page
    assert (status, json.loads(body)["authorization_servers"]) == (200, [issuer.url])
    assert dict(headers)["access-control-allow-origin"] == "*"
    assert door.find_page("/other") is None


async def test_the_user_is_known_by_issuer_and_subject(
    issuer: Issuer, door: OAuthAuthorizer
) -> None:
    verdict = await door.authorize(request(f"Bearer {issuer.token(RESOURCE)}"))
    assert verdict == Principal("c1", issuer.url, "ann", ("tools",))


async def test_a_token_for_another_resource_is_refused_with_its_error(
    issuer: Issuer, door: OAuthAuthorizer
) -> None:
    token = issuer.token("https://other.example.org/mcp")
    verdict = await door.authorize(request(f"Bearer {token}"))
    assert 'error="invalid_token"' in challenge(verdict, 401)
    assert isinstance(verdict, Unauthorized)
    assert verdict.message == "it was not issued for this resource"
    assert token not in str(verdict)


async def test_a_missing_scope_is_403_and_named(issuer: Issuer, door: OAuthAuthorizer) -> None:
    token = issuer.token(RESOURCE, scope="openid")
    said = challenge(await door.authorize(request(f"Bearer {token}")), 403)
    assert 'error="insufficient_scope"' in said
    assert 'scope="tools"' in said


@pytest.mark.parametrize("sent", [("Basic YTpi",), ("Bearer",), ("Bearer a", "Bearer b")])
async def test_what_is_no_single_bearer_token_is_refused(
    sent: tuple[str, ...], door: OAuthAuthorizer
) -> None:
    assert "invalid_token" in challenge(await door.authorize(request(*sent)), 401)


async def test_an_issuer_that_is_gone_is_503_and_no_fault_of_the_client() -> None:
    gone = Issuer(url="http://127.0.0.1:9")
    async with authorize_for(gone) as door:
        verdict = await door.authorize(request(f"Bearer {gone.token(RESOURCE)}"))
    assert isinstance(verdict, Unauthorized)
    assert (verdict.status, verdict.headers) == (503, (("retry-after", "5"),))


async def test_a_token_does_not_vouch_for_another_host(
    issuer: Issuer, door: OAuthAuthorizer
) -> None:
    token = f"Bearer {issuer.token(RESOURCE)}"
    verdict = await door.authorize(request(token, host="evil.example.org"))
    assert isinstance(verdict, Unauthorized)
    assert verdict.status == 403


async def test_opaque_tokens_are_looked_up() -> None:
    lookup = Introspection("https://login.example.org/introspect")
    made = OAuthResource(
        resource=RESOURCE, issuers=("https://login.example.org",), introspection=lookup
    )
    async with aclosing(open_verifier(made)) as verifier:
        assert isinstance(verifier, IntrospectionVerifier)
