"""Authorizes the gateway's own requests to a server with the login of the user for whom they are
made. The SDK's OAuth client does the work: it sends the token, renews it, and follows a server to
another authorization server.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from callwright.gateway.oauth.login_store import Login, LoginStore
from callwright.jsontext import JsonError, parse
from callwright.tools.servers import Server

if TYPE_CHECKING:
    from mcp.client.auth import OAuthClientProvider

CLIENT_NAME = "Callwright gateway"


class ServerLogins:
    """The authorizations of all users at all servers. Connections of one user to one server share
    one, because a refresh token often works once only.
    """

    def __init__(self, store: LoginStore | None = None) -> None:
        self._store = store or LoginStore()
        self._made: dict[tuple[str, str], OAuthClientProvider] = {}

    def find_auth(self, server: Server, principal: str) -> Any | None:
        """The ``httpx2.Auth`` for requests to a server on behalf of a principal; None where that
        user has not logged in there, or where the configuration holds credentials already.
        """
        has_own = any(name.lower() == "authorization" for name in server.headers)
        if not server.url or has_own:
            return None
        user = read_user(principal)
        login = self._store.open(user, server.url)
        if not login.exists:
            self._made.pop((user, server.url), None)
            return None
        found = self._made.get((user, server.url))
        if found is None:
            found = self._made[user, server.url] = build_provider(login)
        return found


def read_user(principal: str) -> str:
    """Who logs in, of an authenticated principal ("": this machine's user). The same person with two
    clients is one user; a client without a user is one by itself.
    """
    if not principal:
        return ""
    try:
        client, issuer, subject = parse(principal)
    except (JsonError, ValueError, TypeError):
        return principal
    return f"{issuer} {subject}" if subject else f"{issuer or ''} client {client}"


def build_provider(login: Login, **handlers: Any) -> OAuthClientProvider:
    """The SDK's OAuth client over a stored login. ``handlers`` are those of an interactive login;
    without them nobody is asked, and a login that cannot be renewed is an ``OAuthFlowError``.
    """
    from mcp.client.auth import OAuthClientProvider
    from mcp.shared.auth import OAuthClientMetadata, OAuthMetadata, ProtectedResourceMetadata
    from pydantic import AnyUrl

    given = handlers.pop("client_metadata", None) or OAuthClientMetadata(
        client_name=CLIENT_NAME, redirect_uris=[AnyUrl("http://127.0.0.1/callback")]
    )
    made = OAuthClientProvider(login.url, given, login, **handlers)
    # The SDK reads tokens from its storage, not when they expire or where they are renewed.
    made.context.token_expiry_time = login.expires
    known = login.metadata
    if known.get("server"):
        made.context.oauth_metadata = OAuthMetadata.model_validate(known["server"])
        made.context.auth_server_url = str(made.context.oauth_metadata.issuer)
    if known.get("resource"):
        resource = ProtectedResourceMetadata.model_validate(known["resource"])
        made.context.protected_resource_metadata = resource
    return made


def keep_metadata(login: Login, provider: OAuthClientProvider) -> None:
    """Remember where the tokens of a login are renewed."""
    server, resource = (
        provider.context.oauth_metadata,
        provider.context.protected_resource_metadata,
    )
    login.keep_metadata(
        {
            key: found.model_dump(mode="json", exclude_none=True)
            for key, found in (("server", server), ("resource", resource))
            if found is not None
        }
    )
