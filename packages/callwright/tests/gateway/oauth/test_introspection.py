from __future__ import annotations

import time
from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing, asynccontextmanager

from callwright.gateway.oauth.grant import Grant, Refused
from callwright.gateway.oauth.introspection import KEPT_SECONDS, IntrospectionVerifier
from callwright.gateway.oauth.resource import Introspection, OAuthResource
from callwright.models.secret import Secret
from tests.gateway.oauth.issuer import Issuer

RESOURCE = "https://tools.example.org/mcp"


@asynccontextmanager
async def verify_for(
    issuer: Issuer, secret: str = "s3cret", later: Sequence[float] = (0.0,)
) -> AsyncIterator[IntrospectionVerifier]:
    lookup = Introspection(f"{issuer.url}/introspect", "gateway", Secret(secret))
    made = OAuthResource(resource=RESOURCE, issuers=(issuer.url,), introspection=lookup)
    begin = time.time()
    made_verifier = IntrospectionVerifier(made, lookup, now=lambda: begin + later[0])
    async with aclosing(made_verifier) as verifier:
        yield verifier


async def test_an_active_token_for_this_resource_is_a_grant_for_a_while(issuer: Issuer) -> None:
    later = [0.0]
    token = issuer.opaque_token(RESOURCE)
    async with verify_for(issuer, later=later) as verifier:
        assert isinstance(await verifier.verify(token), Grant)
        del issuer.opaque[token]  # revoked
        assert isinstance(await verifier.verify(token), Grant)
        assert issuer.count("/introspect") == 1
        later[0] = KEPT_SECONDS + 1
        assert isinstance(await verifier.verify(token), Refused)


async def test_an_unknown_token_and_one_for_another_resource_are_refused(issuer: Issuer) -> None:
    async with verify_for(issuer) as verifier:
        for token in ("nobody's", issuer.opaque_token("https://other.example.org")):
            verdict = await verifier.verify(token)
            assert isinstance(verdict, Refused)
            assert verdict.error == "invalid_token"


async def test_the_first_issuer_is_meant_where_none_is_named(issuer: Issuer) -> None:
    async with verify_for(issuer) as verifier:
        made = await verifier.verify(issuer.opaque_token(RESOURCE, iss=None))
    assert isinstance(made, Grant)
    assert made.issuer == issuer.url


async def test_an_issuer_that_does_not_answer_is_no_verdict_on_the_token(issuer: Issuer) -> None:
    async with verify_for(issuer, "wrong") as verifier:
        verdict = await verifier.verify("x")
    assert isinstance(verdict, Refused)
    assert verdict.error == ""
    assert "HTTP 401" in verdict.reason
