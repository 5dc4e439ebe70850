"""The gateway as an OAuth 2.1 protected resource: what it tells clients of itself (RFC 9728), and
how it refuses them (RFC 6750, section 3; MCP 2026-07-28, authorization). Pure.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from callwright.models.secret import Secret
from callwright.nouns.errors import ConfigError
from callwright.nouns.types import JsonObject
from callwright.serving.access import LOOPBACK

WELL_KNOWN = "/.well-known/oauth-protected-resource"
HINT = (
    '"oauth": {"resource": "https://tools.example.org/mcp", "issuers": ["https://login.example.org"],'
    ' "scopes": ["tools"]}; beside them may stand jwks_uri or introspection'
)


@dataclass(frozen=True, slots=True)
class Introspection:
    """Where opaque tokens are looked up (RFC 7662), and with which credentials of ours."""

    endpoint: str
    client_id: str = ""
    client_secret: Secret = field(default_factory=lambda: Secret(""))


@dataclass(frozen=True, slots=True, kw_only=True)
class OAuthResource:
    """``resource`` is the public URL of the MCP endpoint: tokens must be made for it (RFC 8707).

    ``issuers`` are the authorization servers whose tokens count. ``scopes`` must all be granted.
    ``jwks_uri`` "": it is taken from the issuer's metadata. With ``introspection`` every token is
    looked up there.
    """

    resource: str
    issuers: tuple[str, ...]
    scopes: tuple[str, ...] = ()
    jwks_uri: str = ""
    introspection: Introspection | None = None

    @property
    def metadata_path(self) -> str:
        """The path of the metadata: that of the resource after the well-known one (section 3.1)."""
        path = urlsplit(self.resource).path
        return WELL_KNOWN + (path if path != "/" else "")

    @property
    def metadata_url(self) -> str:
        parts = urlsplit(self.resource)
        return f"{parts.scheme}://{parts.netloc}{self.metadata_path}"

    def describe(self) -> JsonObject:
        """The metadata document."""
        told: JsonObject = {
            "resource": self.resource,
            "authorization_servers": list(self.issuers),
            "bearer_methods_supported": ["header"],
            "resource_name": "Callwright gateway",
        }
        return {**told, "scopes_supported": list(self.scopes)} if self.scopes else told

    def challenge(self, error: str = "", description: str = "") -> str:
        """The value of ``WWW-Authenticate``. Without credentials in the request no error is
        named.
        """
        said = {
            "error": error,
            "error_description": description,
            "scope": " ".join(self.scopes),
            "resource_metadata": self.metadata_url,
        }
        return "Bearer " + ", ".join(f'{k}="{_quote_text(v)}"' for k, v in said.items() if v)


def read_oauth(raw: Any, environ: Mapping[str, str]) -> OAuthResource:
    """The settings from the object ``oauth`` of a servers file. A secret is named by its variable.

    Raises ConfigError.
    """
    if not isinstance(raw, Mapping):
        raise ConfigError('"oauth" is not an object', hint=HINT)
    resource, issuers = raw.get("resource"), raw.get("issuers")
    if not isinstance(resource, str) or not resource:
        raise ConfigError('"oauth" needs "resource", the public URL of this endpoint', hint=HINT)
    if not isinstance(issuers, list) or not issuers or not all(map(_is_text, issuers)):
        raise ConfigError('"oauth" needs "issuers", a list of authorization servers', hint=HINT)
    scopes, keys = raw.get("scopes") or [], str(raw.get("jwks_uri") or "")
    if not isinstance(scopes, list) or not all(map(_is_text, scopes)):
        raise ConfigError('"scopes" of "oauth" must be a list of texts', hint=HINT)
    lookup = _read_introspection(raw.get("introspection"), environ)
    for url in (resource, *issuers, keys, lookup.endpoint if lookup else ""):
        if url:
            _require_https(url)
    return OAuthResource(
        resource=resource,
        issuers=tuple(issuers),
        scopes=tuple(scopes),
        jwks_uri=keys,
        introspection=lookup,
    )


def _read_introspection(raw: Any, environ: Mapping[str, str]) -> Introspection | None:
    if raw is None:
        return None
    if not isinstance(raw, Mapping) or not _is_text(raw.get("endpoint")):
        raise ConfigError('"introspection" of "oauth" needs an "endpoint"', hint=HINT)
    variable = str(raw.get("client_secret_variable") or "")
    if variable and variable not in environ:
        raise ConfigError(
            f'"introspection" of "oauth" needs the variable {variable}', hint=f"export {variable}=…"
        )
    secret = Secret(environ.get(variable, "") if variable else "")
    return Introspection(raw["endpoint"], str(raw.get("client_id") or ""), secret)


def _require_https(url: str) -> None:
    """Tokens and keys travel over TLS; on loopback they do not travel. Raises ConfigError."""
    parts = urlsplit(url)
    is_near = parts.scheme == "http" and parts.hostname in LOOPBACK
    if not parts.hostname or not (parts.scheme == "https" or is_near):
        raise ConfigError(f'"oauth": {url!r} must be an https:// URL', hint=HINT)
    if parts.fragment or (parts.query and url):
        raise ConfigError(f'"oauth": {url!r} may have no query and no fragment', hint=HINT)


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and bool(value)


def _quote_text(text: str) -> str:
    """A text as a quoted string of a header may hold it (RFC 6750, section 3)."""
    return "".join(c if 0x20 <= ord(c) < 0x7F and c not in '"\\' else "?" for c in text)
