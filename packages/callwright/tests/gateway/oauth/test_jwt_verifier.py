from __future__ import annotations

import time
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager

import jwt
import pytest

from callwright.gateway.oauth.grant import Grant, Refused, Verdict
from callwright.gateway.oauth.jwt_verifier import JwtVerifier
from callwright.gateway.oauth.resource import OAuthResource
from tests.gateway.oauth.issuer import Issuer

RESOURCE = "https://tools.example.org/mcp"


@asynccontextmanager
async def verify_for(issuer: Issuer) -> AsyncIterator[JwtVerifier]:
    made = OAuthResource(resource=RESOURCE, issuers=(issuer.url,), scopes=("tools",))
    async with aclosing(JwtVerifier(made)) as verifier:
        yield verifier


@pytest.fixture
async def checker(issuer: Issuer) -> AsyncIterator[JwtVerifier]:
    async with verify_for(issuer) as verifier:
        yield verifier


def refused(verdict: Verdict) -> str:
    assert isinstance(verdict, Refused)
    return verdict.error


async def test_a_token_that_the_issuer_signed_for_this_resource_is_a_grant(
    issuer: Issuer, checker: JwtVerifier
) -> None:
    made = await checker.verify(issuer.token(RESOURCE))
    assert isinstance(made, Grant)
    assert (made.issuer, made.subject) == (issuer.url, "ann")


async def test_keys_are_fetched_once_and_again_for_a_key_that_is_new(
    issuer: Issuer, checker: JwtVerifier
) -> None:
    for _ in range(3):
        assert isinstance(await checker.verify(issuer.token(RESOURCE)), Grant)
    assert issuer.count("/keys") == 1
    issuer.rotate()
    assert refused(await checker.verify(issuer.token(RESOURCE))) == "invalid_token"
    assert issuer.count("/keys") == 1  # anybody can name a key: not each name is a fetch
    checker._keys._clock = lambda: time.monotonic() + 31
    assert isinstance(await checker.verify(issuer.token(RESOURCE)), Grant)


@pytest.mark.parametrize(
    "claims",
    [
        {"aud": "https://other.example.org/mcp"},
        {"iss": "https://evil.example.org"},
        {"exp": int(time.time()) - 3600},
        {"aud": None},
        {"exp": None},
    ],
)
async def test_other_claims_are_refused(
    issuer: Issuer, checker: JwtVerifier, claims: dict[str, object]
) -> None:
    verdict = await checker.verify(issuer.token(RESOURCE, **claims))
    assert refused(verdict) == "invalid_token"


async def test_a_token_without_the_scope_is_told_which(
    issuer: Issuer, checker: JwtVerifier
) -> None:
    verdict = await checker.verify(issuer.token(RESOURCE, scope="openid"))
    assert verdict == Refused("insufficient_scope", "it lacks the scope tools")


async def test_a_signature_of_another_key_is_refused(issuer: Issuer, checker: JwtVerifier) -> None:
    other = Issuer(url=issuer.url)
    assert refused(await checker.verify(other.token(RESOURCE))) == "invalid_token"


@pytest.mark.parametrize("algorithm", ["none", "HS256"])
async def test_a_token_without_a_signature_by_a_key_pair_is_refused(
    issuer: Issuer, checker: JwtVerifier, algorithm: str
) -> None:
    key = "" if algorithm == "none" else "0" * 64
    headers = {"typ": "at+jwt", "kid": "first"}
    token = jwt.encode(issuer.claims(RESOURCE), key, algorithm=algorithm, headers=headers)
    assert refused(await checker.verify(token)) == "invalid_token"


async def test_an_id_token_is_no_access_token(issuer: Issuer, checker: JwtVerifier) -> None:
    token = issuer.sign(issuer.claims(RESOURCE), kind="logout+jwt")
    assert refused(await checker.verify(token)) == "invalid_token"


@pytest.mark.parametrize("token", ["x", "a.b.c", "", "x" * 20_000])
async def test_what_is_no_token_is_refused(
    issuer: Issuer, checker: JwtVerifier, token: str
) -> None:
    assert refused(await checker.verify(token)) == "invalid_token"


async def test_an_issuer_that_cannot_be_reached_is_no_verdict_on_the_token(issuer: Issuer) -> None:
    gone = Issuer(url="http://127.0.0.1:9")
    async with verify_for(gone) as verifier:
        verdict = await verifier.verify(gone.token(RESOURCE))
    assert refused(verdict) == ""
