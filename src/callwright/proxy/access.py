"""Who may use the proxy. On loopback everybody; elsewhere whoever has the proxy's own key."""

from __future__ import annotations

import hmac
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from callwright.errors import ConfigError
from callwright.models.secret import Secret
from callwright.proxy.events import Headers

LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
_SHORTEST = 16


@dataclass(frozen=True, slots=True)
class Access:
    """``key``: what clients must send (``authorization: Bearer`` or ``x-api-key``); it never goes upstream.

    ``upstream_key`` is sent upstream in place of the client's, for clients that have none of their own.
    """

    key: Secret = field(default_factory=lambda: Secret(""))
    upstream_key: Secret = field(default_factory=lambda: Secret(""))

    def checked(self, host: str) -> Access:
        """Itself, if a proxy listening on ``host`` is safe with it. Raises ConfigError."""
        if host not in LOOPBACK and len(self.key.reveal()) < _SHORTEST:
            raise ConfigError(
                f"a proxy on {host} can be used by others, so it needs a key of at least {_SHORTEST} characters",
                hint="set CALLWRIGHT_PROXY_KEY, or listen on 127.0.0.1",
            )
        return self

    def refusal(self, scope: Mapping[str, Any], *, own: bool) -> tuple[int, str] | None:
        """Why a request is not served, if so. The proxy's own pages show conversations: to this machine only."""
        given = dict(scope["headers"])
        if own and scope["path"] != "/healthz":
            if not _is_local(given.get(b"host", b"")) or not _is_local_peer(scope):
                return 403, "the proxy's own pages are shown on this machine only, under localhost"
            return None
        if own:
            return None
        origin = given.get(b"origin", b"")
        if origin and self.upstream_key and not _is_local(urlsplit(origin).netloc):
            return 403, "a page of another site may not use this proxy's upstream key"
        if self.key and not any(hmac.compare_digest(k, self.key.reveal().encode()) for k in _keys(given)):
            return 401, "this proxy wants its own key, as a bearer token or x-api-key"
        return None

    def upstream(self, headers: Headers) -> Headers:
        """The client's headers without our key, with the upstream's where we have it."""
        if not self.key and not self.upstream_key:
            return headers
        kept = tuple((k, v) for k, v in headers if k not in ("authorization", "x-api-key"))
        if not self.upstream_key:
            return kept
        return (*kept, ("authorization", f"Bearer {self.upstream_key.reveal()}"))


def _keys(given: Mapping[bytes, bytes]) -> tuple[bytes, bytes]:
    return given.get(b"authorization", b"").removeprefix(b"Bearer ").strip(), given.get(b"x-api-key", b"")


def _is_local(host: bytes | str) -> bool:
    text = host.decode("latin-1") if isinstance(host, bytes) else host
    name = text.removeprefix("[").partition("]")[0] if text.startswith("[") else text.partition(":")[0]
    return name in LOOPBACK


def _is_local_peer(scope: Mapping[str, Any]) -> bool:
    client = scope.get("client")
    return client is None or client[0] in LOOPBACK or str(client[0]).startswith("127.")
