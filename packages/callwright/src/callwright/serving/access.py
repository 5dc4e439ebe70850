"""Decides who may use a server of ours. On loopback it is every program of this machine, elsewhere
everyone with the server's own key.

A web page is no program of this machine. Its requests come from the user's browser, under the name
of its site (``Origin``). They may also come under a name of the site that leads to 127.0.0.1
(``Host``).
"""

from __future__ import annotations

import hmac
import ipaddress
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias
from urllib.parse import urlsplit

from callwright.models.secret import Secret
from callwright.nouns.errors import ConfigError

LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
COOKIE = "callwright_page"
LOGIN = "/callwright/login"
_OPEN = frozenset({"/", "/healthz"})  # own pages that say nothing of any request
_SHORTEST = 16
_NOT_SERVED = frozenset({"CONNECT", "TRACE"})

Headers: TypeAlias = tuple[tuple[str, str], ...]
Refusal = tuple[int, str]
"""Status and message."""


@dataclass(frozen=True, slots=True)
class Access:
    """``key``: what clients must send (``authorization: Bearer`` or ``x-api-key``); it never goes
    upstream.

    ``upstream_key`` is sent upstream in place of the client's, for clients that have none of their
    own. ``hosts`` are names under which the proxy is reached, beside the names of loopback and any
    IP address (no page can make an address lead elsewhere); pages of sites with these names may use
    it.
    """

    key: Secret = field(default_factory=lambda: Secret(""))
    upstream_key: Secret = field(default_factory=lambda: Secret(""))
    hosts: frozenset[str] = frozenset()
    page_key: Secret = field(
        default_factory=lambda: Secret(secrets.token_urlsafe(32))
    )  # the cookie after a login
    what: str = "proxy"  # for messages, as is the variable that holds the key
    variable: str = "CALLWRIGHT_PROXY_KEY"
    is_public: bool = False  # a server in front, which may run here, hands on others' requests

    def checked(self, host: str) -> Access:
        """Itself, if a server listening on ``host`` is safe with it. Raises ConfigError."""
        if host not in LOOPBACK and len(self.key.reveal()) < _SHORTEST:
            raise ConfigError(
                f"a {self.what} on {host} can be used by others, so it needs a key of at least"
                f" {_SHORTEST} characters",
                hint=f"set {self.variable}, or listen on 127.0.0.1",
            )
        return self

    def refusal(self, scope: Mapping[str, Any], *, own: bool) -> Refusal | None:
        """Return the refusal of a request, or None if it is served. The server's own pages show
        conversations. They are served to this machine only, and with a key, only to its holder.
        """
        if scope["method"] in _NOT_SERVED:
            return 405, f"{scope['method']} is not served"
        headers = dict(scope["headers"])
        refused = self._host_refusal(scope, headers)
        if refused is not None or (own and scope["path"] in _OPEN):
            return refused
        if own and (
            not _is_local_peer(scope) or (self.is_public and len(self.key.reveal()) < _SHORTEST)
        ):
            more = f", and with {self.variable} of at least {_SHORTEST} characters" * self.is_public
            return 403, f"the {self.what}'s own pages are shown on this machine only{more}"
        if own and scope["path"] == LOGIN:
            return None
        refused = None if own else self._origin_refusal(headers)
        if refused is not None:
            return refused
        if self.key and not self.is_known(headers) and not (own and self._has_logged_in(headers)):
            return 401, f"this {self.what} wants its own key, as a bearer token or x-api-key"
        return None

    def is_known(self, headers: Mapping[bytes, bytes]) -> bool:
        """Return True if the headers hold the server's key."""
        return bool(self.key) and any(_is_same(key, self.key) for key in _read_keys(headers))

    def opens(self, key: bytes) -> bool:
        """Return True if a login with this key succeeds."""
        return bool(self.key) and _is_same(key, self.key)

    def upstream(self, headers: Headers) -> Headers:
        """The client's headers without our key, with the upstream's where we have it."""
        if not self.key and not self.upstream_key:
            return headers
        kept = tuple((k, v) for k, v in headers if k not in ("authorization", "x-api-key"))
        if not self.upstream_key:
            return kept
        return (*kept, ("authorization", f"Bearer {self.upstream_key.reveal()}"))

    def _host_refusal(
        self, scope: Mapping[str, Any], headers: Mapping[bytes, bytes]
    ) -> Refusal | None:
        """Return the refusal of a foreign host name, or None. A client with the key is no web page
        and may use any name.
        """
        named = [value for name, value in scope["headers"] if name == b"host"]
        if len(named) > 1 or (not named and scope.get("http_version") != "1.0"):
            return 400, "a request names one host"
        name = host_name(named[0].decode("latin-1")) if named else "localhost"
        if name is None:
            return 400, "the host of the request cannot be read"
        if self._is_ours(name) or _is_address(name) or self.is_known(headers):
            return None
        return (
            403,
            f"this {self.what} is not called {name}: use localhost, or start it with --allow-host {name}",
        )

    def _is_ours(self, name: str) -> bool:
        return name in self.hosts or name in LOOPBACK or name.endswith(".localhost")

    def _origin_refusal(self, headers: Mapping[bytes, bytes]) -> Refusal | None:
        """A page of another site needs a key of its own, also to make the upstream work. Programs
        with a page inside (``vscode-webview://…``) are sites only where the key of the upstream is
        ours to guard.
        """
        origin = headers.get(b"origin", b"").decode("latin-1").lower()
        scheme, _, rest = origin.partition("://")
        name, is_web = host_name(rest), scheme in ("http", "https", "null")
        if is_web and name is None and rest:
            return 400, "the origin of the request cannot be read"
        if not origin:
            foreign = bool(self.upstream_key) and headers.get(b"sec-fetch-site") == b"cross-site"
        elif name is not None and (self._is_ours(name) or name == _host_of(headers)):
            foreign = False
        else:
            asks_first = b"access-control-request-method" in headers
            foreign = bool(self.upstream_key) or (
                is_web and not any(_read_keys(headers)) and not asks_first
            )
        if not foreign:
            return None
        return (
            403,
            (
                f"a page of another site may not use this {self.what} without a key of its own (or"
                " --allow-host NAME)"
            ),
        )

    def _has_logged_in(self, headers: Mapping[bytes, bytes]) -> bool:
        cookies = (part.strip().partition(b"=") for part in headers.get(b"cookie", b"").split(b";"))
        return any(
            name == COOKIE.encode() and _is_same(value, self.page_key) for name, _, value in cookies
        )


def host_name(host: str) -> str | None:
    """The name in ``name[:port]``, in lower case; an IPv6 address without its brackets. None where
    it is none.
    """
    try:
        parts = urlsplit(f"//{host}")
        name, _ = (parts.hostname or "").lower().removesuffix("."), parts.port
    except ValueError:
        return None
    return name if name and parts.netloc == host and "@" not in host else None


def _host_of(headers: Mapping[bytes, bytes]) -> str | None:
    return host_name(headers.get(b"host", b"").decode("latin-1"))


def _is_same(given: bytes, key: Secret) -> bool:
    return hmac.compare_digest(given, key.reveal().encode())


def _read_keys(headers: Mapping[bytes, bytes]) -> tuple[bytes, bytes]:
    return headers.get(b"authorization", b"").removeprefix(b"Bearer ").strip(), headers.get(
        b"x-api-key", b""
    )


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def _is_local_peer(scope: Mapping[str, Any]) -> bool:
    client = scope.get("client")
    return client is None or client[0] in LOOPBACK or str(client[0]).startswith("127.")
