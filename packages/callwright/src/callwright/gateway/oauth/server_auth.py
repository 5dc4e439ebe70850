"""Authorizes the gateway's own requests to a server with the login of the user for whom they are
made, by the SDK's OAuth client.

Nobody sits at a gateway that serves: a token is sent and renewed, and what would need a person is
left to ``callwright gateway login``, whose result is seen at the next request.
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
        self._made: dict[tuple[str, str], Any] = {}

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
            found = self._made[user, server.url] = build_renewing_auth(login, server.name)
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


def build_provider(login: Login, client_metadata: Any, **handlers: Any) -> OAuthClientProvider:
    """The SDK's OAuth client for an interactive login."""
    from mcp.client.auth import OAuthClientProvider

    return OAuthClientProvider(login.url, client_metadata, login, **handlers)


def build_renewing_auth(login: Login, server: str) -> Any:
    """The SDK's OAuth client over a stored login of a server; it asks nobody."""
    from collections.abc import AsyncGenerator

    from httpx2 import Request, Response
    from mcp.client.auth import OAuthClientProvider
    from mcp.client.auth.utils import extract_scope_from_www_auth

    class RenewingAuth(OAuthClientProvider):
        """``need`` says what a person has to do; "" where nothing."""

        need = ""
        _stamp = -1

        async def _auth_flow(self, request: Request) -> AsyncGenerator[Request, Response]:
            async with self.context.lock:  # two renewals of one token would end the login
                await self._reload()
                if not self.context.is_token_valid() and self.context.can_refresh_token():
                    renewed = yield await self._refresh_token()
                    await self._handle_refresh_response(renewed)
                    self._stamp = login.stamp
            if self.context.is_token_valid():
                self._add_auth_header(request)
            response = yield request
            self.need = ""
            if response.status_code in (401, 403):
                scope = extract_scope_from_www_auth(response) or ""
                known = self.context.current_tokens.scope if self.context.current_tokens else ""
                self.need = describe_need(server, f"{known or ''} {scope}" if scope else "")

        async def _reload(self) -> None:
            """Read the login anew where somebody else has written it: another login, or another
            process that renewed it.
            """
            if login.stamp == self._stamp:
                return
            self._stamp = login.stamp
            await self._initialize()
            self.context.token_expiry_time = login.expires
            _restore_metadata(self.context, login)

    return RenewingAuth(login.url, _describe_client(), login)


def describe_need(server: str, scope: str) -> str:
    """The command by which a user logs in, with these scopes."""
    words = " ".join(dict.fromkeys(scope.split()))
    return f"callwright gateway login {server}" + (f" --scope '{words}'" if words else "")


def _describe_client() -> Any:
    from mcp.shared.auth import OAuthClientMetadata
    from pydantic import AnyUrl

    return OAuthClientMetadata(
        client_name=CLIENT_NAME, redirect_uris=[AnyUrl("http://127.0.0.1/callback")]
    )


def _restore_metadata(context: Any, login: Login) -> None:
    """Where tokens are renewed: the SDK's storage does not hold it."""
    from mcp.shared.auth import OAuthMetadata, ProtectedResourceMetadata

    known = login.metadata
    if known.get("server"):
        context.oauth_metadata = OAuthMetadata.model_validate(known["server"])
        context.auth_server_url = str(context.oauth_metadata.issuer)
    if known.get("resource"):
        made = ProtectedResourceMetadata.model_validate(known["resource"])
        context.protected_resource_metadata = made


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
