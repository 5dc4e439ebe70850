"""The seam to who may use the HTTP door, and as whom."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

from callwright.nouns.types import JsonObject
from callwright.serving.access import Access
from callwright.serving.own_pages import Answer


@dataclass(frozen=True, slots=True)
class Principal:
    """An authenticated user: the parts of the token's claims by which one is told from another. The
    token itself is not among them, and goes nowhere.
    """

    client: str
    issuer: str = ""
    subject: str = ""
    scopes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Unauthorized:
    """Why a request is not served. ``headers`` are sent with it, as ``www-authenticate``."""

    status: int
    message: str
    headers: tuple[tuple[str, str], ...] = ()


Verdict: TypeAlias = Principal | Unauthorized | None
"""None: served, as nobody in particular."""


class Authorizer(Protocol):
    """Protocol of the check of a request to the door."""

    async def authorize(self, scope: Mapping[str, Any]) -> Verdict: ...

    def find_page(self, path: str) -> Answer | None:
        """Return a page of its own that everybody may read, as the metadata of a protected resource
        (RFC 9728); None for another path.
        """
        ...

    def describe(self) -> JsonObject:
        """Return what ``/health`` says of it."""
        ...


class KeyAuthorizer:
    """On loopback every program of this machine, elsewhere everyone with the gateway's key. The key
    names no user.
    """

    def __init__(self, access: Access) -> None:
        self._access = access

    async def authorize(self, scope: Mapping[str, Any]) -> Verdict:
        refused = self._access.refusal(scope, own=False)
        if refused is None:
            return None
        status, message = refused
        headers = (("www-authenticate", "Bearer"),) if status == 401 else ()
        return Unauthorized(status, message, headers)

    def find_page(self, path: str) -> Answer | None:
        del path
        return None

    def describe(self) -> JsonObject:
        return {"authorization": "key" if self._access.key else "none"}
