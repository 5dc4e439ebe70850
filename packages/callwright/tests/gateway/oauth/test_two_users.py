"""Two users of one gateway at once: their tokens end at the door, and each is himself at the server."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from pathlib import Path
from typing import Any

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from callwright.gateway.configuration import read_servers
from callwright.gateway.oauth.authorizer import OAuthAuthorizer, open_verifier
from callwright.gateway.oauth.login import LoginOptions, log_in
from callwright.gateway.oauth.login_store import LoginStore
from callwright.gateway.oauth.resource import OAuthResource
from callwright.gateway.oauth.server_auth import ServerLogins
from callwright.gateway.server.counters import GatewayCounters
from callwright.gateway.server.gateway import Gateway, GatewaySetup
from callwright.gateway.server.http_door import HttpDoor
from callwright.serving.access import Access
from callwright.tools.servers import Server
from tests.gateway.oauth.browser import Browser
from tests.gateway.oauth.issuer import Issuer, serve_app
from tests.gateway.oauth.protected_server import serve_protected

RESOURCE = "https://tools.example.org/mcp"
CALLS = 4


async def call_as(url: str, token: str, mode: Any) -> list[str]:
    """What the server calls the holder of a token, several times."""
    headers = {"authorization": f"Bearer {token}"}
    async with (
        httpx2.AsyncClient(headers=headers, trust_env=False) as http,
        Client(streamable_http_client(f"{url}/mcp", http_client=http), mode=mode) as client,
    ):
        said: list[str] = []
        for _ in range(CALLS):
            result: Any = await client.call_tool("mail__whoami", {})
            said.append(result.content[0].text)
        return said


async def test_two_users_at_once_share_no_credential_and_their_tokens_go_nowhere(
    issuer: Issuer, tmp_path: Path
) -> None:
    store = LoginStore(tmp_path)
    resource = OAuthResource(resource=RESOURCE, issuers=(issuer.url,), scopes=("tools",))
    async with serve_protected(issuer) as behind, aclosing(open_verifier(resource)) as verifier:
        for user in ("ann", "bob"):
            issuer.user = user
            async with asyncio.TaskGroup() as group:
                login = store.open(f"{issuer.url} {user}", behind.url)
                server = Server("mail", url=behind.url)
                assert await log_in(server, login, Browser(group).show, LoginOptions())
        found = read_servers({"mail": {"url": behind.url, "approve": ["*"]}}, tmp_path)
        gateway = Gateway(GatewaySetup(entries=found.entries, logins=ServerLogins(store)))
        authorizer = OAuthAuthorizer(resource, verifier, Access())
        door = HttpDoor(gateway, Access(), authorizer, GatewayCounters())
        behind.tokens.clear()
        tokens = {user: issuer.token(RESOURCE, sub=user) for user in ("ann", "bob", "eve")}
        said: dict[tuple[str, str], list[str]] = {}

        async def use(url: str, user: str, mode: str) -> None:
            said[user, mode] = await call_as(url, tokens[user], mode)

        async with serve_app(door) as url:
            unlisted = await call_as(url, tokens["eve"], "auto")  # which costs nobody else
            async with asyncio.TaskGroup() as group:
                for mode in ("auto", "legacy"):
                    for user in ("ann", "bob"):
                        group.create_task(use(url, user, mode))
            refused = await call_as(url, tokens["eve"], "auto")
    for (user, _), answers in said.items():
        assert answers == [user] * CALLS
    assert len(said) == 4
    assert not set(behind.tokens) & set(tokens.values())
    assert [a for a in refused if "callwright gateway login mail" not in a] == []
    assert len(unlisted) == len(refused) == CALLS
