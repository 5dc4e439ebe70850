"""Judges what a verified token, or its introspection, says. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

from callwright.gateway.oauth.resource import OAuthResource
from callwright.nouns.types import is_number

LEEWAY = 30.0  # seconds by which the clocks of an issuer and of this machine may differ


@dataclass(frozen=True, slots=True)
class Grant:
    """Whose request it is. ``subject`` is unique for an ``issuer`` only. ``expires``: seconds since
    1970.
    """

    issuer: str
    subject: str
    client: str
    scopes: frozenset[str]
    expires: float


@dataclass(frozen=True, slots=True)
class Refused:
    """``error`` as RFC 6750 names it; "" where nobody can tell now, which ``reason`` explains."""

    error: str
    reason: str


Verdict: TypeAlias = Grant | Refused


class TokenVerifier(Protocol):
    """Protocol of what checks a bearer token. It never raises for the world."""

    async def verify(self, token: str) -> Verdict: ...

    async def aclose(self) -> None: ...


def invalid_token(reason: str) -> Refused:
    """A token that proves nothing here."""
    return Refused("invalid_token", reason)


def read_grant(claims: Mapping[str, Any], resource: OAuthResource, now: float) -> Verdict:
    """The grant that claims make (RFC 9068, section 4; RFC 7662, section 2.2).

    The audience must be this resource (RFC 8707, section 2): a token for another one is refused,
    whoever made it.
    """
    issuer = claims.get("iss")
    if issuer not in resource.issuers:
        return invalid_token("its issuer is not one that this gateway accepts")
    if not _names_resource(claims.get("aud"), resource.resource):
        return invalid_token("it was not issued for this resource")
    expires: Any = claims.get("exp")
    begins: Any = claims.get("nbf", 0)
    if not is_number(expires) or expires + LEEWAY <= now:
        return invalid_token("it has expired")
    if not is_number(begins) or begins - LEEWAY > now:
        return invalid_token("it is not valid yet")
    subject, client = claims.get("sub"), claims.get("client_id", claims.get("azp"))
    if not subject and not client:
        return invalid_token("it names neither a subject nor a client")
    scopes = _read_scopes(claims)
    missing = [scope for scope in resource.scopes if scope not in scopes]
    if missing:
        return Refused("insufficient_scope", f"it lacks the scope {' '.join(missing)}")
    return Grant(str(issuer), str(subject or ""), str(client or ""), scopes, float(expires))


def _names_resource(audience: Any, resource: str) -> bool:
    """Compare as clients spell it: a slash at the end makes no difference."""
    named = audience if isinstance(audience, list) else [audience]
    wanted = resource.removesuffix("/")
    return any(isinstance(one, str) and one.removesuffix("/") == wanted for one in named)


def _read_scopes(claims: Mapping[str, Any]) -> frozenset[str]:
    """``scope`` as RFC 9068 has it, or the list ``scp`` that some issuers write."""
    said = claims.get("scope", claims.get("scp", ""))
    words = said if isinstance(said, list) else str(said).split()
    return frozenset(str(word) for word in words)
