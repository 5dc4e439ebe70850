"""An MCP server that wants tokens of an issuer for itself, guarded by the SDK's own middleware."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import jwt
import uvicorn
from mcp.server.auth.middleware.auth_context import get_access_token
from mcp.server.auth.provider import AccessToken
from mcp.server.auth.settings import AuthSettings
from mcp.server.mcpserver import MCPServer
from pydantic import AnyHttpUrl

from callwright.serving.sockets import open_socket
from tests.gateway.oauth.issuer import Issuer


@dataclass
class Protected:
    """``url`` of the endpoint; ``tokens`` are all that it was sent, in order."""

    url: str
    tokens: list[str] = field(default_factory=list)


class Verifier:
    """Reads the issuer's tokens with its key."""

    def __init__(self, issuer: Issuer, made: Protected) -> None:
        self._issuer, self._made = issuer, made

    async def verify_token(self, token: str) -> AccessToken | None:
        self._made.tokens.append(token)
        try:
            claims = jwt.decode(
                token, self._issuer.key.public_key(), ["ES256"], audience=self._made.url
            )
        except jwt.PyJWTError:
            return None
        return AccessToken(
            token=token,
            client_id=claims["client_id"],
            scopes=claims["scope"].split(),
            expires_at=claims["exp"],
            resource=self._made.url,
            subject=claims["sub"],
        )


@asynccontextmanager
async def serve_protected(issuer: Issuer) -> AsyncIterator[Protected]:
    """The server, with one tool that says as whom it was called."""
    with open_socket("127.0.0.1", 0) as listening:
        made = Protected(f"http://127.0.0.1:{listening.getsockname()[1]}/mcp")
        server = MCPServer(
            "protected",
            auth=AuthSettings(
                issuer_url=AnyHttpUrl(issuer.url),
                resource_server_url=AnyHttpUrl(made.url),
                required_scopes=["tools"],
                validate_token_resource=True,
            ),
            token_verifier=Verifier(issuer, made),
        )

        @server.tool()
        def whoami() -> str:
            """Says as whom it was called."""
            token = get_access_token()
            return str(token.subject) if token else "nobody"

        config = uvicorn.Config(server.streamable_http_app(), log_level="error", ws="none")
        running = uvicorn.Server(config)
        async with asyncio.TaskGroup() as group:
            group.create_task(running.serve(sockets=[listening]))
            yield made
            running.should_exit = True
