"""Checks access tokens that are JWTs (RFC 9068) by the issuer's public keys."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from callwright.gateway.oauth.grant import LEEWAY, Verdict, invalid_token, read_grant
from callwright.gateway.oauth.grant import Refused as _Refused
from callwright.gateway.oauth.resource import OAuthResource
from callwright.gateway.oauth.signing_keys import SigningKeys

ALGORITHMS = "RS256 RS384 RS512 PS256 PS384 PS512 ES256 ES384 ES512 EdDSA".split()
"""Signatures by a key pair (RFC 7518). A shared secret or none is no proof of the issuer."""
_TYPES = frozenset({"at+jwt", "application/at+jwt", "jwt", ""})
"""Of the header: RFC 9068 wants the first; many issuers still write another. Those of ID tokens and
logout tokens, where they are written, are others.
"""
_LONGEST = 16_384


class JwtVerifier:
    """Verifies signature, issuer, audience, time and scopes. ``now``: seconds since 1970."""

    def __init__(
        self,
        resource: OAuthResource,
        keys: SigningKeys | None = None,
        now: Callable[[], float] = time.time,
    ) -> None:
        self._resource = resource
        self._keys = keys or SigningKeys(resource.jwks_uri)
        self._now = now

    async def verify(self, token: str) -> Verdict:
        import jwt

        if len(token) > _LONGEST:
            return invalid_token("it is too long")
        try:
            header = jwt.get_unverified_header(token)
            claimed = jwt.decode(token, options={"verify_signature": False})
        except jwt.PyJWTError:
            return invalid_token("it cannot be read")
        issuer, kind = claimed.get("iss"), str(header.get("typ") or "").lower()
        if issuer not in self._resource.issuers or kind not in _TYPES:
            return invalid_token("it is no access token of an issuer that this gateway accepts")
        key = await self._keys.find(issuer, str(header.get("kid") or ""))
        if isinstance(key, str):
            return _Refused("", key)
        if key is None:
            return invalid_token("its issuer has no such key")
        return self._decode(token, key, issuer)

    async def aclose(self) -> None:
        await self._keys.aclose()

    def _decode(self, token: str, key: Any, issuer: str) -> Verdict:
        """The library checks the signature and the claims that it knows; the rest is read after."""
        import jwt

        audience = self._resource.resource.removesuffix("/")
        try:
            claims = jwt.decode(
                token,
                key,
                algorithms=ALGORITHMS,
                audience=[audience, f"{audience}/"],
                issuer=issuer,
                leeway=LEEWAY,
                options={"require": ["iss", "aud", "exp"]},
            )
        except jwt.InvalidAudienceError:
            return invalid_token("it was not issued for this resource")
        except jwt.ExpiredSignatureError:
            return invalid_token("it has expired")
        except jwt.PyJWTError as error:
            return invalid_token(f"it is not valid ({type(error).__name__})")
        return read_grant(claims, self._resource, self._now())
