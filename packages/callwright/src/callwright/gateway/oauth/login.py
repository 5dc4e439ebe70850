"""Logs a user in at a server: OAuth 2.1 with PKCE, by a browser that comes back to loopback (RFC
8252, section 7.3).
"""

from __future__ import annotations

import asyncio
import re
import tempfile
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Literal
from urllib.parse import parse_qs, urlsplit

from callwright.gateway.oauth.login_store import Login
from callwright.gateway.oauth.server_auth import CLIENT_NAME, build_provider, keep_metadata
from callwright.nouns.errors import CatalogError
from callwright.tools.mcp.connection import Watch, list_tools, open_client
from callwright.tools.mcp.pages import ToolPages
from callwright.tools.servers import Server

SECONDS = 300.0  # for a person to log in
_PATH = "/callback"
_LONGEST = 16_384
_SCOPE = re.compile(r'(?<![\w])scope=(?:"([^"]*)"|([^\s,]+))\s*,?\s*')
_PAGE = (
    "<!doctype html><meta charset=utf-8><title>Callwright</title><p>{said} You can close this"
    " window.</p>"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class LoginOptions:
    """``client_id``: of a client that was registered by hand ("": it registers itself, or is known by
    ``client_document``, the https:// URL of a client ID metadata document); its secret beside it,
    which is sent in the header (``basic``) or in the body (``post``). ``port``: of the redirect
    address that was registered (0: any). ``scope``: wanted beside what the server asks for.
    """

    client_id: str = ""
    client_secret: str = ""
    client_auth: Literal["basic", "post"] = "basic"
    client_document: str = ""
    port: int = 0
    scope: str = ""
    seconds: float = SECONDS


async def log_in(
    server: Server, login: Login, show: Callable[[str], None], options: LoginOptions
) -> bool:
    """Log in and keep the tokens. ``show`` is given the address that the user opens. False where
    the server lets everybody in, so that there is nothing to keep.

    Raises CatalogError where that fails, and TrustError where the tokens cannot be kept.
    """
    from mcp.client.auth import OAuthFlowError

    try:
        async with asyncio.timeout(options.seconds), _listen_once(options.port) as comeback:
            provider = await _prepare_login(login, comeback, show, options)
            await _visit_server(server, provider, options.scope)
    except TimeoutError:
        raise CatalogError(
            f"nobody logged in at {server.name!r} within {options.seconds:g} seconds"
        ) from None
    except BaseExceptionGroup as group:
        raise _explain_failure(server, _first_error(group)) from None
    except OAuthFlowError as error:
        raise _explain_failure(server, error) from None
    if not login.exists:
        return False
    keep_metadata(login, provider)
    return True


async def _prepare_login(
    login: Login, comeback: _Comeback, show: Callable[[str], None], options: LoginOptions
) -> Any:
    from mcp.shared.auth import OAuthClientInformationFull, OAuthClientMetadata
    from pydantic import AnyUrl

    login.forget()
    redirect = [AnyUrl(comeback.address)]
    if options.client_id:
        method = f"client_secret_{options.client_auth}" if options.client_secret else "none"
        await login.set_client_info(
            OAuthClientInformationFull(
                client_id=options.client_id,
                client_secret=options.client_secret or None,
                redirect_uris=redirect,
                token_endpoint_auth_method=method,
            )
        )
    asked = OAuthClientMetadata(
        client_name=CLIENT_NAME,
        redirect_uris=redirect,
        token_endpoint_auth_method="none",
    )

    async def redirect_user(address: str) -> None:
        show(address)

    return build_provider(
        login,
        client_metadata=asked,
        redirect_handler=redirect_user,
        callback_handler=comeback.wait,
        client_metadata_url=options.client_document or None,
    )


async def _visit_server(server: Server, provider: Any, scope: str) -> None:
    """Make a request that needs the login, and follow it through."""

    async def widen(response: Any) -> None:
        """The SDK asks for the scopes that the refusal names: the wanted ones are named too."""
        said = response.headers.get("www-authenticate", "")
        if scope and response.status_code == 401 and said.lower().startswith("bearer"):
            response.headers["www-authenticate"] = add_scope(said, scope)

    watch = Watch(lambda: None, ToolPages(), widen)
    with tempfile.TemporaryFile() as nothing:
        async with open_client(server, nothing, watch, auth=provider) as client:
            await list_tools(client)


def add_scope(challenge: str, scope: str) -> str:
    """A challenge (RFC 6750, section 3) that asks for these scopes beside its own."""
    found = _SCOPE.search(challenge)
    asked = f"{found[1] or found[2]} {scope}" if found else scope
    union = " ".join(dict.fromkeys(asked.split()))
    rest = _SCOPE.sub("", challenge).rstrip(", ")
    separator = ", " if "=" in rest else " "
    return f'{rest}{separator}scope="{union}"'


class _Comeback:
    """The address to which the browser is sent back, and what it brings."""

    def __init__(self) -> None:
        self.address = ""
        self._found: asyncio.Future[dict[str, str]] = asyncio.get_running_loop().create_future()

    async def wait(self) -> Any:
        """The answer of the authorization server. Raises the SDK's error where it says no."""
        from mcp.client.auth import OAuthFlowError
        from mcp.shared.auth import AuthorizationCodeResult

        found = await self._found
        if "code" not in found:
            said = found.get("error_description") or found.get("error") or "it gave no code"
            raise OAuthFlowError(f"the authorization server refused: {said[:300]}")
        return AuthorizationCodeResult(
            code=found["code"], state=found.get("state"), iss=found.get("iss")
        )

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer one request of the browser; it may ask for other things than the callback."""
        try:
            line = (await reader.readuntil(b"\r\n\r\n")).split(b"\r\n", 1)[0].decode("latin-1")
            parts = urlsplit(line.split(" ")[1])
            query = {key: values[0] for key, values in parse_qs(parts.query).items()}
            is_it = parts.path == _PATH and ("code" in query or "error" in query)
            if is_it and not self._found.done():
                self._found.set_result(query)
            said = "The login is done." if "code" in query else "There is nothing here."
            body = _PAGE.format(said=said).encode()
            head = f"HTTP/1.1 {200 if is_it else 404} \r\ncontent-type: text/html; charset=utf-8"
            told = f"{head}\r\ncontent-length: {len(body)}\r\nconnection: close\r\n\r\n"
            writer.write(told.encode() + body)
            await writer.drain()
        except (asyncio.IncompleteReadError, asyncio.LimitOverrunError, IndexError, OSError):
            pass
        finally:
            writer.close()


@asynccontextmanager
async def _listen_once(port: int) -> AsyncIterator[_Comeback]:
    comeback = _Comeback()
    try:
        server = await asyncio.start_server(comeback.serve, "127.0.0.1", port, limit=_LONGEST)
    except OSError as error:
        raise CatalogError(
            f"the port {port} for the login is taken: {error.strerror or error}",
            hint="--redirect-port names another; it must be registered with the client",
        ) from None
    async with server:
        comeback.address = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}{_PATH}"
        yield comeback


def _first_error(group: BaseExceptionGroup[BaseException]) -> BaseException:
    error: BaseException = group
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


def _explain_failure(server: Server, error: BaseException) -> CatalogError:
    return CatalogError(
        f"the login at {server.name!r} failed: {str(error)[:500] or type(error).__name__}",
        hint="a server without dynamic registration needs --client-id",
    )
