"""The public keys of issuers, fetched when they are needed and kept for a while (RFC 7517)."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from callwright.http.client import HttpClient
from callwright.http.egress import Egress
from callwright.jsontext import JsonError, parse
from callwright.nouns.errors import Failure

KEPT_SECONDS = 600.0
_AGAIN_SECONDS = 30.0  # before an unknown key may cause another fetch
_MOST_BYTES = 1_000_000


@dataclass(slots=True)
class _Kept:
    keys: Mapping[str, Any]
    at: float


class SigningKeys:
    """Keys by issuer and ``kid``. ``jwks_uri`` "": it is taken from the issuer's metadata (RFC 8414,
    or OpenID Connect Discovery).
    """

    def __init__(
        self,
        jwks_uri: str = "",
        *,
        client: HttpClient | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._jwks_uri = jwks_uri
        self._client = client or HttpClient(Egress.any(), max_bytes=_MOST_BYTES, max_redirects=0)
        self._clock = clock
        self._kept: dict[str, _Kept] = {}

    async def find(self, issuer: str, kid: str) -> Any | str | None:
        """The key (a ``jwt.PyJWK``); None where the issuer has none of that name, and a text that
        says why where it cannot be asked. ``issuer`` is one of the configuration.
        """
        kept = self._kept.get(issuer)
        age = self._clock() - kept.at if kept is not None else KEPT_SECONDS
        is_unknown = kept is None or kid not in kept.keys
        if age >= KEPT_SECONDS or (is_unknown and age >= _AGAIN_SECONDS):
            fetched = await self._fetch(issuer)
            if isinstance(fetched, str):
                return fetched if kept is None or is_unknown else kept.keys.get(kid)
            kept = self._kept[issuer] = _Kept(fetched, self._clock())
        return kept.keys.get(kid) if kept is not None else None

    async def aclose(self) -> None:
        await self._client.aclose()

    async def _fetch(self, issuer: str) -> Mapping[str, Any] | str:
        import jwt

        uri = self._jwks_uri or await self._discover(issuer)
        found = await self._get(uri) if uri else None
        rows = found.get("keys") if found is not None else None
        if not isinstance(rows, list):
            return f"the keys of {issuer} cannot be had now"
        keys = {}
        for row in rows:
            if isinstance(row, dict) and row.get("use", "sig") == "sig" and row.get("kty") != "oct":
                try:
                    keys[str(row.get("kid", ""))] = jwt.PyJWK.from_dict(row)
                except jwt.PyJWTError:  # a kind of key that the library does not know
                    continue
        return keys

    async def _discover(self, issuer: str) -> str:
        """The address of the keys; "" where the issuer does not tell it of itself."""
        parts = urlsplit(issuer)
        origin, path = f"{parts.scheme}://{parts.netloc}", parts.path.rstrip("/")
        for url in (
            f"{origin}/.well-known/oauth-authorization-server{path}",
            f"{origin}/.well-known/openid-configuration{path}",
            f"{origin}{path}/.well-known/openid-configuration",
        ):
            told = await self._get(url)
            if told is not None and told.get("issuer") == issuer and told.get("jwks_uri"):
                return str(told["jwks_uri"])
        return ""

    async def _get(self, url: str) -> Mapping[str, Any] | None:
        answer = await self._client.request("GET", url, timeout=10.0)
        if isinstance(answer, Failure) or not answer.ok:
            return None
        try:
            told = parse(answer.body)
        except JsonError:
            return None
        return told if isinstance(told, dict) else None
