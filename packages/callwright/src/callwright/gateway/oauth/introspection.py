"""Looks tokens up at their issuer (RFC 7662), for issuers whose tokens say nothing by themselves."""

from __future__ import annotations

import base64
import hashlib
import time
from collections.abc import Callable
from urllib.parse import quote, urlencode

from callwright.gateway.oauth.grant import Grant, Refused, Verdict, invalid_token, read_grant
from callwright.gateway.oauth.resource import Introspection, OAuthResource
from callwright.http.client import HttpClient
from callwright.http.egress import Egress
from callwright.jsontext import JsonError, parse
from callwright.nouns.errors import Failure

KEPT_SECONDS = 30.0
"""How long a grant is believed before it is looked up again: so long may a revoked token still be
used.
"""
_MOST_KEPT = 10_000
_LONGEST = 16_384


class IntrospectionVerifier:
    """Verifies that a token is active, of an accepted issuer, for this resource, and has the scopes.

    Grants are kept by the token's digest. An answer without ``iss`` counts as of the first issuer,
    which is the one that was asked.
    """

    def __init__(
        self,
        resource: OAuthResource,
        lookup: Introspection,
        *,
        client: HttpClient | None = None,
        now: Callable[[], float] = time.time,
    ) -> None:
        self._resource, self._lookup = resource, lookup
        self._client = client or HttpClient(Egress.any(), max_bytes=100_000, max_redirects=0)
        self._now = now
        self._kept: dict[str, tuple[Grant, float]] = {}

    async def verify(self, token: str) -> Verdict:
        if len(token) > _LONGEST:
            return invalid_token("it is too long")
        digest = hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()
        kept, now = self._kept.get(digest), self._now()
        if kept is not None and now < min(kept[1] + KEPT_SECONDS, kept[0].expires):
            return kept[0]
        self._kept.pop(digest, None)
        verdict = await self._look_up(token)
        if isinstance(verdict, Grant):
            if len(self._kept) >= _MOST_KEPT:
                self._kept.clear()
            self._kept[digest] = verdict, now
        return verdict

    async def aclose(self) -> None:
        await self._client.aclose()

    async def _look_up(self, token: str) -> Verdict:
        answer = await self._client.request(
            "POST",
            self._lookup.endpoint,
            headers={
                "content-type": "application/x-www-form-urlencoded",
                "accept": "application/json",
                **self._authorize(),
            },
            data=urlencode({"token": token, "token_type_hint": "access_token"}),
            timeout=10.0,
        )
        if isinstance(answer, Failure) or not answer.ok:
            why = answer.message if isinstance(answer, Failure) else f"HTTP {answer.status}"
            return Refused("", f"the issuer cannot be asked about the token now: {why}")
        try:
            told = parse(answer.body)
        except JsonError:
            return Refused("", "the issuer's answer about the token cannot be read")
        if not isinstance(told, dict) or told.get("active") is not True:
            return invalid_token("it is not active")
        return read_grant({"iss": self._resource.issuers[0], **told}, self._resource, self._now())

    def _authorize(self) -> dict[str, str]:
        """The gateway's own credentials, as RFC 6749, section 2.3.1, has them."""
        if not self._lookup.client_id:
            return {}
        pair = (self._lookup.client_id, self._lookup.client_secret.reveal())
        plain = ":".join(quote(part, safe="") for part in pair)
        return {"authorization": f"Basic {base64.b64encode(plain.encode()).decode()}"}
