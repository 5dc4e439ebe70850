"""Lets in only requests with a token for this resource: the HTTP door's
:class:`~callwright.gateway.server.authorizer.Authorizer` where others may reach the gateway.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from callwright.gateway.oauth.grant import Refused, TokenVerifier, invalid_token
from callwright.gateway.oauth.introspection import IntrospectionVerifier
from callwright.gateway.oauth.jwt_verifier import JwtVerifier
from callwright.gateway.oauth.resource import OAuthResource
from callwright.gateway.server.authorizer import Principal, Unauthorized, Verdict
from callwright.jsontext import write
from callwright.nouns.types import JsonObject
from callwright.serving.access import Access
from callwright.serving.own_pages import JSON, Answer

_STATUS = {"invalid_token": 401, "insufficient_scope": 403}
_NO_TOKEN = Refused("", "a bearer token is needed")
_NO_BEARER = invalid_token("the header is not 'Authorization: Bearer TOKEN'")


class OAuthAuthorizer:
    """The token is read here and goes no further: what is known of a request behind it is whose it
    is. ``access`` still judges Host and Origin, which a token does not vouch for.
    """

    def __init__(self, resource: OAuthResource, verifier: TokenVerifier, access: Access) -> None:
        self._resource, self._verifier, self._access = resource, verifier, access

    async def authorize(self, scope: Mapping[str, Any]) -> Verdict:
        refused = self._access.refusal(scope, own=False)
        if refused is not None:
            return Unauthorized(*refused)
        token = _read_token(scope)
        if token is None:
            return self._refuse(401, _NO_TOKEN)
        verdict = await self._verifier.verify(token) if token else _NO_BEARER
        if isinstance(verdict, Refused):
            return self._refuse(_STATUS.get(verdict.error, 503), verdict)
        client = verdict.client or verdict.subject
        return Principal(client, verdict.issuer, verdict.subject, tuple(sorted(verdict.scopes)))

    def find_page(self, path: str) -> Answer | None:
        """The metadata document: public, also for pages of other sites (CORS)."""
        if path != self._resource.metadata_path:
            return None
        headers = (
            ("content-type", JSON),
            ("access-control-allow-origin", "*"),
            ("cache-control", "public, max-age=3600"),
        )
        return 200, headers, write(self._resource.describe())

    def describe(self) -> JsonObject:
        return {"authorization": "oauth"}

    def _refuse(self, status: int, refused: Refused) -> Unauthorized:
        if status == 503:
            return Unauthorized(status, refused.reason, (("retry-after", "5"),))
        challenge = self._resource.challenge(refused.error, refused.reason if refused.error else "")
        return Unauthorized(status, refused.reason, (("www-authenticate", challenge),))


def open_verifier(resource: OAuthResource) -> TokenVerifier:
    """The check of tokens for this resource: by introspection where that is configured, else by the
    issuers' keys.
    """
    if resource.introspection is not None:
        return IntrospectionVerifier(resource, resource.introspection)
    return JwtVerifier(resource)


def _read_token(scope: Mapping[str, Any]) -> str | None:
    """The token; None where the request has no credentials, "" where they are no bearer token."""
    found = [value for name, value in scope["headers"] if name.lower() == b"authorization"]
    if not found:
        return None
    scheme, _, token = found[0].decode("latin-1").strip().partition(" ")
    return token.strip() if len(found) == 1 and scheme.lower() == "bearer" else ""
